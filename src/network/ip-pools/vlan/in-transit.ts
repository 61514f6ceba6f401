// Addresses that a job keeps for a workload which does not have them yet. The job has planned in which VLAN they are.
import { type Db, prepared } from '../../../kernel/db/open.ts'

/** What `reserved_for` says of them. */
export const transitReasons = {
  move: (transferId: string) => `Move ${transferId}`,
  change: (workloadId: string) => `Next address of ${workloadId}`,
} as const

const find = prepared(({ $client }) =>
  $client.prepare<{ address: string }, string[]>(
    `SELECT address FROM addresses WHERE pool_id = ?1 AND workload_id IS NULL AND reserved_for IS NOT NULL
     AND (${Object.values(transitReasons)
       .map((_, n) => `substr(reserved_for, 1, length(?${n + 2})) = ?${n + 2}`)
       .join(' OR ')}) LIMIT 1`,
  ),
)
/** An address of the pool that is on its way to a workload; undefined: there is none. */
export const addressInTransit = (tx: Db, poolId: string): string | undefined =>
  find(tx).get(poolId, ...Object.values(transitReasons).map((reason) => reason('')))?.address
