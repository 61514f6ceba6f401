import { and, eq, inArray, ne, type SQL, sql } from 'drizzle-orm'
import { workloadReference } from '../../fleet/workloads/queries.ts'
import { accountReference } from '../../identity/account-records/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { minuteText } from '../../kernel/db/clock.ts'
import { encryptedColumn } from '../../kernel/db/encrypted.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { inserting, rowBy, updating, type Where } from '../../kernel/db/rows.ts'
import { isOpenJob, jobReference } from '../../kernel/jobs/queries.ts'
import { type Backup, backupKeys, backups } from './tables.ts'

export const encryptedKey = encryptedColumn(backupKeys, 'encryptedKey', ({ id }: { id: string }) => `${id} backup key`)

const backupReference = reference(backups, ['serverName'])
export const backupOfAudit: AuditTarget = {
  prefix: 'bkp',
  scope: 'servers:read',
  name: (id) => backupReference.value('serverName', id),
}

export const backupKeyOf = rowBy(backupKeys, backupKeys.id)
export const insertBackupKey = inserting(backupKeys)

export const backupById = rowBy(backups, backups.id)
export const insertBackup = inserting(backups)
export const changeBackup = updating(backups, backups.id)
export const deleteBackup = (tx: Tx, id: string) => void tx.delete(backups).where(eq(backups.id, id)).run()

/** The backups that the present owner of a server has of it. */
const ofServer = ({ id, ownerId }: { id: string; ownerId: string }) =>
  and(eq(backups.serverId, id), eq(backups.ownerId, ownerId))

/** A page of the backups of a server under its present owner, newest first. */
export const pageOfBackups = <Shown>(
  call: ReadContext,
  server: { id: string; ownerId: string },
  show: (row: Backup) => Shown,
) => newest({ call, name: `backups ${server.id}`, table: backups, where: ofServer(server), show })

/** All backups of a server under its present owner, newest first. */
export const backupsOf = (tx: Db, server: { id: string; ownerId: string }): Backup[] =>
  tx.select().from(backups).where(ofServer(server)).orderBy(sql`${backups.id} DESC`).all()

/** The same rule as `seesBackup` in model.ts. */
const visibleTo = ({ kind, accountId, permissions }: Actor): SQL | undefined => {
  if (kind === 'staff') return permissions.has('servers.see_all') ? undefined : sql`0`
  const own = eq(backups.ownerId, accountId)
  return kind === 'reseller'
    ? sql`(${own} OR ${sql.raw(accountReference.value('resellerId', 'backups.owner_id'))} = ${accountId})`
    : own
}
const isLeft = sql.raw(
  `(${workloadReference.value('terminatedAt', 'backups.server_id')} IS NOT NULL
    OR ${workloadReference.value('ownerId', 'backups.server_id')} IS NOT backups.owner_id)`,
)
/**
 * A page of every backup that the actor sees, also of servers that are gone; `serverId`: of this one only; `left`: only
 * those whose server is terminated or belongs to another account now.
 */
export const pageOfAllBackups = <Shown>(
  call: ReadContext,
  { serverId, left }: { serverId?: string | undefined; left: boolean },
  show: (row: Backup) => Shown,
) =>
  newest({
    call,
    name: `all backups ${serverId ?? ''} ${left}`,
    table: backups,
    where: and(
      visibleTo(call.actor),
      serverId === undefined ? undefined : eq(backups.serverId, serverId),
      left ? isLeft : undefined,
    ),
    show,
  })
/** Does the actor see one whose server is terminated or belongs to another account now? */
export const hasLeftBackups = (tx: Db, actor: Actor): boolean =>
  tx
    .select({ id: backups.id })
    .from(backups)
    .where(and(visibleTo(actor), isLeft))
    .limit(1)
    .get() !== undefined

const statements = prepared(({ $client }) => ({
  manual: $client.prepare<{ n: number; kept: number }, [string, string]>(
    `SELECT count(*) AS n, count(kept_at) AS kept FROM backups
     WHERE server_id = ? AND owner_id = ? AND kind = 'manual' AND state <> 'failed'`,
  ),
  inTarget: $client.prepare<{ n: number; running: number }, [string]>(
    `SELECT count(*) AS n, coalesce(sum(state IN ('running', 'deleting')), 0) AS running FROM backups
     WHERE target_id = ? AND state <> 'failed'`,
  ),
  isRead: $client.prepare<{ n: number }, [string]>(
    `SELECT 1 AS n ${jobReference.from('j')}
     CROSS JOIN backups b ON b.id = ${jobReference.column('j', 'input')} ->> '$.backupId'
     WHERE ${isOpenJob('j')} AND b.target_id = ? LIMIT 1`,
  ),
  newestIn: $client.prepare<{ id: string }, [string, string, number]>(
    `SELECT max(id) AS id FROM backups WHERE target_id = ? AND state = 'ready' AND node_id = ?
     GROUP BY owner_id ORDER BY id DESC LIMIT ?`,
  ),
  forgetTarget: $client.prepare(
    'DELETE FROM backups WHERE target_id = ? AND id NOT IN (SELECT value FROM json_each(?))',
  ),
  before: $client.prepare<{ state: string }, [string, string, string, string]>(
    `SELECT state FROM backups WHERE server_id = ? AND owner_id = ? AND plan_id = ? AND id < ? AND state <> 'running'
       AND coalesce(error_code, '') <> 'cancelled' ORDER BY id DESC LIMIT 1`,
  ),
  due: $client.prepare<{ id: string }, [number, number, number, number, number]>(
    `SELECT b.id FROM backups b ${workloadReference.leftJoin('w', 'b.server_id')}
     WHERE b.state IN ('ready', 'failed') AND (b.kept_at IS NULL OR b.kept_at < +?)
       AND (b.keep_until <= +? OR (b.state = 'failed' AND b.plan_id IS NOT NULL AND b.ended_at <= +?)
         OR (${workloadReference.column('w', 'terminatedAt')} <= +?
         AND ${workloadReference.column('w', 'purgeAt')} IS NULL))
     ORDER BY b.id LIMIT +?`,
  ),
}))
/**
 * How many backups of a server its present owner made by hand, without those that failed; of these their target, which
 * is append-only, kept so many that were deleted.
 */
