import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { DrillProof } from '../../../agent/protocol/backup.ts'
import type { Hardware, OsFamily } from '../../../agent/protocol/wire.ts'
import { devices, type NetworkConfigVersion } from '../../catalog/images/hardware.ts'
import { columnsOf } from '../../kernel/fields/field-list.ts'

/** The key of an account's repositories, under the id of the account. */
export const backupKeys = sqliteTable('backup_keys', {
  id: text().primaryKey(),
  encryptedKey: text('encrypted_key').notNull(),
  createdAt: integer('created_at').notNull(),
})

export const backupKinds = ['manual', 'scheduled'] as const
export const backupStates = ['running', 'ready', 'failed', 'deleting'] as const

/** Backups of servers. They outlive the server, whose name, owner and machine they keep. */
export const backups = sqliteTable('backups', {
  id: text().primaryKey(),
  serverId: text('server_id').notNull(),
  serverName: text('server_name').notNull(),
  /** Its owner when the backup was made, under whose key it is encrypted. */
  ownerId: text('owner_id').notNull(),
  /** The node that made it: a folder on nodes is reached from there only. */
  nodeId: text('node_id').notNull(),
  targetId: text('target_id').notNull(),
  planId: text('plan_id'),
  kind: text().$type<(typeof backupKinds)[number]>().notNull(),
  state: text().$type<(typeof backupStates)[number]>().notNull(),
  /** The job that makes or made it. */
  jobId: text('job_id').notNull(),
  /** The disk of the server in GiB, its image and the machine on which its system runs. */
  diskGb: integer('disk_gb').notNull(),
  imageId: text('image_id'),
  imageChecksum: text('image_checksum'),
  machine: text().$type<Hardware['machine']>().notNull(),
  firmware: text().$type<Hardware['firmware']>().notNull(),
  tpm: integer({ mode: 'boolean' }).notNull(),
  os: text().$type<OsFamily>().notNull(),
  networkConfig: text('network_config').$type<NetworkConfigVersion>().notNull().default('v1'),
  ...columnsOf(devices),
  /** The id of the snapshot in the repository; null until it is made, and when it failed. */
  snapshot: text(),
  diskBytes: integer('disk_bytes'),
  addedBytes: integer('added_bytes'),
  /** The guest had written everything to its disk: it was frozen meanwhile, or shut down. */
  consistent: integer({ mode: 'boolean' }),
  seconds: real(),
  errorCode: text('error_code'),
  errorWords: text('error_words'),
  startedAt: integer('started_at').notNull(),
  endedAt: integer('ended_at'),
  /** When it is deleted by itself; null: it is not. */
  keepUntil: integer('keep_until'),
  /** When its target, which is append-only, last refused to delete it. */
  keptAt: integer('kept_at'),
  verifiedAt: integer('verified_at'),
  /** The last restore drill. */
  drillJobId: text('drill_job_id'),
  drilledAt: integer('drilled_at'),
  /** Why the last drill failed, in words; null: it did not. */
  drillError: text('drill_error'),
  /** The last drill that worked. */
  provenAt: integer('proven_at'),
  proof: text().$type<DrillProof>(),
  proofSeconds: real('proof_seconds'),
})
export type Backup = typeof backups.$inferSelect
