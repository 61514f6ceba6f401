import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Scope } from '../../kernel/api/access.ts'

export const tokens = sqliteTable('tokens', {
  id: text().primaryKey(),
  tokenHash: text('token_hash').notNull(),
  accountId: text('account_id').notNull(),
  name: text().notNull(),
  /** The last four characters, so that its owner recognises it. */
  ending: text().notNull(),
  scopes: text({ mode: 'json' }).$type<Scope[]>().notNull(),
  /** CIDRs from which it may be used; empty: from everywhere. */
  allow: text({ mode: 'json' }).$type<string[]>().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at'),
  usedAt: integer('used_at'),
  usedFrom: text('used_from'),
  /** The row stays: the audit log and jobs name it. */
  revokedAt: integer('revoked_at'),
  /** Hash of the value before the rotation, and until when that value is accepted. */
  previousHash: text('previous_hash'),
  previousUntil: integer('previous_until'),
})
