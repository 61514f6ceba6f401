// The statements about drains.
import { and, asc, desc, eq, inArray, isNotNull, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting, rowBy, updating } from '../../kernel/db/rows.ts'
import {
  type Drain,
  type DrainChoice,
  type DrainPlan,
  type DrainServer,
  type DrainState,
  drainChoices,
  drainPlans,
  drainServers,
  drains,
} from './tables.ts'

export type { Drain, DrainChoice, DrainPlan, DrainServer, DrainState }

export const drainTarget: AuditTarget = { prefix: 'drn', scope: 'nodes:read' }

export const drainById = rowBy(drains, drains.id)
export const insertDrain = inserting(drains)
export const changeDrain = updating(drains, drains.id)
export const insertDrainServer = inserting(drainServers)
export const changeDrainServer = (
  tx: Tx,
  { drainId, workloadId }: Pick<DrainServer, 'drainId' | 'workloadId'>,
  values: Partial<DrainServer>,
) =>
  void tx
    .update(drainServers)
    .set(values)
    .where(and(eq(drainServers.drainId, drainId), eq(drainServers.workloadId, workloadId)))
    .run()

/** Those that have not ended, the oldest first. */
export const openDrains = (tx: Db): Drain[] =>
  tx.select().from(drains).where(isNull(drains.finishedAt)).orderBy(asc(drains.id)).all()
/** The one at work on a node. */
export const openDrainOf = (tx: Db, nodeId: string): Drain | undefined =>
  tx
    .select()
    .from(drains)
    .where(and(eq(drains.nodeId, nodeId), isNull(drains.finishedAt)))
    .get()
/** The last one that emptied a node. */
export const lastDrainOf = (tx: Db, nodeId: string): Drain | undefined =>
  tx
    .select()
    .from(drains)
    .where(and(eq(drains.nodeId, nodeId), eq(drains.kind, 'drain')))
    .orderBy(desc(drains.id))
    .limit(1)
    .get()

type Filter = { nodeId?: string | undefined; state?: DrainState | undefined }
export const pageOfDrains = <Shown>(call: ReadContext, { nodeId, state }: Filter, show: (row: Drain) => Shown) => {
  const where: SQL | undefined = and(
    nodeId === undefined ? undefined : eq(drains.nodeId, nodeId),
    state === undefined ? undefined : eq(drains.state, state),
  )
  return newest({ call, name: 'drains', table: drains, where, show })
}

/** The servers of a drain, in the order in which they move. */
export const serversOfDrain = (tx: Db, drainId: string): DrainServer[] =>
  tx.select().from(drainServers).where(eq(drainServers.drainId, drainId)).orderBy(asc(drainServers.position)).all()
export const serverOfDrain = (tx: Db, drainId: string, workloadId: string): DrainServer | undefined =>
  tx
    .select()
    .from(drainServers)
    .where(and(eq(drainServers.drainId, drainId), eq(drainServers.workloadId, workloadId)))
    .get()
/** Those of a drain that are moved or stopped now. */
export const busyServersOf = (tx: Db, drainId: string): DrainServer[] =>
  tx
    .select()
    .from(drainServers)
    .where(and(eq(drainServers.drainId, drainId), inArray(drainServers.state, ['moving', 'stopping'])))
    .all()
/** The next one that waits and may be tried now (ms). */
export const nextServerOf = (tx: Db, drainId: string, now: number): DrainServer | undefined =>
  tx
    .select()
    .from(drainServers)
    .where(
      and(
        eq(drainServers.drainId, drainId),
        eq(drainServers.state, 'waiting'),
        sql`coalesce(${drainServers.notBefore}, 0) <= ${now}`,
      ),
    )
    .orderBy(asc(drainServers.position))
    .limit(1)
    .get()

