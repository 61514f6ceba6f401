import { everybody } from '../../kernel/api/access.ts'
import { operation } from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import { listing, pageOfListed, sortsOf } from '../workloads/list.ts'
import { endedInstance, type InstanceStatus, instanceStatuses, instanceStatusesOnNode, load } from './model.ts'
import { joinInstances } from './queries.ts'
import { instanceResponse } from './record.ts'
import { showInstance } from './show.ts'
import { actingInstance } from './state.ts'

export const getInstance = operation({
  id: 'gpu-instances.get',
  method: 'GET',
  path: '/gpu-instances/{id}',
  summary: 'One GPU instance',
  access: everybody('servers:read'),
  on: endedInstance,
  response: instanceResponse,
  run: (call) => showInstance(call, call.target),
})

/** Not by an index of states: servers, which are far more, have nearly all of its rows. */
const OF_INSTANCES = "w.id BETWEEN 'gpu_' AND 'gpu_~'"
const sorts = sortsOf({ exact: instanceStatuses.sql }, {})

export const {
  all: listAllInstances,
  seen: listInstances,
  ids: listedInstanceIds,
} = listing(actingInstance, {
  words: {
    many: 'instances',
    node: 'host',
    ended: 'Deleted',
    searched: "Part of a name, address or owner, an id, or the billing system's identifier.",
  },
  states: {
    statuses: instanceStatuses.statuses,
    is: (status: InstanceStatus) => `+(${instanceStatuses.sql}) = '${status}' AND ${OF_INSTANCES}`,
    sql: instanceStatuses.sql,
    onNode: instanceStatusesOnNode,
  },
  sorts,
  row: instanceResponse,
  product: {
    parameters: { offerId: idOf('off', 'Only instances of this offer.') },
    columns: { offerId: 'g.offer_id' },
  },
  join: ({ offerId }) => (offerId === undefined ? undefined : joinInstances),
  alive: () => `w.terminated_at IS NULL AND ${OF_INSTANCES}`,
  nodesForAll: false,
  page: (call, name, listed) =>
    pageOfListed(call, name, listed, { sorts, show: (id) => showInstance(call, load(call.tx, id)) }),
})
