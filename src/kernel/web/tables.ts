import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const mails = sqliteTable('mails', {
  id: text().primaryKey(),
  recipient: text().notNull(),
  subject: text().notNull(),
  encryptedBody: text('encrypted_body').notNull(),
  state: text().$type<'waiting' | 'sent' | 'failed'>().notNull(),
  tries: integer().notNull(),
  nextAt: integer('next_at').notNull(),
  /** When the link in it is over: after that nobody is served by it. */
  until: integer(),
  createdAt: integer('created_at').notNull(),
  error: text(),
})
