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
  /** Lanes of one group, such as those of one account, share limits and a log. */
  laneGroup: text('lane_group'),
  /** Deliveries of a lane with the same value leave one after another. */
  orderedBy: text('ordered_by'),
  /** The id of the thing that the delivery tells of. */
  about: text(),
})

export const deliveryGroups = sqliteTable(
  'delivery_groups',
  {
    kind: text().notNull(),
    laneGroup: text('lane_group').notNull(),
    waiting: integer().notNull(),
    /** Deliveries that were dropped because the group's queue was full. */
    dropped: integer().notNull(),
    droppedAt: integer('dropped_at'),
  },
  (table) => [primaryKey({ columns: [table.kind, table.laneGroup] })],
)

export const deliveryAttempts = sqliteTable(
  'delivery_attempts',
  {
    deliveryId: text('delivery_id').notNull(),
    n: integer().notNull(),
    at: integer().notNull(),
    /** JSON of what `deliver` answered or `DeliveryFailed` carried. */
    record: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.n] })],
)

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
