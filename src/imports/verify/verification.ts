// The checks of servers that have moved, and what a person does about an open one.
import { type Static, Type as t } from 'typebox'
import { switchOf } from '../../compute/readdressing/queries.ts'
import { switchAgain } from '../../compute/readdressing/switch.ts'
import { load } from '../../compute/server-records/model.ts'
import { cardOf } from '../../compute/server-vm/seed.ts'
import { idOf, nameOf } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { oneOf, text } from '../../kernel/api/query.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { addressesOf } from '../../network/ip-pools/allocate.ts'
import {
  addressesOfServer,
  type ImportServer,
  serverInImport,
  serverStates,
} from '../import-records/inventory/queries.ts'
import { importAccess, importRecord, importServer } from '../import-records/model.ts'
import { changeMove, type ImportMove, moveOf } from '../import-records/moves/queries.ts'
import { noteIn } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import {
  askAllChecks,
  askChecks,
  checkCodes,
  nextSteps,
  pageOfChecks,
  resultOf,
  type VerificationResult,
  verificationCounts,
  verificationResults,
} from '../import-records/verified/queries.ts'
import { nodeName } from '../source-access/logins.ts'
import { linesByHand } from './by-hand.ts'
import { firstAddress, isWindows } from './checker.ts'
import { movedIn } from './moved.ts'

const result = described(
  t.Enum([...verificationResults]),
  'waiting: it was not checked yet. accepted: a person has marked it as fine.',
)
export const checkedServer = namedSchema('ImportVerified', {
  id: t.String(),
  hostname: t.String(),
  sourceId: t.String(),
  workloadId: described(nullable(t.String()), 'The server here.'),
  node: described(nullable(t.Object({ id: t.String(), name: t.String() })), 'Where it is now.'),
  result,
  address: described(nullable(t.String()), 'Its first address here.'),
  oldAddress: described(nullable(t.String()), 'Its first address at its source.'),
  isAddressNew: t.Boolean(),
  checks: t.Array(
    t.Object({
      code: t.Enum([...checkCodes]),
      result: t.Enum(['passed', 'open', 'skipped']),
      words: t.String(),
      next: described(nullable(t.Enum([...nextSteps])), 'What a person does about it.'),
    }),
  ),
  checkedAt: nullable(time),
  isAsked: described(t.Boolean(), 'It is checked now, or within seconds.'),
  nextCheckAt: described(nullable(time), 'An open check is repeated by itself.'),
  acceptedBy: described(nullable(t.String()), 'Who has marked it as fine.'),
  byHand: described(
    nullable(
      t.Object({
        system: t.Enum(['linux', 'windows']),
        lines: t.Array(t.String()),
        lasting: described(t.String(), 'How to make it last.'),
      }),
    ),
    'Where no guest agent gives its system its new addresses: the lines to run in its console.',
  ),
})

export function showChecked(tx: Db, server: ImportServer, move: ImportMove): Static<typeof checkedServer> {
  const here = move.workloadId === null ? undefined : load(tx, move.workloadId)
  const change = here && switchOf(tx, here.id)
  const isOver = !here || here.terminatedAt !== null
  const card = isOver || !change || change.state === 'done' ? undefined : cardOf(here, addressesOf(tx, here.id))
  return {
    ...{ id: server.id, hostname: server.hostname, sourceId: server.sourceId, workloadId: move.workloadId },
    node: here ? { id: here.nodeId, name: nodeName(tx, here.nodeId) } : null,
    result: resultOf(move),
    address: isOver ? null : firstAddress(tx, here.id),
    oldAddress: addressesOfServer(tx, server.id)[0]?.address ?? null,
    isAddressNew: change !== undefined,
    checks: (move.checks ?? []).map(({ code, result, words, next }) => ({ code, result, words, next })),
    checkedAt: isoOrNull(move.checkedAt),
    isAsked: move.checkAskedAt !== null,
    nextCheckAt: isoOrNull(move.checkAt),
    acceptedBy: move.acceptedBy?.name ?? null,
    byHand: card && change ? linesByHand(card, change.leave, isWindows(tx, here!)) : null,
  }
}

