// How many servers of each hypervisor are in which state.
import { type Db, prepared } from '../../../kernel/db/open.ts'
import type { ImportServerState } from '../tables.ts'

type Row = { hypervisorId: string; state: ImportServerState; byHypervisor: number; n: number }
const statements = prepared(({ $client }) => ({
  counts: $client.prepare<Row, [string]>(
    `SELECT hypervisor_id AS hypervisorId, state, coalesce(left_out_by, '') = 'hypervisor' AS byHypervisor,
       count(*) AS n
     FROM import_servers WHERE import_id = ? GROUP BY 1, 2, 3`,
  ),
}))

/** `leftOutWithIt`: of those that are left out, the ones that come when their hypervisor does. */
export type StateCounts = Partial<Record<ImportServerState, number>> & { leftOutWithIt: number }
export function stateCountsByHypervisor(tx: Db, importId: string): Map<string, StateCounts> {
  const found = new Map<string, StateCounts>()
  for (const { hypervisorId, state, byHypervisor, n } of statements(tx).counts.all(importId)) {
    const counts = found.get(hypervisorId) ?? { leftOutWithIt: 0 }
    counts[state] = (counts[state] ?? 0) + n
    if (state === 'left_out' && byHypervisor) counts.leftOutWithIt += n
    found.set(hypervisorId, counts)
  }
  return found
}
