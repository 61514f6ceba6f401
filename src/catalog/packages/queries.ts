import { asc } from 'drizzle-orm'
import type { Sorts } from '../../kernel/api/list.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { choicesIn } from '../../kernel/search/choices.ts'
import { queriesOfGoods } from '../goods-queries.ts'
import { type Package, packages } from './tables.ts'

export const packageReference = reference(packages, ['name'])
export const packageTarget: AuditTarget = {
  prefix: 'pkg',
  name: (id) => packageReference.value('name', id),
}
export const packageChoices = choicesIn(packages)
export const packageById = rowBy(packages, packages.id)

/** The orders of the list. */
export const packageSorts = {
  name: 'packages.name',
  memoryMb: 'packages.memory_mb',
  trafficGb: 'packages.traffic_gb',
  archived: 'packages.archived',
} satisfies Sorts
export const packageQueries = queriesOfGoods(packages)
/** Every package, in the order of their names. */
export const allPackages = (tx: Db): Package[] => tx.select().from(packages).orderBy(asc(packages.name)).all()

const onSale = prepared(({ $client }) => $client.prepare('SELECT 1 FROM packages WHERE archived = 0 LIMIT 1'))
/** Is there a package that can be ordered? */
export const isAnyPackageOnSale = (tx: Db): boolean => onSale(tx).get() !== null
