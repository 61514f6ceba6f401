import { integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { NotedActor } from '../../identity/team/audit-actor.ts'
import type { SourceCertificate, SourceFailureCode } from '../sources/failure.ts'
import type { SourceKind, SourceOwner, SourceRange, SourceState, SourceVirtualization } from '../sources/source.ts'

export const importStatuses = [
  'draft',
  'discovering',
  'mapping',
  'checking',
  'ready',
  'migrating',
  'verifying',
  'finished',
  'cancelled',
] as const
export type ImportStatus = (typeof importStatuses)[number]

/** Which id of the other panel becomes which id of ours; `none`: it stays empty. */
export type BillingIds = {
  externalId: 'none' | 'billing_id' | 'source_id'
  billingServiceId: 'none' | 'billing_id' | 'source_id'
  billingProductId: 'none' | 'billing_id' | 'source_id'
}
/** Why a reading ended early. */
export type Trouble = { code: SourceFailureCode | 'internal'; message: string; at: number }
/** Per list: how much was read, and how much there is where the panel says so. */
export type ReadProgress = Partial<Record<string, { read: number; total: number | null }>>

/** The requests to the other panel since the import was begun; `refused`: those that failed. */
export type Sent = { requests: number; refused: number; longestMs: number }

/** So many servers move at once: of one hypervisor, to one node. `maxMbps`: of each copy; null: as fast as it goes. */
export type ImportLimits = {
  perHypervisor: number
  perNode: number
  maxMbps: number | null
  /** Servers begin within these hours alone, as `HH:MM`, in a time zone such as `Europe/Berlin`. */
  window: { from: string; to: string; timeZone: string } | null
  /** `short_stop`: a disk is copied while its server runs, and what has changed meanwhile once it is off. */
  method: MoveMethod
}
export const moveMethods = ['short_stop', 'plain'] as const
export type MoveMethod = (typeof moveMethods)[number]

/** The id of the one row for everything that the other panel does not name, such as servers of unknown owners. */
export const UNNAMED = 'unknown'

export const imports = sqliteTable('imports', {
  id: text().primaryKey(),
  kind: text().$type<SourceKind>().notNull(),
  name: text(),
  address: text().notNull(),
  status: text({ enum: importStatuses }).notNull(),
  encryptedCredentials: text('encrypted_credentials'),
  trustedSha256: text('trusted_sha256'),
  /** The certificate that waits for the operator's decision. */
  askedCertificate: text('asked_certificate', { mode: 'json' }).$type<SourceCertificate>(),
  trouble: text({ mode: 'json' }).$type<Trouble>(),
  warnings: text({ mode: 'json' }).$type<readonly string[]>().notNull().default([]),
  accountName: text('account_name'),
  /** Counts the readings that were begun. */
  reading: integer().notNull().default(0),
  /** The reading whose result is shown; 0: none has ended yet. */
  read: integer().notNull().default(0),
  phase: text({ enum: ['reading', 'applying'] }),
  progress: text({ mode: 'json' }).$type<ReadProgress>().notNull().default({}),
  sent: text({ mode: 'json' }).$type<Sent>().notNull().default({ requests: 0, refused: 0, longestMs: 0 }),
  billing: text({ mode: 'json' }).$type<BillingIds>().notNull(),
  mappingVersion: integer('mapping_version').notNull().default(0),
  /** The version for which owners and addresses were compared with what is here. */
  comparedVersion: integer('compared_version').notNull().default(0),
  startedBy: text('started_by', { mode: 'json' }).$type<NotedActor>().notNull(),
  createdAt: integer('created_at').notNull(),
  discoveredAt: integer('discovered_at'),
  checkedAt: integer('checked_at'),
  /** Counts the dry runs that were begun. */
  dryRun: integer('dry_run').notNull().default(0),
  /** While it is checking. */
  checkPhase: text('check_phase', { enum: ['clearing', 'comparing', 'checking'] }),
  checkBeganAt: integer('check_began_at'),
  /** The `mappingVersion` at the end of the last dry run; with another one that is out of date. */
  checkedVersion: integer('checked_version'),
  startedAt: integer('started_at'),
  endedAt: integer('ended_at'),
  limits: text({ mode: 'json' })
    .$type<ImportLimits>()
    .notNull()
    .default({ perHypervisor: 2, perNode: 2, maxMbps: null, window: null, method: 'short_stop' }),
  /** Owners are mailed the new addresses of their servers. */
  emailsOwners: integer('emails_owners', { mode: 'boolean' }).notNull().default(false),
  /** Owners may be left who were not told yet that their servers will move. */
  announces: integer({ mode: 'boolean' }).notNull().default(false),
  /** No further server begins. */
  pausedAt: integer('paused_at'),
  /** Those that had not begun by then stay at the source. */
  stopsAfter: integer('stops_after'),
  /** When the last of its servers came to an end. */
  migratedAt: integer('migrated_at'),
})
export type ImportRecord = typeof imports.$inferSelect

export const importStaged = sqliteTable(
  'import_staged',
  {
    importId: text('import_id').notNull(),
    list: text().notNull(),
    sourceId: text('source_id').notNull(),
    record: text({ mode: 'json' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.importId, t.list, t.sourceId] })],
)

