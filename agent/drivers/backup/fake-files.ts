import { Failure } from '../../failure.ts'
import type { BackupListing } from '../../protocol/backup.ts'
import type { FakeBackups } from './fake.ts'
import type { BackupFiles, DirectoryAt, DiskOf, FileAt, OpenFile } from './files.ts'

/** The file that a disk has to which a test wrote a text. */
export const CONTENT_FILE = 'content.txt'

/** Each disk has one partition; in its root directory is a file with the text of the disk, if it has one. */
export class FakeBackupFiles implements BackupFiles {
  constructor(private backups: FakeBackups) {}

  async list({ path, partition = 1, skip, ...at }: DirectoryAt): Promise<BackupListing> {
    const content = this.#content(at, partition)
    if (path[0] === CONTENT_FILE && path.length === 1 && content !== undefined)
      throw new Failure('not_a_directory', `${path[0]} is no directory`)
    if (path.length) throw new Failure('file_not_found', `there is no ${path.join('/')}`)
    const diskBytes = await this.backups.diskBytes(at.target, at.snapshot)
    const file = content && { name: CONTENT_FILE, kind: 'file' as const, sizeBytes: content.length, modifiedAt: null }
    return {
      partitions: [{ number: 1, sizeBytes: diskBytes, fileSystem: 'ext' }],
      partition: 1,
      entries: file ? [file].slice(skip) : [],
      total: file ? 1 : 0,
      isCut: false,
    }
  }

  async read({ path, partition = 1, ...at }: FileAt, signal: AbortSignal, work: (file: OpenFile) => Promise<void>) {
    const content = this.#content(at, partition)
    if (!path.length) throw new Failure('not_a_file', 'the root directory is no file')
    if (path.length > 1 || path[0] !== CONTENT_FILE || !content)
      throw new Failure('file_not_found', `there is no ${path.join('/')}`)
    await work({
      sizeBytes: content.length,
      bytes: (async function* () {
        signal.throwIfAborted()
        yield content
      })(),
    })
  }

  close() {}

  #content({ target, snapshot }: DiskOf, partition: number): Uint8Array | undefined {
    const content = this.backups.contentOf(target, snapshot)
    if (partition !== 1) throw new Failure('file_not_found', `there is no partition ${partition}`)
    return content === null ? undefined : new TextEncoder().encode(content)
  }
}
