import { and, asc, eq, type SQL } from 'drizzle-orm'
import { patched } from '../../kernel/api/named.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { choicesIn } from '../../kernel/search/choices.ts'
import { type Location, locationMoves, locations } from './tables.ts'

export const locationReference = reference(locations, ['name'])
export const locationTarget: AuditTarget = {
  prefix: 'grp',
  name: (id) => locationReference.value('name', id),
}
export const locationChoices = choicesIn(locations)
export const locationById = rowBy(locations, locations.id)

/** Every location, in the order of their names. */
export const allLocations = (tx: Db): Location[] => tx.select().from(locations).orderBy(asc(locations.name)).all()

const any = prepared(({ $client }) => $client.prepare('SELECT 1 FROM locations LIMIT 1'))
export const isAnyLocation = (tx: Db): boolean => any(tx).get() !== null

/** Throws a unique violation when the name is taken. */
export const insertLocation = (tx: Tx, row: typeof locations.$inferInsert): Location =>
  tx.insert(locations).values(row).returning().get()
/** Throws a unique violation when the name is taken. */
export const updateLocation = (tx: Tx, row: Location, given: Partial<Location>): Location =>
  patched(tx, locations, row, given)

const idsOf = (tx: Db, end: 'fromId' | 'toId', where: SQL | undefined): string[] =>
  tx
    .select({ id: locationMoves[end] })
    .from(locationMoves)
    .where(where)
    .orderBy(locationMoves[end])
    .all()
    .map(({ id }) => id)
/** The ids of the locations to which servers may move from this one. */
export const movesFrom = (tx: Db, fromId: string): string[] => idsOf(tx, 'toId', eq(locationMoves.fromId, fromId))
/** Those of them that owners of servers may choose themselves. */
export const offeredFrom = (tx: Db, fromId: string): string[] =>
  idsOf(tx, 'toId', and(eq(locationMoves.fromId, fromId), eq(locationMoves.offered, true)))
/** The ids of the locations from which servers may move to this one. */
export const movesInto = (tx: Db, toId: string): string[] => idsOf(tx, 'fromId', eq(locationMoves.toId, toId))
/** Allows moves from this location to these, and to no other; owners may choose the offered ones. */
export function setMovesFrom(tx: Tx, fromId: string, toIds: readonly string[], offeredIds: readonly string[]) {
  tx.delete(locationMoves).where(eq(locationMoves.fromId, fromId)).run()
  for (const toId of toIds)
    tx.insert(locationMoves)
      .values({ fromId, toId, offered: offeredIds.includes(toId) })
      .run()
}
