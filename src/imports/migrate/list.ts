// The servers of an import that move, one of them, and how far all of them together are.
import { Type as t } from 'typebox'
import { page } from '../../kernel/api/list.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { oneOf, text } from '../../kernel/api/query.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { importAccess, importRecord, importServer } from '../import-records/model.ts'
import {
  type MoveFilter,
  moveFigures,
  moveOf,
  moveStates,
  openMoves,
  pageOfMoves,
  places,
  verificationResults,
} from '../import-records/moves/queries.ts'
import { moveResponse, showMove } from './show.ts'
import { isWithin } from './window.ts'

export const listMoves = operation({
  id: 'imports.list-moves',
  method: 'GET',
  path: '/admin/migrations/{id}/moves',
  summary: 'The servers of an import that move: how far each is, and where it runs',
  access: importAccess,
  on: importRecord,
  query: {
    state: oneOf(moveStates, 'Only those in this state.'),
    hypervisorId: text('Only those from this hypervisor of the other panel.', 400),
    nodeId: text('Only those that come to this node.', 60),
    failure: text('Only those whose last attempt failed with this code.', 60),
    whereItRuns: oneOf(places, 'Only those that run there.'),
    result: oneOf(verificationResults, 'Only those that have moved and whose checks have this result.'),
    q: text('Only those with this text in their name, domain or owner, or with this address.'),
  },
  response: page(moveResponse),
  run: (call) => pageOfMoves(call, call.target.id, call.query as MoveFilter, (row) => showMove(call, row)),
})

export const getMove = operation({
  id: 'import-servers.move',
  method: 'GET',
  path: '/admin/migration-servers/{id}/move',
  summary: 'The move of one server: how far it is, where it runs, and why its last attempt failed',
  access: importAccess,
  on: importServer,
  response: namedSchema('ImportServerMove', {
    move: described(nullable(moveResponse), 'Null: it is not among the servers that are to be moved.'),
  }),
  run(call) {
    const move = moveOf(call.tx, call.target.id)
    return { move: move ? showMove(call, move) : null }
  },
})

const n = t.Integer()
export const getImportProgress = operation({
  id: 'imports.progress',
  method: 'GET',
  path: '/admin/migrations/{id}/progress',
  summary: 'How far an import is: servers, bytes, downtimes, and the time that is left',
  access: importAccess,
  on: importRecord,
  response: namedSchema('ImportProgress', {
    servers: t.Object({
      ...{ total: n, waiting: n, moving: n, moved: n, failed: n, rollingBack: n, rolledBack: n },
    }),
    isWaitingForWindow: described(t.Boolean(), 'No server begins before the window opens again.'),
    bytesTotal: described(n, 'Of the disks of all servers that move.'),
    bytesCopied: n,
    bytesPerSecond: described(n, 'Of all copies together, now.'),
    medianDowntimeMs: nullable(n),
    longestDowntimeMs: nullable(n),
    announced: described(n, 'Servers that have moved and of which a time away was estimated.'),
    announcedKept: described(n, 'Of these, those that were not away longer.'),
    secondsLeft: described(nullable(n), 'An estimate, no promise. Null: nothing has moved yet.'),
    startedAt: nullable(time),
    migratedAt: nullable(time),
  }),
  run({ tx, target, liveCopies, clock }) {
    const f = moveFigures(tx, target.id)
    const live = openMoves(tx, target.id).flatMap(({ jobId, drive }) => {
      const one = jobId === null ? undefined : liveCopies.of(jobId, drive?.virtualBytes ?? Number.MAX_SAFE_INTEGER)
      return one ? [one] : []
    })
    const window = target.limits.window
    const left = f.waiting + f.moving
    const elapsedMs = target.startedAt === null ? 0 : (target.migratedAt ?? clock()) - target.startedAt
    const done = f.moved + f.failed + f.rolledBack
    return {
      servers: {
        total: f.waiting + f.moving + f.moved + f.failed + f.rollingBack + f.rolledBack,
        ...{ waiting: f.waiting, moving: f.moving, moved: f.moved, failed: f.failed },
        ...{ rollingBack: f.rollingBack, rolledBack: f.rolledBack },
      },
      isWaitingForWindow: target.status === 'migrating' && window !== null && !isWithin(window, clock()),
      bytesTotal: f.bytesTotal,
      bytesCopied: f.bytesCopied + live.reduce((sum, { copiedBytes }) => sum + copiedBytes, 0),
      bytesPerSecond: live.reduce((sum, { bytesPerSecond }) => sum + (bytesPerSecond ?? 0), 0),
      ...{ medianDowntimeMs: f.medianDowntimeMs, longestDowntimeMs: f.longestDowntimeMs },
      ...{ announced: f.announced, announcedKept: f.announcedKept },
      secondsLeft: left === 0 ? 0 : done === 0 ? null : Math.ceil((elapsedMs / 1000 / done) * left),
      startedAt: isoOrNull(target.startedAt),
      migratedAt: isoOrNull(target.migratedAt),
    }
  },
})
