import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Hardware, OsFamily } from '../../../agent/protocol/wire.ts'

export const images = sqliteTable('images', {
  id: text().primaryKey(),
  name: text().notNull(),
  origin: text().$type<'catalogue' | 'imported'>().notNull(),
  catalogueId: text('catalogue_id'),
  /** Where nodes get it: a distribution's address, or a path on this controller. */
  url: text().notNull(),
  format: text().$type<'qcow2' | 'raw'>().notNull(),
  checksum: text().notNull(),
  sizeBytes: integer('size_bytes').notNull(),
  minDiskGb: integer('min_disk_gb').notNull(),
  /** The user name for SSH. */
  user: text().notNull(),
  published: integer({ mode: 'boolean' }).notNull(),
  /** An order form chooses it first; at most one image is. */
  isDefault: integer('is_default', { mode: 'boolean' }).notNull().default(false),
  /** The machine that its system needs. */
  machine: text().$type<Hardware['machine']>().notNull().default('q35'),
  firmware: text().$type<Hardware['firmware']>().notNull().default('bios'),
  tpm: integer({ mode: 'boolean' }).notNull().default(false),
  os: text().$type<OsFamily>().notNull().default('linux'),
  /** Rescue systems start from it; at most one image is. */
  isRescue: integer('is_rescue', { mode: 'boolean' }).notNull().default(false),
  /** The account that chose it, which alone sees it; null: staff offer it to everybody. */
  ownerId: text('owner_id'),
  createdAt: integer('created_at').notNull(),
  removedAt: integer('removed_at'),
})
export type Image = typeof images.$inferSelect
