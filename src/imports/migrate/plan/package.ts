// The package of a server, when its first one comes: one of the own, or one that is made like that of the other panel.
import type { Package } from '../../../catalog/packages/model.ts'
import { packageById, packageQueries } from '../../../catalog/packages/queries.ts'
import { named } from '../../../kernel/api/named.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { packageRows } from '../../import-records/inventory/queries.ts'
import type { ImportRecord } from '../../import-records/model.ts'
import { packageLike } from '../../mapping/packages.ts'
import { CannotMove } from '../failures.ts'

type At = { tx: Tx; target: ImportRecord; now: number }
/** Throws `out_of_date` where nothing is decided any more, and `name_taken`. */
export function packageFor({ tx, target, now }: At, sourceId: string): Package {
  const row = packageRows.find(tx, target.id, sourceId)
  const made = row?.packageId ? packageById(tx, row.packageId) : undefined
  if (made) return made
  const like = row?.choice === 'like' ? packageLike(row, target.billing) : undefined
  if (!row || !like?.vcpus || !like.memoryMb || !like.diskGb)
    throw new CannotMove('out_of_date', `The package ${row?.name ?? sourceId} that was chosen is gone.`)
  const { name, vcpus, memoryMb, diskGb, trafficGb = null, portMbps = null, billingProductId = null, isOnSale } = like
  const pack = named('package', () =>
    packageQueries.insert(tx, {
      ...{ id: newId('pkg'), name, vcpus, memoryMb, diskGb, trafficGb, portMbps, billingProductId },
      ...{ ipv4: Math.min(16, row.ipv4 ?? 1), ipv6Prefix: null, archived: !isOnSale, createdAt: now },
    }),
  )
  packageRows.change(tx, row, { packageId: pack.id })
  return pack
}
