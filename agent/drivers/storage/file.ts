// Disks as files in a directory. A layer of a disk is a qcow2 file that names the layer below it as its backing file. A
// file that is not finished has the suffix .part and is no volume: after a crash at most such a file is left, and the
// next attempt replaces it.
import { chownSync, existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { link, lstat, mkdir, open, readlink, realpath, rm, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Failure } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import { readQcow2 } from '../../protocol/qcow2.ts'
import { type PoolCapacity, type Volume, WORKLOAD_ID } from '../../protocol/wire.ts'
import type { Image } from '../images/images.ts'
import { atLayer, type Disk, mustMove, type Pool } from './storage.ts'

const COPY_LIMIT_SECONDS = 3600
/** Of questions that a report asks again. */
const ASKED = { quietly: true, limitSeconds: 60 } as const
const VOLUME_FILE = new RegExp(`^(${WORKLOAD_ID})-([0-9]{1,6})\\.(qcow2|raw)$`)

/**
 * A pool in the directory `root`, which it makes. The hypervisor's user can pass through it, only root can list it. The
 * questions that a report asks are programs of their own: a call to storage that hangs would stop the whole agent.
 */
export class FilePool implements Pool {
  readonly layering = 'hypervisor'
  readonly described: Pool['described']
  private made: Promise<unknown> | undefined

  constructor(
    readonly name: string,
    private root: string,
    label?: string,
  ) {
    this.described = { name, kind: 'file', path: root, ...(label && { class: label }) }
  }

  disk = async (volume: Volume): Promise<Disk> => this.diskOf(volume)

  /** Makes the directory once. */
  private mustBeMade() {
    this.made ??= run('install', ['-d', '-m', '711', '--', this.root], ASKED).catch((error) => {
      this.made = undefined
      throw error
    })
    return this.made
  }

  private diskOf = ({ workload, generation, format, layer }: Volume): Disk => ({
    kind: 'file',
    format: layer === undefined ? format : 'qcow2',
    path: join(this.root, `${workload}-${generation}.${layer === undefined ? format : `${layer}.qcow2`}`),
  })

  async sizeBytes(volume: Volume) {
    const { path, format } = this.diskOf(volume)
    if (!existsSync(path)) return undefined
    // The check of images refuses a backing file, which a layer has.
    if (volume.layer !== undefined) return (await infoOf(path))['virtual-size']
    return format === 'raw' ? Bun.file(path).size : (await readQcow2(path)).virtualSizeBytes
  }

  async create(volume: Volume, image: Image, sizeBytes: number) {
    await this.mustBeMade()
    const { path, format } = this.diskOf(volume)
    const there = await this.sizeBytes(volume)
    if (there === undefined) await this.make(path, format, image, sizeBytes)
    else if (there < sizeBytes)
      throw new Failure('volume_differs', `${path} exists with ${there} bytes, not ${sizeBytes}; it is left as it is`)
  }

  async receive(volume: Volume, sizeBytes: number, fill: (disk: Disk) => Promise<void>) {
    await this.mustBeMade()
    const { path, format } = this.diskOf(volume)
    const there = await this.sizeBytes(volume)
    if (there !== undefined && there < sizeBytes)
      throw new Failure('volume_differs', `${path} exists with ${there} bytes, not ${sizeBytes}; it is left as it is`)
    if (there !== undefined) return
    const part = `${path}.part`
    rmSync(part, { force: true })
    try {
      await run('qemu-img', ['create', '-q', '-f', format, '--', part, String(sizeBytes)])
      await fill({ kind: 'file', path: part, format })
      await toDisk(part)
      renameSync(part, path)
      await toDisk(this.root)
    } finally {
      rmSync(part, { force: true })
    }
  }

  async grow(volume: Volume, sizeBytes: number) {
    const { path, format } = this.diskOf(volume)
    const there = await this.sizeBytes(volume)
    if (there === undefined) throw new Failure('no_volume', `there is no disk ${path}`)
    if (there >= sizeBytes) return
    await run('qemu-img', ['resize', '-f', format, '--', path, String(sizeBytes)])
    await toDisk(path)
  }

  async takeIn(volume: Volume, from: string) {
    await this.mustBeMade()
    const { path, format } = this.diskOf(volume)
    const source = await behindLinks(from)
    if (!(await mustMoveFile(source, path))) return
    if (!(await stat(source)).isFile())
      throw new Failure('source_disk_elsewhere', `${from} is no file, and pool ${this.name} has only files`)
    if (format === 'qcow2') await readQcow2(source)
    await toDisk(source)
    await moveFile(source, path, this.name)
  }

  async giveBack(volume: Volume, to: string) {
    await this.mustBeMade()
    const { path } = this.diskOf(atLayer(volume, 0))
    const target = await behindLinks(to)
    if (!(await mustMoveFile(path, target))) return
    const [layer] = (await this.layersOf(volume)).filter((file) => !file.endsWith('.part'))
    if (layer) throw new Failure('layer_in_use', `${layer} stands on ${path}, which is left as it is`)
    await mkdir(dirname(target), { recursive: true })
    await moveFile(path, target, this.name)
  }

  async remove(volume: Volume) {
    const first = this.diskOf(atLayer(volume, 0)).path
    // The lowest layer last: after a crash the disk is still listed.
    for (const layer of await this.layersOf(volume)) await deleted(layer)
    await deleted(`${first}.part`)
    await deleted(first)
  }

  async fork(volume: Volume, from: number, sizeBytes: number) {
    const base = this.diskOf(atLayer(volume, from))
    const { path } = this.diskOf(volume)
    if (!existsSync(base.path)) throw new Failure('no_volume', `there is no disk ${base.path}`)
    if (existsSync(path)) return
    const part = `${path}.part`
    rmSync(part, { force: true })
    // With the format of the layer below, which its content must never decide.
    const below = ['-b', base.path, '-F', base.format]
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', ...below, '--', part, String(sizeBytes)])
    await toDisk(part)
    renameSync(part, path)
    await toDisk(this.root)
  }

  async merge(volume: Volume, from: number, into: number) {
    const [upper, lower] = [this.diskOf(atLayer(volume, from)), this.diskOf(atLayer(volume, into))]
    for (const { path } of [upper, lower])
      if (!existsSync(path)) throw new Failure('no_volume', `there is no disk ${path}`)
    // -d: the upper layer keeps its content, so that a repeated call after a crash does the same.
    await run('qemu-img', ['commit', '-q', '-d', '-f', 'qcow2', '-b', lower.path, '--', upper.path], {
      limitSeconds: COPY_LIMIT_SECONDS,
    })
    await toDisk(lower.path)
  }

  async rebase(volume: Volume, from: number, into: number, open: readonly string[]) {
    const [upper, lower] = [this.diskOf(atLayer(volume, from)), this.diskOf(atLayer(volume, into))]
    for (const path of await this.standingOn(volume, upper.path)) {
      if (open.includes(path)) continue
      await run('qemu-img', ['rebase', '-q', '-u', '-f', 'qcow2', '-b', lower.path, '-F', lower.format, '--', path])
      await toDisk(path)
    }
  }

  async removeLayer(volume: Volume, layer: number) {
    const { path } = this.diskOf(atLayer(volume, layer))
    const [above] = await this.standingOn(volume, path)
    if (above) throw new Failure('layer_in_use', `${above} stands on ${path}, which is left as it is`)
    await deleted(`${path}.part`)
    await deleted(path)
    await toDisk(this.root)
  }

  async usedBytes(volume: Volume) {
    const { path } = this.diskOf(volume)
    return existsSync(path) ? statSync(path).blocks * 512 : 0
  }

  /** The files of the layers above the first, unfinished ones too. */
  private async layersOf({ workload, generation }: Volume): Promise<string[]> {
    await this.mustBeMade()
    const layer = new RegExp(`^${workload}-${generation}\\.[0-9]{1,6}\\.qcow2(\\.part)?$`)
    return readdirSync(this.root)
      .filter((file) => layer.test(file))
      .map((file) => join(this.root, file))
  }

  /** The finished layers whose backing file is `path`. */
  private async standingOn(volume: Volume, path: string): Promise<string[]> {
    const found: string[] = []
    for (const layer of await this.layersOf(volume))
      if (!layer.endsWith('.part') && (await infoOf(layer))['backing-filename'] === path) found.push(layer)
    return found
  }

  async list(): Promise<Volume[]> {
    await this.mustBeMade()
    const { out } = await run('ls', ['-1', '-U', '--', this.root], ASKED)
    return out
      .split('\n')
      .flatMap((file) => this.volumeOf(file) ?? [])
      .sort((a, b) => (a.workload < b.workload ? -1 : a.workload > b.workload ? 1 : a.generation - b.generation))
  }

  async capacity(): Promise<PoolCapacity> {
    await this.mustBeMade()
    const { out } = await run('stat', ['--file-system', '--format', '%S %b %a', '--', this.root], ASKED)
    const [blockBytes = 0, blocks = 0, free = 0] = out.trim().split(' ').map(Number)
    return { ...this.described, totalBytes: blocks * blockBytes, freeBytes: free * blockBytes }
  }

  private volumeOf(file: string): Volume | undefined {
    const [, workload, generation, format] = VOLUME_FILE.exec(file) ?? []
    if (!workload) return undefined
    return { workload, generation: Number(generation), pool: this.name, format: format as Volume['format'] }
  }

  /**
   * The format is always given, so that the content of a file never decides how it is read. The image is a stranger's,
   * so what reads it is confined, and what it wrote is looked at before anything with rights reads that.
   */
  private async make(path: string, format: Volume['format'], image: Image, sizeBytes: number) {
    const part = `${path}.part`
    rmSync(part, { force: true })
    writeFileSync(part, '', { mode: 0o600 })
    const confined = { writes: part, mostFileBytes: mostBytesOf(Math.max(sizeBytes, image.virtualSizeBytes)) }
    await run('qemu-img', ['convert', '-f', image.format, '-O', format, '--', image.path, part], {
      limitSeconds: COPY_LIMIT_SECONDS,
      confined: { ...confined, reads: image.path },
    })
    await run('qemu-img', ['resize', '-f', format, '--', part, String(sizeBytes)], { confined })
    if (format === 'qcow2') await readQcow2(part)
    if (process.getuid?.() === 0) chownSync(part, 0, 0)
    await toDisk(part)
    renameSync(part, path)
    await toDisk(this.root)
  }
}

const MOST_LINKS = 40

/** The path of the file itself, which need not exist: a link there keeps pointing to it. */
async function behindLinks(path: string): Promise<string> {
  let at = path
  for (let left = MOST_LINKS; left > 0; left--) {
    const found = await lstat(at).catch(() => undefined)
    if (!found?.isSymbolicLink()) break
    at = resolve(dirname(at), await readlink(at))
  }
  const dir = await realpath(dirname(at)).catch(() => dirname(at))
  return join(dir, basename(at))
}

/** As `mustMove`. A file with both names is one whose move was interrupted: it loses the old one. */
async function mustMoveFile(source: string, target: string): Promise<boolean> {
  const [from, to] = await Promise.all([source, target].map((path) => stat(path).catch(() => undefined)))
  if (from && to && from.ino === to.ino && from.dev === to.dev) {
    await dropName(source)
    return false
  }
  return mustMove({ path: source, isThere: from !== undefined }, { path: target, isThere: to !== undefined })
}

/** By a second name, because a rename would overwrite what somebody makes at the target meanwhile. */
async function moveFile(source: string, target: string, pool: string) {
  await link(source, target).catch((error) => {
    if (error.code === 'EXDEV')
      throw new Failure('source_disk_elsewhere', `${source} and ${target} of pool ${pool} are on two file systems`)
    if (error.code === 'EEXIST')
      throw new Failure('volume_differs', `${source} and ${target} both exist; they are left as they are`)
    throw error
  })
  await toDisk(dirname(target))
  await dropName(source)
}

async function dropName(path: string) {
  await unlink(path)
  await toDisk(dirname(path))
}

/** The largest file that a disk of this size can be: its tables take less than a hundredth. */
const mostBytesOf = (diskBytes: number) => Math.ceil(diskBytes * 1.01) + (64 << 20)

type Info = { 'virtual-size': number; 'backing-filename'?: string }
/** The header of a layer, which a vm may have open. */
const infoOf = async (path: string): Promise<Info> =>
  JSON.parse(
    (await run('qemu-img', ['info', '-U', '--output', 'json', '-f', 'qcow2', '--', path], { quietly: true })).out,
  )

/**
 * Deletes the file of a disk, if it is there. ext4 may take a minute for one of terabytes: the agent goes on meanwhile,
 * and its watchdog does not end it.
 */
export const deleted = (path: string) => rm(path, { force: true })

/** Resolves when a file, or a directory's list of names, would survive a power failure. */
export async function toDisk(path: string) {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
