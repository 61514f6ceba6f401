// A move of a server from one node to another: its record, who sees it, and what an event says of it.
import { Type as t } from 'typebox'
import { nodeById } from '../../fleet/node-records/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { type AppContext, described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { jobFacts } from '../../kernel/jobs/queries.ts'
import { switchOf } from '../readdressing/queries.ts'
import { switchStates } from '../readdressing/switch-states.ts'
import { inEvent, load } from '../server-records/model.ts'
import { isWaitingForTime, type Transfer, transferById } from './queries.ts'
import { changeOf } from './readdressing/addresses.ts'
import { heldOf } from './readdressing/held.ts'
import { transferModes, transferStates } from './tables.ts'

export type { Transfer }

/** Staff who see all servers see their moves; nobody else does. */
export const seesTransfers = (actor: Actor): boolean =>
  actor.kind === 'staff' && actor.permissions.has('servers.see_all')

export const transfer: Resource<Transfer> = {
  name: 'transfer',
  notFound: 'transfer_not_found',
  find: (tx, actor, id) => (seesTransfers(actor) ? transferById(tx, id) : undefined),
}

/** A node in a response. */
export const aNode = t.Object({ id: t.String(), name: t.String() })
export const modeField = described(
  t.Enum([...transferModes]),
  'live: moved with its memory while it runs. near_live: copied while it runs, and off for what changed meanwhile. ' +
    'cold: off while it is copied. reassigned: it waits for its setup, so nothing is copied.',
)

export const sharedStorageField = described(
  nullable(t.String()),
  'What is not copied because both nodes reach its storage, in words; null: all of its disks are copied.',
)

export const transferResponse = namedSchema('Transfer', {
  id: t.String(),
  server: t.Object({ id: t.String(), hostname: t.String() }),
  mode: modeField,
  state: described(t.Enum([...transferStates]), 'switching: its system is off, until it runs on the other node.'),
  from: aNode,
  to: aNode,
  jobId: described(nullable(t.String()), 'Null where nothing had to be copied, and before its time.'),
  startedBy: t.Object({ id: t.String(), name: t.String() }),
  byOwner: described(t.Boolean(), 'The owner of the server asked for it, or somebody who acts for the owner.'),
  addresses: described(
    nullable(t.Object({ removed: t.Array(t.String()), added: t.Array(t.String()) })),
    'What it gives up and gets; null: it keeps its addresses, or has not begun yet.',
  ),
  inside: described(
    nullable(t.Enum([...switchStates])),
    'Does the system inside the server have its present addresses? waiting: its guest agent is asked until it ' +
      'answers. given_up: none answered; a Linux with cloud-init has them all the same. Null: it keeps its addresses.',
  ),
  addressesHeldUntil: described(
    nullable(time),
    'The addresses that it gave up are held for it until then: a move back gives them back. Null: they are not.',
  ),
  maxMbps: described(nullable(t.Integer()), 'The limit of its copy in megabit per second; null: none.'),
  bytesTotal: described(t.Integer(), 'The data of its disks; their size, until the node has looked.'),
  bytesCopied: t.Integer(),
  bytesPerSecond: described(nullable(t.Integer()), 'Of the copy at work, over the last seconds; null: none is.'),
  secondsLeft: described(nullable(t.Integer()), 'Until the copy at work has ended, at that rate.'),
  progress: described(t.Integer(), 'Of its job, in percent.'),
  step: described(nullable(t.String()), 'What its job does now, in words.'),
  expectedSeconds: described(t.Integer(), 'How long it was to take, as it was announced.'),
  expectedDowntimeMs: t.Integer(),
  downtimeMs: described(
    nullable(t.Integer()),
    'How long its system was off for it, up to now where it still is; null while it runs on.',
  ),
  cancellable: described(t.Boolean(), 'Until it has passed its point of no return.'),
  error: described(nullable(t.String()), 'Why it failed, in words, or why it has not begun at its time yet.'),
  createdAt: time,
  startsAt: described(nullable(time), 'The time that it waits for, or has waited for; null: it was to begin at once.'),
  beganAt: nullable(time),
  finishedAt: nullable(time),
})

