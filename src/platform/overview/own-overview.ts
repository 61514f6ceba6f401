// The first page of a customer and of a reseller: what needs attention, how many servers there are, and the steps that
// a new account has not done yet.
import { Type as t } from 'typebox'
import { serverKind } from '../../compute/server-records/model.ts'
import { nodesAway } from '../../fleet/node-records/queries.ts'
import { countByStatus } from '../../fleet/workloads/reports.ts'
import { visible } from '../../identity/team/access.ts'
import { described, operation, type ReadContext, time } from '../../kernel/api/operation.ts'
import { attention, needsAttention, step } from '../../kernel/attention.ts'
import { iso } from '../../kernel/db/clock.ts'
import { checklistFor } from './checklist.ts'

export const unreachableResponse = described(
  t.Record(t.String(), t.Integer()),
  'Those of `servers` whose node is not connected, by the state in which they were last seen.',
)

export const getOwnOverview = operation({
  id: 'overview.own',
  method: 'GET',
  path: '/overview',
  summary: 'What needs your attention, the servers you see by state, and what a new account has still to do',
  access: { reseller: ['account:read'], customer: ['account:read'] },
  response: t.Object({
    checkedAt: time,
    attention: t.Array(attention),
    checklist: t.Array(step),
    servers: t.Record(t.String(), t.Integer()),
    unreachable: unreachableResponse,
  }),
  run: (call) => ({
    checkedAt: iso(call.clock()),
    attention: needsAttention(call),
    checklist: checklistFor(call),
    servers: serversByState(call),
    unreachable: unreachableServers(call),
  }),
})

/** How many of the servers that the actor sees are in which state. */
export const serversByState = ({ tx, actor }: ReadContext): Record<string, number> =>
  countByStatus(tx, serverKind, visible(tx, actor))

/** How many of them are on a node that is not connected. */
export function unreachableServers({ tx, actor, nodes }: ReadContext): Record<string, number> {
  const away = nodesAway(tx, nodes)
  return away.length ? countByStatus(tx, serverKind, visible(tx, actor), away) : {}
}