const statements = prepared(({ $client }) => ({
  counts: $client.prepare<{ state: DrainServer['state']; n: number }, [string]>(
    'SELECT state, count(*) AS n FROM drain_servers WHERE drain_id = ? GROUP BY state',
  ),
  stopping: $client.prepare<{ id: string }, []>(
    `SELECT DISTINCT drain_id AS id FROM drain_servers WHERE state IN ('moving', 'stopping')`,
  ),
}))
/** How many servers of the drain are in each state. */
export const countsOf = (tx: Db, drainId: string): Partial<Record<DrainServer['state'], number>> =>
  Object.fromEntries(
    statements(tx)
      .counts.all(drainId)
      .map(({ state, n }) => [state, n]),
  )
/** Drains with a server that is moved or stopped now; some of them have ended otherwise. */
export const drainsAtWork = (tx: Db): string[] =>
  statements(tx)
    .stopping.all()
    .map(({ id }) => id)

/** Drains of a node that have ended since it was opened last, the newest first. */
export const drainsToReturn = (tx: Db, nodeId: string): Drain[] =>
  tx
    .select()
    .from(drains)
    .where(
      and(eq(drains.nodeId, nodeId), eq(drains.kind, 'drain'), isNull(drains.returnedAt), isNotNull(drains.finishedAt)),
    )
    .orderBy(desc(drains.id))
    .all()
/** The workloads that these drains have moved, or stopped; each once. */
export const returnable = (tx: Db, nodeId: string, state: 'moved' | 'stopped'): string[] => [
  ...new Set(
    drainsToReturn(tx, nodeId).flatMap(({ id }) =>
      serversOfDrain(tx, id)
        .filter((one) => one.state === state)
        .map(({ workloadId }) => workloadId),
    ),
  ),
]
/** Drains of all nodes that have ended and whose node was not opened since, the newest first. */
export const drainsInMaintenance = (tx: Db): Drain[] =>
  tx
    .select()
    .from(drains)
    .where(and(eq(drains.kind, 'drain'), isNull(drains.returnedAt), isNotNull(drains.finishedAt)))
    .orderBy(desc(drains.id))
    .all()
// ---------------------------------------------------------------- before a drain
export const drainPlanOf = (tx: Db, nodeId: string): DrainPlan | undefined =>
  tx.select().from(drainPlans).where(eq(drainPlans.nodeId, nodeId)).get()
/** Those whose time has come. */
export const dueDrainPlans = (tx: Db, now: number): DrainPlan[] =>
  tx.select().from(drainPlans).where(lte(drainPlans.startsAt, now)).all()
/** Those that did not begin. */
export const failedDrainPlans = (tx: Db): DrainPlan[] =>
  tx.select().from(drainPlans).where(isNotNull(drainPlans.error)).all()
/** It takes the place of the one of the same node. */
export const putDrainPlan = (tx: Tx, row: DrainPlan) =>
  void tx.insert(drainPlans).values(row).onConflictDoUpdate({ target: drainPlans.nodeId, set: row }).run()
export const dropDrainPlan = (tx: Tx, nodeId: string) =>
  void tx.delete(drainPlans).where(eq(drainPlans.nodeId, nodeId)).run()

/** By the id of the server. */
export const choicesFor = (tx: Db, nodeId: string): ReadonlyMap<string, DrainChoice> =>
  new Map(
    tx
      .select()
      .from(drainChoices)
      .where(eq(drainChoices.nodeId, nodeId))
      .all()
      .map((choice) => [choice.workloadId, choice]),
  )
export const putChoice = (tx: Tx, row: DrainChoice) =>
  void tx
    .insert(drainChoices)
    .values(row)
    .onConflictDoUpdate({ target: [drainChoices.nodeId, drainChoices.workloadId], set: row })
    .run()
export const dropChoice = (tx: Tx, { nodeId, workloadId }: Pick<DrainChoice, 'nodeId' | 'workloadId'>) =>
  void tx
    .delete(drainChoices)
    .where(and(eq(drainChoices.nodeId, nodeId), eq(drainChoices.workloadId, workloadId)))
    .run()
export const dropChoices = (tx: Tx, nodeId: string) =>
  void tx.delete(drainChoices).where(eq(drainChoices.nodeId, nodeId)).run()
