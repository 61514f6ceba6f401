import { and, asc, eq, inArray, isNotNull, isNull, lt } from 'drizzle-orm'
import { nodeReference } from '../../fleet/node-records/queries.ts'
import { day } from '../../kernel/db/clock.ts'
import { expiring } from '../../kernel/db/expiring.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting, updating } from '../../kernel/db/rows.ts'
import { nodeOutages, storageWarnings } from './tables.ts'

export type NodeOutage = typeof nodeOutages.$inferSelect
export type StorageWarning = typeof storageWarnings.$inferSelect

export const insertOutage = inserting(nodeOutages)
export const changeOutage = updating(nodeOutages, nodeOutages.id)

const contact = { connectedAt: 'connectedAt', lostAt: 'lostAt', removedAt: 'removedAt' } as const
const statements = prepared(({ $client }) => ({
  open: $client.prepare<OpenOutage, []>(
    `SELECT o.id, o.node_id AS nodeId, o.location_id AS locationId, o.incident_id AS incidentId, o.since,
       o.mailed_at AS mailedAt, ${nodeReference.columns('n', contact)}
     FROM node_outages o ${nodeReference.join('n', 'o.node_id')} WHERE o.ended_at IS NULL`,
  ),
  node: $client.prepare<Omit<NodeFacts, 'isGone'> & { isGone: number }, [string]>(
    `SELECT ${nodeReference.columns('n', { id: 'id', name: 'name', locationId: 'locationId' })},
       coalesce(${nodeReference.column('n', 'removedAt')}, ${nodeReference.column('n', 'lostAt')}) IS NOT NULL AS isGone
     ${nodeReference.from('n')} WHERE n.id = +?`,
  ),
  last: $client.prepare<Pick<NodeOutage, 'incidentId' | 'endedAt'>, [string]>(
    `SELECT incident_id AS incidentId, ended_at AS endedAt FROM node_outages WHERE node_id = +?
     ORDER BY noted_at DESC, id DESC LIMIT 1`,
  ),
  lastMailed: $client.prepare<{ at: number | null }, [string]>(
    'SELECT max(mailed_at) AS at FROM node_outages WHERE node_id = +?',
  ),
}))

/** An outage that goes on, since when its node is connected again, and when it was declared lost or removed. */
export type OpenOutage = Pick<NodeOutage, 'id' | 'nodeId' | 'locationId' | 'incidentId' | 'since' | 'mailedAt'> & {
  connectedAt: number | null
  lostAt: number | null
  removedAt: number | null
}
export const openOutages = (tx: Db): OpenOutage[] => statements(tx).open.all()
export type NodeFacts = { id: string; name: string; locationId: string; isGone: boolean }
/** `isGone`: it was removed or declared lost. */
export function nodeFacts(tx: Db, nodeId: string): NodeFacts | undefined {
  const row = statements(tx).node.get(nodeId)
  return row ? { ...row, isGone: !!row.isGone } : undefined
}
/** The name of a node; the empty text for none. */
export const nodeNameOf = (tx: Db, nodeId: string): string => statements(tx).node.get(nodeId)?.name ?? ''
/** The incident of the last outage of a node, and when that ended. */
export const lastOutageOf = (tx: Db, nodeId: string) => statements(tx).last.get(nodeId)
/** When staff were last mailed that this node is away. */
export const lastMailedOf = (tx: Db, nodeId: string): number | null => statements(tx).lastMailed.get(nodeId)!.at
export const outagesById = (tx: Db, ids: readonly string[]): NodeOutage[] =>
  tx
    .select()
    .from(nodeOutages)
    .where(inArray(nodeOutages.id, [...ids]))
    .orderBy(asc(nodeOutages.id))
    .all()
export const outagesOfIncident = (tx: Db, incidentId: string): NodeOutage[] =>
  tx.select().from(nodeOutages).where(eq(nodeOutages.incidentId, incidentId)).orderBy(asc(nodeOutages.id)).all()
/** Outages that are over and of which a mail was sent, but none of their end. */
export const endsToMail = (tx: Db): NodeOutage[] =>
  tx
    .select()
    .from(nodeOutages)
    .where(and(eq(nodeOutages.endedAs, 'back'), isNotNull(nodeOutages.mailedAt), isNull(nodeOutages.endMailedAt)))
    .orderBy(asc(nodeOutages.id))
    .all()
/** The names of those who were told that a node is away, and when, for each node that is. */
export const toldAway = (tx: Db): ReadonlyMap<string, Pick<NodeOutage, 'told' | 'notedAt'>> =>
  new Map(
    tx
      .select({ nodeId: nodeOutages.nodeId, told: nodeOutages.told, notedAt: nodeOutages.notedAt })
      .from(nodeOutages)
      .where(isNull(nodeOutages.endedAt))
      .all()
      .map(({ nodeId, ...rest }) => [nodeId, rest]),
  )

const KEPT_MS = 90 * day
export const expiredOutages = expiring(nodeOutages, (now) =>
  and(lt(nodeOutages.notedAt, now - KEPT_MS), isNotNull(nodeOutages.endedAt)),
)

export const storageWarningsNow = (tx: Db): StorageWarning[] => tx.select().from(storageWarnings).all()
export const insertStorageWarning = inserting(storageWarnings)
export const dropStorageWarning = (tx: Tx, storage: string): void =>
  void tx.delete(storageWarnings).where(eq(storageWarnings.storage, storage)).run()
