// Keys of backups: each account's repositories have a key of their own, so that a leaked one opens nobody else's.
import type { BackupTarget } from '../../../agent/protocol/backup.ts'
import { randomToken, type Secrets } from '../../kernel/crypto/secrets.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { targetOnWire } from '../backup-target-records/model.ts'
import { backupTargetById } from '../backup-target-records/queries.ts'
import { backupKeyOf, encryptedKey, insertBackupKey } from './queries.ts'

/** Makes the key of an account's backups, unless it has one. */
export function ensureBackupKey(tx: Tx, secrets: Secrets, ownerId: string, now: number) {
  if (backupKeyOf(tx, ownerId)) return
  insertBackupKey(tx, {
    id: ownerId,
    encryptedKey: secrets.encrypt(encryptedKey.about({ id: ownerId }), randomToken()),
    createdAt: now,
  })
}

/** The key of an account's backups in the clear; undefined where it never had one. */
export function openBackupKey(db: Db, secrets: Secrets, ownerId: string): string | undefined {
  const row = backupKeyOf(db, ownerId)
  return row && secrets.open(encryptedKey.about(row), row.encryptedKey)
}

/**
 * An account's repository in a target as this node reaches it, with what opens it: for the command that needs it and
 * for nothing else, so that no job holds it. Throws `CommandFailed`, see `targetOnWire`.
 */
export function repositoryIn(
  db: Db,
  secrets: Secrets,
  nodeId: string,
  { targetId, ownerId }: { targetId: string; ownerId: string },
): BackupTarget {
  return targetOnWire(db, backupTargetById(db, targetId)!, nodeId, secrets, {
    repository: ownerId,
    password: openBackupKey(db, secrets, ownerId)!,
  })
}
