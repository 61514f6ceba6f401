// A backup of a server: its disk at one moment, in the repository of its owner in a backup target. It lies outside the
// node and outlives the server.
import { type Static, Type as t } from 'typebox'
import { drillProofs } from '../../../agent/protocol/backup.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { isLockedFor } from '../../identity/team/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { day, iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { settingValue, wholeSetting } from '../../kernel/setting.ts'
import { count, exactGb } from '../../kernel/words.ts'
import type { BackupTarget } from '../backup-target-records/model.ts'
import { backupTargetById, defaultBackupTarget } from '../backup-target-records/queries.ts'
import { mustHaveUnreadDisk } from '../server-records/disk-lock.ts'
import { load, type Server } from '../server-records/model.ts'
import { always, needsInstallation, serverStates } from '../server-records/state.ts'
import { refusalOf } from '../snapshots/model.ts'
import { backupById, manualBackups } from './queries.ts'
import { isOnNodeOnly } from './reach.ts'
import { type Backup, backupKinds, backupStates } from './tables.ts'

/** The actions on backups in the state table of servers. */
export const backupActions = serverStates.rows({
  backup: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'in_rescue'] },
  restore_backup: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'protected', 'in_rescue'] },
  // They lie elsewhere, and outlive the server.
  delete_backup: { ...always, terminated: 'allowed', refusedWhen: ['locked', 'protected'] },
})

export type { Backup }

export const reading = { staff: ['servers:read'], reseller: ['servers:read'], customer: ['servers:read'] } as const
export const changing = {
  staff: ['servers:settings'],
  reseller: ['servers:settings'],
  customer: ['servers:settings'],
} as const

export const mostManual = wholeSetting({
  name: 'backups.most_manual',
  title: 'Backups by hand',
  words: 'How many backups of a server its owner may make by hand and keep. Staff may make more. 0: none.',
  weakens: 'never',
  default: 5,
  minimum: 0,
  maximum: 1000,
  unit: 'per server',
})

export const keptAfterTermination = wholeSetting({
  name: 'backups.kept_after_termination_days',
  title: 'Backups of terminated servers',
  words: 'How long backups stay after their server was terminated. They are deleted then.',
  weakens: 'lower',
  default: 7,
  minimum: 0,
  maximum: 3650,
  unit: 'days',
})

const why = (what: string) => described(nullable(t.String()), `Why it cannot be ${what} now, in words; null: it can.`)
const fieldsOfBackup = {
  id: t.String(),
  serverId: t.String(),
  serverName: described(t.String(), 'Its hostname when the backup was made.'),
  ownerId: described(t.String(), 'The owner of the server when the backup was made.'),
  ownerName: t.String(),
  left: described(t.Boolean(), 'Its server is terminated, or belongs to another account now.'),
  kind: described(t.Enum([...backupKinds]), 'manual: somebody asked for it. scheduled: a plan.'),
  planId: nullable(t.String()),
  state: described(t.Enum([...backupStates]), 'Only a ready one can be restored.'),
  targetName: described(t.String(), 'Where it lies.'),
  jobId: described(nullable(t.String()), 'Null for one that a plan could not begin.'),
  diskGb: described(t.Integer(), 'The disk of the server when it was made.'),
  diskBytes: nullable(t.Integer()),
  addedBytes: described(nullable(t.Integer()), 'What was new in it, and sent.'),
  consistent: described(
    nullable(t.Boolean()),
    'True: the guest had written everything to its disk. False: it starts as after a power failure.',
  ),
  seconds: nullable(t.Number()),
  error: described(
    nullable(t.Object({ code: t.String(), message: t.String() })),
    'Why it failed; in words for everybody.',
  ),
  startedAt: time,
  endedAt: described(nullable(time), 'Null while it is made.'),
  keepUntil: described(
    nullable(time),
    'When it is deleted by itself, also because its server is terminated. Null: when somebody deletes it, or its plan.',
  ),
  keptAt: described(nullable(time), 'When its target, which is append-only, last refused to delete it.'),
  verifiedAt: nullable(time),
  provenAt: described(nullable(time), 'When its system last answered in a restore drill.'),
  proof: described(
    nullable(t.Enum([...drillProofs])),
    'agent: its guest agent answered. console: its serial line did. disk: it ran and read its disk, a weak proof.',
  ),
  drillError: described(nullable(t.String()), 'Why the last restore drill failed; null: it did not.'),
}
/** A backup wherever it is listed. */
export const backupRecord = namedSchema('BackupRecord', fieldsOfBackup)
/** A backup of a server that is there. */
export const backupResponse = namedSchema('Backup', {
  ...fieldsOfBackup,
  notRestorable: why('restored in place'),
  notDeletable: why('deleted'),
})

