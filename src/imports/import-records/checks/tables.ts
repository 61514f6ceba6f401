import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { SourceDrive, SourceHostFacts } from '../../../../agent/protocol/values/source-hosts.ts'
import { moveMethods } from '../tables.ts'
import { type FindingCode, findingLevels } from './findings.ts'

/** The key with which a node logs in to source hypervisors. */
export const importNodeKeys = sqliteTable('import_node_keys', {
  nodeId: text('node_id').primaryKey(),
  publicKey: text('public_key').notNull(),
  readAt: integer('read_at').notNull(),
})

/** A source hypervisor as nodes have found it. `hostKey`: nodes accept no other from then on. */
export const importHosts = sqliteTable(
  'import_hosts',
  {
    importId: text('import_id').notNull(),
    hypervisorId: text('hypervisor_id').notNull(),
    address: text().notNull(),
    hostKey: text('host_key').notNull(),
    /** Null: it has let no node in yet. */
    facts: text({ mode: 'json' }).$type<SourceHostFacts>(),
    at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.importId, t.hypervisorId] })],
)
export type ImportHost = typeof importHosts.$inferSelect

/**
 * The last log-in of a node to a source hypervisor. `result`: `works`, or the code of a finding; null: none was tried.
 */
export const importLogins = sqliteTable(
  'import_logins',
  {
    importId: text('import_id').notNull(),
    hypervisorId: text('hypervisor_id').notNull(),
    nodeId: text('node_id').notNull(),
    result: text().$type<'works' | FindingCode>(),
    words: text(),
    at: integer(),
    /** It is to be tried again. */
    askedAt: integer('asked_at'),
  },
  (t) => [primaryKey({ columns: [t.importId, t.hypervisorId, t.nodeId] })],
)
export type ImportLogin = typeof importLogins.$inferSelect

/** `remark`: it can come. `to_fix`: it can come once something was done. `stays`: it cannot come. */
export const checkResults = ['ready', 'remark', 'to_fix', 'stays'] as const
export type CheckResult = (typeof checkResults)[number]

/** The dry run's knowledge of a server. Without a result it is planned, and waits for the answer of its node. */
export const importChecks = sqliteTable('import_checks', {
  serverId: text('server_id').primaryKey(),
  importId: text('import_id').notNull(),
  hypervisorId: text('hypervisor_id').notNull(),
  result: text({ enum: checkResults }),
  way: text({ enum: ['copy', 'adopt'] }),
  /** The node that takes it, and that looks at it. Null: none does. */
  nodeId: text('node_id'),
  pool: text(),
  /** Why it goes there, or why nothing takes it, in words. */
  reason: text(),
  /** It takes so much there. */
  memoryMb: integer('memory_mb').notNull().default(0),
  diskGb: integer('disk_gb').notNull().default(0),
  newIpv4: integer('new_ipv4').notNull().default(0),
  isRunning: integer('is_running', { mode: 'boolean' }),
  diskPath: text('disk_path'),
  diskFormat: text('disk_format'),
  diskBus: text('disk_bus'),
  diskHolder: text('disk_holder').$type<SourceDrive['holder']>(),
  /** The file that a qcow2 disk continues. */
  diskBacking: text('disk_backing'),
  diskBytes: integer('disk_bytes'),
  usedBytes: integer('used_bytes'),
  machine: text(),
  mac: text(),
  nicModel: text('nic_model'),
  /** How its disk is copied; null: it is adopted. */
  method: text({ enum: moveMethods }),
  copySeconds: integer('copy_seconds'),
  awaySeconds: integer('away_seconds'),
  at: integer().notNull(),
})
export type ImportCheck = typeof importChecks.$inferSelect

export const importFindings = sqliteTable(
  'import_findings',
  {
    serverId: text('server_id').notNull(),
    importId: text('import_id').notNull(),
    code: text().$type<FindingCode>().notNull(),
    level: text({ enum: findingLevels }).notNull(),
    words: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.serverId, t.code] })],
)
