// Things with a name that a field of a form lets one choose: the first by name, or those with each word in the name.
import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Actor } from '../api/actor.ts'
import type { Db } from '../db/open.ts'
import { partOf, wordsOf } from './text.ts'

export type Choice = { id: string; name: string }
type Rows = {
  /** At most `most`, by name; with an empty text the first. */
  find(tx: Db, text: string, most: number): Choice[]
  /** Undefined where there is none with this id. */
  byId(tx: Db, id: string): Choice | undefined
}
export type ChoiceSource = Rows & {
  /** The kind of thing, such as `node`. */
  type: string
  /** May this actor know their names? */
  mayRead(actor: Actor): boolean
}

/** The choices among the rows of a table; `offered`: those that can be chosen still. */
export const choicesIn = (table: SQLiteTable & { id: SQLiteColumn; name: SQLiteColumn }, offered?: SQL): Rows => {
  const chosen = { id: table.id, name: table.name }
  return {
    find: (tx, text, most) =>
      tx
        .select(chosen)
        .from(table as SQLiteTable)
        .where(and(offered, ...wordsOf(text).map((word) => sql`${table.name} GLOB ${partOf(word)}`)))
        .orderBy(asc(table.name))
        .limit(most)
        .all() as Choice[],
    byId: (tx, id) =>
      tx
        .select(chosen)
        .from(table as SQLiteTable)
        .where(eq(table.id, id))
        .get() as Choice | undefined,
  }
}

declare module '../feature.ts' {
  interface FeatureFields {
    /** Things that fields of forms let one choose. */
    choices?: readonly ChoiceSource[]
  }
}
