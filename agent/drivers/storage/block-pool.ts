// A pool of devices: LVM-thin, ZFS or Ceph RBD behind the contract of pools. The layers are those of block-layers.ts; a
// driver has the commands of its storage and nothing else.
import { Failure } from '../../failure.ts'
import { type PoolCapacity, type Volume, WORKLOAD_ID } from '../../protocol/wire.ts'
import type { Image } from '../images/images.ts'
import {
  type Bond,
  clonesOf,
  type DiskEntry,
  type Entries,
  type Found,
  findLayer,
  isNeeded,
  nextOfAll,
  nextStep,
  type Point,
  pointsOn,
} from './block-layers.ts'
import { atLayer, type Disk, mustMove, type Pool } from './storage.ts'

/** From here on a pool takes no new disks and snapshots: what is left is for those that it has. */
export const FULL_PERCENT = 90
/** From here on a pool says that it will be full. */
export const WARN_PERCENT = 80

/**
 * The commands of one kind of storage. `name` is that of a volume, `<workload>-<generation>`. A disk that starts at
 * layer 0 has this name, another one `<name>.<start>`. One without a label has that of its start.
 */
export interface BlockDriver {
  readonly kind: PoolCapacity['kind']
  readonly path: string
  readonly bond: Bond
  /** The names of everything in the pool. */
  names(): Promise<string[]>
  entries(name: string): Promise<Entries>
  /** Makes the disk of layer 0, all zeros until `fill` writes it, and there only when that is done. */
  create(name: string, sizeBytes: number, fill: (disk: Disk) => Promise<void>): Promise<void>
  /** See `TakesIn`; without it no disk from outside can get a name in the pool. */
  readonly outside?: TakesIn
  /** Writes the image to a disk that is all zeros. */
  fill(disk: Disk, image: Image, sizeBytes: number): Promise<void>
  grow(name: string, disk: DiskEntry, sizeBytes: number): Promise<void>
  /** Takes a snapshot with its label, also of a disk that a vm writes. */
  take(name: string, disk: DiskEntry, point: Pick<Point, 'taken' | 'layer'>): Promise<void>
  clone(name: string, point: Point, start: number): Promise<void>
  label(name: string, found: Found, layer: number | null): Promise<void>
  /** Ends that the disk needs the snapshot from which it was cloned; see `Bond`. */
  detach?(name: string, disk: DiskEntry): Promise<void>
  /** Frees what a disk takes beyond its newest snapshot. */
  revert?(name: string, disk: DiskEntry, newest: Point): Promise<void>
  remove(name: string, found: Found): Promise<void>
  /** Removes what an interrupted `create` left. */
  removeRest(name: string): Promise<void>
  usedBytes(name: string, found: Found): Promise<number>
  disk(name: string, found: { start: number } | Point): Disk
  /** `fullPart`: the part that `fullPercent` is of, where that is not its data. */
  capacity(): Promise<Omit<PoolCapacity, keyof Pool['described']> & { fullPercent: number; fullPart?: 'metadata' }>
  /** See `Pool`. */
  problems?(): Promise<string[]>
  storage?(): Promise<string>
  /** The addresses of other hosts that have the disk of this name in `names` open for writing. */
  openedBy?(entry: string): Promise<string[]>
  readonly forgetsMs?: number
}

/** Disks of the same storage that lie outside of the pool, and get a name in it. */
export interface TakesIn {
  /**
   * Is one at this path? Throws `source_disk_elsewhere` where one there could get no name in the pool, and
   * `source_disk_has_snapshots`.
   */
  isAt(path: string): Promise<boolean>
  /** Gives the one at the path the name of the disk of layer 0. */
  takeIn(name: string, path: string): Promise<void>
  /** Gives the disk the path. */
  giveBack(name: string, disk: DiskEntry, path: string): Promise<void>
}

export const nameOf = ({ workload, generation }: Volume) => `${workload}-${generation}`
export const diskName = (name: string, start: number) => (start === 0 ? name : `${name}.${start}`)
/** The start in the name of a disk of this volume; undefined for another name. */
export function startIn(name: string, found: string): number | undefined {
  if (found === name) return 0
  const digits = found.startsWith(`${name}.`) ? found.slice(name.length + 1) : ''
  return /^[1-9][0-9]{0,5}$/.test(digits) ? Number(digits) : undefined
}
const VOLUME_NAME = new RegExp(`^(${WORKLOAD_ID})-([0-9]{1,6})(?:\\.[s0-9]+)?$`)

