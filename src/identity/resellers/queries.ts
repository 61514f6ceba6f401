import { eq } from 'drizzle-orm'
import { patched } from '../../kernel/api/named.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { resellerLocations, resellerPackages, resellers, type Terms } from './tables.ts'

export const termsById = rowBy(resellers, resellers.id)
export const updateTerms = (tx: Tx, row: Terms, given: Partial<Terms>): Terms => patched(tx, resellers, row, given)

// Raw and prepared: each order of a reseller's customer runs the first two.
const statements = prepared(({ $client }) => ({
  sells: $client.prepare<unknown, [string, string]>(
    'SELECT 1 FROM reseller_packages WHERE reseller_id = ? AND package_id = ?',
  ),
  isIn: $client.prepare<unknown, [string, string]>(
    'SELECT 1 FROM reseller_locations WHERE reseller_id = ? AND location_id = ?',
  ),
  packageIds: $client.prepare<{ id: string }, [string]>(
    'SELECT package_id AS id FROM reseller_packages WHERE reseller_id = ?',
  ),
  locationIds: $client.prepare<{ id: string }, [string]>(
    'SELECT location_id AS id FROM reseller_locations WHERE reseller_id = ?',
  ),
}))
export const maySell = (tx: Db, resellerId: string, packageId: string): boolean =>
  statements(tx).sells.get(resellerId, packageId) !== null
export const mayPlaceIn = (tx: Db, resellerId: string, locationId: string): boolean =>
  statements(tx).isIn.get(resellerId, locationId) !== null
export const packageIdsOf = (tx: Db, resellerId: string): string[] =>
  statements(tx)
    .packageIds.all(resellerId)
    .map(({ id }) => id)
export const locationIdsOf = (tx: Db, resellerId: string): string[] =>
  statements(tx)
    .locationIds.all(resellerId)
    .map(({ id }) => id)

/** The packages that the reseller may sell are these from now on. */
export function setPackages(tx: Tx, resellerId: string, packageIds: Iterable<string>) {
  tx.delete(resellerPackages).where(eq(resellerPackages.resellerId, resellerId)).run()
  for (const packageId of packageIds) tx.insert(resellerPackages).values({ resellerId, packageId }).run()
}
/** The locations in which the reseller may place servers are these from now on. */
export function setLocations(tx: Tx, resellerId: string, locationIds: Iterable<string>) {
  tx.delete(resellerLocations).where(eq(resellerLocations.resellerId, resellerId)).run()
  for (const locationId of locationIds) tx.insert(resellerLocations).values({ resellerId, locationId }).run()
}
