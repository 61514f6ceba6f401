import { asc, count, getTableColumns } from 'drizzle-orm'
import { ended, type Slice, type Sorts } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { type Package, packages } from './tables.ts'

export const packageReference = reference(packages, ['name'])
export const packageTarget: AuditTarget = {
  prefix: 'pkg',
  name: (id) => packageReference.value('name', id),
}
export const packageById = rowBy(packages, packages.id)

/** The orders of the list. */
export const packageSorts = {
  name: 'packages.name',
  memoryMb: 'packages.memory_mb',
  trafficGb: 'packages.traffic_gb',
  archived: 'packages.archived',
} satisfies Sorts
/** A slice of the packages, by name where nothing else is asked for. */
export function packagesByName(tx: Db, slice: Slice): Package[] {
  const { behind, inOrder, sortValue } = ended(slice, packages.name, 'ASC')
  return tx
    .select({ ...getTableColumns(packages), ...sortValue })
    .from(packages)
    .where(behind)
    .orderBy(...inOrder)
    .limit(slice.limit)
    .offset(slice.skip)
    .all()
}
/** Every package, in the order of their names. */
export const allPackages = (tx: Db): Package[] => tx.select().from(packages).orderBy(asc(packages.name)).all()
export const countPackages = (tx: Db): number => tx.select({ n: count() }).from(packages).get()!.n

const onSale = prepared(({ $client }) => $client.prepare('SELECT 1 FROM packages WHERE archived = 0 LIMIT 1'))
/** Is there a package that can be ordered? */
export const isAnyPackageOnSale = (tx: Db): boolean => onSale(tx).get() !== null

/** Throws a unique violation when the name is taken. */
export const insertPackage = (tx: Tx, row: typeof packages.$inferInsert): Package =>
  tx.insert(packages).values(row).returning().get()
/** Throws a unique violation when the name is taken. */
export const updatePackage = (tx: Tx, row: Package, given: Partial<Package>): Package =>
  patched(tx, packages, row, given)
