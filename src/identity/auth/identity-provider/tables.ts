import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const accountIdentities = sqliteTable('account_identities', {
  id: text().primaryKey(),
  accountId: text('account_id').notNull(),
  /** The provider, and its permanent identifier of the person. */
  issuer: text().notNull(),
  subject: text().notNull(),
  createdAt: integer('created_at').notNull(),
  usedAt: integer('used_at').notNull(),
})
export type AccountIdentity = typeof accountIdentities.$inferSelect

export const providerSignIns = sqliteTable('provider_sign_ins', {
  tokenHash: text('token_hash').primaryKey(),
  stateHash: text('state_hash').notNull(),
  issuer: text().notNull(),
  /** Nonce and PKCE verifier. */
  encrypted: text().notNull(),
  /** The page that the person wanted to open. */
  next: text(),
  /** The account that is signed in and links the provider to itself; such a row signs nobody in. */
  linkTo: text('link_to'),
  /** The invitation that was opened: its account is linked, and signed in. */
  invitationHash: text('invitation_hash'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
})
