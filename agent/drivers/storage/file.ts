// Disks as files in a directory. A file that is not finished has the suffix .part and is no volume: after a crash at
// most such a file is left, and the next attempt replaces it.
import { existsSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import { makePassage } from '../../host/directories.ts'
import { run } from '../../host/exec.ts'
import { readQcow2 } from '../../protocol/qcow2.ts'
import { type PoolCapacity, type Volume, WORKLOAD_ID } from '../../protocol/wire.ts'
import type { Image } from '../images/images.ts'
import type { Disk, Pool } from './storage.ts'

const COPY_LIMIT_SECONDS = 3600
const VOLUME_FILE = new RegExp(`^(${WORKLOAD_ID})-([0-9]{1,6})\\.(qcow2|raw)$`)

/** A pool in the directory `root`, which it makes. The hypervisor's user can pass through it, only root can list it. */
export class FilePool implements Pool {
  constructor(
    readonly name: string,
    private root: string,
  ) {
    makePassage(root)
  }

  disk = (volume: Volume): Disk => ({
    kind: 'file',
    format: volume.format,
    path: join(this.root, `${volume.workload}-${volume.generation}.${volume.format}`),
  })

  async sizeBytes(volume: Volume) {
    const { path, format } = this.disk(volume)
    if (!existsSync(path)) return undefined
    return format === 'raw' ? Bun.file(path).size : (await readQcow2(path)).virtualSizeBytes
  }

  async create(volume: Volume, image: Image, sizeBytes: number) {
    const { path, format } = this.disk(volume)
    const there = await this.sizeBytes(volume)
    if (there === undefined) await this.make(path, format, image, sizeBytes)
    else if (there < sizeBytes)
      throw new Failure('volume_differs', `${path} exists with ${there} bytes, not ${sizeBytes}; it is left as it is`)
  }

  async grow(volume: Volume, sizeBytes: number) {
    const { path, format } = this.disk(volume)
    const there = await this.sizeBytes(volume)
    if (there === undefined) throw new Failure('no_volume', `there is no disk ${path}`)
    if (there >= sizeBytes) return
    await run('qemu-img', ['resize', '-f', format, '--', path, String(sizeBytes)])
    await toDisk(path)
  }

  async remove(volume: Volume) {
    const { path } = this.disk(volume)
    rmSync(`${path}.part`, { force: true })
    rmSync(path, { force: true })
  }

  async list(): Promise<Volume[]> {
    return readdirSync(this.root)
      .flatMap((file) => this.volumeOf(file) ?? [])
      .sort((a, b) => (a.workload < b.workload ? -1 : a.workload > b.workload ? 1 : a.generation - b.generation))
  }

  async capacity(): Promise<PoolCapacity> {
    const { bsize, blocks, bavail } = statfsSync(this.root)
    return { name: this.name, kind: 'file', path: this.root, totalBytes: blocks * bsize, freeBytes: bavail * bsize }
  }

  private volumeOf(file: string): Volume | undefined {
    const [, workload, generation, format] = VOLUME_FILE.exec(file) ?? []
    if (!workload) return undefined
    return { workload, generation: Number(generation), pool: this.name, format: format as Volume['format'] }
  }

  /** The format is always given, so that the content of a file never decides how it is read. */
  private async make(path: string, format: Volume['format'], image: Image, sizeBytes: number) {
    const part = `${path}.part`
    rmSync(part, { force: true })
    await run('qemu-img', ['convert', '-f', image.format, '-O', format, '--', image.path, part], {
      limitSeconds: COPY_LIMIT_SECONDS,
    })
    await run('qemu-img', ['resize', '-f', format, '--', part, String(sizeBytes)])
    await toDisk(part)
    renameSync(part, path)
    await toDisk(this.root)
  }
}

/** Resolves when a file, or a directory's list of names, would survive a power failure. */
export async function toDisk(path: string) {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
