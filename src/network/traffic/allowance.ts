// The traffic of a server in this month against what its package and its top-ups allow. Both directions count.

import { monthOf, wholeMonth } from '../../billing/usage/period.ts'
import type { OverTraffic } from '../../catalog/packages/over-traffic.ts'
import { packageById } from '../../catalog/packages/queries.ts'
import { type Server, serverById } from '../../compute/server-records/model.ts'
import { addedGb, markReached, trafficOf, unmarkAbove } from '../../fleet/traffic-records/queries.ts'
import type { ReportedDay } from '../../fleet/traffic-records/reports.ts'
import { day as DAY_MS } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'

/** Shares of the allowance, in percent, at which the owner is told. */
export const TOLD_AT = [80, 100] as const
const BYTES_PER_GIGABYTE = 1e9

export type Allowance = {
  month: string
  usedBytes: number
  /** Null: not limited. */
  allowanceGb: number | null
  addedGb: number
  percent: number | null
  overTraffic: OverTraffic
}
export function allowanceOf(tx: Db, { id, trafficGb, packageId }: Server, now: number): Allowance {
  const month = monthOf(now)
  const { from, to } = wholeMonth(month)
  const { rxBytes, txBytes } = trafficOf(tx, id, from / DAY_MS, to / DAY_MS)
  const usedBytes = rxBytes + txBytes
  const added = addedGb(tx, id, month)
  return {
    month,
    usedBytes,
    allowanceGb: trafficGb,
    addedGb: added,
    percent: trafficGb === null ? null : Math.floor((usedBytes * 100) / ((trafficGb + added) * BYTES_PER_GIGABYTE)),
    overTraffic: packageById(tx, packageId)?.overTraffic ?? 'nothing',
  }
}

/** After the allowance of a server became another: shares that it has not reached any more can be reached again. */
export function forgetShares(tx: Tx, server: Server, now: number) {
  const { month, percent } = allowanceOf(tx, server, now)
  const reached = TOLD_AT.findLast((share) => (percent ?? 0) >= share) ?? 0
  unmarkAbove(tx, { workloadId: server.id, month, percent: reached })
}

/**
 * The same after a change of package; without the server nothing happens. An allowance that is used up under the new
 * package too counts as reached anew.
 */
export function startAllowanceOf(tx: Tx, serverId: string, now: number) {
  const server = serverById(tx, serverId)
  if (!server) return
  const { month, percent } = allowanceOf(tx, server, now)
  if ((percent ?? 0) < 100) return forgetShares(tx, server, now)
  unmarkAbove(tx, { workloadId: server.id, month, percent: 0 })
}

/** Notes the shares that the server has reached, after its traffic was stored; the clock then acts on them. */
export function noteShares(tx: Tx, { workload }: ReportedDay, now: number) {
  const server = workload.lifecycle === 'terminated' ? undefined : serverById(tx, workload.id)
  if (!server || server.trafficGb === null) return
  const { month, percent } = allowanceOf(tx, server, now)
  for (const share of TOLD_AT)
    if (percent! >= share) markReached(tx, { workloadId: server.id, month, percent: share }, now)
}