export const manualBackups = (tx: Db, { id, ownerId }: { id: string; ownerId: string }) =>
  statements(tx).manual.get(id, ownerId)!
/** How many backups lie in a target, and how many of them a job works on. */
export const backupsInTarget = (tx: Db, targetId: string) => statements(tx).inTarget.get(targetId)!
/** Does a job make, restore or drill a backup there? */
export const isTargetRead = (tx: Db, targetId: string): boolean => statements(tx).isRead.get(targetId) !== null
/**
 * Of each of the accounts whose servers this node saved there last, its newest backup that is ready. No other
 * account's: to look for one takes its password, and a node that saved no server of the account does not get it.
 */
export const newestBackupsIn = (tx: Db, targetId: string, nodeId: string, most: number): Backup[] => {
  const ids = statements(tx)
    .newestIn.all(targetId, nodeId, most)
    .map(({ id }) => id)
  return tx.select().from(backups).where(inArray(backups.id, ids)).all()
}
/** Forgets the records of a target that is removed, all but these; what lies there stays. */
export const forgetBackupsOf = (tx: Tx, targetId: string, but: readonly { id: string }[] = []) =>
  void statements(tx).forgetTarget.run(targetId, JSON.stringify(but.map(({ id }) => id)))
/** A backup's name for people: when it was made. */
export const nameOfBackup = ({ startedAt }: Pick<Backup, 'startedAt'>): string => minuteText(startedAt)
/** Those that can be restored, or could be. */
export const backupsOfTarget = (tx: Db, targetId: string): Backup[] =>
  tx
    .select()
    .from(backups)
    .where(and(eq(backups.targetId, targetId), ne(backups.state, 'failed')))
    .all()

/** Did the backup that this plan made of the server before fail, too? Of one without a plan: no. */
export const hasFailedBefore = (tx: Db, { id, serverId, ownerId, planId }: Backup): boolean =>
  planId !== null && statements(tx).before.get(serverId, ownerId, planId, id)?.state === 'failed'

type Due = { now: number; terminatedBefore: number; keptBefore: number; failedBefore: number; limit: number }
/**
 * Backups that are to be deleted: their time has come, or their server was terminated before `terminatedBefore` (ms)
 * and can be brought back no more; or a plan made them, and they failed before `failedBefore`.
 * Those that their target kept are tried again when it did before `keptBefore`.
 */
export const dueBackups = (tx: Db, { now, terminatedBefore, keptBefore, failedBefore, limit }: Due): Backup[] => {
  const ids = statements(tx)
    .due.all(keptBefore, now, failedBefore, terminatedBefore, limit)
    .map(({ id }) => id)
  return tx.select().from(backups).where(inArray(backups.id, ids)).orderBy(backups.id).all()
}

export type FailedBackup = { id: string; serverId: string; hostname: string; words: string; at: number }
/** Servers whose newest backup that has ended failed, over `workloads w`. One that somebody cancelled is no failure. */
export const failedBackups = (tx: Db, { where, values }: Where, limit: number): FailedBackup[] =>
  tx.$client
    .query<FailedBackup, (string | number)[]>(
      `SELECT b.id, b.server_id AS serverId, ${workloadReference.columns('w', { hostname: 'hostname' })},
         b.error_words AS words, b.ended_at AS at
       FROM backups b ${workloadReference.join('w', 'b.server_id')}
       WHERE ${where} AND ${workloadReference.column('w', 'terminatedAt')} IS NULL AND b.state = 'failed'
         AND b.error_code <> 'cancelled' AND b.id = (SELECT max(n.id) FROM backups n WHERE n.server_id = b.server_id
           AND n.owner_id = ${workloadReference.column('w', 'ownerId')} AND n.state <> 'running'
           AND coalesce(n.error_code, '') <> 'cancelled')
       ORDER BY b.id DESC LIMIT +?`,
    )
    .all(...values, limit)
