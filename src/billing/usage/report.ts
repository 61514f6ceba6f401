// The reports of usage: the accounts of a month, and the servers of each, from the ledger alone.

import type { Static } from 'typebox'
import { Type as t } from 'typebox'
import { page, paginate } from '../../kernel/api/list.ts'
import { described, namedSchema, operation, type ReadContext, stream } from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import { csvLines } from '../../kernel/csv.ts'
import { day as DAY_MS } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { trafficByOwner } from '../traffic/queries.ts'
import {
  showAccount,
  showInterval,
  showLine,
  shownInterval,
  showPackages,
  usageAccount,
  usageLine,
  usedPackage,
  visibleUsage,
} from './model.ts'
import { daysOf, monthOf, monthParameter, type Period, passedOf, secondsOf } from './period.ts'
import {
  countIntervals,
  countLines,
  countOwners,
  type LineKey,
  lastIntervalsOf,
  lineKeys,
  type OwnerTotal,
  ownerIds,
  pageOfIntervals,
  partsOf,
  totalsOf,
  workloadsOf,
} from './queries.ts'

const access = {
  staff: ['customers:read', 'reports.read'],
  reseller: ['servers:read'],
  customer: ['servers:read'],
} as const
const query = {
  month: monthParameter,
  ownerId: idOf('usr', 'Only what was of this account at the time.'),
  resellerId: idOf('usr', 'Only what was in the care of this reseller at the time, or its own.'),
}

/** The intervals of a report: those that the actor sees and that fit, in the month as far as it has passed. */
function asked({ actor, query, clock }: Pick<ReadContext, 'actor' | 'query' | 'clock'>): [Where, Period] {
  const { where, values } = visibleUsage(actor)
  const filters: [string, string[]][] = [[where, values]]
  if (query['ownerId']) filters.push(['i.owner_id = +?', [query['ownerId']]])
  if (query['serverId']) filters.push(['i.workload_id = +?', [query['serverId']]])
  if (query['resellerId'])
    filters.push(['(i.owner_id = +? OR i.reseller_id = +?)', [query['resellerId'], query['resellerId']]])
  const now = clock()
  const period = passedOf(query['month'] ?? monthOf(now), now)
  // Nothing lies in a month that has not begun.
  if (period.from === period.to) filters.push(['0', []])
  return [{ where: filters.map(([sql]) => sql).join(' AND '), values: filters.flatMap(([, given]) => given) }, period]
}

const keyText = ({ workloadId, ownerId }: LineKey) => `${workloadId} ${ownerId}`
function keyFrom(text: string | undefined): LineKey | undefined {
  const [workloadId, ownerId] = text?.split(' ') ?? []
  return workloadId && ownerId ? { workloadId, ownerId } : undefined
}

/** The lines of these keys, in their order. */
function linesOf(tx: Db, keys: readonly LineKey[], where: Where, period: Period) {
  const workloads = [...new Set(keys.map(({ workloadId }) => workloadId))]
  const parts = Map.groupBy(partsOf(tx, workloads, where, period), keyText)
  const last = new Map(lastIntervalsOf(tx, workloads, where, period).map((interval) => [keyText(interval), interval]))
  const traffic = new Map(
    trafficByOwner(tx, workloads, period.from / DAY_MS, Math.ceil(period.to / DAY_MS)).map((sums) => [
      keyText(sums),
      sums,
    ]),
  )
  const accounts = new Map<string, ReturnType<typeof showAccount>>()
  return keys.map((key) => {
    let owner = accounts.get(key.ownerId)
    if (!owner) accounts.set(key.ownerId, (owner = showAccount(tx, key.ownerId)))
    const line = keyText(key)
    return showLine(parts.get(line)!, last.get(line)!, owner, period, traffic.get(line))
  })
}

export const reportUsage = operation({
  id: 'usage.report',
  method: 'GET',
  path: '/reports/usage',
  summary: 'The usage of a month: a line for each server and owner, terminated servers included',
  access,
  query,
  pages: { usual: 200, most: 1000 },
  response: page(usageLine),
  run(call) {
    const { tx } = call
    const [where, period] = asked(call)
    // The lines of a page are read together.
    const lines = new Map<string, ReturnType<typeof showLine>>()
    return paginate({
      call,
      name: `usage ${monthOf(period.from)}`,
      rows({ after, skip, limit }) {
        const keys = lineKeys(tx, where, period, { after: keyFrom(after), skip, limit })
        for (const [i, line] of linesOf(tx, keys, where, period).entries()) lines.set(keyText(keys[i]!), line)
        return keys
      },
      keyOf: keyText,
      total: () => countLines(tx, where, period),
      show: (key) => lines.get(keyText(key))!,
    })
  },
})

