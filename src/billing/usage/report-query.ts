// The question of every report of a month: who may ask it, and the intervals that it is about.
import { ApiError } from '../../kernel/api/errors.ts'
import type { Query, ReadContext } from '../../kernel/api/operation.ts'
import { idOf, moment, momentFrom } from '../../kernel/api/query.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { visibleUsage } from './model.ts'
import { monthOf, monthParameter, type Period, passedOf, wholeMonth } from './period.ts'

export const reportAccess = {
  staff: ['customers:read', 'reports.read'],
  reseller: ['servers:read'],
  customer: ['servers:read'],
} as const
export const reportQuery = {
  month: monthParameter,
  ownerId: idOf('usr', 'Only what was of this account at the time.'),
  resellerId: idOf('usr', 'Only what was in the care of this reseller at the time, or its own.'),
}

export const periodQuery = {
  from: moment('The beginning. Without it: the beginning of this month in UTC.'),
  to: moment('The end, which is not part of the period. Without it: now.'),
}

/** The period that was asked for, as far as it has passed. Throws `invalid_request`. */
export function periodFrom(query: Query, now: number): Period {
  const from = query['from'] ? momentFrom('from', query['from']) : wholeMonth(monthOf(now)).from
  const to = query['to'] ? momentFrom('to', query['to']) : now
  if (query['to'] && to < from) throw new ApiError('invalid_request', '`to` must not be before `from`.')
  return { from, to: Math.max(from, Math.min(to, now)) }
}

/** All of these conditions. */
export const every = (...conditions: readonly Where[]): Where => ({
  where: conditions.map(({ where }) => where).join(' AND '),
  values: conditions.flatMap(({ values }) => values),
})

/**
 * The intervals of a report: those that the actor sees and that fit, in the month as far as it has passed. `of`: only
 * such intervals.
 */
export function asked(
  { actor, query, clock }: Pick<ReadContext, 'actor' | 'query' | 'clock'>,
  ...of: readonly Where[]
): [Where, Period] {
  const filters: Where[] = [visibleUsage(actor), ...of]
  const { ownerId, serverId, resellerId } = query
  if (ownerId) filters.push({ where: 'i.owner_id = +?', values: [ownerId] })
  if (serverId) filters.push({ where: 'i.workload_id = +?', values: [serverId] })
  if (resellerId) filters.push({ where: '(i.owner_id = +? OR i.reseller_id = +?)', values: [resellerId, resellerId] })
  const now = clock()
  const period = passedOf(query['month'] ?? monthOf(now), now)
  // Nothing lies in a month that has not begun.
  if (period.from === period.to) filters.push({ where: '0', values: [] })
  return [every(...filters), period]
}
