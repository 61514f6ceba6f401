// Ships the database as it changes: each round the pages that were committed since the last one, as a segment. The log
// is copied into the database only between two segments, so a base is a plain copy of the database's file.
//
// A crash at any moment: a segment is in the store whole or not at all; the next process finds the last one there, and
// goes on behind it if the log of the database still continues it. Otherwise it begins a stream with a new base.
import { fstatSync, read as readFile } from 'node:fs'
import { promisify } from 'node:util'
import type { Secrets } from '../crypto/secrets.ts'
import { type Clock, hour, second } from '../db/clock.ts'
import { DatabaseUnavailable } from '../db/health.ts'
import type { Db } from '../db/open.ts'
import { log } from '../log.ts'
import { type ObjectStore, StoreError } from '../stores/store.ts'
import { type Held, higherClaim, keepHeld } from './claims.ts'
import { removeOld } from './cleaning.ts'
import {
  type Base,
  type BasePoint,
  baseName,
  basePoints,
  encode,
  fetchSegment,
  partName,
  segmentName,
  streamName,
  streamTime,
} from './objects.ts'
import { type WalChanges, WalReader } from './wal.ts'

export type ShipperOptions = {
  store: ObjectStore
  secrets: Secrets
  dataDir: string
  held: Held
  /** The host's clock: points in time are named by people. */
  wallClock: Clock
  monotonic: Clock
  /** Between two segments. */
  everyMs: number
  keepMs: number
  /** A change is confirmed when it is in the store. */
  waits: boolean
}

/** The state for pages, figures and the journal. */
export type ShipperState = {
  /** Everything that was committed before is in the store; null before the first segment of this process. */
  shippedAt: number | null
  baseAt: number | null
  /** The base of this stream is being stored: until then a restore ends where the stream before it ended. */
  isBeginning: boolean
  error: { message: string; since: number } | null
  takenOver: { at: number | undefined; host: string | undefined } | null
  /** Of the last segment: from reading it to the store's answer. */
  roundMs: number
}

const PART_BYTES = 4 << 20
/** The log is copied into the database when it is so long. */
const CHECKPOINT_BYTES = 4 << 20
/** It grows to this while a base is on its way; a slow disk takes minutes to copy it. */
const LONG_LOG_BYTES = 32 << 20
/** So much is left in the log at most while the store does not answer; then the stream ends. */
const MOST_LOG_BYTES = 256 << 20
/** A segment without a change says that the controller is there. */
export const ALIVE_EVERY_MS = 5 * second
/** Another controller's claim is noticed after this time, or with the next segment. */
export const LOOK_EVERY_MS = 2 * second
/** A restore reads at most so many segments behind a base. */
const SEGMENTS_PER_BASE = 3600
const CLEAN_EVERY_MS = hour
/** In the mode that waits: a change waits so long, and changes are refused when the store has failed for so long. */
const UNSHIPPED_REFUSED_MS = 10 * second
/** A timer that fires a moment early must not make it wait for its next turn. */
const TIMER_MS = 200
const BASE_RETRY_MS = 10 * second
const FINISH_MS = 10 * second

type Waiting = { turn: number; since: number; resolve(): void; reject(error: unknown): void }
type Sending = { name: string; number: number; bytes: Buffer; readAt: number; turn: number }

export class Shipper {
  readonly state: ShipperState = {
    shippedAt: null,
    baseAt: null,
    isBeginning: false,
    error: null,
    takenOver: null,
    roundMs: 0,
  }
  /** Resolves when another controller has claimed the store. */
  readonly takenOver = Promise.withResolvers<void>()
  #reader: WalReader
  #held: Held
  #stream: string | undefined
  #number = 0
  #bases = 0
  #segmentsSinceBase = 0
  #pending: { changes: WalChanges; readAt: number } | undefined
  #sending: Sending | undefined
  /** Commits are counted by turns: a waiter is served by the segment that was read after its commit. */
  #waiting: Waiting[] = []
  #turn = 0
  #running: Promise<void> | undefined
  #again = false
  #base: Promise<void> | undefined
  #last = { ship: -Infinity, look: -Infinity, clean: -Infinity, base: -Infinity }
  #stopped = false

