import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const notices = sqliteTable('notices', {
  id: text().primaryKey(),
  accountId: text('account_id').notNull(),
  kind: text().notNull(),
  subject: text().notNull(),
  words: text().notNull(),
  /** A path of the panel. */
  href: text().notNull(),
  createdAt: integer('created_at').notNull(),
  readAt: integer('read_at'),
})

export const noticesWithoutMail = sqliteTable(
  'notices_without_mail',
  { accountId: text('account_id').notNull(), kind: text().notNull() },
  ({ accountId, kind }) => [primaryKey({ columns: [accountId, kind] })],
)
