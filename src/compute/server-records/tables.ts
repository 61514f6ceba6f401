import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { BootFirst, Hardware } from '../../../agent/protocol/wire.ts'
import { devices, hardware } from '../../catalog/images/hardware.ts'
import { columnsOf } from '../../kernel/fields/field-list.ts'

/**
 * A rescue system: the generation of its disk, the space in GiB that the server holds for it beside its own disk, and
 * its machine.
 */
export type RescueSystem = { generation: number; diskGb: number; hardware: Hardware }

/** Columns that only servers have, under the id of their workload. */
export const servers = sqliteTable('servers', {
  id: text().primaryKey(),
  packageId: text('package_id').notNull(),
  imageId: text('image_id'),
  /** Of the image's file from which the system on its disk was installed: its build. Null: not known. */
  imageChecksum: text('image_checksum'),
  trafficGb: integer('traffic_gb'),
  portMbps: integer('port_mbps'),
  /** Limits of each of its disks per second; null: none. */
  diskReadIops: integer('disk_read_iops'),
  diskWriteIops: integer('disk_write_iops'),
  diskReadMbPerSecond: integer('disk_read_mb_per_second'),
  diskWriteMbPerSecond: integer('disk_write_mb_per_second'),
  /** Limits that were set instead of the package's; null: the package's. */
  speedInMbps: integer('speed_in_mbps'),
  speedOutMbps: integer('speed_out_mbps'),
  speedCpuPercent: integer('speed_cpu_percent'),
  /** The limit of a server that has used its traffic of `throttleMonth`; null: it has not. */
  throttleMbps: integer('throttle_mbps'),
  throttleMonth: text('throttle_month'),
  /** Its node does not know its limits yet, because a job holds the server. */
  speedUntold: integer('speed_untold', { mode: 'boolean' }).notNull().default(false),
  /** The format in which the disk was made: stored, never detected. */
  format: text().$type<'qcow2' | 'raw'>().notNull(),
  /** The layer of its disk that it writes, the one on which that stands, and the highest that the disk ever had. */
  diskLayer: integer('disk_layer').notNull().default(0),
  diskParent: integer('disk_parent'),
  lastDiskLayer: integer('last_disk_layer').notNull().default(0),
  /** A seed for the next start is attached: `next_stop` while it still runs, `next_start` once it was off. */
  pendingSeed: text('pending_seed').$type<'next_stop' | 'next_start'>(),
  /** The crypt(3) hash of the root password in that seed; of Windows the password, encrypted for the node. */
  pendingPasswordHash: text('pending_password_hash'),
  protected: integer({ mode: 'boolean' }).notNull().default(false),
  /** The machine on which the system on its disk was installed. */
  ...columnsOf(hardware),
  ...columnsOf(devices),
  /** The CPU model of its vm; null: all that its node has. */
  cpuModel: text('cpu_model'),
  /** It runs with the one before until it was off. */
  cpuPending: integer('cpu_pending', { mode: 'boolean' }).notNull().default(false),
  bootFirst: text('boot_first').$type<BootFirst>().notNull().default('disk'),
  /** The ISO in its CD drive. */
  isoId: text('iso_id'),
  /** When its first system was installed; null: none ever was. */
  provisionedAt: integer('provisioned_at'),
  /** The rescue system that it is in. */
  rescue: text({ mode: 'json' }).$type<RescueSystem>(),
})

/** How many servers that are not terminated have which package and image, counted by triggers; `''` is no image. */
export const serverCounts = sqliteTable(
  'server_counts',
  {
    packageId: text('package_id').notNull(),
    imageId: text('image_id').notNull(),
    imageChecksum: text('image_checksum').notNull(),
    servers: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.packageId, t.imageId, t.imageChecksum] })],
)