  constructor(
    private db: Db,
    private options: ShipperOptions,
  ) {
    this.#held = options.held
    this.#reader = new WalReader(`${db.$client.filename}-wal`)
    if (options.waits) db.$client.confirmed = () => this.#confirmed()
  }

  /** Ships what there is, if it is time; together with another call that is on its way. Errors are in the state. */
  async round(atOnce = false): Promise<void> {
    if (this.state.takenOver || this.#stopped) return
    if (this.#running) {
      if (atOnce) this.#again = true
      return this.#running
    }
    const { monotonic, everyMs } = this.options
    if (!atOnce && monotonic() - this.#last.ship < everyMs - TIMER_MS) return
    this.#running = this.#rounds()
    await this.#running
  }

  async #rounds() {
    try {
      do {
        this.#again = false
        await this.#ship()
        this.#succeeded()
      } while (this.#again || (this.#waiting.length && !this.state.isBeginning && !this.state.takenOver))
    } catch (error) {
      this.#failed(error)
    } finally {
      this.#running = undefined
    }
  }

  #succeeded() {
    if (this.state.error) log.info('changes are shipped again', { to: this.options.store.title })
    this.state.error = null
    this.db.$client.health.release('unshipped')
  }

  #failed(error: unknown) {
    const message = (error as Error).message
    const since = this.state.error?.since ?? this.options.wallClock()
    if (!this.state.error)
      log.error('changes are not shipped', {
        to: this.options.store.title,
        error: error instanceof StoreError ? message : error,
      })
    this.state.error = { message, since }
    if (!this.options.waits || this.options.wallClock() - since < UNSHIPPED_REFUSED_MS) return
    this.db.$client.health.hold({
      kind: 'unshipped',
      code: 'UNSHIPPED',
      reason: `Changes wait until they are stored at ${this.options.store.title}, which fails: ${message}`,
      since,
    })
  }

