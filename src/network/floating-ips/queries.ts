import { and, count, eq, type SQL } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { rowBy, updating } from '../../kernel/db/rows.ts'
import { type FloatingIp, floatingIps } from './tables.ts'

export const floatingById = rowBy(floatingIps, floatingIps.id)
export const changeFloating = updating(floatingIps, floatingIps.id)

/** A page, newest first; `where` decides who sees which. */
export const pageOfFloating = <Shown>(call: ReadContext, where: SQL | undefined, show: (row: FloatingIp) => Shown) =>
  newest({ call, name: 'floating-ips', table: floatingIps, where, show })
/** Those of an owner or under a reseller; undefined: all. */
export const ofOwner = (ownerId: string | undefined, resellerId: string | undefined): SQL | undefined =>
  and(
    ownerId === undefined ? undefined : eq(floatingIps.ownerId, ownerId),
    resellerId === undefined ? undefined : eq(floatingIps.resellerId, resellerId),
  )

export const countFloating = (tx: Db, ownerId: string): number =>
  tx.select({ n: count() }).from(floatingIps).where(eq(floatingIps.ownerId, ownerId)).get()!.n
/** The locations of these floating addresses, each once. */
export const locationsOfFloating = (tx: Db, ids: readonly string[]): string[] =>
  locations(tx)
    .all(JSON.stringify(ids))
    .map(({ id }) => id)
const locations = prepared(({ $client }) =>
  $client.prepare<{ id: string }, [string]>(
    'SELECT DISTINCT location_id AS id FROM floating_ips WHERE id IN (SELECT value FROM json_each(?))',
  ),
)
export const insertFloating = (tx: Tx, row: typeof floatingIps.$inferInsert): FloatingIp =>
  tx.insert(floatingIps).values(row).returning().get()
export const updateFloating = (tx: Tx, row: FloatingIp, given: Partial<FloatingIp>): FloatingIp =>
  patched(tx, floatingIps, row, given)
export const deleteFloating = (tx: Tx, id: string) => void tx.delete(floatingIps).where(eq(floatingIps.id, id)).run()
