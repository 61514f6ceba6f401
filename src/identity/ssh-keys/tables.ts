import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const sshKeys = sqliteTable('ssh_keys', {
  id: text().primaryKey(),
  ownerId: text('owner_id').notNull(),
  name: text().notNull(),
  publicKey: text('public_key').notNull(),
  fingerprint: text().notNull(),
  createdAt: integer('created_at').notNull(),
})
