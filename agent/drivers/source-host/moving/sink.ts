// The place where the bytes of a copy arrive: a file or a device, written as it is, or a disk of another format, which
// is served by NBD.
import { type FileHandle, open } from 'node:fs/promises'
import { Failure } from '../../../failure.ts'
import { whileServed } from '../../backup/disk-server.ts'
import type { Disk } from '../../storage/storage.ts'
import { ENOSPC, NbdClient, NbdError } from '../../transfer/nbd/client.ts'

export interface Sink {
  /** Throws `pool_full`. */
  write(offset: number, data: Uint8Array): Promise<void>
  /** Throws `pool_full`. */
  writeZeroes(offset: number, length: number): Promise<void>
  /** Bytes that have been written, or zeros. */
  read(offset: number, length: number): Promise<Buffer>
  /** Resolves when all that was written would survive a power failure. */
  flush(): Promise<void>
}

const ZEROS = Buffer.alloc(1 << 20)

/** `path`: of a file that exists, or of a device. `sizeBytes`: of a file, which is made that long. */
export async function whileOpen<T>(path: string, sizeBytes: number | null, work: (sink: Sink) => Promise<T>) {
  const file = await open(path, 'r+')
  try {
    if (sizeBytes !== null) await file.truncate(sizeBytes)
    return await work(new FileSink(file, path))
  } finally {
    await file.close()
  }
}

/** A volume. `folder`: for a socket. */
export const whileWritten = async <T>(disk: Disk, folder: string, work: (sink: Sink) => Promise<T>): Promise<T> =>
  disk.format === 'raw' && disk.kind !== 'network'
    ? whileOpen(disk.path, null, work)
    : whileServed(folder, disk, 'write', async ({ socket, exportName }) => {
        const client = await NbdClient.connect(socket, exportName)
        try {
          return await work(new NbdSink(client))
        } finally {
          client.close()
        }
      })

class FileSink implements Sink {
  constructor(
    private file: FileHandle,
    private path: string,
  ) {}

  async write(offset: number, data: Uint8Array) {
    for (let at = 0; at < data.length; )
      try {
        at += (await this.file.write(data, at, data.length - at, offset + at)).bytesWritten
      } catch (error) {
        throw spaceOf(this.path, (error as { code?: string }).code === 'ENOSPC') ?? error
      }
  }

  async writeZeroes(offset: number, length: number) {
    for (let at = 0; at < length; at += ZEROS.length)
      await this.write(offset + at, ZEROS.subarray(0, Math.min(ZEROS.length, length - at)))
  }

  async read(offset: number, length: number) {
    const bytes = Buffer.alloc(length)
    for (let at = 0; at < length; ) {
      const { bytesRead } = await this.file.read(bytes, at, length - at, offset + at)
      if (bytesRead === 0) break
      at += bytesRead
    }
    return bytes
  }

  flush = () => this.file.sync()
}

class NbdSink implements Sink {
  constructor(private client: NbdClient) {}

  write = (offset: number, data: Uint8Array) => noted(this.client.write(offset, data))
  writeZeroes = (offset: number, length: number) => noted(this.client.writeZeroes(offset, length))
  read = (offset: number, length: number) => this.client.read(offset, length)
  flush = () => noted(this.client.flush())
}

const noted = (work: Promise<void>) =>
  work.catch((error) => {
    throw spaceOf('the pool', error instanceof NbdError && error.errno === ENOSPC) ?? error
  })
const spaceOf = (place: string, isFull: boolean) =>
  isFull ? new Failure('pool_full', `no space is left for the copy in ${place}`) : undefined
