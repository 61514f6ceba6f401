import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Crash, Power, RestartPolicy } from '../../../agent/protocol/wire.ts'

/** How far a workload has come. `status.ts` computes the API's status from it, the suspension and the power. */
export const lifecycles = ['pending_setup', 'provisioning', 'active', 'failed', 'terminated'] as const
export type Lifecycle = (typeof lifecycles)[number]

/** Columns of every kind of workload. The table of a kind has the rest, under the same id. */
export const workloads = sqliteTable('workloads', {
  id: text().primaryKey(),
  /** The `kind` of a `WorkloadKind`. */
  kind: text().notNull(),
  /** Counts up over all kinds; the tap on the node is `bth<number>`. */
  number: integer().notNull(),
  ownerId: text('owner_id').notNull(),
  resellerId: text('reseller_id'),
  /** When its owner changed last: jobs before that are shown to staff alone. */
  ownedSince: integer('owned_since'),
  /** Its home, also after that was given back. */
  nodeId: text('node_id').notNull(),
  locationId: text('location_id').notNull(),
  /** The home's storage pool in which its disks stand. */
  pool: text().notNull(),
  hostname: text().notNull(),
  name: text().notNull(),
  /** The billing system's own identifier of it. */
  billingServiceId: text('billing_service_id'),
  vcpus: integer().notNull(),
  memoryMb: integer('memory_mb').notNull(),
  diskGb: integer('disk_gb').notNull(),
  /** The generation of the disk in use; null: nothing is installed. */
  diskGeneration: integer('disk_generation'),
  /** The highest generation that a disk of it ever had; none is used twice. */
  lastDiskGeneration: integer('last_disk_generation').notNull().default(0),
  gpus: integer().notNull().default(0),
  mac: text().notNull(),
  /** The same while it holds anything, and unique; its own id once it is gone, by a trigger. */
  heldMac: text('held_mac').notNull(),
  /** Why placement chose this node. */
  placement: text().notNull(),
  lifecycle: text().$type<Lifecycle>().notNull(),
  /** Why the installation failed, in words. */
  failure: text(),
  suspendedAt: integer('suspended_at'),
  suspendReason: text('suspend_reason'),
  /** The node's last report; null before the first. */
  power: text().$type<Power>(),
  /** The power that unsuspending restores: a suspension does not change it. */
  wantedPower: text('wanted_power').$type<'running' | 'stopped'>().notNull().default('stopped'),
  /** The reaction of its node when it ends although nobody stopped it. */
  restartPolicy: text('restart_policy').$type<RestartPolicy>().notNull().default('on_failure'),
  createdAt: integer('created_at').notNull(),
  terminatedAt: integer('terminated_at'),
  /** Until when a terminated one can be brought back, in ms; null once the deletion of its disk has begun. */
  purgeAt: integer('purge_at'),
  /** Its disk is not deleted at the end of the window before somebody releases it. */
  purgeHeld: integer('purge_held', { mode: 'boolean' }).notNull().default(false),
  /** The lifecycle at its termination. */
  terminatedFrom: text('terminated_from').$type<Exclude<Lifecycle, 'terminated'>>(),
  /** When node, disk and addresses were given back: until then they are held. */
  releasedAt: integer('released_at'),
  /** Counted up by triggers with every change of what a record of the workload shows (0008_record_versions.sql). */
  version: integer().notNull().default(0),
})
export type Workload = Omit<typeof workloads.$inferSelect, 'version' | 'heldMac'>

/** How many workloads of a kind are not terminated, counted by triggers. */
export const workloadCounts = sqliteTable('workload_counts', {
  kind: text().primaryKey(),
  listed: integer().notNull(),
})

/** How many workloads of a node are in which state, counted by triggers. `power` is `''` where it is unknown. */
export const workloadStates = sqliteTable(
  'workload_states',
  {
    kind: text().notNull(),
    nodeId: text('node_id').notNull(),
    lifecycle: text().$type<Workload['lifecycle']>().notNull(),
    suspended: integer({ mode: 'boolean' }).notNull(),
    power: text().$type<NonNullable<Workload['power']> | ''>().notNull(),
    workloads: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.nodeId, t.lifecycle, t.suspended, t.power] })],
)

/** Sums of an account's workloads that are not terminated, with those of its customers. Triggers keep them. */
export const accountHoldings = sqliteTable('account_holdings', {
  accountId: text('account_id').primaryKey(),
  servers: integer().notNull(),
  vcpus: integer().notNull(),
  memoryMb: integer('memory_mb').notNull(),
  diskGb: integer('disk_gb').notNull(),
  gpus: integer().notNull(),
  ipv4: integer().notNull(),
})

/** Workloads that ended although they should run, as their nodes reported it. The audit log keeps them for longer. */
export const workloadCrashes = sqliteTable(
  'workload_crashes',
  {
    workloadId: text('workload_id').notNull(),
    at: integer().notNull(),
    cause: text().$type<Crash['cause']>().notNull(),
    detail: text().notNull(),
    outcome: text().$type<Crash['outcome']>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.workloadId, t.at] })],
)
