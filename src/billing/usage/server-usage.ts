// The usage of one server, down to its intervals.
import { Type as t } from 'typebox'
import type { Deciding } from '../../fleet/workloads/queries.ts'
import { decidingResource } from '../../identity/team/access.ts'
import { everybody } from '../../kernel/api/access.ts'
import { described, namedSchema, operation, type Resource } from '../../kernel/api/operation.ts'
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
import { daysOf, secondsOf } from './period.ts'
import { intervalsOf } from './queries.ts'
import { periodFrom, periodQuery } from './report-query.ts'

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
  query: periodQuery,
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
    const period = periodFrom(query, clock())
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
