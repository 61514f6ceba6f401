// Copies from source hypervisors that do not exist. A disk has one text and no bytes; a pass goes in parts, which stay
// over a kill of the agent.
import type { Database } from 'bun:sqlite'
import { copyProgress, say } from '../../controller-link/job-log.ts'
import { Failure } from '../../failure.ts'
import type { Volume } from '../../protocol/wire.ts'
import { sleep } from '../../sleep.ts'
import { FakeLayers } from '../storage/fake-layers.ts'
import type { Pool } from '../storage/storage.ts'
import type { FakeMoving, FakeSourceServers } from './fake-servers.ts'
import type { OfDomain, SourceCopied, SourceCopies, SourceCopying } from './source-servers.ts'

const SCHEMA = `
  create table if not exists source_copies (
    copy text primary key, content text, parts integer not null default 0, finished text) strict;
  create table if not exists source_copy_limits (copy text primary key, mbps integer) strict`

const PARTS = 10
const BLOCK_BYTES = 64 << 10
/** Of a disk that is written while it is copied: the part that the second pass brings. */
const CHANGED_PART = 0.01

type Kept = { content: string | null; parts: number; finished: string | null }

export class FakeSourceCopies implements SourceCopies {
  #disks: FakeLayers
  #stops = new Map<string, AbortController>()

  constructor(
    private db: Database,
    private servers: FakeSourceServers,
  ) {
    db.run(SCHEMA)
    this.#disks = new FakeLayers(db)
  }

  async copy(copying: SourceCopying): Promise<SourceCopied> {
    const { copy, volume, pool, pass, drive, sizeBytes } = copying
    const kept = this.#find(copy)
    if (kept?.finished) return JSON.parse(kept.finished) as SourceCopied
    const { drives, moving } = await this.servers.find(copying)
    if (pass === 'off') await this.#mustBeOff(copying)
    const size = drives.find(({ path }) => path === drive.path)?.virtualBytes
    if (size !== undefined && size !== null && size !== drive.virtualBytes)
      throw new Failure('source_disk_changed', `${drive.path} has ${size} bytes by now, not ${drive.virtualBytes}`)
    if (!kept && (await pool.sizeBytes(volume)) !== undefined)
      throw new Failure('volume_differs', `${(await pool.disk(volume)).path} is there already, and is left as it is`)
    if ((await pool.capacity()).freeBytes < sizeBytes)
      throw new Failure('pool_full', `the disk needs ${sizeBytes} bytes, which pool ${volume.pool} does not have`)
    this.db.run('insert or ignore into source_copies (copy) values (?)', [copy])
    const isSecond = kept?.content !== undefined && kept?.content !== null
    const copied = await this.#parts(copying, moving, isSecond)
    const content = (pass === 'off' ? (moving.writtenSince ?? moving.content) : moving.content) ?? drive.path
    if (pass === 'running') {
      this.db.run('update source_copies set content = ?, parts = 0 where copy = ?', [content, copy])
      return copied
    }
    await this.#mustBeOff(copying)
    if (moving.arrivesDifferent)
      throw new Failure('checksum_differs', `block 0 of ${drive.path} differs after it was read back`)
    await pool.receive(volume, sizeBytes, async () => {})
    this.#disks.write((await pool.disk(volume)).path, content)
    this.db.run('update source_copies set finished = ? where copy = ?', [JSON.stringify(copied), copy])
    const of: OfDomain = { host: copying.host, domain: copying.domain }
    if (moving.startsAfterCopy && this.servers.strikes(of, 'start-after-copy', 1)) this.servers.startsThere(of)
    return copied
  }

  async #parts(copying: SourceCopying, moving: FakeMoving, isSecond: boolean): Promise<SourceCopied> {
    const { copy, pass, drive } = copying
    const { virtualBytes: totalBytes, path } = drive
    const began = performance.now()
    const stop = new AbortController()
    this.#stops.set(copy, stop)
    const blocks = Math.ceil(totalBytes / BLOCK_BYTES)
    const wanted = isSecond ? (moving.writtenSince === undefined ? 0 : CHANGED_PART) : 1
    const before = this.#find(copy)?.parts ?? 0
    try {
      for (let part = before; part < PARTS; part++) {
        await sleep((moving.ms ?? PARTS) / PARTS, stop.signal)
        if (stop.signal.aborted) throw new Failure('source_copy_ended', `the copy ${copy} was ended`)
        const percent = (100 * (part + 1)) / PARTS
        this.#troubles(copying, moving, percent)
        this.db.run('update source_copies set parts = ? where copy = ?', [part + 1, copy])
        copyProgress({ copiedBytes: Math.floor((totalBytes * wanted * percent) / 100), totalBytes })
      }
    } finally {
      if (this.#stops.get(copy) === stop) this.#stops.delete(copy)
    }
    say('info', `${path} has been read (${pass})`)
    const changedBlocks = Math.ceil(blocks * wanted)
    const ms = Math.round(performance.now() - began)
    return { totalBytes, copiedBytes: Math.floor(totalBytes * wanted), blocks, changedBlocks, ms }
  }

  /** Lets happen what was to happen before so many per cent. */
  #troubles(copying: SourceCopying, moving: FakeMoving, percent: number) {
    const { pass, drive, host, domain } = copying
    const of: OfDomain = { host, domain }
    const { startsAtPercent, cutAtPercent, cuts = Number.POSITIVE_INFINITY, readErrorAt } = moving
    if (readErrorAt !== undefined && (100 * readErrorAt) / drive.virtualBytes < percent)
      throw new Failure('source_read_error', `${drive.path} cannot be read at byte ${readErrorAt}: Input/output error`)
    if (cutAtPercent !== undefined && cutAtPercent < percent && this.servers.strikes(of, 'cut', cuts))
      throw new Failure('source_unreachable', `the connection to ${host?.address ?? 'this host'} broke`)
    if (pass === 'off' && startsAtPercent !== undefined && startsAtPercent < percent)
      if (this.servers.strikes(of, 'start-by-panel', 1)) this.servers.startsThere(of)
  }

  async #mustBeOff({ host, domain }: SourceCopying) {
    const { state } = (await this.servers.find({ host, domain })).server
    if (state !== 'off' && state !== 'absent')
      throw new Failure('source_started', `${domain} is ${state} at ${host?.address ?? 'this host'}`)
  }

  limit(copy: string, maxMbps: number | null) {
    this.db.run('insert or replace into source_copy_limits values (?, ?)', [copy, maxMbps])
  }
  /** For tests: the limit that the copy was told; undefined: none. */
  limitOf = (copy: string) =>
    this.db.query<{ mbps: number | null }, [string]>('select mbps from source_copy_limits where copy = ?').get(copy)
      ?.mbps

  async discard(copy: string, volume: Volume, pool: Pool) {
    this.#stops.get(copy)?.abort()
    const kept = this.#find(copy)
    if (!kept) return
    await pool.remove(volume)
    for (const table of ['source_copies', 'source_copy_limits'])
      this.db.run(`delete from ${table} where copy = ?`, [copy])
  }

  #find = (copy: string) =>
    this.db.query<Kept, [string]>('select content, parts, finished from source_copies where copy = ?').get(copy) ??
    undefined
}
