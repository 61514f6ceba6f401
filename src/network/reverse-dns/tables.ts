import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const reverseNames = sqliteTable('reverse_names', {
  address: text().primaryKey(),
  /** The address, or the prefix with it, in its pool; null: its pool is gone. */
  addressId: text('address_id'),
  /** The wanted name; null: it is to be deleted. */
  name: text(),
  state: text().$type<'waiting' | 'set' | 'refused'>().notNull(),
  error: text(),
  tries: integer().notNull().default(0),
  nextAt: integer('next_at').notNull(),
  /** Counts the changes: the outcome of a call that a change has overtaken is not recorded. */
  revision: integer().notNull().default(0),
  updatedAt: integer('updated_at').notNull(),
})
export type ReverseName = typeof reverseNames.$inferSelect
