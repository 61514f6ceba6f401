// The statements about labels of workloads of any kind.
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'
import type { LabelSide } from './tables.ts'

const statements = prepared(({ $client }) => ({
  of: $client.prepare<{ label: string }, [string, string]>(
    'SELECT label FROM workload_labels WHERE workload_id = ? AND side = ? ORDER BY label',
  ),
  add: $client.prepare('INSERT OR IGNORE INTO workload_labels (workload_id, side, label) VALUES (?, ?, ?)'),
  remove: $client.prepare('DELETE FROM workload_labels WHERE workload_id = ? AND side = ? AND label = ?'),
}))
/** In the order of the alphabet. */
export const labelsOf = (tx: Db, workloadId: string, side: LabelSide): string[] =>
  statements(tx)
    .of.all(workloadId, side)
    .map(({ label }) => label)
export const addLabel = (tx: Tx, workloadId: string, side: LabelSide, label: string) =>
  void statements(tx).add.run(workloadId, side, label)
export const removeLabel = (tx: Tx, workloadId: string, side: LabelSide, label: string) =>
  void statements(tx).remove.run(workloadId, side, label)

/** JSON of the labels of one side; `workloadId` is an SQL expression. */
export const labelsJson = (workloadId: string, side: LabelSide): string =>
  `(SELECT json_group_array(wl.label ORDER BY wl.label) FROM workload_labels wl
    WHERE wl.workload_id = ${workloadId} AND wl.side = '${side}')`

/** Over `workloads w`: those with this label on one of the sides. */
export const labelFits = (label: string, sides: readonly LabelSide[]): Where => ({
  where: `w.id IN (SELECT workload_id FROM workload_labels
    WHERE label = ? AND side IN (${sides.map(() => '?').join()}))`,
  values: [label, ...sides],
})
