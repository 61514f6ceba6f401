import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const webhooks = sqliteTable('webhooks', {
  id: text().primaryKey(),
  /** The account, or 'platform' for the webhooks of staff. */
  owner: text().notNull(),
  url: text().notNull(),
  /** Types of events; `*` is every type that the owner may receive, also those of later versions. */
  events: text({ mode: 'json' }).$type<string[]>().notNull(),
  encryptedSecret: text('encrypted_secret').notNull(),
  /** The secret before the rotation, and until when deliveries are also signed with it. */
  encryptedPrevious: text('encrypted_previous'),
  previousUntil: integer('previous_until'),
  pausedAt: integer('paused_at'),
  pauseReason: text('pause_reason').$type<'by_hand' | 'failing' | 'gone'>(),
  /** Failed attempts since the last success, and when the first of them was. */
  failures: integer().notNull().default(0),
  failingSince: integer('failing_since'),
  deliveredAt: integer('delivered_at'),
  failedAt: integer('failed_at'),
  createdAt: integer('created_at').notNull(),
  /** Its owner's name for it; null: the host of its address. */
  name: text(),
})
export type Webhook = typeof webhooks.$inferSelect

/** When an owner was last told that its queue is full. */
export const webhookOverflows = sqliteTable('webhook_overflows', {
  owner: text().primaryKey(),
  toldAt: integer('told_at').notNull(),
})
