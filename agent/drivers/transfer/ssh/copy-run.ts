// The copy of the disks of one transfer, over one connection after another. A disk that the target does not have at all
// is sent by qemu-img, which reads data alone. Of one that was begun the hashes of both sides are compared, after a
// mirror only of the blocks that may differ; those that do are sent, and compared once more.
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { copyProgress } from '../../../controller-link/job-log.ts'
import { Failure } from '../../../failure.ts'
import { begin } from '../../../host/exec.ts'
import type { Copied } from '../../../protocol/wire.ts'
import { sleep } from '../../../sleep.ts'
import { whileServed } from '../../backup/disk-server.ts'
import { qemuPath } from '../../storage/storage.ts'
import {
  BLOCK_BYTES,
  blocksOf,
  dataBytes,
  differing,
  hashAt,
  hashesAt,
  hashesOf,
  inOrder,
  isZeros,
  lengthOf,
} from '../nbd/blocks.ts'
import { ENOSPC, NbdClient, NbdError } from '../nbd/client.ts'
import type { Pace } from '../pace.ts'
import { type Copying, poolFull, type ServedVolume } from '../transfer.ts'
import { type Compared, fetchHashes, fetchSome, suspects } from './compared.ts'
import type { SshLink } from './link.ts'
import { EXPORT, nbdWord, socketOf } from './run-directory.ts'

const TELL_EVERY_MS = 500
const MEGABIT_BYTES = 125_000
/** qemu-img's requests under way at a time, the most that it takes. */
const REQUESTS = 16

export class CopyRun {
  /** When a byte last went through, by the monotonic clock. */
  movedAt = performance.now()
  #wasConnected = false
  #copiedBytes = 0
  /** The data of each disk. */
  #dataBytes = new Map<number, number>()
  #done = new Set<number>()

  constructor(
    private copying: Copying,
    private directory: string,
    private secret: string,
    private compared: Compared | undefined,
    private pace: Pace,
    private signal: AbortSignal,
  ) {}