export class BlockPool implements Pool {
  readonly layering = 'pool'
  readonly described: Pool['described']

  constructor(
    readonly name: string,
    private driver: BlockDriver,
    label?: string,
  ) {
    this.described = { name, kind: driver.kind, path: driver.path, ...(label && { class: label }) }
  }

  async disk(volume: Volume): Promise<Disk> {
    const name = nameOf(volume)
    const { layer = 0 } = volume
    const entries = await this.driver.entries(name)
    const found = findLayer(entries, layer)
    if (found) return this.driver.disk(name, found.disk ?? found.point)
    const disk = this.driver.disk(name, { start: layer })
    // A device of this name that has another layer by now is not the layer's.
    return entries.disks.some(({ start }) => start === layer) ? { ...disk, path: `${disk.path}.gone` } : disk
  }

  async sizeBytes(volume: Volume) {
    const found = await this.find(volume)
    return (found?.disk ?? found?.point)?.sizeBytes
  }

  create = (volume: Volume, image: Image, sizeBytes: number) =>
    this.receive(volume, sizeBytes, (disk) => this.driver.fill(disk, image, sizeBytes))

  async receive(volume: Volume, sizeBytes: number, fill: (disk: Disk) => Promise<void>) {
    const name = nameOf(volume)
    const there = await this.sizeBytes(atLayer(volume, 0))
    if (there === undefined) {
      await this.mustHaveSpace()
      await this.driver.create(name, sizeBytes, fill)
    } else if (there < sizeBytes)
      throw new Failure('volume_differs', `${name} exists with ${there} bytes, not ${sizeBytes}; it is left as it is`)
  }

  async grow(volume: Volume, sizeBytes: number) {
    const { disk } = (await this.find(volume)) ?? {}
    if (!disk) throw new Failure('no_volume', `there is no disk ${(await this.disk(volume)).path}`)
    if (disk.sizeBytes < sizeBytes) await this.driver.grow(nameOf(volume), disk, sizeBytes)
  }

  async takeIn(volume: Volume, from: string) {
    const name = nameOf(volume)
    const outside = this.mustTakeIn(from)
    const source = { path: from, isThere: await outside.isAt(from) }
    const isThere = (await this.sizeBytes(atLayer(volume, 0))) !== undefined
    if (mustMove(source, { path: this.driver.disk(name, { start: 0 }).path, isThere })) await outside.takeIn(name, from)
  }

  async giveBack(volume: Volume, to: string) {
    const name = nameOf(volume)
    const outside = this.mustTakeIn(to)
    const { disks, points } = await this.tidy(name)
    const [disk, another] = disks
    const { path } = this.driver.disk(name, { start: disk?.start ?? 0 })
    if (!mustMove({ path, isThere: disk !== undefined }, { path: to, isThere: await outside.isAt(to) })) return
    if (another || points.length)
      throw new Failure('layer_in_use', `${name} has snapshots in pool ${this.name}, and is left as it is`)
    await outside.giveBack(name, disk!, to)
  }

  private mustTakeIn(path: string): TakesIn {
    const { outside, kind } = this.driver
    if (outside) return outside
    throw new Failure('source_disk_elsewhere', `no name in pool ${this.name} of ${kind} is given to ${path}`)
  }

  async remove(volume: Volume) {
    const name = nameOf(volume)
    for (;;) {
      const found = nextOfAll(await this.driver.entries(name))
      if (!found) break
      await this.driver.remove(name, found)
    }
    await this.driver.removeRest(name)
  }

  async fork(volume: Volume, from: number, sizeBytes: number) {
    const name = nameOf(volume)
    const { layer = 0 } = volume
    const entries = await this.tidy(name)
    const made = findLayer(entries, layer) ?? (await this.forkFrom(name, findLayer(entries, from), from, layer))
    if (made.disk && made.disk.sizeBytes < sizeBytes) await this.driver.grow(name, made.disk, sizeBytes)
  }

