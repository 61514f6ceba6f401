import { and, eq } from 'drizzle-orm'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { isOpenJob, jobReference } from '../../../kernel/jobs/queries.ts'
import { type BackupRepository, backupRepositories } from './tables.ts'

/** When a repository in an append-only target is tidied: whoever has its second key does that there. */
export const NEVER = 9e15

export type RepositoryKey = Pick<BackupRepository, 'targetId' | 'ownerId' | 'folderNodeId'>
const isIt = ({ targetId, ownerId, folderNodeId }: RepositoryKey) =>
  and(
    eq(backupRepositories.targetId, targetId),
    eq(backupRepositories.ownerId, ownerId),
    eq(backupRepositories.folderNodeId, folderNodeId),
  )

export const repositoryByKey = (tx: Db, key: RepositoryKey): BackupRepository | undefined =>
  tx.select().from(backupRepositories).where(isIt(key)).get()
export const updateRepository = (tx: Tx, key: RepositoryKey, given: Partial<BackupRepository>) =>
  void tx.update(backupRepositories).set(given).where(isIt(key)).run()
export const allRepositories = (tx: Db): BackupRepository[] => tx.select().from(backupRepositories).all()

const repositoryColumns = 'r.target_id AS targetId, r.owner_id AS ownerId, r.folder_node_id AS folderNodeId'
/** Parameters: target, owner, node of the folder. */
const liesThere = "target_id = ?1 AND owner_id = ?2 AND (?3 = '' OR node_id = ?3) AND state = 'ready'"
const statements = prepared(({ $client }) => ({
  // One without backups has nothing to read and nothing to tidy.
  forget: $client.prepare(
    `DELETE FROM backup_repositories WHERE NOT EXISTS (SELECT 1 FROM backups b
       WHERE b.target_id = backup_repositories.target_id AND b.owner_id = backup_repositories.owner_id
         AND (backup_repositories.folder_node_id = '' OR b.node_id = backup_repositories.folder_node_id))`,
  ),
  due: $client.prepare<RepositoryKey, [number]>(
    `SELECT ${repositoryColumns} FROM backup_repositories r INDEXED BY backup_repositories_by_due
     WHERE min(r.check_due_at, r.prune_due_at) <= ?
     ORDER BY min(r.check_due_at, r.prune_due_at) LIMIT 500`,
  ),
  atWork: $client.prepare<RepositoryKey, []>(
    `SELECT ${repositoryColumns} FROM backup_repositories r ${jobReference.join('j', 'r.job_id')}
     WHERE ${isOpenJob('j')}`,
  ),
  nodes: $client.prepare<{ nodeId: string }, [string, string, string]>(
    `SELECT node_id AS nodeId FROM backups WHERE ${liesThere} GROUP BY node_id ORDER BY max(id) DESC`,
  ),
  prove: $client.prepare(`UPDATE backups SET verified_at = ?4 WHERE ${liesThere} AND started_at < ?5`),
  damaged: $client.prepare<BackupRepository, [number]>(
    `SELECT ${repositoryColumns}, r.job_id AS jobId, r.finding, r.detail, r.damaged_at AS damagedAt
     FROM backup_repositories r WHERE r.damaged_at IS NOT NULL ORDER BY r.damaged_at LIMIT ?`,
  ),
}))
/** Forgets repositories that hold no backup any more. */
export const forgetEmptyRepositories = (tx: Tx) => void statements(tx).forget.run()
/** Those that are to be checked or tidied, the longest waiting first. */
export const dueRepositories = (tx: Db, now: number) => statements(tx).due.all(now)
/** Those that a job checks or tidies now. */
export const repositoriesAtWork = (tx: Db) => statements(tx).atWork.all()
/** The nodes that have stored backups there, the last one first. */
export const nodesOfRepository = (tx: Db, { targetId, ownerId, folderNodeId }: RepositoryKey): string[] =>
  statements(tx)
    .nodes.all(targetId, ownerId, folderNodeId)
    .map(({ nodeId }) => nodeId)
/** The backups there that began before `before` were read whole since; both times in ms. */
export const proveBackups = (tx: Tx, { targetId, ownerId, folderNodeId }: RepositoryKey, now: number, before: number) =>
  void statements(tx).prove.run(targetId, ownerId, folderNodeId, now, before)
/** Those that are damaged, the longest ago first. */
export const damagedRepositories = (tx: Db, limit: number) => statements(tx).damaged.all(limit)
