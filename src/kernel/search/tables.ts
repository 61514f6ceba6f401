import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Latin letters with accents, and the letter that each stands for: the triggers of search texts read them. */
export const searchLetters = sqliteTable('search_letters', { letter: text().primaryKey(), plain: text().notNull() })
/** The numbers from 1 on, for the letters of a text. */
export const searchPlaces = sqliteTable('search_places', { place: integer().primaryKey() })
/** The kinds of things that are searched; `number` says which documents of the index are theirs. */
export const searchKinds = sqliteTable('search_kinds', { kind: text().primaryKey(), number: integer().notNull() })
/**
 * The text of each thing that is searched, in small letters without accents, groups of values with a carriage return
 * between them. Triggers keep it and the index of its letters (0204_search_index.sql).
 */
export const searchTexts = sqliteTable('search_texts', {
  /** Its number in the index. */
  doc: integer().primaryKey(),
  kind: text().notNull(),
  id: text().notNull(),
  ownerId: text('owner_id'),
  /** It is neither terminated nor removed. */
  listed: integer({ mode: 'boolean' }).notNull(),
  text: text().notNull(),
})
