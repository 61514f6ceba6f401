import { Failure } from '../../failure.ts'
import type { PoolCapacity, Volume } from '../../protocol/wire.ts'
import type { Image } from '../images/images.ts'

/** A disk as the hypervisor attaches it: a file, or a block device of a pool on LVM or ZFS. */
export type Disk = { kind: 'file' | 'block'; path: string; format: Volume['format'] }

/**
 * A storage pool for the disks of vms. A volume is named by its workload and generation, so that a workload can have
 * two disks while one replaces the other. Methods that change something converge. Every kind of pool passes one
 * contract test.
 */
export interface Pool {
  readonly name: string
  /** The path of the volume's disk, whether it exists or not. */
  disk(volume: Volume): Disk
  /** The size of the disk in bytes as the guest sees it; undefined when there is no such volume. */
  sizeBytes(volume: Volume): Promise<number | undefined>
  /**
   * Makes a disk of `sizeBytes` filled from the image. A disk that exists is never overwritten: it stays as it is, and
   * `volume_differs` is thrown when it is smaller than `sizeBytes`.
   */
  create(volume: Volume, image: Image, sizeBytes: number): Promise<void>
  /**
   * Enlarges a disk that no vm has open. One that is that large or larger stays as it is. Throws `no_volume`.
   */
  grow(volume: Volume, sizeBytes: number): Promise<void>
  /** Deletes the disk and what an interrupted `create` left of it; without one it does nothing. */
  remove(volume: Volume): Promise<void>
  /** Every finished volume of the pool, sorted by workload and generation. */
  list(): Promise<Volume[]>
  /** The pool's size and free space in bytes. */
  capacity(): Promise<PoolCapacity>
}

/** The storage pools of a node. */
export class Storage {
  constructor(readonly pools: readonly Pool[]) {}

  /** Throws `no_pool` for a pool that this node does not have. */
  pool(name: string): Pool {
    const pool = this.pools.find((known) => known.name === name)
    if (pool) return pool
    const names = this.pools.map((known) => known.name).join(', ')
    throw new Failure('no_pool', `this node has no pool ${name}; it has ${names}`)
  }

  /** The volumes of all pools. */
  list = async () => (await Promise.all(this.pools.map((pool) => pool.list()))).flat()
  /** The capacity of each pool. */
  capacities = () => Promise.all(this.pools.map((pool) => pool.capacity()))
}