/** When it is deleted by itself, in ms: when its time has come, or its server is gone for so long and stays so. */
function goesAt(tx: Db, backup: Backup): number | null {
  const { terminatedAt, purgeAt } = load(tx, backup.serverId)
  if (terminatedAt === null) return backup.keepUntil
  const end = Math.max(terminatedAt + settingValue(tx, keptAfterTermination) * day, purgeAt ?? 0)
  return Math.min(end, backup.keepUntil ?? end)
}

/** Its server is terminated, or belongs to another account now. The same rule as in `pageOfAllBackups`. */
function isLeft(tx: Db, backup: Backup): boolean {
  const { terminatedAt, ownerId } = load(tx, backup.serverId)
  return terminatedAt !== null || ownerId !== backup.ownerId
}

export const showRecord = (tx: Db, backup: Backup): Static<typeof backupRecord> => ({
  id: backup.id,
  serverId: backup.serverId,
  serverName: backup.serverName,
  ownerId: backup.ownerId,
  ownerName: accountById(tx, backup.ownerId)?.name ?? '',
  left: isLeft(tx, backup),
  kind: backup.kind,
  planId: backup.planId,
  state: backup.state,
  targetName: backupTargetById(tx, backup.targetId)?.name ?? '',
  jobId: backup.jobId || null,
  diskGb: backup.diskGb,
  diskBytes: backup.diskBytes,
  addedBytes: backup.addedBytes,
  consistent: backup.consistent,
  seconds: backup.seconds,
  error: backup.errorCode === null ? null : { code: backup.errorCode, message: backup.errorWords ?? '' },
  startedAt: iso(backup.startedAt),
  endedAt: isoOrNull(backup.endedAt),
  keepUntil: isoOrNull(goesAt(tx, backup)),
  keptAt: isoOrNull(backup.keptAt),
  verifiedAt: isoOrNull(backup.verifiedAt),
  provenAt: isoOrNull(backup.provenAt),
  proof: backup.proof,
  drillError: backup.drillError,
})
export const showBackup = (tx: Db, actor: Actor, target: Server, backup: Backup): Static<typeof backupResponse> => ({
  ...showRecord(tx, backup),
  notRestorable: refusalOf(() => mustBeRestorable(tx, actor, target, backup)),
  notDeletable: refusalOf(() => mustBeDeletable(tx, actor, target, backup)),
})

/** The same rule as `visibleTo` in queries.ts. */
function seesBackup(tx: Db, { kind, accountId, permissions }: Actor, { ownerId }: Backup): boolean {
  if (kind === 'staff') return permissions.has('servers.see_all')
  return ownerId === accountId || (kind === 'reseller' && accountById(tx, ownerId)?.resellerId === accountId)
}
/** A backup by its own id, also when its server is gone. */
export const backup: Resource<Backup> = {
  name: 'backup',
  notFound: 'backup_not_found',
  find(tx, actor, id) {
    const found = backupById(tx, id)
    return found && seesBackup(tx, actor, found) ? found : undefined
  },
}

/**
 * The backup of this server under its present owner. Throws `backup_not_found`, also for one of another server and for
 * one of an owner before.
 */
