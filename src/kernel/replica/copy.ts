// A copy of the database that is made from a replica: a base, then segment by segment. Each holds whole pages, so one
// that was applied in part is simply applied again.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Secrets } from '../crypto/secrets.ts'
import type { ObjectStore } from '../stores/store.ts'
import {
  type Base,
  type BasePoint,
  baseName,
  basePoints,
  fetchObject,
  fetchSegment,
  ObjectDamaged,
  partName,
  type Segment,
  segmentFolder,
  segmentName,
} from './objects.ts'

/** How far a copy is. `at`: the host's clock of the controller at the last change that it may have. */
export type CopyState = { stream: string; number: number; at: number }

/** Nothing in the store leads to this point. */
export class NotInReplica extends Error {}

const FETCHED_AT_ONCE = 8
const bootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()

export class Copy {
  #file: FileHandle | undefined
  #state: CopyState | undefined

  constructor(
    private store: ObjectStore,
    private secrets: Secrets,
    readonly path: string,
  ) {
    this.#state = this.#kept()
  }

  get state(): CopyState | undefined {
    return this.#state
  }

  /** Begins with the last base before `until`, unless the copy is already on the way there. */
  async begin(until = Infinity): Promise<void> {
    const points = await basePoints(this.store)
    const point = bestPoint(points, until)
    if (!point) throw new NotInReplica(notThere(points, until))
    const { stream, number = -1 } = this.#state ?? {}
    if (stream === point.stream && number >= point.number && (this.#state?.at ?? Infinity) <= until) return
    await this.#load(point)
  }

  /** Whether a later stream has begun: this one then has nothing more to give. */
  async isOutdated(): Promise<boolean> {
    const last = (await basePoints(this.store)).at(-1)
    return last !== undefined && last.stream > (this.#state?.stream ?? '')
  }

  async #load(point: BasePoint) {
    const name = baseName(point)
    const found = await fetchObject<Base>(this.store, this.secrets, name)
    if (!found) throw new NotInReplica(`The base ${name} was removed meanwhile. Try again.`)
    const { parts, bytes } = found.header
    await this.close()
    this.#forget()
    const file = await open(this.path, 'w', 0o600)
    let written = 0
    try {
      for (let from = 0; from < parts; from += FETCHED_AT_ONCE) {
        const numbers = Array.from({ length: Math.min(FETCHED_AT_ONCE, parts - from) }, (_, i) => from + i)
        const bodies = await Promise.all(numbers.map((part) => this.#part(point, part)))
        for (const body of bodies) {
          await file.write(body, 0, body.length, written)
          written += body.length
        }
      }
      await file.sync()
    } finally {
      await file.close()
    }
    if (written !== bytes) throw new ObjectDamaged(`${name} has ${written} bytes in its parts instead of ${bytes}`)
    this.#keep({ stream: point.stream, number: point.number, at: point.at })
  }

  async #part({ stream, number }: BasePoint, part: number) {
    const name = partName(stream, number, part)
    const found = await fetchObject(this.store, this.secrets, name)
    if (!found) throw new ObjectDamaged(`${name} is missing`)
    return found.body
  }

  /** Applies the segments that there are, up to that time; answers how many. Throws `ObjectDamaged` for a gap. */
  async follow(until = Infinity): Promise<number> {
    let applied = 0
    for (;;) {
      const { stream, number } = this.#state!
      // Behind the end there is nothing to fetch ahead.
      const width = Math.min(FETCHED_AT_ONCE, applied + 1)
      const numbers = Array.from({ length: width }, (_, i) => number + 1 + i)
      const found = await Promise.all(numbers.map((n) => fetchSegment(this.store, this.secrets, stream, n)))
      for (const segment of found) {
        if (!segment) break
        if (segment.header.at > until) return applied
        await this.#apply(segment.header, segment.body)
        applied++
      }
      if (found.includes(undefined)) return applied
    }
  }

  /** Throws `ObjectDamaged` when there are segments behind the last that was applied: one between them is missing. */
  async mustBeWithoutGap() {
    const { stream, number } = this.#state!
    const next = segmentName(stream, number + 1)
    for (const folder of new Set([segmentFolder(stream, number + 1), segmentFolder(stream, number + 1000)])) {
      const later = (await this.store.list(folder)).find((name) => name > next)
      if (later && !(await this.store.get(next))) throw new ObjectDamaged(`${next} is missing, and ${later} is there`)
    }
  }

  async #apply({ stream, number, at, pageSize, pages, databasePages }: Segment, body: Buffer) {
    if (databasePages) {
      if (body.length !== pages.length * pageSize) throw new ObjectDamaged(`the segment ${number} has no whole pages`)
      this.#file ??= await open(this.path, 'r+')
      // Pages that follow each other are written together.
      for (const { first, from, count } of runsOf(pages))
        await this.#file.write(body, from * pageSize, count * pageSize, (first - 1) * pageSize)
      await this.#file.truncate(databasePages * pageSize)
    }
    this.#keep({ stream, number, at })
  }

  /** On disk, and nothing holds it open. */
  async finish() {
    this.#file ??= await open(this.path, 'r+')
    await this.#file.sync()
    await this.close()
    this.#forget()
  }

  async close() {
    await this.#file?.close()
    this.#file = undefined
  }

  #stateFile = () => `${this.path}.state`
  #kept(): CopyState | undefined {
    try {
      if (!existsSync(this.path)) return undefined
      const { boot, ...state } = JSON.parse(readFileSync(this.#stateFile(), 'utf8')) as CopyState & { boot: string }
      // Nothing of it was flushed: after a crash of the host it begins again.
      return boot === bootId() ? state : undefined
    } catch {
      return undefined
    }
  }
  /** It may be behind what was written, and never ahead: pages reach the file first, within one process. */
  #keep(state: CopyState) {
    const part = `${this.#stateFile()}.new`
    writeFileSync(part, JSON.stringify({ ...state, boot: bootId() }), { mode: 0o600 })
    renameSync(part, this.#stateFile())
    this.#state = state
  }
  #forget() {
    rmSync(this.#stateFile(), { force: true })
    this.#state = undefined
  }
}

/** Of the last stream that had begun by then, its last base by then. */
function bestPoint(points: readonly BasePoint[], until: number): BasePoint | undefined {
  const stream = points.findLast(({ at }) => at <= until)?.stream
  return points.findLast((point) => point.stream === stream && point.at <= until)
}

const notThere = (points: readonly BasePoint[], until: number) => {
  const first = points[0]
  if (!first) return 'The replica has no whole copy of a database.'
  return `The replica begins at ${new Date(first.at).toISOString()}, after ${new Date(until).toISOString()}.`
}

/** Runs of pages whose numbers follow each other: the first page, its place in the body, how many. */
function runsOf(pages: readonly number[]) {
  const runs: { first: number; from: number; count: number }[] = []
  pages.forEach((page, i) => {
    const last = runs.at(-1)
    if (last && last.first + last.count === page) last.count++
    else runs.push({ first: page, from: i, count: 1 })
  })
  return runs
}
