import { Failure, wordsOf } from '../../failure.ts'
import { Probe } from '../../probe.ts'
import type { PoolCapacity, Volume } from '../../protocol/wire.ts'
import type { Image } from '../images/images.ts'

/**
 * A disk as the hypervisor attaches it: a file, a block device, or an image that QEMU reaches over the network. `path`
 * identifies it on the host; of an image of Ceph's it is `<pool>/<image>`. `stopsWhenFull`: the pool may promise more
 * than it has, so a vm pauses where a write fails, and its guest does not learn of it.
 */
export type Disk = { path: string; format: Volume['format']; stopsWhenFull?: boolean } & (
  | { kind: 'file' | 'block' }
  | { kind: 'network'; protocol: 'rbd'; access: RbdAccess }
)
/**
 * The cluster's configuration file, and the user with the secret of libvirt's that holds its key. `keyringFile`: where
 * tools find that key; without it where the configuration says, or below /etc/ceph.
 */
export type RbdAccess = {
  configFile: string
  auth?: { user: string; keyringFile?: string | undefined; secretUuid: string }
}

/**
 * A storage pool for the disks of vms. A volume is named by its workload and generation, so that a workload can have
 * two disks while one replaces the other. Methods that change something converge. Every kind of pool passes one
 * contract test.
 */
export interface Pool {
  readonly name: string
  /** The pool without its figures. */
  readonly described: Pick<PoolCapacity, 'name' | 'kind' | 'path' | 'class'>
  /**
   * The part that puts a new layer under a running vm. `hypervisor`: a layer is a file of its own, and the vm changes
   * to it. `pool`: the vm keeps its device, whose state until then becomes the layer below, and `fork` and `merge` work
   * under a running vm.
   */
  readonly layering: 'hypervisor' | 'pool'
  /** The path of the volume's disk, which is the layer that it names, whether it exists or not. */
  disk(volume: Volume): Promise<Disk>
  /** The size of the disk in bytes as the guest sees it; undefined when there is no such volume. */
  sizeBytes(volume: Volume): Promise<number | undefined>
  /**
   * Makes a disk of `sizeBytes` filled from the image. A disk that exists is never overwritten: it stays as it is, and
   * `volume_differs` is thrown when it is smaller than `sizeBytes`.
   */
  create(volume: Volume, image: Image, sizeBytes: number): Promise<void>
  /**
   * Makes a disk of `sizeBytes`, which `fill` writes from its beginning and which is empty behind that. A disk that
   * exists stays as it is, and `volume_differs` is thrown when it is smaller than `sizeBytes`. What a failure or a
   * crash leaves is no volume.
   */
  receive(volume: Volume, sizeBytes: number, fill: (disk: Disk) => Promise<void>): Promise<void>
  /**
   * Enlarges a disk; a file only while no vm has it open. One that is that large or larger stays as it is. Throws
   * `no_volume`, and `disk_is_thick` for one that was taken in as a thick volume of LVM.
   */
  grow(volume: Volume, sizeBytes: number): Promise<void>
  /**
   * Makes the disk at the path `from`, which lies outside of the pool on the same storage, the volume, by a new name;
   * no byte is copied, and nothing is left at `from`. Where only the volume exists, that was done before. No vm has it
   * open. Throws `source_disk_elsewhere` where a new name does not bring it into the pool, `image_refused` for a qcow2
   * file that is no disk of its own, `source_disk_has_snapshots`, `volume_differs` where both exist, and `no_volume`
   * where neither does.
   */
  takeIn(volume: Volume, from: string): Promise<void>
  /**
   * The way back: the volume gets the path `to`, and is no volume any more. Where only `to` exists, nothing is done.
   * Throws `source_disk_elsewhere`, `layer_in_use` while the disk has snapshots, `volume_differs` where both exist, and
   * `no_volume` where neither does.
   */
  giveBack(volume: Volume, to: string): Promise<void>
  /** Deletes the disk with all its layers, and what an interrupted change left of it; without one it does nothing. */
  remove(volume: Volume): Promise<void>
  /**
   * Makes the layer of `volume` on the layer `from`, which nothing may write from then on. One that exists on it stays
   * as it is. Throws `no_volume` without `from`, `pool_full`, and `disk_is_thick`.
   */
  fork(volume: Volume, from: number, sizeBytes: number): Promise<void>
  /**
   * Gives the layer `into` the content of the layer `from` above it; files are such that no vm has open. Layers that
   * stand on `from` stand on `into` afterwards; `from` may stay until `removeLayer`. Throws `no_volume`.
   */
  merge(volume: Volume, from: number, into: number): Promise<void>
  /** Lets the layers on `from` stand on `into`, which has the same content. `open`: layers that a vm has open stay. */
  rebase(volume: Volume, from: number, into: number, open: readonly string[]): Promise<void>
  /**
   * Deletes a layer, and what an interrupted change left. Throws `layer_in_use` where another layer needs it; in a pool
   * whose layers are independent of each other none does.
   */
  removeLayer(volume: Volume, layer: number): Promise<void>
  /** The bytes that the volume's layer takes of the pool; 0 without it. */
  usedBytes(volume: Volume): Promise<number>
  /** Every finished volume of the pool, sorted by workload and generation, without its layers. */
  list(): Promise<Volume[]>
  /** The pool's size and free space in bytes. */
  capacity(): Promise<PoolCapacity>
  /** The storage in the words that every node which reaches it has for it; undefined: no other node can reach it. */
  storage?(): Promise<string | undefined>
  /** The addresses of other hosts that have a disk of the workload, or of the extra volume, open for writing. */
  openedBy?(workload: string): Promise<string[]>
  /** A host that has died counts for so long as having it open. */
  readonly forgetsMs?: number
  /** The reasons why vms cannot open its disks although it answers, with the remedy; for `berth agent doctor`. */
  problems?(): Promise<string[]>
}

