import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const idempotency = sqliteTable(
  'idempotency',
  {
    accountId: text('account_id').notNull(),
    operation: text().notNull(),
    key: text().notNull(),
    status: integer().notNull(),
    answer: text().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (i) => [primaryKey({ columns: [i.accountId, i.operation, i.key] })],
)
