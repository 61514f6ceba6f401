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
  /** The state that it is about, such as an outage; null: it is about something that happened. */
  about: text(),
  /** When that state ended. */
  overAt: integer('over_at'),
})

export const noticeChoices = sqliteTable(
  'notice_choices',
  {
    accountId: text('account_id').notNull(),
    kind: text().notNull(),
    inPanel: integer('in_panel', { mode: 'boolean' }).notNull().default(true),
    byMail: integer('by_mail', { mode: 'boolean' }).notNull().default(true),
    /** Empty: all locations, also later ones. */
    locationIds: text('location_ids', { mode: 'json' }).$type<string[]>().notNull().default([]),
  },
  ({ accountId, kind }) => [primaryKey({ columns: [accountId, kind] })],
)
