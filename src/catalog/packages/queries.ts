import { asc, count, gt } from 'drizzle-orm'
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

/** Packages in the order of their names, from behind the name `after`. */
export const packagesByName = (tx: Db, after: string | undefined, limit: number): Package[] =>
  tx
    .select()
    .from(packages)
    .where(after ? gt(packages.name, after) : undefined)
    .orderBy(asc(packages.name))
    .limit(limit)
    .all()
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
