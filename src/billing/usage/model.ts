// The visibility of usage, and a workload's line in a report: all of it is added up from intervals, to the millisecond.
import { type Static, Type as t } from 'typebox'
import type { Sums } from '../../fleet/traffic-records/queries.ts'
import type { Deciding } from '../../fleet/workloads/queries.ts'
import { resellerIdFor } from '../../identity/account-records/model.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { daysOf, type Period, secondsOf } from './period.ts'
import type { UsagePart } from './queries.ts'
import { type UsageInterval, type UsageState, usageStates } from './tables.ts'

/**
 * Over `usage_intervals i`: what was the actor's own or in the actor's care at that time, whoever has it now. What
 * others share is not billed to the actor.
 */
export function visibleUsage({ kind, accountId }: Actor): Where {
  if (kind === 'staff') return { where: '1', values: [] }
  if (kind === 'reseller') return { where: '(i.owner_id = +? OR i.reseller_id = +?)', values: [accountId, accountId] }
  return { where: 'i.owner_id = +?', values: [accountId] }
}

/** The same for one workload that the actor sees: its present owner's, where others share it with the actor. */
export function visibleUsageOf(actor: Actor, { ownerId }: Pick<Deciding, 'ownerId'>): Where {
  const { where, values } = visibleUsage(actor)
  return { where: `(${where} OR i.owner_id = +?)`, values: [...values, ownerId] }
}

// ---------------------------------------------------------------- adding up
type Product = Pick<UsageInterval, 'productId' | 'productName' | 'billingProductId'>
const productKey = ({ productId, productName, billingProductId }: Product) =>
  JSON.stringify([productId, productName, billingProductId])

/** How much of the interval lies in the period, in ms. */
export const within = ({ since, until }: Pick<UsageInterval, 'since' | 'until'>, { from, to }: Period): number =>
  Math.max(0, Math.min(until ?? to, to) - Math.max(since, from))

export type Added = {
  ms: number
  byState: Record<UsageState, number>
  byProduct: { product: Product; ms: number }[]
}
/** Adds up what one workload was to one owner; `parts` in the order in which they began. */
export function addedUp(parts: readonly (Product & { state: UsageState; ms: number })[]): Added {
  const byState = Object.fromEntries(usageStates.map((state) => [state, 0])) as Record<UsageState, number>
  const byProduct = new Map<string, { product: Product; ms: number }>()
  let ms = 0
  for (const part of parts) {
    ms += part.ms
    byState[part.state] += part.ms
    const key = productKey(part)
    const found = byProduct.get(key)
    if (found) found.ms += part.ms
    else byProduct.set(key, { product: part, ms: part.ms })
  }
  return { ms, byState, byProduct: [...byProduct.values()] }
}

// ---------------------------------------------------------------- in the API
const days = described(t.Number(), 'Days of 24 hours, to four decimals.')
const seconds = described(t.Number(), 'Exact to the millisecond: sums of it are exact too.')
const product = {
  id: nullable(t.String()),
  name: nullable(t.String()),
  billingProductId: nullable(t.String()),
}
const shownProduct = ({ productId, productName, billingProductId }: Product) => ({
  id: productId,
  name: productName,
  billingProductId,
})

const soldPackage = namedSchema('SoldPackage', product)
export const usedPackage = namedSchema('UsedPackage', { ...product, days, seconds })
export const showPackages = (found: Added['byProduct']) =>
  found.map(({ product, ms }) => ({ ...shownProduct(product), days: daysOf(ms), seconds: secondsOf(ms) }))

/** Together they are all seconds. */
export const secondsByState = namedSchema(
  'SecondsByState',
  Object.fromEntries(usageStates.map((state) => [state, t.Number()])) as Record<UsageState, typeof days>,
)
export const showStates = (byState: Added['byState']) =>
  Object.fromEntries(usageStates.map((state) => [state, secondsOf(byState[state])])) as Added['byState']

export const usageAccount = namedSchema('UsageOwner', {
  id: t.String(),
  name: t.String(),
  externalId: described(nullable(t.String()), "The billing system's own identifier of it."),
})
export const showAccount = (tx: Db, id: string) => {
  const account = accountById(tx, id)
  return { id, name: account?.name ?? id, externalId: account?.externalId ?? null }
}

