import { and, eq } from 'drizzle-orm'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { type RemovalChoice, type RemovalState, removalChoices, type SourceRemoval, sourceRemovals } from './tables.ts'

export type { RemovalChoice, RemovalState, SourceRemoval }
export { removalChoices }

const key = (importId: string, nodeId: string) =>
  and(eq(sourceRemovals.importId, importId), eq(sourceRemovals.nodeId, nodeId))

/** The removal on a node; undefined: nobody has decided anything. */
export const removalOf = (tx: Db, importId: string, nodeId: string): SourceRemoval | undefined =>
  tx.select().from(sourceRemovals).where(key(importId, nodeId)).get()

export function changeRemoval(
  tx: Tx,
  { importId, nodeId }: Pick<SourceRemoval, 'importId' | 'nodeId'>,
  values: Partial<Omit<SourceRemoval, 'importId' | 'nodeId'>>,
) {
  tx.insert(sourceRemovals).values({ importId, nodeId, state: 'idle' }).onConflictDoNothing().run()
  tx.update(sourceRemovals).set(values).where(key(importId, nodeId)).run()
}
