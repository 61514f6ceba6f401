// The staff's first page: what needs attention, capacity, and the steps of the set-up. Each part is null for an actor
// who may not call the operation behind it.
import { type TInteger, Type as t } from 'typebox'
import { listAllServers } from '../../compute/servers/list.ts'
import { listGpus } from '../../fleet/gpus/hosts.ts'
import { type CardState, cardStates, cardsByState } from '../../fleet/gpus/model.ts'
import { listLocations } from '../../fleet/locations/locations.ts'
import { listedLocations, locationResponse } from '../../fleet/locations/model.ts'
import { countVersions, nodesByContact } from '../../fleet/node-records/queries.ts'
import { listNodes } from '../../fleet/nodes/nodes.ts'
import {
  described,
  mayCall,
  nullable,
  type Operation,
  operation,
  type ReadContext,
  time,
} from '../../kernel/api/operation.ts'
import { attention, needsAttention, step } from '../../kernel/attention.ts'
import { day, iso } from '../../kernel/db/clock.ts'
import { listJobs } from '../jobs/jobs.ts'
import { countsSince, visibleJobs } from '../jobs/queries.ts'
import { checklistFor } from './checklist.ts'
import { serversByState, unreachableResponse, unreachableServers } from './own-overview.ts'

export const getOverview = operation({
  id: 'overview.get',
  method: 'GET',
  path: '/admin/overview',
  summary:
    'What needs attention, capacity, jobs, and the setup checklist; what your role does not include is null or ' +
    'left out',
  access: { staff: ['account:read'] },
  response: t.Object({
    checkedAt: time,
    attention: t.Array(attention),
    checklist: t.Array(step),
    servers: nullable(t.Record(t.String(), t.Integer())),
    unreachable: nullable(unreachableResponse),
    jobs: nullable(t.Object({ running: t.Integer(), failed24h: t.Integer(), done24h: t.Integer() })),
    nodes: nullable(
      t.Object({ total: t.Integer(), connected: t.Integer(), versions: t.Record(t.String(), t.Integer()) }),
    ),
    gpus: nullable(
      described(
        t.Object(Object.fromEntries(cardStates.map((state) => [state, t.Integer()])) as Record<CardState, TInteger>),
        'GPU cards by their state.',
      ),
    ),
    locations: nullable(t.Array(locationResponse)),
  }),
  run(call) {
    const { actor, clock } = call
    const forWho = <T>(op: Operation, read: (call: ReadContext) => T): T | null =>
      mayCall(op, actor) ? read(call) : null
    return {
      checkedAt: iso(clock()),
      attention: needsAttention(call),
      checklist: checklistFor(call),
      servers: forWho(listAllServers, serversByState),
      unreachable: forWho(listAllServers, unreachableServers),
      jobs: forWho(listJobs, jobs),
      nodes: forWho(listNodes, nodes),
      gpus: forWho(listGpus, ({ tx }) => cardsByState(tx)),
      locations: forWho(listLocations, listedLocations),
    }
  },
})

function jobs({ tx, actor, clock }: ReadContext) {
  const { running, failed, done } = countsSince(tx, visibleJobs(tx, actor), clock() - day)
  return { running, failed24h: failed, done24h: done }
}

function nodes({ tx, nodes: live }: ReadContext) {
  const { away, connected } = nodesByContact(tx, live)
  return {
    total: away.length + connected.length,
    connected: connected.length,
    versions: Object.fromEntries(countVersions(tx).map(({ version, n }) => [version, n])),
  }
}
