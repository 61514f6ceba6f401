import { page } from '../../kernel/api/list.ts'
import { operation } from '../../kernel/api/operation.ts'
import { idOf, oneOf } from '../../kernel/api/query.ts'
import { drain, drainDetailResponse, drainResponse, showDetail, showDrain } from './model.ts'
import { type DrainState, pageOfDrains } from './queries.ts'
import { drainStates } from './tables.ts'

const access = { staff: ['nodes:maintain'] } as const

export const listDrains = operation({
  id: 'drains.list',
  method: 'GET',
  path: '/admin/drains',
  summary: 'Nodes that were emptied, and servers that came back to one, newest first',
  access,
  query: {
    nodeId: idOf('nod', 'Only those of this node.'),
    state: oneOf(drainStates, 'Only those in this state.'),
  },
  response: page(drainResponse),
  run(call) {
    const { nodeId, state } = call.query
    return pageOfDrains(call, { nodeId, state: state as DrainState | undefined }, (row) => showDrain(call, row))
  },
})

export const getDrain = operation({
  id: 'drains.get',
  method: 'GET',
  path: '/admin/drains/{id}',
  summary: 'One drain with its servers; follow it until `finishedAt` is set',
  access,
  on: drain,
  response: drainDetailResponse,
  run: (call) => showDetail(call, call.target),
})
