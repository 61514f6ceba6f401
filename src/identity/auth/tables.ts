import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AccountKind } from '../../kernel/api/access.ts'

export const sessions = sqliteTable('sessions', {
  id: text().primaryKey(),
  tokenHash: text('token_hash').notNull(),
  accountId: text('account_id').notNull(),
  csrf: text().notNull(),
  createdAt: integer('created_at').notNull(),
  seenAt: integer('seen_at').notNull(),
  /** The last time the person proved who they are. */
  confirmedAt: integer('confirmed_at').notNull(),
  /** For a support session: the account it works in, the reason, and the end. */
  supportOf: text('support_of'),
  supportReason: text('support_reason'),
  supportUntil: integer('support_until'),
  from: text('from_address').notNull(),
  userAgent: text('user_agent').notNull(),
})

export const signInChallenges = sqliteTable('sign_in_challenges', {
  tokenHash: text('token_hash').primaryKey(),
  accountId: text('account_id'),
  attempts: integer().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
})

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

export const signInPlaces = sqliteTable(
  'sign_in_places',
  {
    accountId: text('account_id').notNull(),
    place: text().notNull(),
    seenAt: integer('seen_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.place] })],
)

/** The account whose token made a link. */
export type MadeBy = { kind: AccountKind; name: string }

export const oneTimeLinks = sqliteTable('one_time_links', {
  id: text().primaryKey(),
  purpose: text().$type<'welcome' | 'reset' | 'email' | 'sign-in'>().notNull(),
  accountId: text('account_id').notNull(),
  /** The account's address when the link was made. */
  email: text().notNull(),
  tokenHash: text('token_hash').notNull(),
  /** Depends on the purpose: the new address, or the page that the link leads to. */
  data: text(),
  madeBy: text('made_by', { mode: 'json' }).$type<MadeBy>(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  usedAt: integer('used_at'),
})

export const resetRequests = sqliteTable('reset_requests', {
  id: integer().primaryKey(),
  email: text().notNull(),
  createdAt: integer('created_at').notNull(),
})

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
