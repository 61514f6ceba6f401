// Copies from source hypervisors over SSH, or from this host itself. A raw disk is written into its volume at once; the
// files of a qcow2 disk are copied as they are, and become the volume at the end.
import { closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { copyProgress, say } from '../../controller-link/job-log.ts'
import { Failure } from '../../failure.ts'
import type { SourceHost } from '../../protocol/values/source-hosts.ts'
import type { Volume } from '../../protocol/wire.ts'
import { sleep } from '../../sleep.ts'
import type { Pool } from '../storage/storage.ts'
import { Pace } from '../transfer/pace.ts'
import { blockBytesOf } from './moving/block-map.ts'
import { tellCommand } from './moving/commands.ts'
import { PartCopy, type PartCopying } from './moving/copy-part.ts'
import { KeptCopies, type KeptCopy, type KeptPart, newPart } from './moving/kept-copy.ts'
import { SessionBroken, type SourceReader } from './moving/reader.ts'
import { type Sink, whileOpen, whileWritten } from './moving/sink.ts'
import {
  isStaged,
  type Layer,
  MOST_LAYERS,
  makeVolume,
  mustBeAsSeen,
  type StagedFile,
  stagedFile,
  stagingPath,
} from './moving/staged.ts'
import type { SourceCopied, SourceCopies, SourceCopying } from './source-servers.ts'
import { placeOf, type SshSourceServers } from './ssh-source-servers.ts'

/** A connection that breaks is made again until nothing has come for so long. */
const GIVE_UP_MS = 120_000
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [500, 10_000]
const TELL_EVERY_MS = 10_000
const MIB = 1 << 20

type Run = { stop: AbortController; pace: Pace; ended: Promise<unknown> }

export class SshSourceCopies implements SourceCopies {
  #runs = new Map<string, Run>()
  #kept: KeptCopies

  /** `dir`: of the copies. `giveUpMs`: see above. */
  constructor(
    private servers: SshSourceServers,
    dir: string,
    private giveUpMs = GIVE_UP_MS,
  ) {
    this.#kept = new KeptCopies(dir)
  }

  async copy(copying: SourceCopying): Promise<SourceCopied> {
    const { copy, maxMbps } = copying
    this.#kept.prune()
    // A command that was sent under another key.
    for (let before = this.#runs.get(copy); before; before = this.#runs.get(copy)) await before.ended
    const told = this.#kept.read(copy).maxMbps
    const pace = new Pace(told === undefined ? maxMbps : told)
    const stop = new AbortController()
    const work = new CopyRun(copying, this.servers, this.#kept, pace, stop.signal, this.giveUpMs).run()
    const ended = work.catch(() => {}).finally(() => this.#runs.delete(copy))
    this.#runs.set(copy, { stop, pace, ended })
    return work
  }

  limit(copy: string, maxMbps: number | null) {
    const run = this.#runs.get(copy)
    if (run) run.pace.maxMbps = maxMbps
    if (!this.#kept.has(copy)) return
    this.#kept.write(copy, { ...this.#kept.read(copy), maxMbps })
  }

  async discard(copy: string, volume: Volume, pool: Pool) {
    const run = this.#runs.get(copy)
    run?.stop.abort()
    await run?.ended
    // A volume that was there before it began is not its own.
    const { parts, finished } = this.#kept.read(copy)
    this.#kept.clear(copy)
    if (parts.length || finished) await pool.remove(volume)
    this.#kept.forget(copy)
  }

  /** For tests: the processes that reach the source for this copy now. */
  sessionsOf = (copy: string): number[] => CopyRun.sessions.get(copy) ?? []
}

class CopyRun {
  static sessions = new Map<string, number[]>()
  #kept: KeptCopy
  #host: SourceHost | null
  #began = performance.now()
  #movedAt = performance.now()
  #toldAt = performance.now()
  #toldBytes = 0
  #wasConnected = false
  /** The staged files, the highest first. */
  #layers: Layer[] = []
  #copied = { totalBytes: 0, copiedBytes: 0, blocks: 0, changedBlocks: 0 }

  constructor(
    private at: SourceCopying,
    private servers: SshSourceServers,
    private copies: KeptCopies,
    private pace: Pace,
    private signal: AbortSignal,
    private giveUpMs: number,
  ) {
    this.#kept = copies.read(at.copy)
    this.#host = at.host
  }

  async run(): Promise<SourceCopied> {
    const { pass } = this.at
    const done = this.#kept.finished ?? (pass === 'running' ? this.#kept.running : null)
    if (done) return done
    try {
      const before = await this.#look()
      if (!this.#kept.parts.length) await this.#begin(before.takesBytes)
      await this.#copyParts()
      const ms = () => Math.round(performance.now() - this.#began)
      if (pass === 'running') {
        this.#kept.running = { ...this.#copied, ms: ms() }
        this.#keep()
        return this.#kept.running
      }
      const after = await this.#look()
      if (after.written !== before.written)
        throw new Failure('source_started', `${this.at.drive.path} was written while it was copied`)
      await this.#finish()
      this.#kept.finished = { ...this.#copied, ms: ms() }
      this.#keep()
      this.copies.clear(this.at.copy)
      return this.#kept.finished
    } catch (error) {
      if (!this.signal.aborted) throw error
      throw new Failure('source_copy_ended', `the copy ${this.at.copy} was ended`, { cause: error })
    }
  }

  /** Throws `source_started` in the pass that needs the server off. */
  async #look() {
    const { domain, drive, pass } = this.at
    const seen = await this.servers.look({ host: this.#host, domain }, drive.path)
    if (this.#host) this.#host = { ...this.#host, hostKey: seen.hostKey }
    if (pass === 'off' && seen.state !== 'off' && seen.state !== 'absent')
      throw new Failure('source_started', `${domain} is ${seen.state} at ${placeOf(this.#host)}`)
    return seen
  }

  async #begin(takesBytes: number) {
    const { copy, pool, volume, drive } = this.at
    if ((await pool.sizeBytes(volume)) !== undefined)
      throw new Failure('volume_differs', `${(await pool.disk(volume)).path} is there already, and is left as it is`)
    const { freeBytes } = await pool.capacity()
    if (freeBytes < takesBytes)
      throw new Failure('pool_full', `the disk takes ${takesBytes} bytes, pool ${volume.pool} has ${freeBytes} left`)
    const staged = drive.format === 'raw' ? null : await stagingPath(pool, volume, copy, 0, this.copies.directory(copy))
    this.#kept.parts = [newPart(drive.path, staged)]
    this.#keep()
  }

  #keep = () => this.copies.write(this.at.copy, { ...this.#kept, ...this.#limitTold() })
  /** It may have come while this copy was under way. */
  #limitTold() {
    const { maxMbps } = this.copies.read(this.at.copy)
    return maxMbps === undefined ? {} : { maxMbps }
  }

  /** The disk, and the files behind it, which are known when it has come. */
  async #copyParts() {
    const { copy, drive, pool, volume } = this.at
    const { parts } = this.#kept
    let told: StagedFile['backingFormat'] = drive.format
    for (let n = 0; n < parts.length; n++) {
      const part = parts[n]!
      await this.#copyPart(part, n)
      if (!isStaged(part)) continue
      const found = await stagedFile(part.staged, part.path, told)
      if (n === 0) mustBeAsSeen(found, drive)
      this.#layers[n] = { ...found, staged: part.staged }
      told = found.backingFormat
      if (found.backing === null || parts[n + 1]) continue
      if (n + 1 === MOST_LAYERS)
        throw new Failure(
          'image_refused',
          `the image is refused: more than ${MOST_LAYERS} files are behind ${drive.path}`,
        )
      parts.push(newPart(found.backing, await stagingPath(pool, volume, copy, n + 1, this.copies.directory(copy))))
      this.#keep()
    }
  }

  async #copyPart(part: KeptPart, n: number) {
    const { pass, copy } = this.at
    if (part.arrivedBytes > 0 && !(await this.#isThere(part))) {
      say('warning', `What had arrived of ${part.path} is gone, so it is copied again`)
      rmSync(this.copies.mapOf(copy, n), { force: true })
      Object.assign(part, newPart(part.path, part.staged))
    }
    const at: Omit<PartCopying, 'sink'> = {
      ...{ part, mapPath: this.copies.mapOf(copy, n), pace: this.pace, signal: this.signal, keep: this.#keep },
      onBytes: (done, total) => this.#tell(done, total),
    }
    let copied: PartCopy | undefined
    let known: PartCopying | undefined
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, 2 * waitMs)) {
      const movedAt = this.#movedAt
      try {
        await this.#withReader(part, async (reader, end) => {
          await this.#withSink(part, reader.sizeBytes, async (sink) => {
            if (!copied || !known || part.sizeBytes !== reader.sizeBytes || part.blockBytes !== reader.blockBytes) {
              known = { ...at, sink }
              copied = new PartCopy(known, reader)
            }
            known.sink = sink
            try {
              if (pass === 'running') await copied.running(reader)
              else {
                await copied.readBefore()
                await copied.off(reader)
              }
            } finally {
              await copied.settle()
            }
            await end()
            if (pass === 'running') await copied.mapRunning()
            else await copied.compare(part.path)
          })
        })
        this.#add(copied!, part)
        return
      } catch (error) {
        if (this.signal.aborted || !this.#isWorthAnother(error)) throw error
        if (this.#movedAt !== movedAt) waitMs = FIRST_WAIT_MS
        if (performance.now() - this.#movedAt > this.giveUpMs)
          throw new Failure(
            'source_unreachable',
            `${placeOf(this.#host)} is not reached any more: ${(error as Error).message}`,
          )
        say('warning', `The connection to the source broke, and is made again: ${(error as Error).message}`)
        await sleep(waitMs, this.signal)
      }
    }
  }

  async #isThere({ staged }: KeptPart) {
    if (staged) return existsSync(staged)
    return (await this.at.pool.sizeBytes(this.at.volume)) !== undefined
  }

  /** An answer of the source that it gives again is none. */
  #isWorthAnother = (error: unknown) =>
    error instanceof SessionBroken ||
    (error instanceof Failure && error.code === 'source_unreachable' && this.#wasConnected)

  /** `end`: the source is needed no more. */
  async #withReader(part: KeptPart, work: (reader: SourceReader, end: () => Promise<void>) => Promise<void>) {
    const { copy, pass } = this.at
    const blockBytes = part.blockBytes || blockBytesOf(Math.max(part.sizeBytes, this.at.drive.virtualBytes))
    const reader = await this.servers.read({
      ...{ host: this.#host, path: part.path, blockBytes, isOff: pass === 'off', signal: this.signal },
    })
    this.#wasConnected = true
    this.#movedAt = performance.now()
    CopyRun.sessions.set(copy, [...(CopyRun.sessions.get(copy) ?? []), reader.pid])
    let isOpen = true
    const end = async () => {
      if (!isOpen) return
      isOpen = false
      CopyRun.sessions.set(
        copy,
        (CopyRun.sessions.get(copy) ?? []).filter((pid) => pid !== reader.pid),
      )
      if (!CopyRun.sessions.get(copy)?.length) CopyRun.sessions.delete(copy)
      const words = reader.kind === 'python' ? `python -c '…' ${part.path} ${reader.blockBytes}` : `dd if=${part.path}`
      tellCommand({ words, ...(await reader.close()) })
    }
    try {
      await work(reader, end)
    } finally {
      await end()
    }
  }

  async #withSink(part: KeptPart, sizeBytes: number, work: (sink: Sink) => Promise<void>) {
    const { copy, drive, pool, volume } = this.at
    if (part.staged) {
      closeSync(openSync(part.staged, 'a', 0o600))
      return whileOpen(part.staged, sizeBytes, work)
    }
    if (sizeBytes !== drive.virtualBytes)
      throw new Failure('source_disk_changed', `${drive.path} has ${sizeBytes} bytes by now, not ${drive.virtualBytes}`)
    // Within its size from the beginning, so that nothing behind the source's end is ever written.
    await pool.receive(volume, sizeBytes, async () => {})
    mkdirSync(this.copies.directory(copy), { recursive: true, mode: 0o700 })
    return whileWritten(await pool.disk(volume), this.copies.directory(copy), work)
  }

  /** Makes the volume of what was staged, as large as it shall be. */
  async #finish() {
    const { pool, volume, sizeBytes, drive } = this.at
    const largest = Math.max(sizeBytes, drive.virtualBytes)
    if (this.#layers.length) await makeVolume(pool, volume, largest, this.#layers)
    await pool.grow(volume, sizeBytes)
  }

  #add({ copied, blocks }: PartCopy, { sizeBytes }: KeptPart) {
    const all = this.#copied
    all.totalBytes += sizeBytes
    all.blocks += blocks
    all.copiedBytes += copied.copiedBytes
    all.changedBlocks += copied.changedBlocks
  }

  #tell(doneBytes: number, totalBytes: number) {
    const now = performance.now()
    this.#movedAt = now
    copyProgress({ copiedBytes: doneBytes, totalBytes })
    if (now - this.#toldAt < TELL_EVERY_MS) return
    const seconds = (now - this.#toldAt) / 1000
    const speed = (Math.max(0, doneBytes - this.#toldBytes) / MIB / seconds).toFixed(0)
    const percent = Math.floor((100 * doneBytes) / Math.max(1, totalBytes))
    say('info', `${gib(doneBytes)} of ${gib(totalBytes)} GiB, ${percent} %, ${speed} MiB/s`)
    this.#toldAt = now
    this.#toldBytes = doneBytes
  }
}

const gib = (bytes: number) => (bytes / 1024 / MIB).toFixed(1)
