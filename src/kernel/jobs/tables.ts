import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { LogLevel } from '../../../agent/protocol/wire.ts'
import type { Scope } from '../api/access.ts'

export type JobState = 'queued' | 'running' | 'undoing' | 'succeeded' | 'failed'
/** The states of a job that has not ended. */
export const openStates = ['queued', 'running', 'undoing'] as const satisfies readonly JobState[]

/** Each lane has its own limit on each node: people who wait never wait behind backups and copies. */
export type Lane = 'interactive' | 'build' | 'bulk'

export const jobs = sqliteTable(
  'jobs',
  {
    id: text().primaryKey(),
    kind: text().notNull(),
    title: text().notNull(),
    input: text({ mode: 'json' }).notNull(),
    state: text().$type<JobState>().notNull(),
    /** The lock that it takes until it has ended and is undone; a unique index lets one job have it at a time. */
    holds: text(),
    nodeId: text('node_id'),
    /** The second node that it involves; it has a place in the lanes of both. */
    otherNodeId: text('other_node_id'),
    /** The thing that it works on, such as `server` and its id; both are null where it concerns no single thing. */
    subjectType: text('subject_type'),
    subjectId: text('subject_id'),
    lane: text().$type<Lane>().notNull(),
    /** The job whose step started it. */
    parentId: text('parent_id'),
    startedByType: text('started_by_type').$type<'person' | 'token' | 'system'>().notNull(),
    startedById: text('started_by_id').notNull(),
    startedByName: text('started_by_name').notNull(),
    createdAt: integer('created_at').notNull(),
    startedAt: integer('started_at'),
    finishedAt: integer('finished_at'),
    progress: integer().notNull(),
    stepN: integer('step_n').notNull(),
    stepOf: integer('step_of').notNull(),
    stepName: text('step_name'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    /** How often the step at hand has failed, when it is one that is tried again. */
    tries: integer().notNull(),
    /** The scope with which it may be cancelled; null: only a job that supersedes it stops it. */
    cancelScope: text('cancel_scope').$type<Scope>(),
    cancelRequestedAt: integer('cancel_requested_at'),
    cancelByType: text('cancel_by_type').$type<'person' | 'token' | 'system'>(),
    cancelById: text('cancel_by_id'),
    cancelByName: text('cancel_by_name'),
    cancelReason: text('cancel_reason'),
    /** When it passed its point of no return: from then on nothing undoes it, and a step is tried until it is done. */
    pivotAt: integer('pivot_at'),
    /** Since when it is held: it begins when somebody releases it. */
    heldAt: integer('held_at'),
    /** Since when it waits for a node that is away. */
    waitingSince: integer('waiting_since'),
    /**
     * It has failed, and the rest of its undo waits until this node is back. It keeps its lock until then, unless this
     * is another node than its own.
     */
    undoNodeId: text('undo_node_id'),
  },
  (j) => [index('jobs_state').on(j.state, j.id)],
)
export type Job = typeof jobs.$inferSelect

export const jobSteps = sqliteTable(
  'job_steps',
  {
    jobId: text('job_id').notNull(),
    name: text().notNull(),
    state: text().$type<'started' | 'done' | 'undone'>().notNull(),
    output: text({ mode: 'json' }),
  },
  (s) => [primaryKey({ columns: [s.jobId, s.name] })],
)

export const jobLog = sqliteTable(
  'job_log',
  {
    jobId: text('job_id').notNull(),
    n: integer().notNull(),
    at: integer().notNull(),
    level: text().$type<LogLevel>().notNull(),
    text: text().notNull(),
  },
  (l) => [primaryKey({ columns: [l.jobId, l.n] })],
)

/** The outbox: what happened, for webhooks to carry. Written in the transaction that made it true. */
export const events = sqliteTable('events', {
  /** Counts up and is never used again: a reader remembers the last one that it took. */
  seq: integer().primaryKey({ autoIncrement: true }),
  id: text().notNull().unique(),
  type: text().notNull(),
  createdAt: integer('created_at').notNull(),
  /** The thing that it happened to, such as `server` and its id. */
  subjectType: text('subject_type'),
  subjectId: text('subject_id'),
  /** The accounts that it concerns, as far as its audience lets them hear of it. */
  customerId: text('customer_id'),
  resellerId: text('reseller_id'),
  data: text({ mode: 'json' }).notNull(),
})

/** How many jobs there are of each kind and state; kept by triggers. */
export const jobCounts = sqliteTable(
  'job_counts',
  { kind: text().notNull(), state: text().notNull(), jobs: integer().notNull() },
  (c) => [primaryKey({ columns: [c.kind, c.state] })],
)
