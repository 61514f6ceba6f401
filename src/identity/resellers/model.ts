// A reseller, its terms, and what they mean for the orders of its customers.
import { Type as t } from 'typebox'
import { type Package, packageResponse } from '../../catalog/packages/model.ts'
import { packageById } from '../../catalog/packages/queries.ts'
import type { GpuNeed } from '../../fleet/gpus/placement.ts'
import type { Location } from '../../fleet/locations/model.ts'
import { locationById } from '../../fleet/locations/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import type { Account } from '../account-records/model.ts'
import { accountById } from '../account-records/queries.ts'
import { addAccount, customerResponse, showCustomer } from '../customers/model.ts'
import { locationIdsOf, mayPlaceIn, maySell, packageIdsOf, termsById } from './queries.ts'
import { type Amounts, amountsResponse, quotasResponse, takeFromQuota, timesWithin, usedBy, whole } from './quota.ts'
import type { Terms } from './tables.ts'

export type Reseller = Account & { terms: Terms }

export const withTerms = (tx: Db, account: Account): Reseller => ({ ...account, terms: termsById(tx, account.id)! })

/** Only staff manage resellers; a reseller sees itself under its own paths. */
export const reseller: Resource<Reseller> = {
  name: 'reseller',
  notFound: 'reseller_not_found',
  find: (tx, actor, id) => {
    const account = actor.kind === 'staff' ? accountById(tx, id) : undefined
    return account?.kind === 'reseller' ? withTerms(tx, account) : undefined
  },
}

/** The reseller of this account, or the account itself if it is one. Undefined for a customer of the installation. */
export function resellerOf(tx: Db, account: Account): Reseller | undefined {
  if (account.kind === 'reseller') return withTerms(tx, account)
  return account.resellerId ? withTerms(tx, accountById(tx, account.resellerId)!) : undefined
}

/** Throws `reseller_suspended`: a suspended reseller and its customers get nothing new. */
export function mustNotBeSuspended({ name, terms }: Reseller) {
  if (terms.suspendedAt !== null)
    throw new ApiError(
      'reseller_suspended',
      `${name} is suspended: it and its customers can get nothing new until it is unsuspended. Their servers ` +
        'keep running.',
    )
}

/**
 * Checks an order for a reseller or one of its customers against its terms.
 * Throws `reseller_suspended`, `package_not_allowed`, `location_not_allowed` or `quota_exceeded`.
 */
export function mustAllowOrder(tx: Tx, now: number, reseller: Reseller, what: Package, where: Location) {
  mustNotBeSuspended(reseller)
  if (!maySell(tx, reseller.id, what.id))
    throw new ApiError(
      'package_not_allowed',
      `${reseller.name} may not sell the package ${what.name}. Choose another, or have it added to what ` +
        `${reseller.name} may sell.`,
    )
  mustPlaceIn(tx, reseller, where)
  takeFromQuota(tx, now, holder(reseller), takenBy(what))
}

function mustPlaceIn(tx: Tx, { id, name }: Reseller, where: Location) {
  if (!mayPlaceIn(tx, id, where.id))
    throw new ApiError(
      'location_not_allowed',
      `${name} may not place servers in ${where.name}. Choose another location, or have it added to those of ${name}.`,
    )
}

/**
 * A customer of the caller's own as if it had just been made, for a dry run: nothing of it stays. Throws
 * `reseller_suspended` or `quota_exceeded`.
 */
export function rehearsedCustomer(
  tx: Tx,
  { kind, accountId }: Pick<Actor, 'kind' | 'accountId'>,
  now: number,
): Account {
  const reseller = kind === 'reseller' ? resellerOf(tx, accountById(tx, accountId)!) : undefined
  if (reseller) mustAllowCustomer(tx, now, reseller)
  const given = { name: 'New customer', email: `${newId('usr')}@customer.invalid` }
  return addAccount(tx, given, { kind: 'customer', resellerId: reseller?.id ?? null, now })
}

/**
 * Checks a server that comes back to a reseller or to one of its customers, with the amounts that it holds.
 * Throws `reseller_suspended` or `quota_exceeded`.
 */
export function mustAllowReturn(tx: Tx, now: number, reseller: Reseller, held: Partial<Amounts>) {
  mustNotBeSuspended(reseller)
  takeFromQuota(tx, now, holder(reseller), { servers: 1, ...held })
}

/**
 * Checks the order of a GPU instance for a reseller or one of its customers. Throws `reseller_suspended`,
 * `location_not_allowed` or `quota_exceeded`.
 */
export function mustAllowInstance(tx: Tx, now: number, reseller: Reseller, where: Location, need: GpuNeed) {
  mustNotBeSuspended(reseller)
  mustPlaceIn(tx, reseller, where)
  takeFromQuota(tx, now, holder(reseller), takenByInstance(need))
}

const takenByInstance = ({ cards, vcpus, memoryMb, workspaceGb, ownIpv4 }: GpuNeed): Partial<Amounts> => ({
  gpus: cards,
  vcpus,
  memoryMb,
  diskGb: workspaceGb,
  ipv4: ownIpv4 ? 1 : 0,
})