/**
 * Whether a disk has still to change its name from `source` to `target`, by which of them exists. Throws
 * `volume_differs` where both do, and `no_volume` where neither does.
 */
export function mustMove(source: { path: string; isThere: boolean }, target: { path: string; isThere: boolean }) {
  if (source.isThere && target.isThere)
    throw new Failure('volume_differs', `${source.path} and ${target.path} both exist; they are left as they are`)
  if (!source.isThere && !target.isThere)
    throw new Failure('no_volume', `there is neither ${source.path} nor ${target.path}`)
  return source.isThere
}

/** The same disk with another of its layers in use. */
export function atLayer({ layer: _, ...volume }: Volume, layer: number): Volume {
  return layer === 0 ? volume : { ...volume, layer }
}

/** Less than the time between two heartbeats, which name the capacities. */
const CAPACITY_LIMIT_MS = 8000
/** A list of thousands of disks takes its time. */
const LIST_LIMIT_MS = 30_000
/** A pool that answered this long ago is not probed before a command. */
const RECENT_MS = 10_000

type ProbedPool = { pool: Pool; probe: Probe; capacity?: PoolCapacity }

/** The storage pools of a node. One that hangs holds up neither the others nor whoever asks. */
export class Storage {
  private probed: readonly ProbedPool[]

  constructor(
    readonly pools: readonly Pool[],
    private limitMs = CAPACITY_LIMIT_MS,
    private listLimitMs = LIST_LIMIT_MS,
  ) {
    this.probed = pools.map((pool) => ({ pool, probe: new Probe(limitMs) }))
  }

  /** Throws `no_pool` for a pool that this node does not have. */
  pool = (name: string): Pool => this.find(name).pool

  /** The pool for a command. Throws `pool_silent` while it hangs, because the command would hang as well. */
  async answering(name: string): Promise<Pool> {
    const probed = this.find(name)
    const { pool, probe } = probed
    if (!probe.hasAnsweredWithin(RECENT_MS)) await this.capacityOf(probed)
    if (probe.isHanging) {
      const since = new Date(probe.silence?.since ?? Date.now()).toISOString()
      throw new Failure('pool_silent', `the storage pool ${name} does not answer since ${since}; nothing was done`)
    }
    return pool
  }

  /** Hangs the pool, as far as is known? */
  isHanging = (pool: Pool): boolean => this.probed.find((known) => known.pool === pool)?.probe.isHanging ?? false

  private find(name: string): ProbedPool {
    const probed = this.probed.find(({ pool }) => pool.name === name)
    if (probed) return probed
    const names = this.pools.map((known) => known.name).join(', ')
    throw new Failure('no_pool', `this node has no pool ${name}; it has ${names}`)
  }

  /** The volumes of all pools. Throws where one does not answer. */
  list = async () => (await Promise.all(this.pools.map((pool) => pool.list()))).flat()

  /** The volumes of the pools that answer, and the names of the others. */
  async volumes(): Promise<{ volumes: Volume[]; silent: string[] }> {
    const silent: string[] = []
    const listed = this.probed.map(({ pool, probe }) =>
      probe
        .ask(() => pool.list(), this.listLimitMs)
        .catch(() => {
          silent.push(pool.name)
          return []
        }),
    )
    return { volumes: (await Promise.all(listed)).flat(), silent: silent.sort() }
  }

  /**
   * The capacity of each pool. One that does not answer has the figures that it had last, since when, and why; the
   * others do not wait for it.
   */
  capacities = () => Promise.all(this.probed.map((probed) => this.capacityOf(probed)))

  private async capacityOf(probed: ProbedPool): Promise<PoolCapacity> {
    const { pool, probe } = probed
    try {
      probed.capacity = await probe.ask(() => pool.capacity(), this.limitMs)
      return probed.capacity
    } catch (error) {
      const last = probed.capacity ?? { ...pool.described, totalBytes: 0, freeBytes: 0 }
      const { silence } = probe
      // It is about to answer another question.
      if (!silence && probed.capacity) return last
      const warnings = [`The pool does not answer: ${wordsOf(error)}`]
      return { ...last, warnings, silentSince: silence?.since ?? Date.now() }
    }
  }
}

/**
 * The seconds that a tool waits for a cluster of Ceph's: to be let in, and for each request, which takes some 30 while
 * the cluster finds out that an OSD is gone. Without them it waits for 5 minutes and for ever. A running vm has no such
 * limit, so that its guest loses nothing.
 */
export const CEPH_WAITS = { client_mount_timeout: 20, rados_mon_op_timeout: 20, rados_osd_op_timeout: 45 }

/** The disk as QEMU's tools name it. */
export function qemuPath(disk: Disk): string {
  if (disk.kind !== 'network') return disk.path
  const { configFile, auth } = disk.access
  const { user: id, keyringFile: keyring } = auth ?? {}
  const options = Object.entries({ id, keyring, conf: configFile, ...CEPH_WAITS })
  const given = options.filter(([, value]) => value !== undefined).map(([option, value]) => `${option}=${value}`)
  return [`rbd:${disk.path}`, ...given].join(':')
}
