import { and } from 'drizzle-orm'
import { page } from '../../kernel/api/list.ts'
import { operation } from '../../kernel/api/operation.ts'
import { idOf, moment, momentFrom, oneOf, text } from '../../kernel/api/query.ts'
import { csvOf } from '../../kernel/csv.ts'
import { iso } from '../../kernel/db/clock.ts'
import { seesTransfers, showTransfer, transfer, transferProgress, transferResponse } from './model.ts'
import { phasesOf } from './progress/phases.ts'
import { noTransfer, pageOfTransfers, transfersThatFit } from './queries.ts'
import { type TransferMode, type TransferState, transferModes, transferStates } from './tables.ts'

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
    server: text('Only those of servers whose hostname holds this, or of the server or the transfer of this id.', 100),
    state: oneOf(transferStates, 'Only those in this state.'),
    mode: oneOf(transferModes, 'Only those that moved like this.'),
    since: moment('Not ordered before this time.'),
    until: moment('Not ordered after this time; a day alone is meant to its end.'),
  },
  response: page(transferResponse),
  run(call) {
    const { actor, query } = call
    const { nodeId, serverId, server, state, mode, since, until } = query
    const where = transfersThatFit({
      nodeId,
      serverId,
      server,
      mode: mode as TransferMode | undefined,
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

export const getProgress = operation({
  id: 'transfers.progress',
  method: 'GET',
  path: '/admin/transfers/{id}/progress',
  summary: 'The steps of one move with their times, and the rate of the copy at work',
  access,
  on: transfer,
  response: transferProgress,
  run({ tx, target, liveCopies }) {
    const { jobId, finishedAt } = target
    const rates = jobId === null || finishedAt !== null ? [] : liveCopies.ratesOf(jobId)
    return { steps: phasesOf(tx, target), rates: rates.map(({ at, ...rate }) => ({ at: iso(at), ...rate })) }
  },
})

export const exportTransfers = csvOf(listTransfers, {
  id: 'transfers.export',
  path: '/admin/transfers.csv',
  summary: 'The same list as a spreadsheet',
  fromMemory: true,
  columns: {
    id: (row) => row.id,
    server: (row) => row.server.hostname,
    serverId: (row) => row.server.id,
    state: (row) => row.state,
    mode: (row) => row.mode,
    from: (row) => row.from.name,
    to: (row) => row.to.name,
    bytesCopied: (row) => row.bytesCopied,
    expectedSeconds: (row) => row.expectedSeconds,
    expectedDowntimeMs: (row) => row.expectedDowntimeMs,
    downtimeMs: (row) => row.downtimeMs,
    error: (row) => row.error,
    startedBy: (row) => row.startedBy.name,
    createdAt: (row) => row.createdAt,
    beganAt: (row) => row.beganAt,
    finishedAt: (row) => row.finishedAt,
  },
})
