// Single files of a backup. The disk is shown by restic while somebody looks at it, and for a moment longer; nothing of
// it is mounted.
import { Failure } from '../../failure.ts'
import {
  type BackupEntry,
  type BackupListing,
  type BackupTarget,
  type FileSystem,
  MOST_ENTRIES,
} from '../../protocol/backup.ts'
import { bytesOf, directoryOf, type Entry, entryAt, type FileSystemAt, timesOf } from './ext-files.ts'
import { MOST_OVERLAY_BYTES, Replays } from './journal.ts'
import { type Partition, partitionsOf, type ReadAt } from './partitions.ts'
import type { Restic } from './restic.ts'
import type { ShownDisk } from './restic-mount.ts'

/** The disk of a backup. */
export type DiskOf = { target: BackupTarget; snapshot: string }
/** Without `partition`: in the largest one that can be read. */
export type FileAt = DiskOf & { partition?: number | undefined; path: readonly string[] }
export type DirectoryAt = FileAt & { skip: number }
/** A file that is read. `bytes` is as long as said, or throws; leaving it ends the reading. */
export type OpenFile = { sizeBytes: number; bytes: AsyncIterable<Uint8Array> }

/**
 * Reads directories and files in the disks of backups. Both throw a `Failure` with a code of `FilesFailure`, or one of
 * backups. Links are not followed, and what is no file cannot be read.
 */
export interface BackupFiles {
  list(at: DirectoryAt): Promise<BackupListing>
  /** `work` reads the file while it lasts. */
  read(at: FileAt, signal: AbortSignal, work: (file: OpenFile) => Promise<void>): Promise<void>
  /** Lets go of every disk. */
  close(): void
}

/** The file system is one that cannot be read here. */
export class NoFileSystem extends Failure {
  constructor(readonly fileSystem: FileSystem) {
    super('no_file_system', `file systems of the kind ${fileSystem} cannot be read`)
  }
}

/** A disk that is shown takes the memory of one restic. */
const MOST_DISKS = 4
const IDLE_MS = 60_000

/** A disk that is shown, with the file systems in it whose journals are replayed. */
type Disk = { readAt: ReadAt; sizeBytes: number; replays: Replays }
type View = { disk: Promise<Disk>; users: number; idle: Timer | undefined; end(): void }

export class ResticFiles implements BackupFiles {
  #views = new Map<string, View>()

  constructor(
    private restic: Pick<Restic, 'whileReadable'>,
    private idleMs = IDLE_MS,
    private mostOverlayBytes = MOST_OVERLAY_BYTES,
  ) {}

