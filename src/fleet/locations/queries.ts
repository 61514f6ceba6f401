import { asc, eq } from 'drizzle-orm'
import { patched } from '../../kernel/api/named.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { type Location, locationMoves, locations } from './tables.ts'

export const locationReference = reference(locations, ['name'])
export const locationTarget: AuditTarget = {
  prefix: 'grp',
  name: (id) => locationReference.value('name', id),
}
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

/** The ids of the locations to which servers may move from this one. */
export const movesFrom = (tx: Db, fromId: string): string[] =>
  tx
    .select({ toId: locationMoves.toId })
    .from(locationMoves)
    .where(eq(locationMoves.fromId, fromId))
    .orderBy(locationMoves.toId)
    .all()
    .map(({ toId }) => toId)
/** Allows moves from this location to these, and to no other. */
export function setMovesFrom(tx: Tx, fromId: string, toIds: readonly string[]) {
  tx.delete(locationMoves).where(eq(locationMoves.fromId, fromId)).run()
  for (const toId of toIds) tx.insert(locationMoves).values({ fromId, toId }).run()
}
