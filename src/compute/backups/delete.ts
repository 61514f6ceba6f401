// Deleting backups: their snapshots are forgotten in the repository. A target that is append-only keeps them, and their
// records with them.
import { Type as t } from 'typebox'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { type Actor, system } from '../../kernel/api/actor.ts'
import { described, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { day } from '../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { settingValue } from '../../kernel/setting.ts'
import { count } from '../../kernel/words.ts'
import { startDestroying } from '../brake/brake.ts'
import { endedServer, jobResponse, subjectOfOwner } from '../server-records/model.ts'
import { repositoryIn } from './keys.ts'
import {
  type Backup,
  backup,
  backupActions,
  backupIn,
  changing,
  keptAfterTermination,
  mustBeDeletable,
  mustBeDeletableByOwner,
} from './model.ts'
import { backupById, changeBackup, deleteBackup, dueBackups, nameOfBackup } from './queries.ts'
import { isGoneWithNode, nodesReaching } from './reach.ts'

export const removeBackup = operation({
  id: 'backups.remove',
  destroys: ['backups'],
  method: 'DELETE',
  path: '/servers/{id}/backups/{backupId}',
  summary: 'Delete a backup; a target that is append-only keeps it, and it stays listed',
  access: changing,
  requiresRecentAuth: true,
  on: endedServer,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...backupActions.refusalsOf('delete_backup'), 'backup_not_found', 'backup_not_ready'],
  run({ tx, actor, target, params, clock }) {
    const backup = backupIn(tx, target, params['backupId'])
    mustBeDeletable(tx, actor, target, backup)
    return { jobId: startForgetting(tx, [backup], { by: actor, now: clock() }), serverId: target.id }
  },
})

export const deleteBackupById = operation({
  id: 'backups.delete',
  destroys: ['backups'],
  method: 'DELETE',
  path: '/backups/{id}',
  summary: 'Delete a backup by its own id, also when its server is terminated or belongs to another account now',
  past: 'Deleted a backup',
  access: changing,
  requiresRecentAuth: true,
  on: backup,
  response: namedSchema('BackupDeleted', {
    jobId: described(nullable(t.String()), 'Null: nothing of it lay anywhere, so its record is deleted at once.'),
    backupId: t.String(),
  }),
  status: 202,
  idempotent: true,
  refuses: [...backupActions.refusalsOf('delete_backup'), 'backup_not_ready'],
  run({ tx, actor, target: backup, clock }) {
    mustBeDeletableByOwner(tx, actor, backup)
    return { jobId: startForgetting(tx, [backup], { by: actor, now: clock() }), backupId: backup.id }
  },
})

/** So many fit into one command. */
const MOST_AT_ONCE = 200

/**
 * Starts the job that deletes backups of one owner in one target, at most 200. Answers its id; null where none of them
 * lies there, also because it went with its node, and their records are deleted at once.
 */
export function startForgetting(
  tx: Tx,
  them: readonly Backup[],
  { by, now }: { by: Actor; now: number },
): string | null {
  const [made = [], gone = []] = [true, false].map((isThere) =>
    them.filter((backup) => isThere === (backup.snapshot !== null && !isGoneWithNode(tx, backup))),
  )
  for (const { id } of gone) deleteBackup(tx, id)
  const [first] = made
  if (!first) return null
  for (const { id } of made) changeBackup(tx, id, { state: 'deleting' })
  const { targetId, ownerId, serverId, serverName } = first
  const [nodeId = first.nodeId] = nodesReaching(tx, first)
  const input = { backupIds: made.map(({ id }) => id), targetId, ownerId, nodeId }
  const title = `Delete ${made.length === 1 ? 'a backup' : count(made.length, 'backup', 'backups')} of ${serverName}`
  // Several at once are those of a plan, which nobody's hand starts and the brake does not count.
  const disk = { id: first.id, name: nameOfBackup(first), ownerId }
  const about = { by, title, nodeId, subject: subjectOfOwner(tx, serverId, ownerId), now }
  return startDestroying(tx, forgetting, input, { kind: 'delete_backup', disk, serverId }, about)
}

type Forgetting = { backupIds: string[]; targetId: string; ownerId: string; nodeId: string }

export const forgetting = saga<Forgetting>('delete_backup', {
  title: 'Backup deletion',
  lane: 'bulk',
  neverStops: true,
})
  .record('plan', 'Finding their snapshots', {
    do: (tx, { input }) => ({
      snapshots: input.backupIds.flatMap((id) => backupById(tx, id)?.snapshot ?? []),
    }),
    undo(tx, { input }) {
      for (const id of input.backupIds)
        if (backupById(tx, id)?.state === 'deleting') changeBackup(tx, id, { state: 'ready' })
    },
    undoAtOnce: true,
  })
  .pivotCommand('forget', 'Forgetting them in the repository', {
    do: ({ input, out }, { db, secrets }) =>
      nodeCommand(input.nodeId, 'backup.forget', {
        snapshots: out.plan.snapshots,
        target: repositoryIn(db, secrets, input.nodeId, input),
      }),
  })
  .record('note', 'Recording it', {
    do(tx, { input, out: { forget }, now, log }) {
      const kept = new Set(forget.kept)
      for (const id of input.backupIds) {
        const backup = backupById(tx, id)
        if (!backup) continue
        if (backup.snapshot !== null && kept.has(backup.snapshot)) changeBackup(tx, id, { state: 'ready', keptAt: now })
        else deleteBackup(tx, id)
      }
      if (kept.size)
        log('The target is append-only and keeps them. Whoever has its second key deletes them there.', 'warning')
    },
  })

/** A target that keeps backups is asked again after so long: its administrator may have deleted them there. */
const ASKED_AGAIN_MS = 7 * day

/** The record of a backup of a plan that failed: there is nothing in it, and the next ones tell more. */
const FAILED_KEPT_MS = 30 * day

/** Deletes the backups whose time has come, and those of servers that were terminated long ago. */
export function forgetDue(db: Db, now: number) {
  const due = dueBackups(db, {
    now,
    terminatedBefore: now - settingValue(db, keptAfterTermination) * day,
    keptBefore: now - ASKED_AGAIN_MS,
    failedBefore: now - FAILED_KEPT_MS,
    limit: MOST_AT_ONCE,
  })
  for (const them of Map.groupBy(due, ({ serverId, targetId, ownerId, nodeId }) =>
    [serverId, targetId, ownerId, nodeId].join(' '),
  ).values())
    write(db, (tx) => {
      // Between the two reads somebody may have begun to delete one.
      const still = them.flatMap(({ id }) => {
        const backup = backupById(tx, id)
        return backup && (backup.state === 'ready' || backup.state === 'failed') ? [backup] : []
      })
      startForgetting(tx, still, { by: system, now })
    })
}
