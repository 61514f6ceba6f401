import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const decisions = ['confirmed', 'taken_back', 'replaced', 'in_time'] as const

/** Every change that weakens a protection. One of a thing waits at a time. */
export const weakenings = sqliteTable('weakenings', {
  id: text().primaryKey(),
  /** The feature's word for what is weakened, and the name of the thing: a setting's, or the id of a role. */
  kind: text().notNull(),
  name: text().notNull(),
  title: text().notNull(),
  fromWords: text('from_words').notNull(),
  toWords: text('to_words').notNull(),
  /** As the feature wrote it, in JSON. */
  value: text({ mode: 'json' }).$type<unknown>(),
  askedBy: text('asked_by').notNull(),
  askedByName: text('asked_by_name').notNull(),
  askedAt: integer('asked_at').notNull(),
  takesEffectAt: integer('takes_effect_at').notNull(),
  decidedAt: integer('decided_at'),
  decision: text().$type<(typeof decisions)[number]>(),
  decidedByName: text('decided_by_name'),
})
export type Weakening = typeof weakenings.$inferSelect
