import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { NotedActor } from '../../../identity/team/audit-actor.ts'

export const rollingStates = ['running', 'paused', 'cancelled', 'done'] as const
export const rollingPhases = ['draining', 'working', 'returning'] as const
export const signals = ['person', 'reboot'] as const

/** Times in ms. */
export const rollingDrains = sqliteTable('rolling_drains', {
  id: text().primaryKey(),
  state: text({ enum: rollingStates }).notNull(),
  /** The node at hand is emptied, worked on, or filled again. */
  phase: text({ enum: rollingPhases }).notNull(),
  nodeIds: text('node_ids', { mode: 'json' }).$type<string[]>().notNull(),
  /** The place of the node at hand in that list. */
  position: integer().notNull(),
  /** Those of them that a person skipped. */
  skippedIds: text('skipped_ids', { mode: 'json' }).$type<string[]>().notNull(),
  /** The sign that the work on a node is done. */
  waitsFor: text('waits_for', { enum: signals }).notNull(),
  bringBack: integer('bring_back', { mode: 'boolean' }).notNull(),
  atOnce: integer('at_once'),
  maxMbps: integer('max_mbps'),
  drainId: text('drain_id'),
  /** Why it stopped, in words. */
  reason: text(),
  startedBy: text('started_by', { mode: 'json' }).$type<NotedActor>().notNull(),
  createdAt: integer('created_at').notNull(),
  finishedAt: integer('finished_at'),
})
export type Rolling = typeof rollingDrains.$inferSelect
