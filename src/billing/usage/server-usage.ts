// The usage of one server, down to its intervals.
import { Type as t } from 'typebox'
import { described, namedSchema } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import {
  addedUp,
  secondsByState,
  showInterval,
  shownInterval,
  showPackages,
  showStates,
  usedPackage,
  within,
} from './model.ts'
import { usageOfWorkload } from './of-workload.ts'
import { daysOf, secondsOf } from './period.ts'

export const serverUsage = usageOfWorkload({
  id: 'usage.of-server',
  path: '/servers/{id}',
  summary: 'What a server was in a period, with every interval',
  kind: 'server',
  resource: { name: 'server', notFound: 'server_not_found' },
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
  show({ tx, target }, period, intervalsIn) {
    const intervals = intervalsIn(period)
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
