import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const deliveries = sqliteTable('deliveries', {
  id: text().primaryKey(),
  kind: text().notNull(),
  /** One delivery per kind and key: the same thing queued twice is delivered once. */
  key: text().notNull(),
  /** Deliveries of one lane share its limits; lanes take turns. */
  lane: text().notNull(),
  recipient: text().notNull(),
  subject: text().notNull(),
  encryptedPayload: text('encrypted_payload').notNull(),
  state: text().$type<'waiting' | 'delivered' | 'failed'>().notNull(),
  attempts: integer().notNull(),
  maxAttempts: integer('max_attempts').notNull(),
  nextAt: integer('next_at').notNull(),
  /** After this time the delivery is useless and fails without an attempt. */
  until: integer(),
  createdAt: integer('created_at').notNull(),
  endedAt: integer('ended_at'),
  error: text(),
})

export const deliveryLanes = sqliteTable(
  'delivery_lanes',
  {
    kind: text().notNull(),
    lane: text().notNull(),
    waiting: integer().notNull(),
    paused: integer({ mode: 'boolean' }).notNull(),
    /** Deliveries that were dropped because the queue was full. */
    dropped: integer().notNull(),
    droppedAt: integer('dropped_at'),
    /** In the row of the lane '', which stands for its whole kind: grows when a lane was paused or resumed. */
    changes: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.lane] })],
)
