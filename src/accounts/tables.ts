import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AccountKind, Permission } from '../kernel/api/access.ts'

export const roles = sqliteTable('roles', {
  id: text().primaryKey(),
  name: text().notNull(),
  permissions: text({ mode: 'json' }).$type<Permission[]>().notNull(),
  /** Holds every permission, also those that later versions bring. There is always somebody with it. */
  isOwner: integer('is_owner', { mode: 'boolean' }).notNull().default(false),
})

export const accounts = sqliteTable('accounts', {
  id: text().primaryKey(),
  kind: text().$type<AccountKind>().notNull(),
  email: text().notNull(),
  name: text().notNull(),
  organization: text(),
  externalId: text('external_id'),
  resellerId: text('reseller_id'),
  roleId: text('role_id'),
  passwordHash: text('password_hash'),
  lockedAt: integer('locked_at'),
  lockReason: text('lock_reason'),
  createdAt: integer('created_at').notNull(),
})
export type Account = typeof accounts.$inferSelect

export const sessions = sqliteTable('sessions', {
  id: text().primaryKey(),
  tokenHash: text('token_hash').notNull(),
  accountId: text('account_id').notNull(),
  csrf: text().notNull(),
  createdAt: integer('created_at').notNull(),
  seenAt: integer('seen_at').notNull(),
  from: text('from_address').notNull(),
  userAgent: text('user_agent').notNull(),
})
