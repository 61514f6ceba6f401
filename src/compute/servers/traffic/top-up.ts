import { Type as t } from 'typebox'
import { overTrafficPolicies } from '../../../catalog/packages/over-traffic.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../../kernel/api/operation.ts'
import { server } from '../model.ts'
import { allowanceOf, TOLD_AT } from './allowance.ts'
import { release } from './limits.ts'
import { addGb, isSuspendedForTraffic, unmarkAbove } from './queries.ts'

const bandwidth = namedSchema('Bandwidth', {
  month: described(t.String(), 'This month in UTC.'),
  usedBytes: described(t.Integer(), 'In both directions together.'),
  allowanceGb: described(nullable(t.Integer()), 'Of its package; null: not limited.'),
  addedGb: described(t.Integer(), 'Bought beside it for this month.'),
  percent: described(nullable(t.Integer()), 'Used of both together; null: not limited.'),
  overTraffic: t.Enum([...overTrafficPolicies]),
  suspendedForTraffic: t.Boolean(),
})

export const getBandwidth = operation({
  id: 'servers.bandwidth',
  method: 'GET',
  path: '/servers/{id}/bandwidth',
  summary: 'The traffic of a server in this month, and what it may use',
  access: { staff: ['servers:read'], reseller: ['servers:read'], customer: ['servers:read'] },
  on: server,
  response: bandwidth,
  run: ({ tx, target, clock }) => ({
    ...allowanceOf(tx, target, clock()),
    suspendedForTraffic: isSuspendedForTraffic(tx, target.id),
  }),
})

export const addBandwidth = operation({
  id: 'servers.add-bandwidth',
  method: 'POST',
  path: '/servers/{id}/bandwidth',
  summary: 'Add traffic to a server for this month; one that is suspended for its traffic starts again',
  access: { staff: ['servers:resize'], reseller: ['reseller:servers'] },
  on: server,
  body: fields({ action: t.Literal('add'), gb: t.Integer({ minimum: 1, maximum: 9_000_000 }) }),
  actionWords: { add: 'traffic added' },
  response: namedSchema('BandwidthAdded', {
    jobId: described(nullable(t.String()), 'The job that starts it again; null where it was not suspended for it.'),
    serverId: t.String(),
    bandwidth,
  }),
  status: 202,
  idempotent: true,
  refuses: ['server_terminated'],
  example: { action: 'add' as const, gb: 500 },
  run({ tx, target, body, clock }) {
    const now = clock()
    if (target.lifecycle === 'terminated')
      throw new ApiError('server_terminated', `${target.hostname} is terminated: it uses no traffic any more.`)
    addGb(tx, target.id, allowanceOf(tx, target, now).month, body.gb, now)
    const after = allowanceOf(tx, target, now)
    const reached = TOLD_AT.findLast((share) => (after.percent ?? 0) >= share) ?? 0
    unmarkAbove(tx, { workloadId: target.id, month: after.month, percent: reached })
    const jobId = (after.percent ?? 0) < 100 ? release(tx, target.id, now) : null
    return {
      jobId,
      serverId: target.id,
      bandwidth: { ...after, suspendedForTraffic: isSuspendedForTraffic(tx, target.id) },
    }
  },
})
