import { bytes } from '../../kernel/words.ts'
import { metadataPercent } from './full.ts'
import type { PoolUse } from './queries.ts'

/** The parts of a pool that are its space. */
type Space = Pick<PoolUse, 'totalBytes' | 'freeBytes' | 'metadataTotalBytes' | 'metadataFreeBytes'>

/** `2 GiB of 1.8 TiB left` */
export const spaceLeft = ({ freeBytes, totalBytes }: Space): string =>
  `${bytes(freeBytes ?? 0)} of ${bytes(totalBytes)} left`
/** `fra-02 is almost full: 2 GiB of 1.8 TiB left`. `what`: the node, or its pool where it has several. */
export const almostFull = (what: string, pool: Space): string => `${what} is almost full: ${spaceLeft(pool)}`
/** `The pool fast of fra-02 uses 85 % of its space for metadata` */
export const metadataAlmostFull = (what: string, pool: Space): string =>
  `${what} uses ${Math.floor(metadataPercent(pool) ?? 0)} % of its space for metadata`
/** The pool as people call it: the node where it has one pool, else the pool of it. */
export const poolInWords = (node: string, pool: string, poolsOfNode: number): string =>
  poolsOfNode > 1 ? `The pool ${pool} of ${node}` : node

/** The consequence of a pool that is full, or that soon will be. */
export const fullEffect = (isFull: boolean, fullPercent: number): string =>
  isFull
    ? 'It takes no new disks. Servers stop writing and pause when it is full.'
    : `At ${fullPercent} % it takes no new disks, and servers stop writing and pause when it is full.`
