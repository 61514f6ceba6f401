// The journal of an ext3 or ext4 file system that was in use when its disk was saved. It is replayed as the kernel does
// at a mount, into an overlay: the backup is never written. e2fsck, which replays, runs confined, because a stranger
// made the file system. What it writes is the customer's own data, and has a limit.
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, wordsOf } from '../../failure.ts'
import { type Begun, begin, beginConfined, CONFINED_INPUT, NOBODY, run } from '../../host/exec.ts'
import { log } from '../../log.ts'
import type { FileSystemAt } from './ext-files.ts'
import type { Partition, ReadAt } from './partitions.ts'
import type { ShownDisk } from './restic-mount.ts'

/** In memory. A journal has at most 1 GiB, of which a system in use seldom needs a tenth. */
export const MOST_OVERLAY_BYTES = 128 << 20
/** Of one disk, so that a disk of many small file systems does not fill the memory. */
const MOST_OVERLAYS = 2
const START_SECONDS = 30
const POLL_MS = 20
const REPLAY_SECONDS = 60
/** `s_feature_incompat` of the superblock, and its flag "the journal needs recovery". */
const FEATURES_AT = 1024 + 0x60
const NEEDS_RECOVERY = 0x4

type Replayed = { fs: FileSystemAt; end(): Promise<void> }

/** The ext file systems of a disk while it is shown. */
export class Replays {
  #fileSystems = new Map<number, Promise<FileSystemAt>>()
  #replayed: Replayed[] = []
  #overlays = 0

  constructor(
    private shown: ShownDisk,
    private readAt: ReadAt,
    private mostOverlayBytes: number,
  ) {}

  /** The file system of a partition, with its journal replayed; as it was saved where that cannot be done. */
  fileSystemOf(partition: Partition): Promise<FileSystemAt> {
    const known = this.#fileSystems.get(partition.number)
    if (known) return known
    const found = this.#find(partition)
    this.#fileSystems.set(partition.number, found)
    found.catch(() => this.#fileSystems.delete(partition.number))
    return found
  }

  async end() {
    await Promise.allSettled(this.#fileSystems.values())
    await Promise.all(this.#replayed.splice(0).map(({ end }) => end()))
  }

  async #find(partition: Partition): Promise<FileSystemAt> {
    const asSaved = { fd: this.shown.disk.fd, offset: partition.offset }
    if (!(await needsReplay(this.readAt, partition.offset)) || this.#overlays === MOST_OVERLAYS) return asSaved
    this.#overlays++
    try {
      const replayed = await replay(this.shown, partition, this.mostOverlayBytes)
      this.#replayed.push(replayed)
      return replayed.fs
    } catch (error) {
      log('warning', 'the journal of a file system in a backup is not replayed', { error: wordsOf(error) })
      return asSaved
    }
  }
}

async function needsReplay(readAt: ReadAt, offset: number): Promise<boolean> {
  const features = await readAt(offset + FEATURES_AT, 4)
  return features.length === 4 && (features.readUInt32LE(0) & NEEDS_RECOVERY) !== 0
}

/** Throws a `Failure` where it cannot be replayed, and then leaves nothing running. */
async function replay({ path, folder, gone }: ShownDisk, partition: Partition, mostBytes: number): Promise<Replayed> {
  const { number, sizeBytes } = partition
  const at = join(folder, `partition${number}`)
  mkdirSync(at)
  const overlay = await beginOverlay(path, at, partition, mostBytes)
  let file: FileHandle | undefined
  const end = async () => {
    overlay.stop()
    await overlay.ended
    await file?.close().catch(() => {})
  }
  gone.addEventListener('abort', () => overlay.stop(), { once: true })
  try {
    await untilShown(overlay, exportIn(at), sizeBytes)
    chownSync(exportIn(at), NOBODY, NOBODY)
    file = await open(exportIn(at), 'r')
    const { fd } = file
    // Its size limits holes only: what it really writes is limited by the overlay.
    const e2fsck = beginConfined('e2fsck', ['-y', '-E', 'journal_only', CONFINED_INPUT], {
      ...{ input: fd, limitSeconds: REPLAY_SECONDS, mostFileBytes: sizeBytes },
    })
    const said = await new Response(e2fsck.stdout).text()
    const { code, err } = await e2fsck.ended
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, FEATURES_AT)
    if (buffer.readUInt32LE(0) & NEEDS_RECOVERY)
      throw new Failure('tool_failed', `e2fsck ended with ${code}: ${(err.trim() || said.trim()).slice(-500)}`)
    chmodSync(exportIn(at), 0o400)
    return { fs: { fd, offset: 0 }, end }
  } catch (error) {
    await end()
    throw error
  }
}

const exportIn = (folder: string) => join(folder, 'partition.raw')

/** Shows a partition as a file that can be written, by FUSE. The disk itself is open for reading only. */
async function beginOverlay(disk: string, folder: string, partition: Partition, mostFileBytes: number): Promise<Begun> {
  const { offset, sizeBytes } = partition
  const overlay = join(folder, 'overlay.qcow2')
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', overlay, String(sizeBytes)], { quietly: true })
  writeFileSync(exportIn(folder), '')
  const nodes = [
    { driver: 'file', 'node-name': 'disk', filename: disk, 'read-only': true, locking: 'off' },
    { driver: 'raw', 'node-name': 'saved', file: 'disk', offset, size: sizeBytes, 'read-only': true },
    { driver: 'file', 'node-name': 'overlay', filename: overlay },
    { driver: 'qcow2', 'node-name': 'replayed', file: 'overlay', backing: 'saved' },
  ]
  const shown = { type: 'fuse', id: 'shown', 'node-name': 'replayed', writable: true, 'allow-other': 'on' }
  const args = [
    ...nodes.flatMap((node) => ['--blockdev', JSON.stringify(node)]),
    ...['--export', JSON.stringify({ ...shown, mountpoint: exportIn(folder) })],
  ]
  return begin('qemu-storage-daemon', args, { mostFileBytes })
}

async function untilShown(overlay: Begun, path: string, sizeBytes: number) {
  let ended = false
  void overlay.ended.then(() => (ended = true))
  for (const until = performance.now() + START_SECONDS * 1000; ; await Bun.sleep(POLL_MS)) {
    if ((await stat(path)).size === sizeBytes) return
    if (ended) throw new Failure('tool_failed', `qemu-storage-daemon ended: ${(await overlay.ended).err.trim()}`)
    if (performance.now() > until) throw new Failure('tool_timeout', 'qemu-storage-daemon showed no overlay')
  }
}
