import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { LogLevel } from '../../../agent/protocol.ts'

export const audit = sqliteTable('audit', {
  id: text().primaryKey(),
  at: integer().notNull(),
  actorId: text('actor_id').notNull(),
  actorName: text('actor_name').notNull(),
  via: text().notNull(),
  operation: text().notNull(),
  target: text(),
  from: text('from_address').notNull(),
  requestId: text('request_id').notNull(),
  result: text().notNull(),
  details: text({ mode: 'json' }),
  /** What was one thing before and another after. */
  changes: text({ mode: 'json' }),
  /** Its place in the chain, and the hash over it and the line before. */
  seq: integer(),
  hash: text(),
})

export const idempotency = sqliteTable(
  'idempotency',
  {
    accountId: text('account_id').notNull(),
    operation: text().notNull(),
    key: text().notNull(),
    status: integer().notNull(),
    answer: text().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (i) => [primaryKey({ columns: [i.accountId, i.operation, i.key] })],
)

export type JobState = 'queued' | 'running' | 'undoing' | 'succeeded' | 'failed'

export const jobs = sqliteTable(
  'jobs',
  {
    id: text().primaryKey(),
    kind: text().notNull(),
    title: text().notNull(),
    input: text({ mode: 'json' }).notNull(),
    state: text().$type<JobState>().notNull(),
    /** What it holds while unfinished. A second job wanting the same thing is refused by a unique index. */
    holds: text(),
    nodeId: text('node_id'),
    serverId: text('server_id'),
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
  },
  (j) => [index('jobs_open').on(j.state)],
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
  id: text().primaryKey(),
  type: text().notNull(),
  createdAt: integer('created_at').notNull(),
  customerId: text('customer_id'),
  resellerId: text('reseller_id'),
  data: text({ mode: 'json' }).notNull(),
})

export const mails = sqliteTable('mails', {
  id: text().primaryKey(),
  recipient: text().notNull(),
  subject: text().notNull(),
  sealedBody: text('sealed_body').notNull(),
  state: text().$type<'waiting' | 'sent' | 'failed'>().notNull(),
  tries: integer().notNull(),
  nextAt: integer('next_at').notNull(),
  createdAt: integer('created_at').notNull(),
  error: text(),
})
