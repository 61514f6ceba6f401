import { Failure } from '../../failure.ts'
import type { PoolCapacity, Volume } from '../../protocol/wire.ts'
import type { Image } from '../images/images.ts'

/** Where a hypervisor finds a disk. Block devices are what LVM and ZFS pools give. */
export type Disk = { kind: 'file' | 'block'; path: string; format: Volume['format'] }

/** One pool of guest disks. Verbs that change something converge. Every kind of pool passes one contract test. */
export interface Pool {
  readonly name: string
  disk(volume: Volume): Disk
  /** What is there, as the guest sees its size, or undefined if nothing is. */
  sizeBytes(volume: Volume): Promise<number | undefined>
  /** A disk filled from an image and grown to `sizeBytes`. One that is there already is kept, never written over. */
  create(volume: Volume, image: Image, sizeBytes: number): Promise<void>
  remove(volume: Volume): Promise<void>
  list(): Promise<Volume[]>
  room(): Promise<PoolCapacity>
}

/** The pools of a node. */
export class Storage {
  constructor(readonly pools: readonly Pool[]) {}

  /** Throws `no_pool` for a pool this node does not have. */
  pool(name: string): Pool {
    const pool = this.pools.find((it) => it.name === name)
    if (!pool)
      throw new Failure(
        'no_pool',
        `this node has no pool ${name}; it has ${this.pools.map((it) => it.name).join(', ')}`,
      )
    return pool
  }

  list = async () => (await Promise.all(this.pools.map((pool) => pool.list()))).flat()
  rooms = () => Promise.all(this.pools.map((pool) => pool.room()))
}