  private async forkFrom(name: string, below: Found | undefined, from: number, layer: number): Promise<Found> {
    if (!below) throw new Failure('no_volume', `there is no layer ${from} of ${name} in pool ${this.name}`)
    await this.mustHaveSpace()
    if (below.point) {
      await this.driver.clone(name, below.point, layer)
      return { disk: { start: layer, layer, sizeBytes: below.point.sizeBytes } }
    }
    // The snapshot counts from the moment at which the disk has its new label.
    await this.driver.take(name, below.disk, { taken: layer, layer: from })
    await this.driver.label(name, below, layer)
    return below
  }

  async merge(volume: Volume, from: number, into: number) {
    const name = nameOf(volume)
    const entries = await this.driver.entries(name)
    const [upper, lower] = [findLayer(entries, from), findLayer(entries, into)]
    if (!upper || !lower)
      throw new Failure('no_volume', `there is no layer ${upper ? into : from} of ${name} in pool ${this.name}`)
    await this.driver.label(name, upper, into)
    await this.tidy(name)
  }

  /** The storage itself knows what stands on what. */
  async rebase() {}

  async removeLayer(volume: Volume, layer: number) {
    const name = nameOf(volume)
    const entries = await this.tidy(name)
    const found = findLayer(entries, layer)
    if (!found) return
    if (found.disk) await this.driver.label(name, found, null)
    else if (this.driver.bond !== 'none' && isNeeded(entries, found.point))
      throw new Failure('layer_in_use', `other layers of ${name} stand on its layer ${layer}, which is left as it is`)
    else await this.driver.remove(name, found)
    await this.revert(name, await this.tidy(name))
  }

  async usedBytes(volume: Volume) {
    const found = await this.find(volume)
    return found ? this.driver.usedBytes(nameOf(volume), found) : 0
  }

  async list(): Promise<Volume[]> {
    const found = new Map<string, Volume>()
    for (const entry of await this.driver.names()) {
      const [, workload = '', generation] = VOLUME_NAME.exec(entry) ?? []
      if (!workload) continue
      const volume = { workload, generation: Number(generation), pool: this.name, format: 'raw' as const }
      found.set(nameOf(volume), volume)
    }
    return [...found.values()].sort((a, b) =>
      a.workload < b.workload ? -1 : a.workload > b.workload ? 1 : a.generation - b.generation,
    )
  }

  async capacity(): Promise<PoolCapacity> {
    const { fullPercent: _, fullPart: __, ...figures } = await this.driver.capacity()
    return { ...this.described, ...figures }
  }

  problems = async () => (await this.driver.problems?.()) ?? []
  storage = async () => this.driver.storage?.()

  async openedBy(workload: string): Promise<string[]> {
    const { driver } = this
    if (!driver.openedBy) return []
    const own = (await driver.names()).filter((entry) => VOLUME_NAME.exec(entry)?.[1] === workload)
    return [...new Set((await Promise.all(own.map((entry) => driver.openedBy!(entry)))).flat())].sort()
  }
  get forgetsMs(): number {
    return this.driver.forgetsMs ?? 0
  }

  private find = async (volume: Volume) => findLayer(await this.driver.entries(nameOf(volume)), volume.layer ?? 0)

  /** Removes what nothing needs any more. Answers what is left. */
  private async tidy(name: string): Promise<Entries> {
    for (;;) {
      const entries = await this.driver.entries(name)
      const step = nextStep(entries, this.driver.bond)
      if (!step) return entries
      if ('detach' in step) await this.driver.detach!(name, step.detach)
      else await this.driver.remove(name, step.remove)
    }
  }

  /** A disk that is there only for its snapshots keeps nothing beyond the newest one. */
  private async revert(name: string, entries: Entries) {
    for (const disk of entries.disks) {
      const newest = pointsOn(entries, disk).at(-1)
      if (disk.layer === null && newest && !clonesOf(entries, newest).length)
        await this.driver.revert?.(name, disk, newest)
    }
  }

  private async mustHaveSpace() {
    const { fullPercent, fullPart } = await this.driver.capacity()
    if (fullPercent >= FULL_PERCENT)
      throw new Failure(
        'pool_full',
        `${fullPart ? `the ${fullPart} of ` : ''}pool ${this.name} is full to ${Math.floor(fullPercent)} %; ` +
          `from ${FULL_PERCENT} % on it takes no new disks and snapshots`,
      )
  }
}