  /**
   * Sends what the target does not have. Throws when the connection breaks; called again with another one it goes on.
   */
  async over(link: SshLink): Promise<Copied> {
    this.#wasConnected = true
    const { disks } = this.copying
    for (const [i] of disks.entries()) link.forward(nbdWord(i))
    for (const [i, volume] of disks.entries())
      if (!this.#dataBytes.has(i) && !this.copying.begun.has(i))
        this.#dataBytes.set(i, await this.#read(volume, dataBytes))
    for (const [i, volume] of disks.entries()) {
      if (this.#done.has(i)) continue
      await this.#sendDisk(link, i, volume)
      this.#done.add(i)
    }
    return this.#copied
  }

  /** After an error: false where another connection would end as this one did. */
  isWorthAnother(error: unknown): boolean {
    if (error instanceof NbdError) return true
    if (!(error instanceof Failure)) return false
    if (error.code === 'transfer_refused' || error.code === 'transfer_unreachable') return this.#wasConnected
    return error.code === 'transfer_cut'
  }

  get #copied(): Copied {
    const totalBytes = [...this.#dataBytes.values()].reduce((sum, bytes) => sum + bytes, 0)
    return { copiedBytes: this.#copiedBytes, totalBytes }
  }

  #tell(copiedBytes: number) {
    if (copiedBytes > this.#copiedBytes) this.movedAt = performance.now()
    this.#copiedBytes = copiedBytes
    copyProgress(this.#copied)
  }

  async #sendDisk(link: SshLink, i: number, volume: ServedVolume) {
    const { begun } = this.copying
    const theirs = await NbdClient.connect(socketOf(this.directory, nbdWord(i)), EXPORT)
    try {
      if (theirs.sizeBytes !== volume.sizeBytes)
        throw new Failure(
          'disk_differs',
          `the target's disk has ${theirs.sizeBytes} bytes, ${volume.disk.path} has ${volume.sizeBytes}`,
        )
      if (begun.has(i)) await this.#sendDifferences(link, i, volume, theirs)
      else {
        begun.add(i)
        // The rest is sent by comparison, which keeps each further limit at once.
        if (!(await this.#sendWhole(link, i, volume))) await this.#sendDifferences(link, i, volume, theirs)
      }
      await theirs.flush()
    } catch (error) {
      if (error instanceof NbdError && error.errno === ENOSPC) throw poolFull()
      throw error
    } finally {
      theirs.close()
    }
  }

  /** False: its limit has changed, which qemu-img keeps from its start on, so it was ended. */
  async #sendWhole(link: SshLink, i: number, { disk }: ServedVolume): Promise<boolean> {
    const { changed, maxMbps } = this.pace
    const path = join(this.secret, `progress-${i}`)
    const output = openSync(path, 'w', 0o600)
    const limit = maxMbps === null ? [] : ['-r', String(maxMbps * MEGABIT_BYTES)]
    const args = ['convert', '-p', '-n', '-W', '-m', String(REQUESTS), '--target-is-zero', ...limit]
    const uri = `nbd+unix:///${EXPORT}?socket=${socketOf(this.directory, nbdWord(i))}`
    const sent = begin('qemu-img', [...args, '-f', disk.format, '-O', 'raw', '--', qemuPath(disk), uri], {
      stdout: output,
    })
    const over = new AbortController()
    const stop = () => sent.stop()
    for (const signal of [this.signal, link.broken, changed])
      signal.addEventListener('abort', stop, { signal: over.signal })
    const before = this.#copiedBytes
    const dataOfDisk = this.#dataBytes.get(i)!
    try {
      const ended = sent.ended.finally(() => over.abort())
      while (!over.signal.aborted) {
        await sleep(TELL_EVERY_MS, over.signal)
        this.#tell(before + Math.floor((dataOfDisk * percentIn(path)) / 100))
      }
      const { code, err } = await ended
      if (code === 0) {
        this.#tell(before + dataOfDisk)
        return true
      }
      if (/No space left on device/.test(err)) throw poolFull()
      if (changed.aborted && !this.signal.aborted && !link.broken.aborted) return false
      throw new Failure('transfer_cut', err.trim().split('\n').at(-1) || `qemu-img was ended (${code})`)
    } finally {
      closeSync(output)
      rmSync(path, { force: true })
    }
  }

  async #sendDifferences(link: SshLink, i: number, volume: ServedVolume, theirs: NbdClient) {
    const { sizeBytes } = volume
    await this.#read(volume, async (ours) => {
      if (!this.#dataBytes.has(i)) this.#dataBytes.set(i, await dataBytes(ours))
      const some = await suspects(link, this.compared, i, sizeBytes)
      const blocks = some ?? Array.from({ length: blocksOf(sizeBytes) }, (_, at) => at)
      const [ourHashes, theirHashes] = await Promise.all(
        some ? [hashesAt(ours, some), fetchSome(link, i, some)] : [hashesOf(ours), fetchHashes(link, i, sizeBytes)],
      )
      const differ = [...differing(ourHashes, theirHashes)]
      await inOrder(differ, async (at) => {
        if (this.signal.aborted || link.broken.aborted) throw new Failure('transfer_cut', 'the connection broke')
        const block = blocks[at]!
        const [offset, length] = [block * BLOCK_BYTES, lengthOf(block, sizeBytes)]
        if (isZeros(ourHashes, at, length)) return await theirs.writeZeroes(offset, length)
        await sleep(this.pace.after(length), AbortSignal.any([this.signal, this.pace.changed]))
        await theirs.write(offset, await ours.read(offset, length))
        this.#tell(this.#copiedBytes + length)
      })
      await this.#mustHaveArrived(
        link,
        i,
        differ.map((at) => ({ block: blocks[at]!, hash: hashAt(ourHashes, at) })),
      )
    })
  }

  /** Reads what was sent again, so that after this copy all of the disk has been compared. */
  async #mustHaveArrived(link: SshLink, i: number, sent: readonly { block: number; hash: Buffer }[]) {
    if (!sent.length) return
    const arrived = await fetchSome(
      link,
      i,
      sent.map(({ block }) => block),
    )
    const wrong = sent.find(({ hash }, at) => !hash.equals(hashAt(arrived, at)))
    if (wrong) throw new Failure('checksum_differs', `block ${wrong.block} of disk ${i} differs after it was sent`)
  }

  #read<T>({ disk }: ServedVolume, work: (ours: NbdClient) => Promise<T>): Promise<T> {
    return whileServed(this.secret, disk, 'read', async ({ socket, exportName }) => {
      const ours = await NbdClient.connect(socket, exportName)
      try {
        return await work(ours)
      } finally {
        ours.close()
      }
    })
  }
}

/** The last percentage that qemu-img wrote. */
function percentIn(path: string): number {
  const all = [...readFileSync(path, 'latin1').matchAll(/\((\d+\.\d+)\/100%\)/g)]
  return Number(all.at(-1)?.[1] ?? 0)
}
