// The heaviest users of traffic in an hour, a day or a month, of all nodes or of one, with the traffic of that time.
import { Type as t } from 'typebox'
import { nodeById } from '../../fleet/node-records/queries.ts'
import { trafficOfAll } from '../../fleet/traffic-records/queries.ts'
import { workloadById } from '../../fleet/workloads/queries.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { idOf, moment, momentFrom, oneOf, wholeNumber } from '../../kernel/api/query.ts'
import { day as DAY_MS, hour as HOUR_MS, iso } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { Slices } from '../../kernel/slices.ts'

export const spans = ['hour', 'day', 'month'] as const
export type Span = (typeof spans)[number]
const HOURS_SHOWN = 24
const USUAL = 20
const MOST = 200

const bytes = { rxBytes: t.Integer(), txBytes: t.Integer() }
const response = namedSchema('TrafficUsers', {
  per: t.Enum([...spans]),
  from: time,
  to: time,
  node: nullable(t.Object({ id: t.String(), name: t.String() })),
  ...bytes,
  workloads: described(t.Integer(), 'So many had traffic in that time.'),
  heaviest: described(
    t.Array(
      t.Object({
        id: t.String(),
        kind: t.String(),
        name: t.String(),
        owner: t.Object({ id: t.String(), name: t.String() }),
        node: described(nullable(t.Object({ id: t.String(), name: t.String() })), 'Where it is now.'),
        ...bytes,
        percent: described(t.Number(), 'Of all traffic in that time.'),
      }),
    ),
    'Both directions together, the heaviest first.',
  ),
  series: described(
    t.Array(t.Object({ from: time, ...bytes })),
    'Of an hour the 24 hours up to it; of a day the 30 days up to it; of a month its days.',
  ),
})

type Sum = { rxBytes: number; txBytes: number }
type Counted = { from: number; to: number; byWorkload: Map<string, Sum>; series: (Sum & { from: number })[] }

export const heaviestTraffic = operation({
  id: 'traffic.heaviest',
  method: 'GET',
  path: '/admin/traffic/heaviest',
  summary: 'The heaviest users of traffic in an hour, a day or a month, and how much there was',
  access: { staff: ['servers:read'] },
  query: {
    per: oneOf(spans, 'Without it: day.'),
    at: moment('A moment in that hour, day or month (UTC). Without it: now. Hours are kept for three days.'),
    nodeId: idOf('nod', 'Only what went over this node. Its days are kept for two months.'),
    limit: wholeNumber(`So many of them; without it ${USUAL}.`, 1, { maximum: MOST }),
  },
  response,
  async prepare({ db, query, clock }): Promise<Counted> {
    const per = (query['per'] ?? 'day') as Span
    const at = query['at'] === undefined ? clock() : momentFrom('at', query['at'])
    return await counted(db, per, at, query['nodeId'])
  },
  run({ tx, query, prepared }) {
    const { from, to, byWorkload, series } = prepared as Counted
    const all = total([...byWorkload.values()])
    const sorted = [...byWorkload].toSorted(([, a], [, b]) => b.rxBytes + b.txBytes - a.rxBytes - a.txBytes)
    const node = query['nodeId'] === undefined ? undefined : nodeById(tx, query['nodeId'])
    return {
      per: (query['per'] ?? 'day') as Span,
      ...{ from: iso(from), to: iso(to), ...all, workloads: byWorkload.size },
      node: node ? { id: node.id, name: node.name } : null,
      heaviest: sorted
        .slice(0, Number(query['limit'] ?? USUAL))
        .flatMap(([id, sums]) => shown(tx, id, sums, all.rxBytes + all.txBytes)),
      series: series.map(({ from, ...sums }) => ({ from: iso(from), ...sums })),
    }
  },
})

const total = (of: readonly Sum[]): Sum =>
  of.reduce((a, b) => ({ rxBytes: a.rxBytes + b.rxBytes, txBytes: a.txBytes + b.txBytes }), { rxBytes: 0, txBytes: 0 })

function shown(tx: Db, id: string, sums: Sum, all: number) {
  const workload = workloadById(tx, id)
  if (!workload) return []
  const { kind, name, ownerId, nodeId, terminatedAt } = workload
  const node = terminatedAt === null ? nodeById(tx, nodeId) : undefined
  return [
    {
      ...{ id, kind, name, owner: { id: ownerId, name: accountById(tx, ownerId)?.name ?? '' } },
      node: node ? { id: node.id, name: node.name } : null,
      ...sums,
      percent: all ? Math.round(((sums.rxBytes + sums.txBytes) * 1000) / all) / 10 : 0,
    },
  ]
}

/** The units of the span and of its series: hours or days since 1970, the span those from `first` to `last`. */
function unitsOf(per: Span, at: number) {
  if (per === 'hour') {
    const last = Math.floor(at / HOUR_MS)
    return { unit: 'hour' as const, ms: HOUR_MS, first: last, last, seriesFrom: last - HOURS_SHOWN + 1 }
  }
  const today = Math.floor(at / DAY_MS)
  if (per === 'day') return { unit: 'day' as const, ms: DAY_MS, first: today, last: today, seriesFrom: today - 29 }
  const date = new Date(at)
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / DAY_MS
  const last = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / DAY_MS - 1
  return { unit: 'day' as const, ms: DAY_MS, first, last, seriesFrom: first }
}

/** Unit by unit, so that others are served meanwhile: a day of 5,000 servers takes some milliseconds. */
async function counted(db: Db, per: Span, at: number, nodeId: string | undefined): Promise<Counted> {
  const { unit, ms, first, last, seriesFrom } = unitsOf(per, at)
  const slices = new Slices()
  const byWorkload = new Map<string, Sum>()
  const series: Counted['series'] = []
  for (let n = seriesFrom; n <= last; n++) {
    if (slices.isOver) await slices.rest()
    const rows = trafficOfAll(db, unit, n, nodeId)
    series.push({ from: n * ms, ...total(rows) })
    if (n < first) continue
    for (const { workloadId, ...sums } of rows) {
      const before = byWorkload.get(workloadId)
      byWorkload.set(workloadId, before ? total([before, sums]) : sums)
    }
  }
  return { from: first * ms, to: (last + 1) * ms, byWorkload, series }
}
