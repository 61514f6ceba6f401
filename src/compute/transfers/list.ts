import { and } from 'drizzle-orm'
import { page } from '../../kernel/api/list.ts'
import { operation } from '../../kernel/api/operation.ts'
import { idOf, moment, momentFrom, oneOf } from '../../kernel/api/query.ts'
import { seesTransfers, showTransfer, transfer, transferResponse } from './model.ts'
import { noTransfer, pageOfTransfers, transfersThatFit } from './queries.ts'
import { type TransferState, transferStates } from './tables.ts'

const access = { staff: ['servers:read'] } as const

export const listTransfers = operation({
  id: 'transfers.list',
  method: 'GET',
  path: '/admin/transfers',
  summary: 'Moves of servers between nodes, newest first',
  access,
  pages: { usual: 50, most: 200 },
  query: {
    nodeId: idOf('nod', 'Only those from or to this node.'),
    serverId: idOf('srv', 'Only those of this server.'),
    state: oneOf(transferStates, 'Only those in this state.'),
    since: moment('Not ordered before this time.'),
    until: moment('Not ordered after this time; a day alone is meant to its end.'),
  },
  response: page(transferResponse),
  run(call) {
    const { actor, query } = call
    const { nodeId, serverId, state, since, until } = query
    const where = transfersThatFit({
      nodeId,
      serverId,
      state: state as TransferState | undefined,
      since: since === undefined ? undefined : momentFrom('since', since),
      until: until === undefined ? undefined : momentFrom('until', until, 'T23:59:59.999'),
    })
    const seen = seesTransfers(actor) ? undefined : noTransfer
    return pageOfTransfers(call, and(where, seen), (row) => showTransfer(call, row))
  },
})

export const getTransfer = operation({
  id: 'transfers.get',
  method: 'GET',
  path: '/admin/transfers/{id}',
  summary: 'One move of a server; follow it until `finishedAt` is set',
  access,
  on: transfer,
  response: transferResponse,
  run: (call) => showTransfer(call, call.target),
})
