// How much a reseller and its customers may hold together. Counted and checked in the transaction of what is added, of
// which there is one at a time: two orders cannot pass one quota.
import { Type as t } from 'typebox'
import { volumesGbUnder } from '../../fleet/volume-records/queries.ts'
import { heldUnder } from '../../fleet/workloads/reports.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { namedSchema, nullable } from '../../kernel/api/operation.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { exactGb, exactMb, units } from '../../kernel/words.ts'
import { accountById, countCustomers } from '../account-records/queries.ts'

/** The resources that are counted, in words. */
export const resources = {
  customers: 'customers',
  servers: 'servers',
  vcpus: 'vCPUs',
  memoryMb: 'MiB of memory',
  diskGb: 'GiB of disk',
  ipv4: 'IPv4 addresses',
  gpus: 'GPUs',
} as const
export type QuotaResource = keyof typeof resources
export const quotaResources = Object.keys(resources) as QuotaResource[]

/** Null: not limited. */
export type Quotas = Record<QuotaResource, number | null>
export type Amounts = Record<QuotaResource, number>

const each = <T>(make: (resource: QuotaResource) => T) =>
  Object.fromEntries(quotaResources.map((resource) => [resource, make(resource)])) as Record<QuotaResource, T>
const limit = () => nullable(t.Integer({ minimum: 0, maximum: 1_000_000_000 }))
export const quotasResponse = namedSchema('Quotas', each(limit))
/** Named quotas are set, null removes one, the others stay. */
export const quotasGiven = t.Object(
  each(() => t.Optional(limit())),
  { additionalProperties: false },
)
export const amountsResponse = namedSchema(
  'Amounts',
  each(() => t.Integer()),
)

/** All quotas; one that was never set is not limited. */
export const whole = (quotas: Partial<Quotas>): Quotas => each((resource) => quotas[resource] ?? null)

/** Amounts that the reseller and its customers hold now; terminated workloads do not count. */
export function usedBy(tx: Db, resellerId: string): Amounts {
  const held = heldUnder(tx, resellerId)
  const diskGb = held.diskGb + volumesGbUnder(tx, resellerId)
  return { customers: countCustomers(tx, resellerId), ...held, diskGb }
}

/** A quota is near its end from 90 % on, as the specification says. */
export const isNear = (used: number, most: number) => most > 0 && used * 10 >= most * 9

const tellOfNear = (tx: Tx, now: number, resellerId: string, resource: QuotaResource, used: number, limit: number) =>
  emit(
    tx,
    now,
    'quota.near_limit',
    { subject: { type: 'reseller', id: resellerId }, customerId: null, resellerId },
    { resource, used, limit, reseller: { id: resellerId, name: accountById(tx, resellerId)?.name ?? '' } },
  )

/** Emits an event for each quota that comes near its end because it was lowered. */
export function tellOfLowered(
  tx: Tx,
  now: number,
  resellerId: string,
  before: Partial<Quotas>,
  after: Partial<Quotas>,
) {
  const used = usedBy(tx, resellerId)
  const near = (quotas: Partial<Quotas>, resource: QuotaResource) => isNear(used[resource], quotas[resource] ?? 0)
  for (const resource of quotaResources)
    if (near(after, resource) && !near(before, resource))
      tellOfNear(tx, now, resellerId, resource, used[resource], after[resource]!)
}

const plain = (n: number) => n.toLocaleString('en')
/** The label of each quota, and the text for an amount of it. */
export const quotaWords: Record<QuotaResource, { label: string; say(n: number): string; unit?: string }> = {
  customers: { label: 'Customers', say: plain },
  servers: { label: 'Servers', say: plain },
  vcpus: { label: 'vCPUs', say: plain },
  memoryMb: { label: 'Memory', say: exactMb, unit: units.memoryMb },
  diskGb: { label: 'Disk', say: exactGb, unit: units.diskGb },
  ipv4: { label: 'IPv4 addresses', say: plain },
  gpus: { label: 'GPUs', say: plain },
}

/** The quotas that are near their end, each with a text. */
export const nearIn = ({ quotas, used }: { quotas: Quotas; used: Amounts }) =>
  quotaResources.flatMap((resource) => {
    const most = quotas[resource]
    if (most === null || !isNear(used[resource], most)) return []
    const { label, say } = quotaWords[resource]
    return [{ resource, full: used[resource] >= most, words: `${label}: ${say(used[resource])} of ${say(most)} used` }]
  })

type Holder = { id: string; name: string; quotas: Partial<Quotas> }
/**
 * Throws `quota_exceeded`, naming which, when the reseller has not this much left; tells of each quota that comes near
 * its end by it, once. Call it before adding, in the same transaction.
 */
export function takeFromQuota(tx: Tx, now: number, { id, name, quotas }: Holder, added: Partial<Amounts>) {
  const used = usedBy(tx, id)
  for (const resource of quotaResources) {
    const most = quotas[resource] ?? null
    const more = added[resource] ?? 0
    if (most === null || more === 0) continue
    const after = used[resource] + more
    if (after > most)
      throw new ApiError(
        'quota_exceeded',
        `The quota ${resource} of ${name} would be exceeded: ${used[resource]} of ${most} ${resources[resource]} ` +
          `${used[resource] === 1 ? 'is' : 'are'} used, and this takes ${more} more. Free some, or have the ` +
          'quota raised.',
        { resource, used: used[resource], limit: most },
      )
    if (isNear(after, most) && !isNear(used[resource], most)) tellOfNear(tx, now, id, resource, after, most)
  }
}

/** How often `takeFromQuota` accepts this one after another; `Infinity` when nothing of it is limited. */
export function timesWithin(tx: Db, { id, quotas }: Holder, added: Partial<Amounts>): number {
  const used = usedBy(tx, id)
  const times = quotaResources.map((resource) => {
    const [most, more] = [quotas[resource] ?? null, added[resource] ?? 0]
    return most === null || more === 0 ? Number.POSITIVE_INFINITY : Math.floor((most - used[resource]) / more)
  })
  return Math.max(0, Math.min(...times))
}
