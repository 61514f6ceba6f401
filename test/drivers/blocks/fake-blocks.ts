// Storage with snapshots in memory, with the bonds that LVM, ZFS and Ceph have, to try the layers of pools of devices
// without any of them, and to break off at every command.

import type { Bond, DiskEntry, Entries, Found, Point } from '../../../agent/drivers/storage/block-layers.ts'
import { type BlockDriver, diskName, type TakesIn } from '../../../agent/drivers/storage/block-pool.ts'
import type { Disk } from '../../../agent/drivers/storage/storage.ts'
import { Failure } from '../../../agent/failure.ts'

type Content = { content: string }
type Stored = { name: string; disks: (DiskEntry & Content)[]; points: (Point & Content)[] }

const PART = '/fake/part'

export class FakeBlocks implements BlockDriver {
  readonly kind = 'fake'
  readonly path = 'fake'
  fullPercent = 10
  /** The number of commands that change something before the process is killed. */
  commandsLeft = Number.POSITIVE_INFINITY
  private volumes: Stored[] = []
  private part: Content = { content: '' }

  constructor(readonly bond: Bond) {}

  names = async () =>
    this.volumes.flatMap(({ name, disks, points }) => [
      ...disks.map(({ start }) => diskName(name, start)),
      ...points.map(({ taken }) => `${name}.s${taken}`),
    ])
  entries = async (name: string): Promise<Entries> => {
    const { disks, points } = this.volume(name)
    return { disks: disks.map((disk) => ({ ...disk })), points: points.map((point) => ({ ...point })) }
  }
  async create(name: string, sizeBytes: number, fill: (disk: Disk) => Promise<void>) {
    this.command()
    this.part = { content: '\0' }
    await fill({ kind: 'block', path: PART, format: 'raw' })
    this.volume(name).disks.push({ start: 0, layer: 0, sizeBytes, content: this.part.content })
  }
  /** Copies the image. */
  async fill() {
    this.part.content = 'i'
  }
  async grow(name: string, { start }: DiskEntry, sizeBytes: number) {
    this.command()
    this.diskOf(name, start).sizeBytes = sizeBytes
  }
  async take(name: string, { start }: DiskEntry, point: Pick<Point, 'taken' | 'layer'>) {
    this.command()
    const { sizeBytes, content } = this.diskOf(name, start)
    const { points } = this.volume(name)
    if (points.some(({ taken }) => taken === point.taken)) throw new Error('the snapshot exists')
    points.push({ ...point, disk: this.bond === 'none' ? -1 : start, sizeBytes, content })
  }
  async clone(name: string, { taken }: Point, start: number) {
    this.command()
    const { sizeBytes, content } = this.pointOf(name, taken)
    const bound = this.bond === 'none' ? {} : { clonedFrom: taken }
    this.volume(name).disks.push({ start, layer: start, sizeBytes, content, ...bound })
  }
  async label(name: string, { disk, point }: Found, layer: number | null) {
    this.command()
    if (disk) this.diskOf(name, disk.start).layer = layer
    else this.pointOf(name, point.taken).layer = layer!
  }
  async detach(name: string, { start }: DiskEntry) {
    this.command()
    const clone = this.diskOf(name, start)
    if (this.bond === 'flatten') return void delete clone.clonedFrom
    const { points } = this.volume(name)
    const origin = this.pointOf(name, clone.clonedFrom!)
    const from = this.diskOf(name, origin.disk)
    for (const point of points.filter(({ disk, taken }) => disk === from.start && taken <= origin.taken))
      point.disk = start
    clone.clonedFrom = from.clonedFrom
    from.clonedFrom = origin.taken
  }
  async revert(name: string, { start }: DiskEntry, newest: Point) {
    this.command()
    this.diskOf(name, start).content = this.pointOf(name, newest.taken).content
  }
  async remove(name: string, { disk, point }: Found) {
    this.command()
    const volume = this.volume(name)
    if (disk) {
      if (volume.points.some((other) => other.disk === disk.start)) throw new Error('the disk has snapshots')
      volume.disks = volume.disks.filter(({ start }) => start !== disk.start)
    } else {
      if (volume.disks.some(({ clonedFrom }) => clonedFrom === point.taken)) throw new Error('the snapshot has clones')
      volume.points = volume.points.filter(({ taken }) => taken !== point.taken)
    }
  }
  async removeRest() {}
  /** Disks beside the pool, by their paths. */
  readonly beside = new Map<string, { sizeBytes: number; content: string }>()
  readonly outside: TakesIn = {
    isAt: async (path) => {
      if (path.startsWith('/other/')) throw new Failure('source_disk_elsewhere', path)
      return this.beside.has(path)
    },
    takeIn: async (name, path) => {
      this.command()
      this.volume(name).disks.push({ start: 0, layer: 0, ...this.beside.get(path)! })
      this.beside.delete(path)
    },
    giveBack: async (name, { start }, path) => {
      this.command()
      const { sizeBytes, content } = this.diskOf(name, start)
      this.beside.set(path, { sizeBytes, content })
      this.volume(name).disks = []
    },
  }
  usedBytes = async (_: string, { disk, point }: Found) => (disk ?? point).sizeBytes
  disk = (name: string, found: { start: number } | Point): Disk => ({
    kind: 'block',
    path: `/fake/${'start' in found ? diskName(name, found.start) : `${name}.s${found.taken}`}`,
    format: 'raw',
  })
  capacity = async () => ({ totalBytes: 1e12, freeBytes: 5e11, fullPercent: this.fullPercent })

  write(path: string, content: string) {
    this.at(path).content = content
  }
  read = (path: string) => this.at(path).content

  private at(path: string): Content {
    if (path === PART) return this.part
    for (const { name, disks, points } of this.volumes) {
      const disk = disks.find(({ start }) => path === `/fake/${diskName(name, start)}`)
      const point = points.find(({ taken }) => path === `/fake/${name}.s${taken}`)
      if (disk ?? point) return (disk ?? point)!
    }
    throw new Error(`there is no ${path}`)
  }
  private volume(name: string): Stored {
    const found = this.volumes.find((volume) => volume.name === name)
    if (found) return found
    const made = { name, disks: [], points: [] }
    this.volumes.push(made)
    return made
  }
  private diskOf = (name: string, start: number) => this.volume(name).disks.find((disk) => disk.start === start)!
  private pointOf = (name: string, taken: number) => this.volume(name).points.find((point) => point.taken === taken)!
  private command() {
    if (this.commandsLeft-- <= 0) throw new Error('killed')
  }
}
