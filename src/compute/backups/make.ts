// Making a backup: the node copies the disk into the repository of the server's owner.
import { Type as t } from 'typebox'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { hardwareOf } from '../../catalog/images/hardware.ts'
import { type Actor, system } from '../../kernel/api/actor.ts'
import { described, fields, namedSchema, operation } from '../../kernel/api/operation.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import { day } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { ExplainedFailure } from '../../kernel/jobs/failures.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { forwardSaga, saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { backupTargetById } from '../backup-target-records/queries.ts'
import { readingJob } from '../server-records/disk-lock.ts'
import { inEvent, load, server, subjectOfOwner } from '../server-records/model.ts'
import { volumeOf } from '../server-vm/definition.ts'
import { ensureBackupKey, repositoryIn } from './keys.ts'
import { backupActions, changing, mustBeBackupable, mustHaveTarget } from './model.ts'
import { backupById, changeBackup, insertBackup } from './queries.ts'
import type { Backup } from './tables.ts'

export const makeBackup = operation({
  id: 'backups.create',
  method: 'POST',
  path: '/servers/{id}/backups',
  summary: 'Back up the disk of a server; it may run, and the backup goes to the default target',
  past: 'Started a backup',
  access: changing,
  on: server,
  body: fields({
    keepDays: t.Optional(
      described(t.Integer({ minimum: 1, maximum: 3650 }), 'Deleted after so many days. Without it: not by itself.'),
    ),
  }),
  response: namedSchema('BackupStarted', { jobId: t.String(), serverId: t.String(), backupId: t.String() }),
  status: 201,
  idempotent: true,
  refuses: [...backupActions.refusalsOf('backup'), 'server_busy', 'backup_limit', 'no_backup_target'],
  example: { keepDays: 30 },
  run({ tx, actor, target, body: { keepDays }, clock, secrets }) {
    mustBeBackupable(tx, actor, target)
    const now = clock()
    const started = startBackup(tx, {
      serverId: target.id,
      targetId: mustHaveTarget(tx).id,
      planId: null,
      kind: 'manual',
      keepUntil: keepDays === undefined ? null : now + keepDays * day,
      by: actor,
      now,
      secrets,
    })
    return { ...started, serverId: target.id }
  },
})

type NewBackup = Pick<Backup, 'serverId' | 'targetId' | 'planId' | 'kind' | 'keepUntil'> & {
  by: Actor
  now: number
  secrets: Secrets
}
/**
 * Starts a backup of a server that is set up. Throws `server_busy` while a job works on the server; what else refuses
 * one is up to the caller.
 */
export function startBackup(tx: Tx, { by, now, secrets, ...asked }: NewBackup): { jobId: string; backupId: string } {
  const target = load(tx, asked.serverId)
  ensureBackupKey(tx, secrets, target.ownerId, now)
  const backupId = newId('bkp')
  const input = { serverId: target.id, nodeId: target.nodeId, backupId }
  const about = readingJob(target, { by, title: `Back up ${target.hostname}`, now })
  const jobId = startJob(tx, backingUp, input, about)
  insertBackup(tx, {
    ...asked,
    ...hardwareOf(target),
    id: backupId,
    serverName: target.hostname,
    ownerId: target.ownerId,
    nodeId: target.nodeId,
    state: 'running',
    jobId,
    diskGb: target.diskGb,
    imageId: target.imageId,
    imageChecksum: target.imageChecksum,
    startedAt: now,
  })
  return { jobId, backupId }
}

type Making = { serverId: string; nodeId: string; backupId: string }

export const backingUp = saga<Making>('backup', { title: 'Backup', lane: 'bulk', cancelWith: 'servers:settings' })
  .record('plan', 'Planning the backup', {
    do(tx, { input: { serverId } }) {
      const target = load(tx, serverId)
      return { volume: volumeOf(target, target.diskGeneration!) }
    },
    undo: (tx, { input, error, now }) => noteFailure(tx, input.backupId, error, now),
    undoAtOnce: true,
  })
  .command('make', 'Copying what has changed', {
    // A deletion of the disk does not wait for hours: it cancels the backup, and the node gives it up.
    abandonable: true,
    // Secrets are read when the command is sent: no job holds them.
    do: ({ input: { nodeId, backupId }, out }, { db, secrets }) =>
      nodeCommand(nodeId, 'backup.make', {
        backup: backupId,
        volume: out.plan.volume,
        target: repositoryIn(db, secrets, nodeId, backupById(db, backupId)!),
      }),
  })
  // The last step: nothing can fail after it.
  .record('note', 'Recording it', {
    do(tx, { input: { backupId }, out: { make }, now, log }) {
      changeBackup(tx, backupId, { ...make, state: 'ready', endedAt: now })
      if (!make.consistent)
        log('The guest was not asked to write everything first: it starts from it as after a power failure.', 'warning')
    },
  })

/** The node may still be at work after these, and what it makes belongs to nothing. */
const isLeftAtWork = (code: string) => code === 'cancelled' || code === 'node_unreachable'

/** An end that somebody asked for is no failure that others have to hear of. */
function noteFailure(tx: Tx, backupId: string, error: ExplainedFailure | undefined, now: number) {
  const backup = backupById(tx, backupId)
  if (backup?.state !== 'running') return
  const code = error?.code ?? 'cancelled'
  const message = error?.cause ?? ''
  changeBackup(tx, backupId, { state: 'failed', errorCode: code, errorWords: message, endedAt: now })
  if (isLeftAtWork(code)) dropLeftOver(tx, backup, now)
  if (code === 'cancelled') return
  const { concerning, data } = inEvent(tx, load(tx, backup.serverId))
  emit(tx, now, 'backup.failed', concerning, { ...data, backup: { id: backup.id, kind: backup.kind, error: message } })
}

type Dropping = { backupId: string; nodeId: string; targetId: string; ownerId: string }
function dropLeftOver(tx: Tx, { id, serverId, serverName, nodeId, targetId, ownerId }: Backup, now: number) {
  const title = `Clean up after a backup of ${serverName}`
  const about = { by: system, title, nodeId, subject: subjectOfOwner(tx, serverId, ownerId), now }
  startJob(tx, droppingLeftOver, { backupId: id, nodeId, targetId, ownerId }, about)
}

/** Ends the work of a node on a backup that was given up, and removes its snapshot, beside other jobs of the server. */
export const droppingLeftOver = forwardSaga<Dropping>('drop_backup', {
  title: 'Backup clean-up',
  lane: 'bulk',
}).command('drop', 'Removing what it has left', {
  // A target that was removed meanwhile keeps what lies there.
  do: ({ input }, { db, secrets }) =>
    backupTargetById(db, input.targetId)
      ? nodeCommand(input.nodeId, 'backup.forget', {
          snapshots: [],
          backups: [input.backupId],
          target: repositoryIn(db, secrets, input.nodeId, input),
        })
      : undefined,
})
