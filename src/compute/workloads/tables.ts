import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Power } from '../../../agent/protocol/wire.ts'

/** How far a workload has come, apart from suspension and power: `status.ts` computes from all three what the API says. */
export const lifecycles = ['pending_setup', 'provisioning', 'active', 'failed', 'terminated'] as const
export type Lifecycle = (typeof lifecycles)[number]

/** What every kind of workload has. The table of a kind has the rest, under the same id. */
export const workloads = sqliteTable('workloads', {
  id: text().primaryKey(),
  /** The `kind` of a `WorkloadKind`. */
  kind: text().notNull(),
  /** Counts up over all kinds; the tap on the node is `bth<number>`. */
  number: integer().notNull(),
  ownerId: text('owner_id').notNull(),
  resellerId: text('reseller_id'),
  nodeId: text('node_id').notNull(),
  locationId: text('location_id').notNull(),
  hostname: text().notNull(),
  name: text().notNull(),
  vcpus: integer().notNull(),
  memoryMb: integer('memory_mb').notNull(),
  diskGb: integer('disk_gb').notNull(),
  gpus: integer().notNull().default(0),
  mac: text().notNull(),
  /** Why placement chose this node. */
  placement: text().notNull(),
  lifecycle: text().$type<Lifecycle>().notNull(),
  /** Why the installation failed, in words. */
  failure: text(),
  suspendedAt: integer('suspended_at'),
  suspendReason: text('suspend_reason'),
  /** What the node reported last; null until its first report. */
  power: text().$type<Power>(),
  /** What unsuspending restores: the power before the suspension, which no suspension changes. */
  wantedPower: text('wanted_power').$type<'running' | 'stopped'>().notNull().default('stopped'),
  createdAt: integer('created_at').notNull(),
  terminatedAt: integer('terminated_at'),
  /** When node, disk and addresses were given back: until then they are held. */
  releasedAt: integer('released_at'),
})
export type Workload = typeof workloads.$inferSelect