const usedTraffic = namedSchema('UsedTraffic', {
  inBytes: described(t.Integer(), 'Received by the server.'),
  outBytes: t.Integer(),
  measuredSeconds: t.Integer(),
  estimatedSeconds: described(
    t.Integer(),
    'How much of the measured time nobody counted in, such as an absence of the node: its traffic is spread evenly.',
  ),
  gapSeconds: described(t.Integer(), 'For how long it was there and could not be measured.'),
})
/** Reports of nodes come later than the traffic by so much. */
const LATE_SECONDS = 600
function showTraffic(sums: Sums | undefined, { byState }: Added) {
  // Traffic that was never measured is unknown, and not 0.
  if (!sums) return null
  const { rxBytes, txBytes, measuredSeconds, estimatedSeconds } = sums
  const gap = Math.floor((byState.active + byState.suspended) / 1000) - measuredSeconds
  const gapSeconds = gap > LATE_SECONDS ? gap : 0
  return { inBytes: rxBytes, outBytes: txBytes, measuredSeconds, estimatedSeconds, gapSeconds }
}

export const usageLine = namedSchema('UsageLine', {
  serverId: t.String(),
  kind: t.String(),
  hostname: described(t.String(), 'At the end of the period, as are its reseller and its package.'),
  owner: usageAccount,
  resellerId: described(nullable(t.String()), 'Null in the answers to customers.'),
  billingServiceId: nullable(t.String()),
  package: soldPackage,
  from: described(time, 'When it began in the period.'),
  to: described(time, 'When it ended, or how far the period has passed.'),
  days,
  seconds,
  secondsByState,
  packages: described(t.Array(usedPackage), 'One for each package that it had in the period.'),
  traffic: nullable(usedTraffic),
})

type OwnedLine = { owner: Static<typeof usageAccount>; resellerId: string | null; billingServiceId: string | null }
/** The columns of a spreadsheet that say to whom a line is billed. */
export const ownerColumns = {
  ownerId: (l: OwnedLine) => l.owner.id,
  owner: (l: OwnedLine) => l.owner.name,
  externalId: (l: OwnedLine) => l.owner.externalId,
  resellerId: (l: OwnedLine) => l.resellerId,
  billingServiceId: (l: OwnedLine) => l.billingServiceId,
}

/** The line of one workload and owner; `parts` in the order in which they began, at least one. */
export function showLine(
  reader: Actor,
  parts: readonly UsagePart[],
  last: UsageInterval,
  owner: ReturnType<typeof showAccount>,
  period: Period,
  traffic: Sums | undefined,
) {
  const added = addedUp(parts)
  const { ms, byState, byProduct } = added
  return {
    serverId: last.workloadId,
    kind: last.kind,
    hostname: last.hostname,
    owner,
    resellerId: resellerIdFor(reader, last.resellerId),
    billingServiceId: last.billingServiceId,
    package: shownProduct(last),
    from: iso(Math.max(parts[0]!.since, period.from)),
    to: iso(Math.min(last.until ?? period.to, period.to)),
    days: daysOf(ms),
    seconds: secondsOf(ms),
    secondsByState: showStates(byState),
    packages: showPackages(byProduct),
    traffic: showTraffic(traffic, added),
  }
}

export const shownInterval = namedSchema('UsageInterval', {
  serverId: t.String(),
  state: t.Enum([...usageStates]),
  from: described(time, 'In the period: it may have begun before.'),
  to: time,
  seconds,
  hostname: t.String(),
  owner: usageAccount,
  package: soldPackage,
  beganAt: time,
  endedAt: described(nullable(time), 'Null: it goes on.'),
})
export function showInterval(tx: Db, interval: UsageInterval, period: Period) {
  return {
    serverId: interval.workloadId,
    state: interval.state,
    from: iso(Math.max(interval.since, period.from)),
    to: iso(Math.min(interval.until ?? period.to, period.to)),
    seconds: secondsOf(within(interval, period)),
    hostname: interval.hostname,
    owner: showAccount(tx, interval.ownerId),
    package: shownProduct(interval),
    beganAt: iso(interval.since),
    endedAt: interval.until === null ? null : iso(interval.until),
  }
}
