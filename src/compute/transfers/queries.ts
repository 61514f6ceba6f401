// The statements about transfers.
import { and, desc, eq, gte, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared } from '../../kernel/db/open.ts'
import { inserting, rowBy, updating } from '../../kernel/db/rows.ts'
import { jobReference } from '../../kernel/jobs/queries.ts'
import { type Transfer, type TransferState, transfers } from './tables.ts'

export type { Transfer }

export const transferTarget: AuditTarget = { prefix: 'trf', scope: 'servers:read' }

export const transferById = rowBy(transfers, transfers.id)
export const changeTransfer = updating(transfers, transfers.id)
export const insertTransfer = inserting(transfers)

type Filter = {
  nodeId?: string | undefined
  serverId?: string | undefined
  state?: TransferState | undefined
  /** In ms. */
  since?: number | undefined
  until?: number | undefined
}
/** Those from or to a node, of a server, in a state, begun in a span of time. */
export const transfersThatFit = ({ nodeId, serverId, state, since, until }: Filter): SQL | undefined =>
  and(
    nodeId === undefined ? undefined : or(eq(transfers.fromNodeId, nodeId), eq(transfers.toNodeId, nodeId)),
    serverId === undefined ? undefined : eq(transfers.serverId, serverId),
    state === undefined ? undefined : eq(transfers.state, state),
    since === undefined ? undefined : gte(transfers.createdAt, since),
    until === undefined ? undefined : lte(transfers.createdAt, until),
  )
/** A page, newest first. */
export const pageOfTransfers = <Shown>(call: ReadContext, where: SQL | undefined, show: (row: Transfer) => Shown) =>
  newest({ call, name: 'transfers', table: transfers, where, show })
/** Of no transfer: for readers who see none. */
export const noTransfer: SQL = sql`0`

/** The transfer of a server that has not ended. */
export const transferAtWork = (tx: Db, serverId: string): Transfer | undefined =>
  tx
    .select()
    .from(transfers)
    .where(and(eq(transfers.serverId, serverId), isNull(transfers.finishedAt)))
    .get()

const statements = prepared(({ $client }) => ({
  atWork: $client.prepare<{ n: number }, [string]>(
    `SELECT count(*) AS n FROM transfers t ${jobReference.join('j', 't.job_id')}
     WHERE t.finished_at IS NULL AND ?1 IN (t.from_node_id, t.to_node_id)
       AND ${jobReference.column('j', 'heldAt')} IS NULL`,
  ),
  held: $client.prepare<{ jobId: string; fromNodeId: string; toNodeId: string }, []>(
    `SELECT t.job_id AS jobId, t.from_node_id AS fromNodeId, t.to_node_id AS toNodeId
     FROM transfers t ${jobReference.join('j', 't.job_id')}
     WHERE t.finished_at IS NULL AND ${jobReference.column('j', 'heldAt')} IS NOT NULL ORDER BY t.id`,
  ),
}))
/** How many transfers from or to the node have not ended, without those that wait for others. */
export const transfersAtWorkOn = (tx: Db, nodeId: string): number => statements(tx).atWork.get(nodeId)!.n
/** Those that wait until others of their nodes have ended, the oldest first. */
export const heldTransfers = (tx: Db) => statements(tx).held.all()

/** So many transfers say how fast the next one will be. */
const MEASURED = 20
/** Below this, a copy is over before its speed says anything. */
const LEAST_BYTES = 256 * 1024 ** 2
/** The speed of the last copies, in bytes per second: the middle one. Undefined: there was none of some length. */
export function measuredRate(tx: Db): number | undefined {
  const rates = tx
    .select({
      rate: sql<number>`${transfers.bytesCopied} * 1000.0 / max(1, ${transfers.finishedAt} - ${transfers.beganAt})`,
    })
    .from(transfers)
    .where(and(eq(transfers.state, 'finished'), gte(transfers.bytesCopied, LEAST_BYTES)))
    .orderBy(desc(transfers.id))
    .limit(MEASURED)
    .all()
    .map(({ rate }) => rate)
    .sort((a, b) => a - b)
  return rates[Math.floor(rates.length / 2)]
}
