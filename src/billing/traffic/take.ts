// Takes in the traffic that a node reports: only what a sum has grown by since it was last reported is added.
import type { ReportedDay } from '../../fleet/workloads/traffic-reports.ts'
import { day as DAY_MS } from '../../kernel/db/clock.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { ownerWithin } from '../usage/queries.ts'
import { addTraffic, countMeters, METER_KEPT_DAYS, noteReported, reportedSums } from './queries.ts'

/** A node whose clock is ahead reports of tomorrow. */
const AHEAD_DAYS = 1
/** A node begins another meter when it lost its data. One that names a new meter each time would fill the disk. */
const MOST_METERS = 4

/** The bytes of a day belong to its last owner on that day, also where the report comes after the next change. */
export function takeTraffic(tx: Tx, { workload, day, meter, ...sums }: ReportedDay, now: number) {
  const today = Math.floor(now / DAY_MS)
  if (day > today + AHEAD_DAYS || day < today - METER_KEPT_DAYS) return
  const known = reportedSums(tx, workload.id, day, meter)
  if (!known && countMeters(tx, workload.id, day) >= MOST_METERS) return
  const before = known ?? { rxBytes: 0, txBytes: 0, measuredSeconds: 0 }
  const grown = {
    rxBytes: Math.max(0, sums.rxBytes - before.rxBytes),
    txBytes: Math.max(0, sums.txBytes - before.txBytes),
    measuredSeconds: Math.max(0, sums.measuredSeconds - before.measuredSeconds),
  }
  if (!grown.rxBytes && !grown.txBytes && !grown.measuredSeconds) return
  noteReported(tx, workload.id, day, meter, {
    rxBytes: before.rxBytes + grown.rxBytes,
    txBytes: before.txBytes + grown.txBytes,
    measuredSeconds: before.measuredSeconds + grown.measuredSeconds,
  })
  const owner = ownerWithin(tx, workload.id, { from: day * DAY_MS, to: (day + 1) * DAY_MS }) ?? workload.ownerId
  addTraffic(tx, workload.id, day, owner, grown)
}