export function backupIn(tx: Db, target: Server, id: string | undefined): Backup {
  const found = id === undefined ? undefined : backupById(tx, id)
  if (found?.serverId !== target.id || found.ownerId !== target.ownerId)
    throw new ApiError('backup_not_found', `${target.hostname} has no such backup. Check the id.`)
  return found
}

/** The target of backups that no plan makes. Throws `no_backup_target`. */
export function mustHaveTarget(tx: Db): BackupTarget {
  const target = defaultBackupTarget(tx)
  if (!target)
    throw new ApiError(
      'no_backup_target',
      'There is no place for backups yet: staff choose one on the page Backup targets.',
    )
  return target
}

/** Throws what refuses a new backup: the state of the server, the limit, or that there is no target. */
export function mustBeBackupable(tx: Db, actor: Actor, target: Server) {
  backupActions.mustAllowFor(tx, actor, target, 'backup')
  mustHaveUnreadDisk(tx, target)
  mustHaveTarget(tx)
  if (actor.kind === 'staff') return
  const limit = settingValue(tx, mostManual)
  if (limit === 0)
    throw new ApiError('backup_limit', 'Your provider makes backups by plan only. Ask your provider for one.')
  const { n, kept } = manualBackups(tx, target)
  if (n < limit) return
  const next =
    n - kept < limit
      ? `${kept} of them ${kept === 1 ? 'was' : 'were'} deleted, but the place for backups is append-only and keeps ` +
        'what it has. Ask your provider, who can remove it there.'
      : 'Delete one first.'
  throw new ApiError(
    'backup_limit',
    `${target.hostname} has ${count(n, 'backup', 'backups')} made by hand, as many as it may have. ${next}`,
  )
}

export function mustBeRestorable(tx: Db, actor: Actor, target: Server, backup: Backup) {
  backupActions.mustAllowFor(tx, actor, target, 'restore_backup')
  mustHaveUnreadDisk(tx, target)
  mustBeReady(backup)
  mustReach(tx, backup, target.nodeId)
  if (backup.diskGb > target.diskGb)
    throw new ApiError(
      'disk_too_small',
      `The backup has a disk of ${exactGb(backup.diskGb)}; ${target.hostname} has ${exactGb(target.diskGb)}. ` +
        'Choose a bigger package first.',
    )
}

/** Throws `backup_elsewhere`: a folder of another node cannot be read from this one. */
function mustReach(tx: Db, backup: Backup, fromNodeId: string) {
  if (isOnNodeOnly(tx, backup) && backup.nodeId !== fromNodeId)
    throw new ApiError(
      'backup_elsewhere',
      'This backup lies in a folder of another node, from which it cannot be restored here. Ask your provider.',
    )
}

export function mustBeDeletable(tx: Db, actor: Actor, target: Server, backup: Backup) {
  backupActions.mustAllowFor(tx, actor, target, 'delete_backup')
  mustBeEnded(backup)
}

/** The same for one whose server may be terminated or another's: then nothing of the server protects it. */
export function mustBeDeletableByOwner(tx: Db, actor: Actor, backup: Backup) {
  const { ownerId, serverName } = backup
  if (!isLeft(tx, backup)) backupActions.mustAllowFor(tx, actor, load(tx, backup.serverId), 'delete_backup')
  else if (isLockedFor(tx, actor, { ownerId, resellerId: accountById(tx, ownerId)?.resellerId ?? null }))
    throw new ApiError(
      'account_locked',
      `The account is locked, so this backup of ${serverName} cannot be deleted. Ask your provider.`,
    )
  mustBeEnded(backup)
}

/** Throws `backup_not_ready`. */
export function mustBeReady(backup: Backup) {
  if (backup.state === 'failed')
    throw new ApiError('backup_not_ready', 'This backup failed, so there is nothing in it.')
  mustBeEnded(backup)
}
function mustBeEnded({ state }: Backup) {
  if (state === 'running')
    throw new ApiError('backup_not_ready', 'This backup is still being made. Follow its job, then try again.')
  if (state === 'deleting') throw new ApiError('backup_not_ready', 'This backup is being deleted.')
}
