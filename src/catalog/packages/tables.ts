import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { columnsOf } from '../../kernel/fields/field-list.ts'
import { packageFields } from './fields.ts'

export const packages = sqliteTable('packages', {
  id: text().primaryKey(),
  ...columnsOf(packageFields),
  archived: integer({ mode: 'boolean' }).notNull().default(false),
  createdAt: integer('created_at').notNull(),
})
export type Package = typeof packages.$inferSelect
