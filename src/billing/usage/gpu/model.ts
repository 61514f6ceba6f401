// The usage of one GPU instance under one owner, as every operation answers it.
import { Type as t } from 'typebox'
import { workloadById } from '../../../fleet/workloads/queries.ts'
import { resellerIdFor } from '../../../identity/account-records/model.ts'
import { described, namedSchema, nullable, type ReadContext, time } from '../../../kernel/api/operation.ts'
import { day, iso } from '../../../kernel/db/clock.ts'
import type { Where } from '../../../kernel/db/rows.ts'
import { showAccount, usageAccount } from '../model.ts'
import { type Period, secondsOf } from '../period.ts'
import { goesOn, intervalsOf, keyTextOf, type LineKey } from '../queries.ts'
import type { UsageInterval } from '../tables.ts'
import { spellStates, spellSums, spellsOf } from './state-periods.ts'

/** Staff read the usage of a deleted instance for so long. */
export const READABLE_MS = 400 * day

const seconds = t.Number()
export const gpuUsage = namedSchema('GpuUsage', {
  instanceId: t.String(),
  name: described(t.String(), 'Its name now.'),
  hostname: described(t.String(), 'At the end of the period, as are its reseller and its offer.'),
  owner: usageAccount,
  resellerId: described(nullable(t.String()), 'Null in the answers to customers.'),
  offer: t.Object({ id: nullable(t.String()), name: nullable(t.String()) }),
  billingProductId: described(nullable(t.String()), 'Of its offer.'),
  billingServiceId: nullable(t.String()),
  from: described(time, 'The beginning of the period.'),
  to: described(time, 'Its end, which is not part of it; never later than now.'),
  allocatedSeconds: described(
    seconds,
    'How long it existed in the period, exact to the millisecond: its cards, ports and address were held.',
  ),
  runningSeconds: seconds,
  stoppedSeconds: described(seconds, 'With the time in which it was set up, or had failed.'),
  suspendedSeconds: described(seconds, 'From the moment at which the suspension was requested.'),
  intervals: described(
    t.Array(t.Object({ state: t.Enum([...spellStates]), from: time, to: time }, { title: 'GpuSpell' })),
    'Each spell in the order of time, cut to the period.',
  ),
  endedAt: described(nullable(time), 'When it was deleted, or left this owner; null: not in the period.'),
})

type Reading = Pick<ReadContext, 'tx' | 'actor'>
/** The usage that these intervals say, in the order of time. `last`: the one whose facts are shown. */
export function showUsage(
  { tx, actor }: Reading,
  intervals: readonly UsageInterval[],
  last: UsageInterval,
  period: Period,
) {
  const spells = spellsOf(intervals, period)
  const { running, stopped, suspended } = spellSums(spells)
  return {
    instanceId: last.workloadId,
    name: workloadById(tx, last.workloadId)?.name ?? last.hostname,
    hostname: last.hostname,
    owner: showAccount(tx, last.ownerId),
    resellerId: resellerIdFor(actor, last.resellerId),
    offer: { id: last.productId, name: last.productName },
    billingProductId: last.billingProductId,
    billingServiceId: last.billingServiceId,
    from: iso(period.from),
    to: iso(period.to),
    allocatedSeconds: secondsOf(running + stopped + suspended),
    runningSeconds: secondsOf(running),
    stoppedSeconds: secondsOf(stopped),
    suspendedSeconds: secondsOf(suspended),
    intervals: spells.map(({ state, from, to }) => ({ state, from: iso(from), to: iso(to) })),
    endedAt: last.until === null || last.until > period.to || goesOn(tx, last) ? null : iso(last.until),
  }
}
/** The usage of each of these instances and owners in the period, in the order of the keys. */
export function usageOf(reading: Reading, keys: readonly LineKey[], where: Where, period: Period) {
  const ids = [...new Set(keys.map(({ workloadId }) => workloadId))]
  const intervals = Map.groupBy(intervalsOf(reading.tx, ids, where, period), keyTextOf)
  return keys.map((key) => {
    const found = intervals.get(keyTextOf(key))!
    return showUsage(reading, found, found.at(-1)!, period)
  })
}
