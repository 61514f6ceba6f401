import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AccountKind, Permission } from '../../kernel/api/access.ts'
import type { UiPreferences } from '../../kernel/api/http.ts'

export const roles = sqliteTable('roles', {
  id: text().primaryKey(),
  name: text().notNull(),
  permissions: text({ mode: 'json' }).$type<Permission[]>().notNull(),
  /** Holds every permission, also those that later versions bring. There is always somebody with it. */
  isOwner: integer('is_owner', { mode: 'boolean' }).notNull().default(false),
  /** Who holds it may do nothing until they have a second factor. */
  secondFactor: integer('second_factor', { mode: 'boolean' }).notNull().default(false),
})

export type Allowance = { vcpus: number; memoryMb: number; diskGb: number; trafficGb: number; ipv4: number }

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
  /** What it has bought beside its packages. */
  allowance: text({ mode: 'json' }).$type<Allowance>(),
  preferences: text({ mode: 'json' }).$type<UiPreferences>(),
  /** Staff who left: their sessions and tokens are none any more. */
  disabledAt: integer('disabled_at'),
  createdAt: integer('created_at').notNull(),
})
export type Account = typeof accounts.$inferSelect
