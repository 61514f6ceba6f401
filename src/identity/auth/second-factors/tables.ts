import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const totp = sqliteTable('totp', {
  accountId: text('account_id').primaryKey(),
  /** Encrypted. */
  secret: text().notNull(),
  lastStep: integer('last_step').notNull(),
  createdAt: integer('created_at').notNull(),
  confirmedAt: integer('confirmed_at'),
})

export const recoveryCodes = sqliteTable('recovery_codes', {
  hash: text().primaryKey(),
  accountId: text('account_id').notNull(),
  createdAt: integer('created_at').notNull(),
  usedAt: integer('used_at'),
})

export const passkeys = sqliteTable('passkeys', {
  id: text().primaryKey(),
  accountId: text('account_id').notNull(),
  credentialId: text('credential_id').notNull(),
  publicKey: text('public_key').notNull(),
  /** The authenticator's own count of its uses; a lower one means a copy. Many authenticators always report 0. */
  counter: integer().notNull(),
  transports: text({ mode: 'json' }).$type<string[]>().notNull(),
  name: text().notNull(),
  createdAt: integer('created_at').notNull(),
  usedAt: integer('used_at'),
  usedFrom: text('used_from'),
})
export type Passkey = typeof passkeys.$inferSelect

export const passkeyChallenges = sqliteTable(
  'passkey_challenges',
  {
    holder: text().notNull(),
    purpose: text().$type<'register' | 'confirm' | 'sign_in'>().notNull(),
    challenge: text().notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.holder, t.purpose] })],
)