type Showing = Pick<AppContext, 'clock' | 'liveCopies'> & { tx: Db }
export function showTransfer({ tx, clock, liveCopies }: Showing, row: Transfer) {
  const now = clock()
  const live = row.state === 'copying' && row.jobId !== null ? liveCopies.of(row.jobId, row.bytesTotal) : undefined
  const named = (id: string) => ({ id, name: nodeById(tx, id)?.name ?? '' })
  const job = row.jobId === null ? undefined : jobFacts(tx, row.jobId)
  const { hostname } = load(tx, row.serverId)
  return {
    id: row.id,
    server: { id: row.serverId, hostname },
    mode: row.mode,
    state: row.state,
    from: named(row.fromNodeId),
    to: named(row.toNodeId),
    jobId: row.jobId,
    startedBy: row.startedBy,
    byOwner: row.byOwner,
    addresses: changeOf(tx, row),
    inside: row.readdressing && row.state === 'finished' ? (switchOf(tx, row.serverId)?.state ?? null) : null,
    addressesHeldUntil:
      row.heldUntil !== null && heldOf(tx, row.serverId)?.move.id === row.id ? iso(row.heldUntil) : null,
    maxMbps: row.maxMbps,
    bytesTotal: live?.totalBytes ?? row.bytesTotal,
    bytesCopied: live?.copiedBytes ?? row.bytesCopied,
    bytesPerSecond: live?.bytesPerSecond ?? null,
    secondsLeft: live?.bytesPerSecond
      ? Math.ceil(Math.max(0, live.totalBytes - live.copiedBytes) / live.bytesPerSecond)
      : null,
    progress: row.finishedAt === null ? (job?.progress ?? 0) : row.state === 'finished' ? 100 : (job?.progress ?? 0),
    step: row.finishedAt === null ? (job?.stepName ?? null) : null,
    expectedSeconds: row.expectedSeconds,
    expectedDowntimeMs: row.expectedDowntimeMs,
    downtimeMs: row.downtimeMs ?? (row.finishedAt === null && row.stoppedAt !== null ? now - row.stoppedAt : null),
    cancellable:
      isWaitingForTime(row) ||
      (row.finishedAt === null && job !== undefined && job.pivotAt === null && job.cancelRequestedAt === null),
    error: row.error,
    createdAt: iso(row.createdAt),
    startsAt: isoOrNull(row.startsAt),
    beganAt: isoOrNull(row.beganAt),
    finishedAt: isoOrNull(row.finishedAt),
  }
}

/** `done` also where a move of its kind has nothing to do in it. */
export const phaseStates = ['waiting', 'running', 'done', 'undone'] as const
/** The progress of one transfer, beyond its record. */
export const transferProgress = namedSchema('TransferProgress', {
  steps: described(
    t.Array(
      t.Object({
        title: t.String(),
        note: nullable(t.String()),
        state: t.Enum([...phaseStates]),
        startedAt: nullable(time),
        seconds: nullable(t.Integer()),
      }),
    ),
    'The work in the order in which it is done; empty where nothing is copied, and once its job is forgotten.',
  ),
  rates: described(
    t.Array(t.Object({ at: time, bytesPerSecond: t.Integer() })),
    'Of the copy at work, from its beginning on; empty once it is over.',
  ),
})
// ---------------------------------------------------------------- events
const inEvents = t.Object({
  id: t.String(),
  mode: t.Enum([...transferModes]),
  from: described(t.String(), 'The name of the node.'),
  to: t.String(),
  fromId: t.String(),
  toId: t.String(),
})
const aServer = t.Object({ id: t.String(), hostname: t.String() })
export const startedData = t.Object({ transfer: inEvents, server: aServer })
export const finishedData = t.Object({
  transfer: inEvents,
  server: aServer,
  downtimeMs: described(t.Integer(), 'How long its system was off for it.'),
})
export const failedData = t.Object({ transfer: inEvents, server: aServer, error: t.String() })

/** Emits an event about a transfer that is stored. */
export function tell(
  tx: Tx,
  now: number,
  row: Transfer,
  said:
    | { type: 'transfer.started' }
    | { type: 'transfer.finished'; downtimeMs: number }
    | { type: 'transfer.failed'; error: string },
) {
  const server = load(tx, row.serverId)
  const { concerning } = inEvent(tx, server)
  const nameOf = (id: string) => nodeById(tx, id)?.name ?? ''
  const data = {
    transfer: {
      id: row.id,
      mode: row.mode,
      from: nameOf(row.fromNodeId),
      to: nameOf(row.toNodeId),
      fromId: row.fromNodeId,
      toId: row.toNodeId,
    },
    server: { id: server.id, hostname: server.hostname },
  }
  if (said.type === 'transfer.started') emit(tx, now, said.type, concerning, data)
  else if (said.type === 'transfer.finished')
    emit(tx, now, said.type, concerning, { ...data, downtimeMs: said.downtimeMs })
  else emit(tx, now, said.type, concerning, { ...data, error: said.error })
}
