import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const lamps = sqliteTable('lamps', {
  id: text().primaryKey(),
  ownerId: text('owner_id').notNull(),
  name: text().notNull(),
  state: text().$type<'off' | 'warming' | 'on'>().notNull(),
  createdAt: integer('created_at').notNull(),
})