  list = ({ path, partition, skip, ...at }: DirectoryAt): Promise<BackupListing> =>
    this.#using(at, async (disk) => {
      const partitions = await partitionsIn(disk)
      const shown = partitions.map(({ offset: _, ...one }) => one)
      const chosen = chosenOf(partitions, partition)
      if (!chosen) return { partitions: shown, partition: null, entries: [], total: 0, isCut: false }
      const fs = await fileSystemIn(disk, chosen)
      const at = await entryAt(fs, path)
      if (at.kind !== 'directory') throw new Failure('not_a_directory', `${at.name} is no directory`)
      const { entries, isCut } = await directoryOf(fs, at.inode)
      const page = entries.toSorted(byKindAndName).slice(skip, skip + MOST_ENTRIES)
      const times = page.length
        ? await timesOf(
            fs,
            page.map(({ inode }) => inode),
          )
        : new Map<number, number>()
      return {
        partitions: shown,
        partition: chosen.number,
        entries: page.map(({ inode, ...entry }): BackupEntry => ({ ...entry, modifiedAt: times.get(inode) ?? null })),
        total: entries.length,
        isCut,
      }
    })

  read = ({ path, partition, ...at }: FileAt, signal: AbortSignal, work: (file: OpenFile) => Promise<void>) =>
    this.#using(at, async (disk) => {
      const chosen = chosenOf(await partitionsIn(disk), partition)
      if (!chosen) throw new NoFileSystem('unknown')
      const fs = await fileSystemIn(disk, chosen)
      const entry = await entryAt(fs, path)
      if (entry.kind !== 'file') throw new Failure('not_a_file', `${entry.name} is no file`)
      // Holes alone can make a file larger than its file system, without end.
      if (entry.sizeBytes > chosen.sizeBytes)
        throw new Failure('file_too_large', `${entry.name} is larger than its file system`)
      await work({ sizeBytes: entry.sizeBytes, bytes: bytesOf(fs, entry, signal) })
    })

  close() {
    for (const { end } of this.#views.values()) end()
  }

  async #using<T>({ target, snapshot }: DiskOf, work: (disk: Disk) => Promise<T>): Promise<T> {
    const view = this.#view(target, snapshot)
    view.users++
    clearTimeout(view.idle)
    try {
      return await work(await view.disk)
    } finally {
      view.users--
      if (!view.users) view.idle = setTimeout(view.end, this.idleMs)
    }
  }

  /** Throws `too_many`. */
  #view(target: BackupTarget, snapshot: string): View {
    const key = new Bun.CryptoHasher('sha256').update(JSON.stringify([target, snapshot])).digest('hex')
    const known = this.#views.get(key)
    if (known) return known
    if (this.#views.size >= MOST_DISKS) {
      const [idle] = [...this.#views].find(([, { users }]) => !users) ?? []
      if (idle === undefined) throw new Failure('too_many', `files of ${MOST_DISKS} backups are being read already`)
      this.#views.get(idle)!.end()
      this.#views.delete(idle)
    }
    const shown = Promise.withResolvers<Disk>()
    const over = Promise.withResolvers<void>()
    const end = () => {
      clearTimeout(view.idle)
      if (this.#views.get(key) === view) this.#views.delete(key)
      over.resolve()
    }
    const view: View = { disk: shown.promise, users: 0, idle: undefined, end }
    this.#views.set(key, view)
    void this.restic
      .whileReadable(target, snapshot, async (disk) => {
        const { readAt, sizeBytes } = await readerOf(disk)
        const replays = new Replays(disk, readAt, this.mostOverlayBytes)
        shown.resolve({ readAt, sizeBytes, replays })
        disk.gone.addEventListener('abort', end, { once: true })
        await over.promise
        await replays.end()
      })
      .catch(shown.reject)
      .finally(end)
    return view
  }
}

/** Undefined where no partition can be read, and none was named. Throws `file_not_found`. */
function chosenOf(partitions: readonly Partition[], wanted: number | undefined): Partition | undefined {
  const chosen = wanted === undefined ? largestOf(partitions) : partitions.find(({ number }) => number === wanted)
  if (wanted !== undefined && !chosen) throw new Failure('file_not_found', `there is no partition ${wanted}`)
  return chosen
}

const largestOf = (partitions: readonly Partition[]) =>
  partitions.filter(({ fileSystem }) => fileSystem === 'ext').toSorted((a, b) => b.sizeBytes - a.sizeBytes)[0]

async function fileSystemIn({ replays }: Disk, partition: Partition): Promise<FileSystemAt> {
  if (partition.fileSystem !== 'ext') throw new NoFileSystem(partition.fileSystem)
  return await replays.fileSystemOf(partition)
}

const partitionsIn = ({ readAt, sizeBytes }: Disk): Promise<Partition[]> => partitionsOf(readAt, sizeBytes)

async function readerOf({ disk }: ShownDisk): Promise<{ readAt: ReadAt; sizeBytes: number }> {
  const { size: sizeBytes } = await disk.stat()
  const readAt = async (at: number, bytes: number) => {
    const { buffer, bytesRead } = await disk.read(Buffer.alloc(bytes), 0, bytes, at)
    return buffer.subarray(0, bytesRead)
  }
  return { readAt, sizeBytes }
}

const byKindAndName = (a: Entry, b: Entry) =>
  Number(b.kind === 'directory') - Number(a.kind === 'directory') || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