/** The columns of everything in the other panel; `read`: the reading that has seen it last. */
const seen = {
  importId: text('import_id').notNull(),
  /** The id in the other panel; `UNNAMED`: everything that the panel does not name. */
  sourceId: text('source_id').notNull(),
  read: integer().notNull(),
}
/** The choice is Berth's proposal: nobody has decided yet. */
const isProposed = integer('is_proposed', { mode: 'boolean' }).notNull().default(false)
const flag = (name: string) => integer(name, { mode: 'boolean' }).notNull()

export const hypervisorChoices = ['copy', 'adopt', 'leave_out'] as const
export const importHypervisors = sqliteTable(
  'import_hypervisors',
  {
    ...seen,
    name: text().notNull(),
    address: text().notNull(),
    addresses: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    isPanel: flag('is_panel'),
    network: text({ enum: ['bridged', 'routed'] }),
    bridges: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    location: text(),
    choice: text({ enum: hypervisorChoices }),
    locationId: text('location_id'),
    isProposed,
  },
  (t) => [primaryKey({ columns: [t.importId, t.sourceId] })],
)
export type ImportHypervisor = typeof importHypervisors.$inferSelect

/** The fields of a package that is made like one of the other panel, as far as they differ from its size there. */
export type PackageChanges = {
  name?: string
  vcpus?: number
  memoryMb?: number
  diskGb?: number
  trafficGb?: number | null
  portMbps?: number | null
  billingProductId?: string | null
  isOnSale?: boolean
}
export const packageChoices = ['own', 'like', 'leave_out'] as const
export const importPackages = sqliteTable(
  'import_packages',
  {
    ...seen,
    name: text().notNull(),
    virtualization: text().$type<SourceVirtualization>().notNull(),
    vcpus: integer(),
    memoryMb: integer('memory_mb'),
    diskGb: real('disk_gb'),
    trafficBytes: integer('traffic_bytes'),
    portMbps: integer('port_mbps'),
    ipv4: integer(),
    billingId: text('billing_id').notNull(),
    choice: text({ enum: packageChoices }),
    packageId: text('package_id'),
    changes: text({ mode: 'json' }).$type<PackageChanges>(),
    isProposed,
  },
  (t) => [primaryKey({ columns: [t.importId, t.sourceId] })],
)
export type ImportPackage = typeof importPackages.$inferSelect

export const rangeChoices = ['keep', 'new', 'pool', 'leave_out'] as const
export const importRanges = sqliteTable(
  'import_ranges',
  {
    ...seen,
    name: text().notNull(),
    version: integer().$type<4 | 6>().notNull(),
    first: text(),
    last: text(),
    network: text(),
    isSet: flag('is_set'),
    gateway: text(),
    prefixLength: integer('prefix_length'),
    resolvers: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    reach: text().$type<SourceRange['reach']>().notNull(),
    hypervisorIds: text('hypervisor_ids', { mode: 'json' }).$type<readonly string[]>().notNull(),
    choice: text({ enum: rangeChoices }),
    poolId: text('pool_id'),
    isProposed,
  },
  (t) => [primaryKey({ columns: [t.importId, t.sourceId] })],
)
export type ImportRange = typeof importRanges.$inferSelect

/**
 * Why somebody has to decide about an owner. `twice`: an owner before it in the list has the same address.
 * `external_id`: another customer has the external id that the new account would get.
 */
