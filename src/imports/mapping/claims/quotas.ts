// The import adds to the quotas of resellers: their own servers, and those of their customers, old and new.
import { packageById } from '../../../catalog/packages/queries.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { withTerms } from '../../../identity/resellers/model.ts'
import { type Amounts, type QuotaResource, quotaWords, usedBy } from '../../../identity/resellers/quota.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { serversOfOwners, sizesOfOwners } from '../../import-records/choices/queries.ts'
import { ownerRows, packageRows } from '../../import-records/inventory/queries.ts'
import type { ImportRecord } from '../../import-records/model.ts'
import type { Facts } from '../facts.ts'
import { type OwnerTarget, ownerTarget } from '../owners.ts'
import { packageLike } from '../packages.ts'

type At = { tx: Db; target: ImportRecord; facts: Facts }
export type QuotaUse = {
  resellerId: string
  name: string
  resource: QuotaResource
  used: number
  /** Added by the import. */
  more: number
  limit: number
  isExceeded: boolean
  /** The owners whose servers add it. */
  ownerIds: readonly string[]
}

/** The account that an owner ends in; that of another owner where both share one. */
function accountFor(at: At, ownerId: string): OwnerTarget | null {
  const row = ownerRows.find(at.tx, at.target.id, ownerId)
  const becomes = row ? ownerTarget(at, row) : null
  return becomes?.kind === 'with' ? accountFor(at, becomes.ownerId) : becomes
}

function resellerFor({ tx }: At, becomes: OwnerTarget | null): string | null {
  if (becomes?.kind === 'new') return becomes.resellerId
  const account = becomes?.kind === 'existing' ? accountById(tx, becomes.accountId) : undefined
  return account?.kind === 'reseller' ? account.id : (account?.resellerId ?? null)
}

/** The size that a server of the package has here; null: nothing is decided. */
function sizeOf({ tx, target }: At, packageId: string) {
  const row = packageRows.find(tx, target.id, packageId)
  if (row?.choice === 'own') return row.packageId === null ? undefined : packageById(tx, row.packageId)
  return row?.choice === 'like' ? packageLike(row, target.billing) : undefined
}

/** Every limited quota that the import adds to. A server without a package yet counts with its addresses alone. */
export function quotasOf(at: At): QuotaUse[] {
  const { tx, target } = at
  const resellers = new Map<string, { more: Partial<Amounts>; owners: Set<string>; made: Set<string> }>()
  for (const { ownerId, packageId, servers, ipv4 } of sizesOfOwners(tx, target.id)) {
    const becomes = accountFor(at, ownerId)
    const id = resellerFor(at, becomes)
    if (id === null) continue
    const found = resellers.get(id) ?? { more: {}, owners: new Set(), made: new Set() }
    resellers.set(id, found)
    found.owners.add(ownerId)
    if (becomes?.kind === 'new') found.made.add(becomes.email)
    const size = sizeOf(at, packageId)
    const add = (resource: QuotaResource, n: number) => {
      found.more[resource] = (found.more[resource] ?? 0) + n
    }
    add('servers', servers)
    add('ipv4', ipv4)
    for (const name of ['vcpus', 'memoryMb', 'diskGb'] as const) add(name, servers * (size?.[name] ?? 0))
  }
  return [...resellers].flatMap(([resellerId, { more, owners, made }]) => {
    const account = accountById(tx, resellerId)!
    const { quotas } = withTerms(tx, account).terms
    const used = usedBy(tx, resellerId)
    const added: Partial<Amounts> = { ...more, customers: made.size }
    return Object.entries(quotas).flatMap(([name, limit]) => {
      const resource = name as QuotaResource
      const n = added[resource] ?? 0
      if (limit === null || n === 0) return []
      const isExceeded = used[resource] + n > limit
      const ownerIds = [...owners]
      return [{ resellerId, name: account.name, resource, used: used[resource], more: n, limit, isExceeded, ownerIds }]
    })
  })
}

/** Adds to each server of a reseller whose quota would be exceeded why it cannot come, by its id. */
export function noteExceededQuotas(at: At, note: (serverId: string, words: string) => void) {
  for (const { name, resource, used, more, limit, isExceeded, ownerIds } of quotasOf(at)) {
    if (!isExceeded) continue
    const { label, say } = quotaWords[resource]
    const words =
      `The quota of ${name} would be exceeded. ${label}: ${say(used)} of ${say(limit)} are used, and the import ` +
      `brings ${say(more)}. Raise the quota, leave servers out, or choose another account.`
    for (const id of serversOfOwners(at.tx, at.target.id, ownerIds)) note(id, words)
  }
}
