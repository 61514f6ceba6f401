// The reports of usage: the accounts of a month, and the servers of each, from the ledger alone.

import { Type as t } from 'typebox'
import { trafficByOwner } from '../../fleet/traffic-records/queries.ts'
import { page, paginate } from '../../kernel/api/list.ts'
import { described, namedSchema, operation, type ReadContext } from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import { day as DAY_MS } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { pageOfLines, reportPages, workloads } from './lines.ts'
import {
  ownerColumns,
  showAccount,
  showInterval,
  showLine,
  shownInterval,
  showPackages,
  usageAccount,
  usageLine,
  usedPackage,
} from './model.ts'
import { monthReport } from './month-report.ts'
import { daysOf, monthOf, type Period, secondsOf } from './period.ts'
import {
  countIntervals,
  countOwners,
  GPU_INSTANCE,
  keyTextOf,
  type LineKey,
  lastIntervalsOf,
  type OwnerTotal,
  type OwnerWorkloads,
  ofServers,
  ownerIds,
  pageOfIntervals,
  partsOf,
  totalsOf,
  workloadsOf,
} from './queries.ts'
import { asked, reportAccess, reportQuery } from './report-query.ts'

/** The lines of these keys, in their order. */
function linesOf({ tx, actor }: ReadContext, keys: readonly LineKey[], where: Where, period: Period) {
  const workloads = [...new Set(keys.map(({ workloadId }) => workloadId))]
  const parts = Map.groupBy(partsOf(tx, workloads, where, period), keyTextOf)
  const last = new Map(lastIntervalsOf(tx, workloads, where, period).map((interval) => [keyTextOf(interval), interval]))
  const traffic = new Map(
    trafficByOwner(tx, workloads, period.from / DAY_MS, Math.ceil(period.to / DAY_MS)).map((sums) => [
      keyTextOf(sums),
      sums,
    ]),
  )
  const accounts = new Map<string, ReturnType<typeof showAccount>>()
  return keys.map((key) => {
    let owner = accounts.get(key.ownerId)
    if (!owner) accounts.set(key.ownerId, (owner = showAccount(tx, key.ownerId)))
    const line = keyTextOf(key)
    return showLine(actor, parts.get(line)!, last.get(line)!, owner, period, traffic.get(line))
  })
}

export const { page: reportUsage, spreadsheet: exportUsage } = monthReport({
  ids: { page: 'usage.report', spreadsheet: 'usage.export' },
  path: '/reports/usage',
  summaries: {
    page: 'The usage of a month: a line for each server and owner, terminated servers included',
    spreadsheet: 'The usage of a month as a spreadsheet: one line for each server and owner',
  },
  name: 'usage',
  of: ofServers,
  counted: workloads,
  line: usageLine,
  lines: linesOf,
  columns: {
    serverId: (l) => l.serverId,
    hostname: (l) => l.hostname,
    ...ownerColumns,
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
    trafficEstimatedSeconds: (l) => l.traffic?.estimatedSeconds ?? null,
    packages: (l) =>
      l.packages.map(({ name, billingProductId, days }) => `${name} (${billingProductId ?? '-'}): ${days}`).join(', '),
  },
})

export const reportIntervals = operation({
  id: 'usage.intervals',
  method: 'GET',
  path: '/reports/usage/intervals',
  summary: 'The intervals of the ledger in a month, newest first: every number of the report is a sum of them',
  atReader: true,
  access: reportAccess,
  query: { ...reportQuery, serverId: idOf('srv', 'Only of this server; it may be terminated.') },
  pages: reportPages,
  response: page(shownInterval),
  run(call) {
    const [where, period] = asked(call, ofServers)
    return pageOfLines(call, [where, period], {
      name: `usage intervals ${monthOf(period.from)}`,
      counted: {
        slice: pageOfIntervals,
        count: countIntervals,
        keyOf: ({ id }) => String(id),
      },
      lines: ({ tx }, intervals) => intervals.map((interval) => showInterval(tx, interval, period)),
    })
  },
})

const usedOffer = namedSchema('UsedOffers', { ...usedPackage.properties, instances: t.Integer() })
const accountTotal = namedSchema('UsageAccount', {
  account: usageAccount,
  servers: described(t.Integer(), 'How many it had in the period, terminated ones included.'),
  days: described(t.Number(), 'Server-days, to four decimals.'),
  seconds: t.Number(),
  packages: t.Array(namedSchema('UsedPackages', { ...usedPackage.properties, servers: t.Integer() })),
  gpuInstances: described(t.Integer(), 'The same of GPU instances.'),
  gpuSeconds: described(t.Number(), 'How long it had them: their cards are held whether they run or not.'),
  gpuOffers: t.Array(usedOffer),
})

export const reportAccounts = operation({
  id: 'usage.accounts',
  method: 'GET',
  path: '/reports/usage/accounts',
  summary: 'The usage of a month: the total of each account, by package and by GPU offer',
  atReader: true,
  access: reportAccess,
  query: reportQuery,
  response: page(accountTotal),
  run(call) {
    const { tx } = call
    const [where, period] = asked(call)
    let totals = new Map<string, OwnerTotal[]>()
    let workloads = new Map<string, OwnerWorkloads[]>()
    return paginate({
      call,
      name: `usage accounts ${monthOf(period.from)}`,
      rows(slice) {
        const owners = ownerIds(tx, where, period, slice)
        totals = Map.groupBy(totalsOf(tx, owners, where, period), ({ ownerId }) => ownerId)
        workloads = Map.groupBy(workloadsOf(tx, owners, where, period), ({ ownerId }) => ownerId)
        return owners
      },
      keyOf: (id) => id,
      total: () => countOwners(tx, where, period),
      show: (id) => showTotal(tx, id, totals.get(id)!, workloads.get(id)!),
    })
  },
})

function showTotal(tx: Db, id: string, totals: readonly OwnerTotal[], workloads: readonly OwnerWorkloads[]) {
  const of = (wanted: string) => {
    const parts = totals.filter(({ kind }) => kind === wanted)
    return {
      n: workloads.find(({ kind }) => kind === wanted)?.n ?? 0,
      ms: parts.reduce((sum, part) => sum + part.ms, 0),
      products: parts.map((part) => ({ n: part.workloads, ...showPackages([{ product: part, ms: part.ms }])[0]! })),
    }
  }
  const [servers, gpu] = [of('server'), of(GPU_INSTANCE)]
  return {
    account: showAccount(tx, id),
    servers: servers.n,
    days: daysOf(servers.ms),
    seconds: secondsOf(servers.ms),
    packages: servers.products.map(({ n, ...used }) => ({ ...used, servers: n })),
    gpuInstances: gpu.n,
    gpuSeconds: secondsOf(gpu.ms),
    gpuOffers: gpu.products.map(({ n, ...used }) => ({ ...used, instances: n })),
  }
}
