import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Latin letters with accents, and the letter that each stands for: the triggers of search texts read them. */
export const searchLetters = sqliteTable('search_letters', { letter: text().primaryKey(), plain: text().notNull() })
/** The numbers from 1 on, for the letters of a text. */
export const searchPlaces = sqliteTable('search_places', { place: integer().primaryKey() })
