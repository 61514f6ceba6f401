import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { NotedActor } from '../../../identity/team/audit-actor.ts'
import { type MoveMethod, moveMethods } from '../tables.ts'

export { type MoveMethod, moveMethods }

/** `waiting`: it begins when the limits of the import let it. */
export const moveStates = ['waiting', 'moving', 'moved', 'failed', 'rolling_back', 'rolled_back'] as const
export type MoveState = (typeof moveStates)[number]
export const moveWays = ['copy', 'adopt'] as const
export type MoveWay = (typeof moveWays)[number]
/** Where its guest runs now, or would run. `nowhere`: it is off on its way. `unknown`: a node that knows it is away. */
export const places = ['source', 'here', 'nowhere', 'unknown'] as const
export type Place = (typeof places)[number]

/** The disk of a server at its source, as the dry run found it. */
export type MovedDrive = {
  path: string
  format: 'raw' | 'qcow2'
  holder: 'file' | 'lvm' | 'zfs' | 'rbd' | 'device' | 'network' | 'none'
  virtualBytes: number
  backing: string | null
  bus: string | null
  nicModel: string | null
}
export const checkCodes = ['ended', 'asked', 'runs', 'reached', 'addresses'] as const
export const nextSteps = ['check', 'accept', 'console', 'start', 'update_agent'] as const
/**
 * One check of a server that has moved. `open`: it has not passed; `passed` and `skipped` need nothing more. `next`:
 * what a person does about an open one.
 */
export type MoveCheck = {
  code: (typeof checkCodes)[number]
  result: 'passed' | 'open' | 'skipped'
  words: string
  next: (typeof nextSteps)[number] | null
}

export const importMoves = sqliteTable('import_moves', {
  serverId: text('server_id').primaryKey(),
  importId: text('import_id').notNull(),
  /** The id of the hypervisor in the other panel. */
  hypervisorId: text('hypervisor_id').notNull(),
  /** Servers begin in this order. */
  position: integer().notNull(),
  state: text({ enum: moveStates }).notNull(),
  way: text({ enum: moveWays }).notNull(),
  method: text({ enum: moveMethods }).notNull(),
  /** When somebody asked for it alone, also after the import was stopped. */
  askedAt: integer('asked_at'),
  /** A node that staff asked for; null: the rule of the location chooses. */
  wantedNodeId: text('wanted_node_id'),
  /** Of the last attempt, as the next three. */
  nodeId: text('node_id'),
  workloadId: text('workload_id'),
  jobId: text('job_id'),
  attempts: integer().notNull().default(0),
  /** Why the last attempt failed: a code, and a sentence for everybody. */
  failure: text(),
  failureWords: text('failure_words'),
  failedAt: integer('failed_at'),
  whereItRuns: text('where_it_runs', { enum: places }).notNull().default('source'),
  wasRunning: integer('was_running', { mode: 'boolean' }),
  isPersistent: integer('is_persistent', { mode: 'boolean' }),
  drive: text({ mode: 'json' }).$type<MovedDrive>(),
  /** Its definition at the source, without its passwords. */
  definition: text(),
  bytesTotal: integer('bytes_total'),
  bytesCopied: integer('bytes_copied'),
  beganAt: integer('began_at'),
  /** When it was shut down at the source. */
  stoppedAt: integer('stopped_at'),
  /** When it was started here. */
  startedAt: integer('started_at'),
  movedAt: integer('moved_at'),
  downtimeMs: integer('downtime_ms'),
  expectedAwaySeconds: integer('expected_away_seconds'),
  checks: text({ mode: 'json' }).$type<readonly MoveCheck[]>(),
  checkedAt: integer('checked_at'),
  /** When it is checked next; null: nobody waits for it. */
  checkAt: integer('check_at'),
  /** How often a check was open since it moved, or since a person asked. */
  checkTries: integer('check_tries').notNull().default(0),
  /** A person asked: its addresses are changed first where that is still to be done. */
  checkAskedAt: integer('check_asked_at'),
  /** The person who has marked it as fine although a check is open. */
  acceptedBy: text('accepted_by', { mode: 'json' }).$type<NotedActor>(),
  acceptedAt: integer('accepted_at'),
  rolledBackAt: integer('rolled_back_at'),
})
export type ImportMove = typeof importMoves.$inferSelect

/** Each attempt to move a server, or to roll it back, is a job of its own. */
export const importAttempts = sqliteTable(
  'import_attempts',
  {
    serverId: text('server_id').notNull(),
    n: integer().notNull(),
    jobId: text('job_id').notNull(),
    /** The server that it made here; gone again where it failed. */
    workloadId: text('workload_id'),
    at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.serverId, t.n] })],
)
export type ImportAttempt = typeof importAttempts.$inferSelect