export const ownerConflicts = ['none', 'customer', 'reseller', 'staff', 'twice', 'external_id', 'unknown'] as const
export type OwnerConflict = (typeof ownerConflicts)[number]
export const ownerChoices = [
  'create',
  'merge',
  'separate',
  'client_area',
  'existing',
  'one_account',
  'leave_out',
] as const
export type OwnerChoice = (typeof ownerChoices)[number]
export const importOwners = sqliteTable(
  'import_owners',
  {
    ...seen,
    email: text(),
    name: text(),
    kind: text().$type<SourceOwner['kind']>().notNull(),
    parentId: text('parent_id'),
    isSuspended: flag('is_suspended'),
    billingId: text('billing_id').notNull(),
    conflict: text({ enum: ownerConflicts }).notNull().default('none'),
    conflictAccountId: text('conflict_account_id'),
    choice: text({ enum: ownerChoices }),
    /** For `merge` and `existing`. */
    accountId: text('account_id'),
    /** The reseller whose customer the new account becomes. */
    resellerId: text('reseller_id'),
    /** The account that this import has made for the owner. */
    createdAccountId: text('created_account_id'),
    isProposed,
    /** Why an earlier choice does not hold any more. */
    lapsed: text(),
  },
  (t) => [primaryKey({ columns: [t.importId, t.sourceId] })],
)
export type ImportOwner = typeof importOwners.$inferSelect

export const importServerStates = [
  'waiting',
  'left_out',
  'refused',
  'ready',
  'moving',
  'moved',
  'failed',
  'rolled_back',
  'already_moved',
] as const
export type ImportServerState = (typeof importServerStates)[number]
export const leaversOut = ['server', 'package', 'hypervisor', 'range', 'owner'] as const

export const importServers = sqliteTable('import_servers', {
  id: text().primaryKey(),
  ...seen,
  /** The server among all servers of all panels, so that another import knows it again. */
  identity: text().notNull(),
  uuid: text(),
  domain: text(),
  hostname: text().notNull(),
  hypervisorId: text('hypervisor_id').notNull(),
  packageId: text('package_id').notNull(),
  ownerId: text('owner_id').notNull(),
  virtualization: text().$type<SourceVirtualization>().notNull(),
  vcpus: integer(),
  memoryMb: integer('memory_mb'),
  diskGb: real('disk_gb'),
  mac: text(),
  osName: text('os_name'),
  isWindows: flag('is_windows'),
  isSuspended: flag('is_suspended'),
  isInRescue: flag('is_in_rescue'),
  power: text().$type<SourceState>().notNull(),
  madeAt: integer('made_at'),
  billingId: text('billing_id').notNull(),
  state: text({ enum: importServerStates }).notNull(),
  refusal: text().$type<string>(),
  leftOutBy: text('left_out_by', { enum: leaversOut }),
  /** The operator leaves out this server alone. */
  isLeftOut: integer('is_left_out', { mode: 'boolean' }).notNull().default(false),
  /** Decisions that it waits for. */
  undecided: integer().notNull().default(0),
  addressConflict: text('address_conflict'),
  /** It brings its id in the billing system along. */
  hasBillingId: integer('has_billing_id', { mode: 'boolean' }).notNull().default(true),
  /** Another thing here has what it claims besides its addresses, or the quota of its reseller is full; in words. */
  claimConflict: text('claim_conflict'),
  workloadId: text('workload_id'),
})
export type ImportServer = typeof importServers.$inferSelect

export const importAddresses = sqliteTable(
  'import_addresses',
  {
    importId: text('import_id').notNull(),
    serverId: text('server_id').notNull(),
    address: text().notNull(),
    version: integer().$type<4 | 6>().notNull(),
    prefixLength: integer('prefix_length'),
    isPrimary: flag('is_primary'),
    /** `UNNAMED`: in none of the ranges that the panel has. */
    rangeId: text('range_id').notNull(),
  },
  (t) => [primaryKey({ columns: [t.serverId, t.address] })],
)
export type ImportAddress = typeof importAddresses.$inferSelect

export const importChanges = sqliteTable(
  'import_changes',
  {
    importId: text('import_id').notNull(),
    read: integer().notNull(),
    list: text().notNull(),
    sourceId: text('source_id').notNull(),
    change: text({ enum: ['new', 'gone', 'changed'] }).notNull(),
    name: text().notNull(),
    words: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.importId, t.read, t.list, t.sourceId] })],
)
export type ImportChange = typeof importChanges.$inferSelect

export const importLog = sqliteTable(
  'import_log',
  {
    importId: text('import_id').notNull(),
    n: integer().notNull(),
    at: integer().notNull(),
    level: text({ enum: ['info', 'warning', 'error'] }).notNull(),
    text: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.importId, t.n] })],
)