const countedResults = {
  ...{ passed: t.Integer(), accepted: t.Integer(), open: t.Integer(), waiting: t.Integer() },
} satisfies Record<VerificationResult, unknown>
export const getVerification = operation({
  id: 'imports.verification',
  method: 'GET',
  path: '/admin/migrations/{id}/verification',
  summary: 'How many servers that have moved pass their checks',
  access: importAccess,
  on: importRecord,
  response: namedSchema('ImportVerification', {
    moved: t.Integer(),
    ...countedResults,
    notMoved: described(t.Integer(), 'Servers of the import that failed, or wait.'),
    rolledBack: t.Integer(),
  }),
  run({ tx, target }) {
    const counts = verificationCounts(tx, target.id)
    const { moved = 0, failed = 0, ready = 0, moving = 0, rolled_back: rolledBack = 0 } = serverStates(tx, target.id)
    const { passed = 0, accepted = 0, open = 0, waiting = 0 } = counts
    return { moved, passed, accepted, open, waiting, notMoved: failed + ready + moving, rolledBack }
  },
})

export const listVerification = operation({
  id: 'imports.verified',
  method: 'GET',
  path: '/admin/migrations/{id}/verification/servers',
  summary: 'The servers that have moved, with their checks',
  access: importAccess,
  on: importRecord,
  query: {
    result: oneOf(verificationResults, 'Only those with this result.'),
    nodeId: text('Only those that went to this node.'),
    q: text('Only those with this text in their name, or with this address.'),
  },
  response: page(checkedServer),
  run(call) {
    const { tx, target, query } = call
    return pageOfChecks(call, target.id, query as Parameters<typeof pageOfChecks>[2], (move) =>
      showChecked(tx, serverInImport(tx, target.id, move.serverId)!, move),
    )
  },
})

export const checkServer = operation({
  id: 'import-servers.check',
  method: 'POST',
  path: '/admin/migration-servers/{id}/actions/check',
  summary: 'Check a server again, after its system was told its new addresses where that is still to be done',
  past: 'Checked a server of an import',
  access: importAccess,
  on: importServer,
  response: checkedServer,
  status: 202,
  refuses: ['import_server_not_moved', 'import_not_migrating', 'import_ended'],
  run({ tx, target, clock }) {
    const { of, move } = movedIn(tx, target)
    mustAllow(of, 'check')
    askAgain(tx, move, clock())
    return showChecked(tx, target, moveOf(tx, target.id)!)
  },
})
function askAgain(tx: Tx, { serverId, workloadId }: ImportMove, now: number) {
  askChecks(tx, serverId, now)
  if (workloadId !== null) switchAgain(tx, workloadId, now)
}

export const checkAllServers = operation({
  id: 'imports.check-all',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/check-all',
  summary: 'Check every server with an open check again',
  past: 'Checked all servers of an import',
  access: importAccess,
  on: importRecord,
  response: namedSchema('ImportChecksAsked', { servers: t.Integer() }),
  status: 202,
  refuses: ['import_not_migrating', 'import_ended'],
  run({ tx, target, clock }) {
    mustAllow(target, 'check')
    return { servers: askAllChecks(tx, target.id, clock()) }
  },
})

export const acceptServer = operation({
  id: 'import-servers.accept',
  method: 'POST',
  path: '/admin/migration-servers/{id}/actions/accept',
  summary: 'Mark a server as fine although a check is open, such as one that blocks pings',
  past: 'Accepted a server of an import',
  access: importAccess,
  on: importServer,
  response: checkedServer,
  refuses: ['import_server_not_moved', 'import_not_migrating', 'import_ended', 'already_done'],
  run({ tx, target: server, actor, clock }) {
    const { of, move } = movedIn(tx, server)
    mustAllow(of, 'accept')
    if (resultOf(move) !== 'open')
      throw new ApiError('already_done', `${server.hostname} has no open check. Nothing has to be marked.`)
    const accepted = { acceptedBy: { id: idOf(actor), name: nameOf(actor) }, acceptedAt: clock() }
    changeMove(tx, server.id, { ...accepted, checkAt: null, checkAskedAt: null })
    const left = move.checks!.filter((check) => check.result === 'open')
    noteIn(
      tx,
      of.id,
      clock(),
      'info',
      `${nameOf(actor)} marked ${server.hostname} as fine, with ${count(left.length, 'open check')}.`,
    )
    return showChecked(tx, server, moveOf(tx, server.id)!)
  },
})
