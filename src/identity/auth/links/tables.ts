import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AccountKind } from '../../../kernel/api/access.ts'

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
