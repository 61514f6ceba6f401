import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { NotedActor } from '../../identity/team/audit-actor.ts'
import type { Transfer } from '../transfers/queries.ts'

export const drainKinds = ['drain', 'return'] as const
export const drainStates = ['running', 'paused', 'cancelling', 'cancelled', 'done'] as const
export type DrainState = (typeof drainStates)[number]
export const onFailures = ['continue', 'pause'] as const

/** Times in ms. */
export const drains = sqliteTable('drains', {
  id: text().primaryKey(),
  /** `return`: servers come back to the node. */
  kind: text({ enum: drainKinds }).notNull(),
  nodeId: text('node_id').notNull(),
  state: text({ enum: drainStates }).notNull(),
  pausedBy: text('paused_by', { enum: ['person', 'failure'] }),
  /** The drain whose servers come back. */
  ofDrainId: text('of_drain_id'),
  /** The parent of its moves. */
  jobId: text('job_id').notNull(),
  atOnce: integer('at_once').notNull(),
  maxMbps: integer('max_mbps'),
  onFailure: text('on_failure', { enum: onFailures }).notNull(),
  startedBy: text('started_by', { mode: 'json' }).$type<NotedActor>().notNull(),
  expectedSeconds: integer('expected_seconds').notNull(),
  /** The time of the last boot that the host had told when it was emptied. */
  bootedAt: integer('booted_at').notNull(),
  /** The kernel that it ran then; null: nobody noted it. */
  kernel: text(),
  pausedAt: integer('paused_at'),
  /** All its pauses that are over, together. */
  pausedMs: integer('paused_ms').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  finishedAt: integer('finished_at'),
  /** When the node was opened again after it. */
  returnedAt: integer('returned_at'),
})
export type Drain = typeof drains.$inferSelect

/** The ways that a person may choose for a server; without a choice it moves as nothing speaks against. */
export const chosenModes = ['live', 'near_live', 'cold'] as const

/** `left`: it cannot move. `gone`: it was terminated, or moved by somebody else. `stopped`: with a notice. */
export const drainServerStates = [
  'waiting',
  'moving',
  'moved',
  'failed',
  'left',
  'gone',
  'stopping',
  'stopped',
] as const
export const drainServers = sqliteTable(
  'drain_servers',
  {
    drainId: text('drain_id').notNull(),
    workloadId: text('workload_id').notNull(),
    position: integer().notNull(),
    state: text({ enum: drainServerStates }).notNull(),
    hostname: text().notNull(),
    mode: text().$type<Transfer['mode']>(),
    /** The node of the plan, then that of its move. */
    toNodeId: text('to_node_id'),
    /** A person has chosen this one for the next move; null: placement chooses. */
    chosenNodeId: text('chosen_node_id'),
    /** The same of the way; null: as nothing speaks against. */
    chosenMode: text('chosen_mode', { enum: chosenModes }),
    bytes: integer().notNull(),
    expectedSeconds: integer('expected_seconds').notNull(),
    expectedDowntimeMs: integer('expected_downtime_ms').notNull(),
    transferId: text('transfer_id'),
    /** The job that stops it. */
    powerJobId: text('power_job_id'),
    /** Its move is being cancelled, so that it moves when the drain goes on. */
    movesLater: integer('moves_later', { mode: 'boolean' }).notNull().default(false),
    notBefore: integer('not_before'),
    tries: integer().notNull().default(0),
    reason: text(),
    endedAt: integer('ended_at'),
  },
  (t) => [primaryKey({ columns: [t.drainId, t.workloadId] })],
)
export type DrainServer = typeof drainServers.$inferSelect

/** How a drain is to be done, as it was asked for. */
export type DrainWishes = {
  atOnce?: number | undefined
  maxMbps?: number | null | undefined
  onFailure?: Drain['onFailure'] | undefined
  reason?: string | undefined
}
/** A drain that begins by itself. */
export const drainPlans = sqliteTable('drain_plans', {
  nodeId: text('node_id').primaryKey(),
  /** Null: it did not begin, see `error`. */
  startsAt: integer('starts_at'),
  asked: text({ mode: 'json' }).$type<DrainWishes>().notNull(),
  setBy: text('set_by', { mode: 'json' }).$type<NotedActor>().notNull(),
  error: text(),
  /** Null: it was announced to nobody. */
  told: text({ mode: 'json' }).$type<ToldOwners>(),
})
/** Owners to whom the maintenance was announced, and the times that they know. */
export type ToldOwners = { ownerIds: readonly string[]; startsAt: number; endsAt: number | null }
export type DrainPlan = typeof drainPlans.$inferSelect

/** The choice of a person for a server of the node, until a drain of it begins. */
export const drainChoices = sqliteTable(
  'drain_choices',
  {
    nodeId: text('node_id').notNull(),
    workloadId: text('workload_id').notNull(),
    mode: text({ enum: chosenModes }),
    toNodeId: text('to_node_id'),
    leaves: integer({ mode: 'boolean' }).notNull(),
    /** Those with a place come first, in its order. */
    place: integer(),
    setBy: text('set_by').notNull(),
  },
  (t) => [primaryKey({ columns: [t.nodeId, t.workloadId] })],
)
export type DrainChoice = typeof drainChoices.$inferSelect
