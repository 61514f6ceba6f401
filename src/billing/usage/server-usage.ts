// The usage of one server, down to its intervals.
import { Type as t } from 'typebox'
import type { Deciding } from '../../fleet/workloads/queries.ts'
import { decidingResource } from '../../identity/team/access.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, operation, type Resource } from '../../kernel/api/operation.ts'
import { moment, momentFrom } from '../../kernel/api/query.ts'
import { iso } from '../../kernel/db/clock.ts'
import {
  addedUp,
  secondsByState,
  showInterval,
  shownInterval,
  showPackages,
  showStates,
  usedPackage,
  visibleUsageOf,
  within,
} from './model.ts'
import { daysOf, monthOf, secondsOf, wholeMonth } from './period.ts'
import { intervalsOf } from './queries.ts'

const server: Resource<Deciding> = {
  name: 'server',
  notFound: 'server_not_found',
  ...decidingResource('server'),
}

export const serverUsage = operation({
  id: 'usage.of-server',
  method: 'GET',
  path: '/servers/{id}/usage',
  summary: 'What a server was in a period, with every interval',
  access: everybody('servers:read'),
  on: server,
  query: {
    from: moment('The beginning. Without it: the beginning of this month in UTC.'),
    to: moment('The end, which is not part of the period. Without it: now.'),
  },
  response: namedSchema('ServerUsage', {
    serverId: t.String(),
    from: t.String(),
    to: t.String(),
    days: t.Number(),
    allocatedSeconds: described(t.Number(), 'How long it was there, whatever its state.'),
    secondsByState,
    packages: t.Array(usedPackage),
    intervals: t.Array(shownInterval),
  }),
  run({ tx, actor, target, query, clock }) {
    const now = clock()
    const from = query['from'] ? momentFrom('from', query['from']) : wholeMonth(monthOf(now)).from
    const to = query['to'] ? momentFrom('to', query['to']) : now
    if (query['to'] && to < from) throw new ApiError('invalid_request', '`to` must not be before `from`.')
    const period = { from, to: Math.max(from, Math.min(to, now)) }
    const intervals = intervalsOf(tx, [target.id], visibleUsageOf(actor, target), period)
    const { ms, byState, byProduct } = addedUp(
      intervals.map((interval) => ({ ...interval, ms: within(interval, period) })),
    )
    return {
      serverId: target.id,
      from: iso(period.from),
      to: iso(period.to),
      days: daysOf(ms),
      allocatedSeconds: secondsOf(ms),
      secondsByState: showStates(byState),
      packages: showPackages(byProduct),
      intervals: intervals.map((interval) => showInterval(tx, interval, period)),
    }
  },
})
