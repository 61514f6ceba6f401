import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Code } from '../../kernel/api/errors.ts'
import { columnsOf } from '../../kernel/fields/field-list.ts'
import { hardware } from './hardware.ts'

export const images = sqliteTable('images', {
  id: text().primaryKey(),
  name: text().notNull(),
  origin: text().$type<'catalogue' | 'imported'>().notNull(),
  catalogueId: text('catalogue_id'),
  /** Where nodes get it: a distribution's address, or a path on this controller. */
  url: text().notNull(),
  format: text().$type<'qcow2' | 'raw'>().notNull(),
  /** With `url` and `sizeBytes` the current build; `image_builds` has those before. */
  checksum: text().notNull(),
  sizeBytes: integer('size_bytes').notNull(),
  minDiskGb: integer('min_disk_gb').notNull(),
  /** The user name for SSH. */
  user: text().notNull(),
  published: integer({ mode: 'boolean' }).notNull(),
  /** An order form chooses it first; at most one image is. */
  isDefault: integer('is_default', { mode: 'boolean' }).notNull().default(false),
  /** The machine that its system needs. */
  ...columnsOf(hardware),
  /** Rescue systems start from it; at most one image is. */
  isRescue: integer('is_rescue', { mode: 'boolean' }).notNull().default(false),
  /** The account that chose it, which alone sees it; null: staff offer it to everybody. */
  ownerId: text('owner_id'),
  createdAt: integer('created_at').notNull(),
  removedAt: integer('removed_at'),
  /** The key that signed the list with its checksum, and when; null: its distribution does not sign. */
  signedBy: text('signed_by'),
  signedAt: integer('signed_at'),
  /** When its distribution was last asked for the current build; null: not yet, or it comes from no distribution. */
  checkedAt: integer('checked_at'),
  /** Why the distribution could not say so, in words, and since when; null: it could. */
  checkFailure: text('check_failure'),
  checkFailureCode: text('check_failure_code').$type<Code>(),
  checkFailingSince: integer('check_failing_since'),
})
export type Image = typeof images.$inferSelect

/** Every file that an image has ever been. */
export const imageBuilds = sqliteTable(
  'image_builds',
  {
    imageId: text('image_id').notNull(),
    checksum: text().notNull(),
    url: text().notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    foundAt: integer('found_at').notNull(),
    signedBy: text('signed_by'),
    signedAt: integer('signed_at'),
  },
  (table) => [primaryKey({ columns: [table.imageId, table.checksum] })],
)
export type ImageBuild = typeof imageBuilds.$inferSelect