type Line = Static<typeof usageLine>
/** The columns of the spreadsheet. Numbers have a decimal point. */
export const lineColumns: Readonly<Record<string, (line: Line) => string | number | null>> = {
  serverId: (l) => l.serverId,
  hostname: (l) => l.hostname,
  ownerId: (l) => l.owner.id,
  owner: (l) => l.owner.name,
  externalId: (l) => l.owner.externalId,
  resellerId: (l) => l.resellerId,
  billingServiceId: (l) => l.billingServiceId,
  packageId: (l) => l.package.id,
  package: (l) => l.package.name,
  billingProductId: (l) => l.package.billingProductId,
  from: (l) => l.from,
  to: (l) => l.to,
  days: (l) => l.days,
  seconds: (l) => l.seconds,
  pendingSetupSeconds: (l) => l.secondsByState.pending_setup,
  provisioningSeconds: (l) => l.secondsByState.provisioning,
  activeSeconds: (l) => l.secondsByState.active,
  failedSeconds: (l) => l.secondsByState.failed,
  suspendedSeconds: (l) => l.secondsByState.suspended,
  trafficInBytes: (l) => l.traffic?.inBytes ?? null,
  trafficOutBytes: (l) => l.traffic?.outBytes ?? null,
  trafficGapSeconds: (l) => l.traffic?.gapSeconds ?? null,
  packages: (l) =>
    l.packages.map(({ name, billingProductId, days }) => `${name} (${billingProductId ?? '-'}): ${days}`).join(', '),
}
const LINES_AT_ONCE = 500

export const exportUsage = operation({
  id: 'usage.export',
  method: 'GET',
  path: '/reports/usage.csv',
  summary: 'The usage of a month as a spreadsheet: one line for each server and owner',
  access,
  query,
  produces: 'text/csv',
  response: stream,
  run(call: ReadContext) {
    const [where, period] = asked(call)
    const cells = (line: Line) => Object.values(lineColumns).map((value) => String(value(line) ?? ''))
    return (function* () {
      yield csvLines([Object.keys(lineColumns)])
      for (let after: LineKey | undefined; ; ) {
        const keys = lineKeys(call.tx, where, period, { after, skip: 0, limit: LINES_AT_ONCE })
        if (keys.length) yield csvLines(linesOf(call.tx, keys, where, period).map(cells))
        if (keys.length < LINES_AT_ONCE) return
        after = keys.at(-1)!
      }
    })()
  },
})

export const reportIntervals = operation({
  id: 'usage.intervals',
  method: 'GET',
  path: '/reports/usage/intervals',
  summary: 'The intervals of the ledger in a month, newest first: every number of the report is a sum of them',
  access,
  query: { ...query, serverId: idOf('srv', 'Only of this server; it may be terminated.') },
  pages: { usual: 200, most: 1000 },
  response: page(shownInterval),
  run(call) {
    const { tx } = call
    const [where, period] = asked(call)
    return paginate({
      call,
      name: `usage intervals ${monthOf(period.from)}`,
      rows: (slice) => pageOfIntervals(tx, where, period, slice),
      keyOf: ({ id }) => String(id),
      total: () => countIntervals(tx, where, period),
      show: (interval) => showInterval(tx, interval, period),
    })
  },
})

const accountTotal = namedSchema('UsageAccount', {
  account: usageAccount,
  servers: described(t.Integer(), 'How many it had in the period, terminated ones included.'),
  days: described(t.Number(), 'Server-days, to four decimals.'),
  seconds: t.Number(),
  packages: t.Array(namedSchema('UsedPackages', { ...usedPackage.properties, servers: t.Integer() })),
})

export const reportAccounts = operation({
  id: 'usage.accounts',
  method: 'GET',
  path: '/reports/usage/accounts',
  summary: 'The usage of a month: the total of each account, by package',
  access,
  query,
  response: page(accountTotal),
  run(call) {
    const { tx } = call
    const [where, period] = asked(call)
    let totals = new Map<string, OwnerTotal[]>()
    let workloads = new Map<string, number>()
    return paginate({
      call,
      name: `usage accounts ${monthOf(period.from)}`,
      rows(slice) {
        const owners = ownerIds(tx, where, period, slice)
        totals = Map.groupBy(totalsOf(tx, owners, where, period), ({ ownerId }) => ownerId)
        workloads = workloadsOf(tx, owners, where, period)
        return owners
      },
      keyOf: (id) => id,
      total: () => countOwners(tx, where, period),
      show: (id) => showTotal(tx, id, totals.get(id)!, workloads.get(id)!),
    })
  },
})

function showTotal(tx: Db, id: string, parts: readonly OwnerTotal[], servers: number) {
  const ms = parts.reduce((sum, part) => sum + part.ms, 0)
  return {
    account: showAccount(tx, id),
    servers,
    days: daysOf(ms),
    seconds: secondsOf(ms),
    packages: parts.map((part) => ({ ...showPackages([{ product: part, ms: part.ms }])[0]!, servers: part.workloads })),
  }
}
