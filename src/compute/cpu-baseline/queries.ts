import { fromWorkloads } from '../../fleet/workloads/queries.ts'
import { type Db, prepared } from '../../kernel/db/open.ts'
import { serverReference } from '../server-records/queries.ts'

type Outside = { id: string; hostname: string; nodeId: string; cpuModel: string | null; cpuPending: number }

const [model, pending] = [serverReference.column('s', 'cpuModel'), serverReference.column('s', 'cpuPending')]
const differs = `${fromWorkloads} ${serverReference.join('s', 'w.id')}
  WHERE w.location_id = +? AND w.terminated_at IS NULL AND (${model} IS NOT ? OR ${pending} = 1)`
const statements = prepared(({ $client }) => ({
  outside: $client.prepare<Outside, [string, string | null, number]>(
    `SELECT w.id, w.hostname, w.node_id AS nodeId, ${model} AS cpuModel, ${pending} AS cpuPending ${differs}
     ORDER BY w.hostname, w.id LIMIT ?`,
  ),
  count: $client.prepare<{ n: number }, [string, string | null]>(`SELECT count(*) AS n ${differs}`),
}))
type Wanted = { id: string; cpuModel: string | null }
/** Servers of a location whose vm has another CPU model than it, or gets it with its next start; by hostname. */
export const serversOutside = (tx: Db, { id, cpuModel }: Wanted, most: number): Outside[] =>
  statements(tx).outside.all(id, cpuModel, most)
export const countOutside = (tx: Db, { id, cpuModel }: Wanted): number => statements(tx).count.get(id, cpuModel)!.n
