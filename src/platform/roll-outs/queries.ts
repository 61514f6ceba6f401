// The statements about roll-outs.
import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { inserting, rowBy, updating } from '../../kernel/db/rows.ts'
import { type RollOut, type RollOutNode, rollOutNodes, rollOuts } from './tables.ts'

export type { RollOut, RollOutNode }

export const rollOutTarget: AuditTarget = { prefix: 'rlo', scope: 'nodes:read' }
export const rollOutById = rowBy(rollOuts, rollOuts.id)
export const insertRollOut = inserting(rollOuts)
export const changeRollOut = updating(rollOuts, rollOuts.id)
export const insertRollOutNode = inserting(rollOutNodes)
/** The one that has not ended; undefined: all have. */
export const openRollOut = (tx: Db): RollOut | undefined =>
  tx.select().from(rollOuts).where(isNull(rollOuts.finishedAt)).get()
export const pageOfRollOuts = <Shown>(call: ReadContext, show: (row: RollOut) => Shown) =>
  newest({ call, name: 'roll-outs', table: rollOuts, where: undefined, show })

/** All nodes of a roll-out, by their place. */
export const nodesOf = (tx: Db, rollOutId: string): RollOutNode[] =>
  tx.select().from(rollOutNodes).where(eq(rollOutNodes.rollOutId, rollOutId)).orderBy(asc(rollOutNodes.place)).all()
const ofNode = (rollOutId: string, nodeId: string) =>
  and(eq(rollOutNodes.rollOutId, rollOutId), eq(rollOutNodes.nodeId, nodeId))
export const rollOutNode = (tx: Db, rollOutId: string, nodeId: string): RollOutNode | undefined =>
  tx.select().from(rollOutNodes).where(ofNode(rollOutId, nodeId)).get()
export const changeRollOutNode = (
  tx: Tx,
  { rollOutId, nodeId }: Pick<RollOutNode, 'rollOutId' | 'nodeId'>,
  values: Partial<RollOutNode>,
) => void tx.update(rollOutNodes).set(values).where(ofNode(rollOutId, nodeId)).run()

/** The roll-out that updates this node now. */
export const rollOutAtWorkOn = (tx: Db, nodeId: string): RollOut | undefined =>
  tx
    .select({ rollOut: rollOuts })
    .from(rollOutNodes)
    .innerJoin(rollOuts, eq(rollOuts.id, rollOutNodes.rollOutId))
    .where(and(eq(rollOutNodes.nodeId, nodeId), eq(rollOutNodes.state, 'updating'), isNull(rollOuts.finishedAt)))
    .get()?.rollOut

/** Does a roll-out update this node now? It ends that, also where the node does not come back. */
export const isBeingUpdated = (tx: Db, nodeId: string): boolean => rollOutAtWorkOn(tx, nodeId) !== undefined

export const addSentBytes = (tx: Tx, nodeId: string, bytes: number) =>
  void tx
    .update(rollOutNodes)
    .set({ sentBytes: sql`${rollOutNodes.sentBytes} + ${bytes}` })
    .where(
      and(
        eq(rollOutNodes.nodeId, nodeId),
        inArray(
          rollOutNodes.rollOutId,
          tx.select({ id: rollOuts.id }).from(rollOuts).where(isNull(rollOuts.finishedAt)),
        ),
      ),
    )
    .run()
