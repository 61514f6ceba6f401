import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { NotedActor } from '../../identity/team/audit-actor.ts'

export const messageStates = ['draft', 'scheduled', 'sending', 'sent', 'cancelled'] as const
/** The servers whose owners get a message: all that every one of these fits. */
export type Audience = {
  nodeId?: string | null | undefined
  locationId?: string | null | undefined
  packageId?: string | null | undefined
  ipPoolId?: string | null | undefined
  label?: string | null | undefined
  resellerId?: string | null | undefined
  /** This account alone, about `serverIds`, whoever has them now. */
  accountId?: string | null | undefined
  serverIds?: string[] | null | undefined
}
/** Times in ms. */
export const messages = sqliteTable('messages', {
  id: text().primaryKey(),
  state: text({ enum: messageStates }).notNull(),
  audience: text({ mode: 'json' }).$type<Audience>().notNull(),
  toCustomersOfResellers: integer('to_customers_of_resellers', { mode: 'boolean' }).notNull(),
  subject: text().notNull(),
  /** Paragraphs with an empty line between them. */
  words: text().notNull(),
  /** About their servers: everybody gets it. News can be turned off. */
  isService: integer('is_service', { mode: 'boolean' }).notNull(),
  alsoNotice: integer('also_notice', { mode: 'boolean' }).notNull(),
  /** Of the work that it announces; null: it names no such time. */
  workStartsAt: integer('work_starts_at'),
  workEndsAt: integer('work_ends_at'),
  /** Null: as soon as somebody sends it. */
  sendAt: integer('send_at'),
  testedAt: integer('tested_at'),
  jobId: text('job_id'),
  writtenBy: text('written_by', { mode: 'json' }).$type<NotedActor>().notNull(),
  createdAt: integer('created_at').notNull(),
  changedAt: integer('changed_at').notNull(),
  finishedAt: integer('finished_at'),
})
export type Message = typeof messages.$inferSelect

export const recipientStates = ['waiting', 'sent', 'left_out', 'cancelled'] as const
export type RecipientState = (typeof recipientStates)[number]
/** The values of the placeholders for one reader. */
export type Filled = Readonly<Record<string, string>>
export const messageRecipients = sqliteTable(
  'message_recipients',
  {
    messageId: text('message_id').notNull(),
    accountId: text('account_id').notNull(),
    filled: text({ mode: 'json' }).$type<Filled>().notNull(),
    state: text({ enum: recipientStates }).notNull(),
    reason: text(),
    deliveryId: text('delivery_id'),
    unsubscribeHash: text('unsubscribe_hash'),
    at: integer(),
  },
  (t) => [primaryKey({ columns: [t.messageId, t.accountId] })],
)
export type MessageRecipient = typeof messageRecipients.$inferSelect
