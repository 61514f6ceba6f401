import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { NotedActor } from '../../identity/team/audit-actor.ts'

/** `stopping`: nodes at work come to their end first. */
export const rollOutStates = ['running', 'paused', 'stopping', 'stopped', 'done'] as const

/**
 * The states of a node in a roll-out. `failed`: it could not fetch or start the release. `went_back`: the release did
 * not pass its trial. `not_back`: it has not been heard of since.
 */
export const rollOutNodeStates = [
  'waiting',
  'updating',
  'done',
  'already',
  'left_out',
  'by_package',
  'by_person',
  'refused',
  'failed',
  'went_back',
  'not_back',
] as const
export type RollOutNodeState = (typeof rollOutNodeStates)[number]
/** Those at which a roll-out stops. */
export const failedStates: ReadonlySet<RollOutNodeState> = new Set(['refused', 'failed', 'went_back', 'not_back'])

/** Nodes of this location begin between two times of day; `to` may be on the next day. */
export type UpdateWindow = { locationId: string; from: string; to: string; timeZone: string }

/**
 * The record of a node before its update. `silent`: parts that did not answer; null: it was not connected. `updateAt`:
 * the time of an earlier update in its facts.
 */
export type KnownBefore = { differences: string[]; silent: string[] | null; updateAt: number | null }

/** Times in ms. */
export const rollOuts = sqliteTable('roll_outs', {
  id: text().primaryKey(),
  version: text().notNull(),
  state: text({ enum: rollOutStates }).notNull(),
  /** 0: the first node. */
  wave: integer().notNull(),
  watchUntil: integer('watch_until'),
  watchSeconds: integer('watch_seconds').notNull(),
  trialSeconds: integer('trial_seconds').notNull(),
  windows: text({ mode: 'json' }).$type<UpdateWindow[]>().notNull(),
  /** The node at which it stopped; null where a person paused it. */
  failedNodeId: text('failed_node_id'),
  reason: text(),
  pausedAt: integer('paused_at'),
  startedBy: text('started_by', { mode: 'json' }).$type<NotedActor>().notNull(),
  createdAt: integer('created_at').notNull(),
  finishedAt: integer('finished_at'),
})
export type RollOut = typeof rollOuts.$inferSelect

export const rollOutNodes = sqliteTable(
  'roll_out_nodes',
  {
    rollOutId: text('roll_out_id').notNull(),
    nodeId: text('node_id').notNull(),
    /** Null: it takes no part. */
    wave: integer(),
    place: integer().notNull(),
    state: text({ enum: rollOutNodeStates }).notNull(),
    fromVersion: text('from_version').notNull(),
    startedAt: integer('started_at'),
    /** When the new version was first heard of. */
    trialAt: integer('trial_at'),
    endedAt: integer('ended_at'),
    before: text({ mode: 'json' }).$type<KnownBefore>(),
    findings: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    code: text(),
    reason: text(),
    sentBytes: integer('sent_bytes').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.rollOutId, table.nodeId] })],
)
export type RollOutNode = typeof rollOutNodes.$inferSelect
