import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const messageKinds = ['before', 'during', 'after'] as const
export type MessageKind = (typeof messageKinds)[number]
export const toldKinds = [...messageKinds, 'invitation'] as const
export type ToldKind = (typeof toldKinds)[number]

export const importMessages = sqliteTable(
  'import_messages',
  {
    importId: text('import_id').notNull(),
    kind: text({ enum: messageKinds }).notNull(),
    isOn: integer('is_on', { mode: 'boolean' }).notNull(),
    subject: text().notNull(),
    /** Paragraphs with an empty line between them. */
    words: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.importId, t.kind] })],
)
export type ImportMessage = typeof importMessages.$inferSelect

export const importTold = sqliteTable(
  'import_told',
  {
    importId: text('import_id').notNull(),
    kind: text({ enum: toldKinds }).notNull(),
    /** Of `before` an address, of `during` and `after` a server of the import, of an invitation an account. */
    subject: text().notNull(),
    at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.importId, t.kind, t.subject] })],
)
