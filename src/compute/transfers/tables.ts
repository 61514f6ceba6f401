import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { NotedActor } from '../../identity/team/audit-actor.ts'

/** `reassigned`: nothing was installed, so nothing is copied. */
export const transferModes = ['live', 'near_live', 'cold', 'reassigned'] as const
export type TransferMode = (typeof transferModes)[number]
export const transferStates = ['queued', 'copying', 'switching', 'finished', 'failed', 'cancelled'] as const
export type TransferState = (typeof transferStates)[number]

/** `nodeId` null: placement chooses. */
export type MoveRequest = {
  nodeId: string | null
  mode: 'auto' | 'live' | 'near_live' | 'cold'
  maxMbps: number | null
  readdress?: boolean
}
/**
 * The ids of the addresses that a server gets by a move, and of those that it gives up. `back`: the move that it takes
 * back, whose old addresses are among those that it gets.
 */
export type Readdressing = { take: string[]; leave: string[]; back?: string }

/** Moves of servers between nodes. Times in ms, amounts in bytes. */
export const transfers = sqliteTable('transfers', {
  id: text().primaryKey(),
  serverId: text('server_id').notNull(),
  mode: text().$type<TransferMode>().notNull(),
  state: text().$type<TransferState>().notNull(),
  fromNodeId: text('from_node_id').notNull(),
  toNodeId: text('to_node_id').notNull(),
  /** Null where nothing had to be copied. */
  jobId: text('job_id'),
  startedBy: text('started_by', { mode: 'json' }).$type<NotedActor>().notNull(),
  maxMbps: integer('max_mbps'),
  /** When it was changed on the way, until the node that copies has heard that; null: nothing has to be told. */
  limitChangedAt: integer('limit_changed_at'),
  /** The data of its disks; the most that it can be, until the node has looked. */
  bytesTotal: integer('bytes_total').notNull(),
  bytesCopied: integer('bytes_copied').notNull().default(0),
  /** How long the copy took that has sent them; null: unknown. */
  copyMs: integer('copy_ms'),
  expectedSeconds: integer('expected_seconds').notNull(),
  expectedDowntimeMs: integer('expected_downtime_ms').notNull(),
  beganAt: integer('began_at'),
  /** When its guest was told to shut down, or handed over; null: it was off, or runs still. */
  stoppedAt: integer('stopped_at'),
  downtimeMs: integer('downtime_ms'),
  /** Why it failed, in words. */
  error: text(),
  createdAt: integer('created_at').notNull(),
  /** The time that it waits for, or has waited for; null: it was to begin at once. */
  startsAt: integer('starts_at'),
  /** A move that waits for its time is planned from this when that has come. */
  asked: text({ mode: 'json' }).$type<MoveRequest>(),
  /** Null: it keeps its addresses. */
  readdressing: text({ mode: 'json' }).$type<Readdressing>(),
  /** The owner of the server asked for it. */
  byOwner: integer('by_owner', { mode: 'boolean' }).notNull().default(false),
  /** The addresses that the server gave up are kept until then; null: they are not. */
  heldUntil: integer('held_until'),
  finishedAt: integer('finished_at'),
})
export type Transfer = typeof transfers.$inferSelect
