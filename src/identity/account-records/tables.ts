import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AccountKind, Permission } from '../../kernel/api/access.ts'
import type { UiPreferences } from '../../kernel/register.ts'

export const roles = sqliteTable('roles', {
  id: text().primaryKey(),
  name: text().notNull(),
  permissions: text({ mode: 'json' }).$type<Permission[]>().notNull(),
  /** Has every permission, also those of later versions. At least one account always has such a role. */
  isOwner: integer('is_owner', { mode: 'boolean' }).notNull().default(false),
  /** An account with this role may do nothing until it has a second factor. */
  secondFactor: integer('second_factor', { mode: 'boolean' }).notNull().default(false),
})

export type Allowance = { vcpus: number; memoryMb: number; diskGb: number; trafficGb: number; ipv4: number }

export const accounts = sqliteTable('accounts', {
  id: text().primaryKey(),
  kind: text().$type<AccountKind>().notNull(),
  email: text().notNull(),
  /** Another account has the address: nobody signs in to this one by it, until its holder chooses another. */
  emailPending: integer('email_pending', { mode: 'boolean' }).notNull().default(false),
  name: text().notNull(),
  organization: text(),
  externalId: text('external_id'),
  resellerId: text('reseller_id'),
  roleId: text('role_id'),
  passwordHash: text('password_hash'),
  lockedAt: integer('locked_at'),
  lockReason: text('lock_reason'),
  /** When its holder was last mailed a link to a first password. */
  welcomedAt: integer('welcomed_at'),
  /** Resources bought beside the packages. */
  allowance: text({ mode: 'json' }).$type<Allowance>(),
  /** GPUs that it may have where it orders instances itself; 0: it orders none. */
  gpuLimit: integer('gpu_limit').notNull().default(0),
  preferences: text({ mode: 'json' }).$type<UiPreferences>(),
  /** Staff who left: no session and no token of theirs is valid. */
  disabledAt: integer('disabled_at'),
  /** Since when its role is that of an owner. */
  ownerSince: integer('owner_since'),
  createdAt: integer('created_at').notNull(),
})
export type Account = typeof accounts.$inferSelect
