import { minute, second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { cancelTransfer } from './cancel.ts'
import { changeLimit } from './change-limit.ts'
import { adoptedData, adopting, adoptServer, getElsewhere } from './elsewhere/adopt.ts'
import { atOnce, mostMbps } from './estimate.ts'
import { clearing } from './job/clearing.ts'
import { beginDue } from './job/due.ts'
import { comesBack } from './job/ending.ts'
import { TELL_LIMITS_EVERY_MS, tellLimits } from './job/limits.ts'
import { moving } from './job/moving.ts'
import { RENEW_EVERY_MS, renewKeys } from './job/renewal.ts'
import { beginWaiting } from './job/waiting.ts'
import { exportTransfers, getProgress, getTransfer, listTransfers } from './list.ts'
import { LiveCopies } from './live-copies.ts'
import { failedData, finishedData, startedData } from './model.ts'
import { moveServer } from './move.ts'
import { moveOptions } from './options.ts'
import { transferFigures } from './progress/figures.ts'
import { timelineOfMoves } from './progress/timeline.ts'
import { transferTarget } from './queries.ts'
import { cancelRelocation } from './readdressing/cancel.ts'
import { freeHeld, heldDays } from './readdressing/held.ts'
import { mostADay, relocateServer, relocationOptions } from './readdressing/relocate.ts'
import { tellOfReaddressing, transferNotices } from './readdressing/tell.ts'
import { transferActions } from './states.ts'
import { transfers } from './tables.ts'

const events = {
  'transfer.started': event('staff only', 'A move between nodes starts', startedData),
  'transfer.finished': event('staff only', 'A move between nodes finishes', finishedData),
  'transfer.failed': event('staff only', 'A move between nodes fails', failedData),
  'server.adopted': event('staff only', 'The record of a server follows it after a restore', adoptedData),
}

const errors = {
  transfer_not_found: { status: 404, when: 'There is no such transfer.', remedy: 'Check the id.' },
  transfer_ended: {
    status: 409,
    when: 'The transfer has ended.',
    remedy: 'Read its state: nothing of it is left to change or to cancel.',
  },
  not_elsewhere: {
    status: 409,
    when: 'No other node than the recorded one says that it runs the server.',
    remedy: 'Nothing has to be done.',
  },
  runs_twice: {
    status: 409,
    when: 'More than one node runs the server, or one that does not answer may run it.',
    remedy: 'Shut it down where it is not to run, as the message says.',
  },
  not_adoptable: {
    status: 409,
    when: 'The node has the server otherwise than its record, which cannot follow it; the message says what differs.',
    remedy: 'Do what the message says.',
  },
  not_movable: {
    status: 409,
    when: 'Something of the server cannot come along, such as a snapshot; the message names it.',
    remedy: 'Do what the message says, then try again.',
  },
} as const

const ids = { transfer: { prefix: 'trf' } } as const
const scopes = { 'servers:move': { words: 'Move servers between nodes' } } as const
const permissions = { 'servers.move': { words: 'Move servers between nodes', opens: ['servers:move'] } } as const
declare module '../../kernel/register.ts' {
  interface Names {
    transfers: {
      ids: typeof ids
      errors: typeof errors
      events: typeof events
      scopes: typeof scopes
      permissions: typeof permissions
      notices: typeof transferNotices
    }
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  address_taken: 'An address that was kept for it was given to somebody else.',
  checksum_differs: 'What arrived on the other node is not what was sent.',
  does_not_converge: 'It writes to its disks faster than they can be copied.',
  disk_differs: 'The disk on the other node has another size.',
  migration_failed: 'The hypervisor could not move it.',
  no_ssh_server: 'The other node has no SSH server that can take it in.',
  no_transfer: 'A node does not know of the move.',
  not_owned: 'The server is on another node now.',
  transfer_cut: 'The connection between the nodes broke and did not come back.',
  transfer_ended: 'The move was ended while it copied.',
  transfer_refused: 'The other node did not let the move in.',
  transfer_unreachable: 'The other node could not be reached by SSH.',
  vm_runs: 'The server ran when it was to be off.',
} as const

const BEGIN_EVERY_MS = 2 * second
const FREE_EVERY_MS = minute

export const transfersFeature = feature({
  name: 'transfers',
  workloadActions: [transferActions],
  failures,
  ids,
  scopes,
  permissions,
  samples: {
    notMovable: null,
    atWork: null,
    bytes: 10_737_418_240,
    expectedSeconds: 240,
    expectedDowntimeMs: 40_000,
    bytesPerSecond: null,
    secondsLeft: null,
    waiting: null,
    medianDowntimeMs: 38_400,
    longestOverMs: 4000,
    averageBytesPerSecond: 112_000_000,
  },
  errors,
  events,
  services: ({ clock }) => ({ liveCopies: new LiveCopies(clock) }),
  takeCopied: ({ liveCopies }, jobId, copied) => liveCopies.take(jobId, copied),
  tables: [transfers],
  settings: [atOnce, mostMbps, heldDays, mostADay],
  jobs: [moving, clearing, adopting],
  bringsBack: comesBack,
  operations: [
    moveServer,
    moveOptions,
    getElsewhere,
    adoptServer,
    relocateServer,
    relocationOptions,
    cancelRelocation,
    listTransfers,
    exportTransfers,
    transferFigures,
    getTransfer,
    getProgress,
    changeLimit,
    cancelTransfer,
  ],
  auditTargets: [transferTarget],
  timeline: [timelineOfMoves],
  notices: transferNotices,
  onEvent: tellOfReaddressing,
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 212,
      name: 'transfers',
      title: 'Transfers',
      href: '/admin/transfers',
      icon: 'transfer',
      sees: listTransfers,
    },
  ],
  schedule: [
    { everyMs: BEGIN_EVERY_MS, words: 'beginning moves that wait', work: ({ db }) => beginWaiting(db) },
    { everyMs: BEGIN_EVERY_MS, words: 'beginning moves whose time has come', work: beginDue },
    { everyMs: TELL_LIMITS_EVERY_MS, words: 'telling nodes the changed limits of moves', work: tellLimits },
    { everyMs: FREE_EVERY_MS, words: 'freeing addresses that were held after moves', work: freeHeld },
    { everyMs: RENEW_EVERY_MS, words: 'renewing the keys of moves', work: renewKeys },
  ],
})