/** The amounts that a server of this package takes of the quotas. */
const takenBy = ({ vcpus, memoryMb, diskGb, ipv4 }: Package): Partial<Amounts> => ({
  servers: 1,
  vcpus,
  memoryMb,
  diskGb,
  ipv4,
})

/** How many such orders `mustAllowOrder` accepts one after another; `Infinity` without a quota that binds. */
export function ordersWithin(
  tx: Db,
  reseller: Reseller,
  what: Package,
  where: Location,
): number | 'not_allowed' | 'suspended' {
  if (!maySell(tx, reseller.id, what.id) || !mayPlaceIn(tx, reseller.id, where.id)) return 'not_allowed'
  if (reseller.terms.suspendedAt !== null) return 'suspended'
  return timesWithin(tx, holder(reseller), takenBy(what))
}

/** How many such instances `mustAllowInstance` accepts one after another; `Infinity` without a quota that binds. */
export function instancesWithin(
  tx: Db,
  reseller: Reseller,
  need: GpuNeed,
  where: Location,
): number | 'not_allowed' | 'suspended' {
  if (!mayPlaceIn(tx, reseller.id, where.id)) return 'not_allowed'
  if (reseller.terms.suspendedAt !== null) return 'suspended'
  return timesWithin(tx, holder(reseller), takenByInstance(need))
}

/**
 * Checks the change of a package for a reseller or one of its customers against its terms; an amount that
 * shrinks needs no quota. Throws `reseller_suspended`, `package_not_allowed` or `quota_exceeded`.
 */
export function mustAllowChange(tx: Tx, now: number, reseller: Reseller, from: Partial<Amounts>, to: Package) {
  mustNotBeSuspended(reseller)
  if (!maySell(tx, reseller.id, to.id))
    throw new ApiError(
      'package_not_allowed',
      `${reseller.name} may not sell the package ${to.name}. Choose another, or have it added to what ` +
        `${reseller.name} may sell.`,
    )
  const more = (name: 'vcpus' | 'memoryMb' | 'diskGb') => Math.max(0, to[name] - (from[name] ?? 0))
  takeFromQuota(tx, now, holder(reseller), { vcpus: more('vcpus'), memoryMb: more('memoryMb'), diskGb: more('diskGb') })
}

/** For an address beside those of an order. Throws `reseller_suspended` or `quota_exceeded`. */
export function mustAllowAddress(tx: Tx, now: number, reseller: Reseller, version: 4 | 6) {
  mustNotBeSuspended(reseller)
  if (version === 4) takeFromQuota(tx, now, holder(reseller), { ipv4: 1 })
}

/** For disk space beside that of an order. Throws `reseller_suspended` or `quota_exceeded`. */
export function mustAllowDisk(tx: Tx, now: number, reseller: Reseller, diskGb: number) {
  mustNotBeSuspended(reseller)
  takeFromQuota(tx, now, holder(reseller), { diskGb })
}

/** Throws `reseller_suspended` or `quota_exceeded`. */
export function mustAllowCustomer(tx: Tx, now: number, reseller: Reseller) {
  mustNotBeSuspended(reseller)
  takeFromQuota(tx, now, holder(reseller), { customers: 1 })
}
const holder = ({ id, name, terms: { quotas } }: Reseller) => ({ id, name, quotas })

// ---------------------------------------------------------------- form in the API
const { servers: _servers, ...packageProperties } = packageResponse.properties
const packageSold = namedSchema('PackageSold', packageProperties)
const { resellerId: _, resellerName: __, gpuLimit: ___, ...accountProperties } = customerResponse.properties
export const resellerResponse = namedSchema('Reseller', {
  ...accountProperties,
  suspendedAt: nullable(time),
  suspendReason: nullable(t.String()),
  quotas: described(quotasResponse, 'Null: not limited.'),
  used: described(amountsResponse, 'By itself and its customers together.'),
  packages: t.Array(packageSold),
  locations: t.Array(t.Object({ id: t.String(), name: t.String(), open: t.Boolean() })),
})

/** `onSale` leaves out archived packages, which nobody can order. */
export function showReseller(tx: Db, reseller: Reseller, { onSale = false } = {}) {
  const { resellerId: _, resellerName: __, gpuLimit: ___, ...account } = showCustomer(tx, reseller)
  return {
    ...account,
    suspendedAt: isoOrNull(reseller.terms.suspendedAt),
    suspendReason: reseller.terms.suspendReason,
    quotas: whole(reseller.terms.quotas),
    used: usedBy(tx, reseller.id),
    packages: packageIdsOf(tx, reseller.id)
      .map((id) => packageById(tx, id)!)
      .filter((p) => !(onSale && p.archived))
      .map(({ createdAt: _, ...p }) => p)
      .sort(byName),
    locations: locationIdsOf(tx, reseller.id)
      .map((id) => locationById(tx, id)!)
      .map(({ id, name, open }) => ({ id, name, open }))
      .sort(byName),
  }
}
const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name, 'en')
