import type { ExpiringRows } from '../../kernel/db/expiring.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { Block, firstKept, type Tier, tiers } from './blocks.ts'
import { metricBlocks } from './tables.ts'

// Raw: a block is read and written for each server and node every ten minutes.
const statements = prepared(({ $client }) => ({
  find: $client.prepare<{ data: Uint8Array }, [number, number, string]>(
    'SELECT data FROM metric_blocks WHERE tier = ? AND block = ? AND subject_id = ?',
  ),
  keep: $client.prepare('INSERT OR REPLACE INTO metric_blocks VALUES (?, ?, ?, ?)'),
  expired: $client.prepare(
    `DELETE FROM metric_blocks WHERE (tier, block, subject_id) IN
     (SELECT tier, block, subject_id FROM metric_blocks WHERE tier = ? AND block < ? LIMIT ?)`,
  ),
}))

/** The stored block; undefined before there is one. */
export function findBlock(tx: Db, tier: Tier, block: number, subjectId: string, width?: number): Block | undefined {
  const row = statements(tx).find.get(tier.tier, block, subjectId)
  return row ? Block.from(tier, block, row.data, width) : undefined
}
export const keepBlock = (tx: Tx, subjectId: string, block: Block) =>
  void statements(tx).keep.run(block.tier.tier, block.block, subjectId, block.data())

export const expiringBlocks: readonly ExpiringRows[] = tiers.map((tier) => ({
  table: metricBlocks,
  deleteExpired: (tx, now, most) => statements(tx).expired.run(tier.tier, firstKept(tier, now), most).changes,
}))
