// Takes in the traffic that a node reports: only what a sum has grown by since it was last reported is added.

import { ownersWithin } from '../../billing/usage/queries.ts'
import {
  addToHour,
  addTraffic,
  countMeters,
  METER_KEPT_DAYS,
  measuredFor,
  noteReported,
  reportedSums,
  type Sums,
} from '../../fleet/traffic-records/queries.ts'
import type { ReportedDay } from '../../fleet/traffic-records/reports.ts'
import { day as DAY_MS, hour as HOUR_MS } from '../../kernel/db/clock.ts'
import type { Tx } from '../../kernel/db/open.ts'

/** A node whose clock is ahead reports of tomorrow. */
const AHEAD_DAYS = 1
/** A node begins another meter when it lost its data. One that names a new meter each time would fill the disk. */
const MOST_METERS = 4

/** A report of a longer time counts for no hour. */
const MOST_OF_HOUR_SECONDS = 3600

const none: Sums = { rxBytes: 0, txBytes: 0, measuredSeconds: 0, estimatedSeconds: 0 }
const names = ['rxBytes', 'txBytes', 'measuredSeconds', 'estimatedSeconds'] as const
/** Each sum made of the same one of `a` and `b`. */
const each = (a: Sums, b: Sums, of: (a: number, b: number) => number): Sums => ({
  rxBytes: of(a.rxBytes, b.rxBytes),
  txBytes: of(a.txBytes, b.txBytes),
  measuredSeconds: of(a.measuredSeconds, b.measuredSeconds),
  estimatedSeconds: of(a.estimatedSeconds, b.estimatedSeconds),
})

/** Stores a day of a workload, also where the report comes long after it. */
export function takeTraffic(tx: Tx, { workload, day, nodeId, meter, ...reported }: ReportedDay, now: number) {
  const today = Math.floor(now / DAY_MS)
  if (day > today + AHEAD_DAYS || day < today - METER_KEPT_DAYS) return
  const of = { workloadId: workload.id, day, nodeId, meter }
  const known = reportedSums(tx, of)
  if (!known && countMeters(tx, of) >= MOST_METERS) return
  const before = known ?? none
  const grown = each({ estimatedSeconds: 0, ...reported }, before, (a, b) => Math.max(0, a - b))
  if (names.every((name) => grown[name] === 0)) return
  noteReported(
    tx,
    of,
    each(before, grown, (a, b) => a + b),
  )
  // A node that was away reports of many hours at once: the days have them, the hours do not.
  if (grown.measuredSeconds <= MOST_OF_HOUR_SECONDS)
    addToHour(tx, { hour: Math.floor(now / HOUR_MS), workloadId: workload.id, nodeId }, grown)
  for (const { ownerId, ...sums } of byOwner(tx, workload, day, grown, now))
    addTraffic(tx, workload.id, day, ownerId, sums)
}

/** The bytes of a longer time cannot be told apart by owner: the cut is an estimate. */
const ESTIMATE_AFTER_SECONDS = 300

type Owned = Sums & { ownerId: string }
/**
 * Cut at the owners of the day. The last seconds are the last owner's, and nobody's are more than the time in which the
 * workload was theirs; the bytes follow the time. Bytes without a time are the last owner's.
 */
function byOwner(tx: Tx, workload: ReportedDay['workload'], day: number, grown: Sums, now: number): Owned[] {
  const end = Math.max(day * DAY_MS + 1, Math.min((day + 1) * DAY_MS, now))
  const owners = ownersWithin(tx, workload.id, { from: day * DAY_MS, to: end })
  const times: { ownerId: string; seconds: number }[] = []
  let left = grown.measuredSeconds
  for (const { ownerId, ms } of owners) {
    const unmeasured = Math.ceil(ms / 1000) - measuredFor(tx, workload.id, day, ownerId)
    const seconds = Math.max(0, Math.min(left, unmeasured))
    left -= seconds
    if (seconds || !times.length) times.push({ ownerId, seconds })
    if (!left) break
  }
  const [last = { ownerId: workload.ownerId, seconds: 0 }, ...earlier] = times
  const all = last.seconds + earlier.reduce((sum, { seconds }) => sum + seconds, 0)
  const estimated = earlier.length && all > ESTIMATE_AFTER_SECONDS ? all : grown.estimatedSeconds
  const parts = earlier.map(({ ownerId, seconds }): Owned => {
    const share = (of: number) => Math.floor((of / all) * seconds)
    return {
      ownerId,
      rxBytes: share(grown.rxBytes),
      txBytes: share(grown.txBytes),
      measuredSeconds: seconds,
      estimatedSeconds: Math.min(seconds, share(estimated)),
    }
  })
  const whole = { ...grown, measuredSeconds: all, estimatedSeconds: Math.min(all, estimated) }
  const rest = parts.reduce<Sums>((sum, part) => each(sum, part, (a, b) => a - b), whole)
  return [{ ...rest, estimatedSeconds: Math.min(rest.estimatedSeconds, last.seconds), ownerId: last.ownerId }, ...parts]
}
