import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

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

export const signInPlaces = sqliteTable(
  'sign_in_places',
  {
    accountId: text('account_id').notNull(),
    place: text().notNull(),
    seenAt: integer('seen_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.place] })],
)
