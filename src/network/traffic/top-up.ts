import { Type as t } from 'typebox'
import { overTrafficPolicies } from '../../catalog/packages/over-traffic.ts'
import { endedServer, load, server } from '../../compute/server-records/model.ts'
import { addGb, isSuspendedForTraffic } from '../../fleet/traffic-records/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { allowanceOf, forgetShares } from './allowance.ts'
import { release } from './limits.ts'
import { unthrottle } from './throttle.ts'

const bandwidth = namedSchema('Bandwidth', {
  month: described(t.String(), 'This month in UTC.'),
  usedBytes: described(t.Integer(), 'In both directions together.'),
  allowanceGb: described(nullable(t.Integer()), 'Of its package; null: not limited.'),
  addedGb: described(t.Integer(), 'Bought beside it for this month.'),
  percent: described(nullable(t.Integer()), 'Used of both together; null: not limited.'),
  overTraffic: t.Enum([...overTrafficPolicies]),
  suspendedForTraffic: t.Boolean(),
  throttledToMbps: described(nullable(t.Integer()), 'It is slowed down for its traffic; null: it is not.'),
})
const consequences = (tx: Db, id: string) => ({
  suspendedForTraffic: isSuspendedForTraffic(tx, id),
  throttledToMbps: load(tx, id).throttleMbps,
})

export const getBandwidth = operation({
  id: 'servers.bandwidth',
  method: 'GET',
  path: '/servers/{id}/bandwidth',
  summary: 'The traffic of a server in this month, and what it may use',
  access: everybody('servers:read'),
  on: endedServer,
  response: bandwidth,
  run: ({ tx, target, clock }) => ({ ...allowanceOf(tx, target, clock()), ...consequences(tx, target.id) }),
})

export const addBandwidth = operation({
  id: 'servers.add-bandwidth',
  method: 'POST',
  path: '/servers/{id}/bandwidth',
  summary: 'Add traffic to a server for this month; one that was suspended or slowed down for it is released',
  past: 'Added traffic',
  access: { staff: ['servers:resize'], reseller: ['reseller:servers'] },
  on: server,
  body: fields({ action: t.Literal('add'), gb: t.Integer({ minimum: 1, maximum: 9_000_000 }) }),
  actionWords: { add: 'Add traffic' },
  response: namedSchema('BandwidthAdded', {
    jobId: described(
      nullable(t.String()),
      'The job that starts it again or gives it its speed back; null where neither is needed.',
    ),
    serverId: t.String(),
    bandwidth,
  }),
  status: 202,
  idempotent: true,
  refuses: ['server_terminated', 'traffic_not_limited'],
  example: { action: 'add' as const, gb: 500 },
  run({ tx, target, body, clock }) {
    const now = clock()
    if (target.lifecycle === 'terminated')
      throw new ApiError('server_terminated', `${target.hostname} is terminated: it uses no traffic any more.`)
    if (target.trafficGb === null)
      throw new ApiError(
        'traffic_not_limited',
        `The traffic of ${target.hostname} is not limited, so nothing was added. Sell no traffic for its package.`,
      )
    addGb(tx, target.id, allowanceOf(tx, target, now).month, body.gb, now)
    const after = allowanceOf(tx, target, now)
    forgetShares(tx, target, now)
    const isEnough = (after.percent ?? 0) < 100
    const jobId = isEnough ? (release(tx, target.id, now) ?? unthrottle(tx, target, now)) : null
    return { jobId, serverId: target.id, bandwidth: { ...after, ...consequences(tx, target.id) } }
  },
})