  #rejectWaiting(since = Infinity) {
    const late = this.#waiting.filter((waiting) => waiting.since <= since)
    this.#waiting = this.#waiting.filter((waiting) => waiting.since > since)
    const words = 'The change was made here, and is not at the second place yet.'
    for (const { reject } of late) reject(new DatabaseUnavailable(words, 'UNSHIPPED'))
  }

  #confirmed(): Promise<void> {
    if (this.state.takenOver) return Promise.reject(new DatabaseUnavailable('Another controller took over.', 'FENCED'))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.push({ turn: this.#turn, since: this.options.monotonic(), resolve, reject })
    void this.round(true)
    return promise
  }

  async #ship() {
    const { store, monotonic, waits } = this.options
    if (!this.#stream && !(await this.#continued())) this.#begin()
    const began = monotonic()
    if (!this.#sending) this.#gather()
    const sending = await this.#next()
    if (sending) {
      await store.put(sending.name, sending.bytes)
      this.#setNumber(sending.number)
      this.#segmentsSinceBase++
      this.#sending = undefined
      this.#last.ship = monotonic()
      this.state.roundMs = monotonic() - began
      keepHeld(this.options.dataDir, this.#held)
    }
    const isWaitedFor = waits && this.#waiting.length > 0
    if (isWaitedFor || this.#last.look + LOOK_EVERY_MS <= monotonic()) await this.#look()
    if (this.state.takenOver) return
    if (sending) {
      this.state.shippedAt = sending.readAt
      // While the base is on its way, nothing of this stream can be restored.
      if (!this.state.isBeginning) this.#serve(sending.turn)
    }
    this.#checkpoint()
    this.#startBaseIfDue()
    if (this.#last.clean + CLEAN_EVERY_MS <= monotonic()) {
      this.#last.clean = monotonic()
      await removeOld(store, this.options.wallClock() - this.options.keepMs)
    }
  }

  #serve(turn: number) {
    const served = this.#waiting.filter((waiting) => waiting.turn <= turn)
    this.#waiting = this.#waiting.filter((waiting) => waiting.turn > turn)
    for (const { resolve } of served) resolve()
  }

  /** Reads what was committed. A log that lost something ends the stream. */
  #gather(): void {
    const changes = this.#reader.read()
    if (!changes) {
      log.warning('the write-ahead log was begun anew by another program: a new base is stored')
      this.#begin()
      this.#gather()
      return
    }
    const readAt = this.options.wallClock()
    const before = this.#pending?.changes
    if (before?.databasePages && changes.databasePages) {
      for (const [page, bytes] of before.pages) if (!changes.pages.has(page)) changes.pages.set(page, bytes)
    }
    this.#pending = { changes: changes.databasePages || !before ? changes : before, readAt }
  }

  /** The segment to store now. One whose fate is unknown is stored again as it was: somebody may have read it. */
  async #next(): Promise<Sending | undefined> {
    if (this.#sending) return this.#sending
    const { secrets, monotonic } = this.options
    const { changes, readAt } = this.#pending!
    const isAlive = this.#last.ship + ALIVE_EVERY_MS > monotonic()
    if (!changes.databasePages && isAlive && !this.#waiting.length) {
      this.#pending = undefined
      this.state.shippedAt = this.state.isBeginning ? this.state.shippedAt : readAt
      return undefined
    }
    const number = this.#number + 1
    const name = segmentName(this.#stream!, number)
    const pages = [...changes.pages.keys()]
    const position = this.#reader.position ?? null
    const header = { stream: this.#stream!, number, at: readAt, pageSize: changes.pageSize, pages, position }
    // Before anything else is committed and counted.
    const turn = this.#turn++
    this.#pending = undefined
    const body = [...changes.pages.values()]
    const bytes = await encode(secrets, name, { ...header, databasePages: changes.databasePages }, body)
    return (this.#sending = { name, number, bytes, readAt, turn })
  }

  /** Has another controller claimed the store? */
  async #look() {
    const { store, secrets, monotonic } = this.options
    const higher = await higherClaim(store, secrets, this.#held)
    this.#last.look = monotonic()
    if (higher) this.#fence(higher)
  }

  #fence({ at, host }: { at?: number | undefined; host?: string | undefined }) {
    this.state.takenOver = { at, host }
    log.error('another controller took over: this one makes no more changes', { host, at })
    this.db.$client.health.hold({
      kind: 'taken-over',
      code: 'FENCED',
      reason: `Another controller took over${host ? ` on ${host}` : ''}.`,
      since: this.options.wallClock(),
    })
    this.#rejectWaiting()
    this.takenOver.resolve()
  }

  /** Copies the log into the database, if nothing was committed since it was read. */
  #checkpoint() {
    const isLong = this.#reader.offset > CHECKPOINT_BYTES
    if (!isLong || this.#base) return
    this.#gather()
    this.#copyLog()
  }

  /** Call it right after reading. */
  #copyLog(): boolean {
    const { health } = this.db.$client
    const copy = this.db.$client.query<{ busy: number; log: number; checkpointed: number }, []>(
      'PRAGMA wal_checkpoint(PASSIVE)',
    )
    const isLong = this.#reader.fileBytes() > LONG_LOG_BYTES
    const done = (isLong ? health.patiently(() => copy.get()) : copy.get())!
    const isWhole = done.busy === 0 && done.log === done.checkpointed
    if (isWhole) this.#reader.checkpointed()
    return isWhole
  }

  /** Call it every second: nobody waits for ever, and the log does not fill the disk. */
  check() {
    this.#rejectWaiting(this.options.monotonic() - UNSHIPPED_REFUSED_MS)
    if (!this.state.error || this.#base || this.#reader.fileBytes() < MOST_LOG_BYTES) return
    this.db.$client.health.patiently(() => this.db.$client.run('PRAGMA wal_checkpoint(PASSIVE)'))
    this.#stream = undefined
    this.#pending = undefined
    this.#sending = undefined
  }

  /** Goes on behind the last segment that an earlier process stored, if the log continues it. */
  async #continued(): Promise<boolean> {
    const { store, secrets, dataDir } = this.options
    const { stream, number } = this.#held
    if (!stream || number === undefined) return false
    const base = (await basePoints(store, stream)).at(-1)
    if (!base) return false
    let last = await fetchSegment(store, secrets, stream, number)
    for (let next = last; next; next = await fetchSegment(store, secrets, stream, last.header.number + 1)) last = next
    const position = last?.header.position
    if (!last || !position || !this.#reader.continueAt(position)) return false
    this.#stream = stream
    this.#setNumber(last.header.number)
    keepHeld(dataDir, this.#held)
    this.#segmentsSinceBase = this.#number - base.number
    this.state.baseAt = base.at
    return true
  }

  #setNumber(number: number) {
    this.#number = number
    this.#held = { ...this.#held, stream: this.#stream!, number }
  }

  /** A new stream: a base of everything, then segments. */
  #begin() {
    // A clock that was set back must not make the new stream the older one.
    const after = this.#held.stream ? streamTime(this.#held.stream) + 1 : 0
    this.#stream = streamName(this.#held.epoch, Math.max(this.options.wallClock(), after))
    this.#setNumber(0)
    this.#pending = undefined
    this.#sending = undefined
    this.#base = undefined
    this.#bases++
    this.state.isBeginning = true
    this.#reader.skipToEnd()
  }

  #startBaseIfDue() {
    const { monotonic, wallClock } = this.options
    if (this.#base || this.#last.base + BASE_RETRY_MS > monotonic()) return
    if (!this.state.isBeginning && this.#segmentsSinceBase < SEGMENTS_PER_BASE) return
    this.#gather()
    if (!this.#copyLog()) return
    // The database's file is now as it is somewhere between this segment and the next.
    this.#last.base = monotonic()
    const point = { stream: this.#stream!, number: this.#number, at: wallClock() }
    const turn = ++this.#bases
    this.#base = this.#storeBase(point, () => turn === this.#bases && !this.state.takenOver)
      .catch((error) => this.#failed(error))
      .finally(() => {
        if (turn === this.#bases) this.#base = undefined
        if (this.#waiting.length) void this.round(true)
      })
  }

  /** The file stands still meanwhile: nothing copies the log into it. */
  async #storeBase(point: BasePoint, isCurrent: () => boolean) {
    const { store, secrets } = this.options
    const file = this.db.$client.mainFile()
    const { size } = fstatSync(file)
    let parts = 0
    for (let at = 0; at < size; at += PART_BYTES) {
      const part = Buffer.alloc(Math.min(PART_BYTES, size - at))
      await readWhole(file, part, at)
      if (!isCurrent()) return
      const name = partName(point.stream, point.number, parts++)
      await store.put(name, await encode(secrets, name, {}, [part]))
    }
    // Another program that began the log anew meanwhile has changed the file.
    this.#gather()
    if (!isCurrent()) return
    const pageSize = this.db.$client.query<{ page_size: number }, []>('PRAGMA page_size').get()!.page_size
    const base: Base = { ...point, parts, bytes: size, pageSize }
    const name = baseName(point)
    await store.put(name, await encode(secrets, name, base))
    if (!isCurrent()) return
    this.#segmentsSinceBase = this.#number - point.number
    this.state.isBeginning = false
    this.state.baseAt = point.at
  }

  /** The last round at an orderly stop, when nothing writes any more. */
  async finish() {
    await Promise.race([this.round(true), Bun.sleep(FINISH_MS)])
    this.#stopped = true
    this.#rejectWaiting()
    this.#reader.close()
    this.options.store.close()
  }
}

const readAsync = promisify(readFile)
async function readWhole(file: number, into: Buffer, at: number) {
  for (let length = 0; length < into.length; ) {
    const { bytesRead } = (await readAsync(file, into, length, into.length - length, at + length)) as {
      bytesRead: number
    }
    if (!bytesRead) throw new Error('the database became shorter while it was copied')
    length += bytesRead
  }
}
