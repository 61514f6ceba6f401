// The timeline of a server or a GPU instance: one list, merged from the sources that features declare.
import { Type as t } from 'typebox'
import { endedInstance } from '../../compute/gpu-instances/model.ts'
import { endedServer } from '../../compute/server-records/model.ts'
import type { Workload } from '../../fleet/workloads/queries.ts'
import { type TimelineEntry, type TimelineKind, timelineKinds } from '../../fleet/workloads/timeline.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { page, paginateAll } from '../../kernel/api/list.ts'
import {
  described,
  namedSchema,
  nullable,
  operation,
  type Query,
  type ReadContext,
  time,
} from '../../kernel/api/operation.ts'
import { moment, momentFrom, oneOf } from '../../kernel/api/query.ts'
import { day, iso } from '../../kernel/db/clock.ts'

const kinds = Object.keys(timelineKinds) as TimelineKind[]
/** The time before `until` where nothing is said, and at most. */
const USUAL_MS = 30 * day
const LONGEST_MS = 93 * day
/** Entries of each source: a span with more is cut at its older end. */
const MOST = 500
const DIGITS_OF_TIME = 15

const entry = namedSchema('TimelineEntry', {
  id: t.String(),
  at: time,
  kind: t.Enum([...kinds]),
  operation: described(nullable(t.String()), 'The operation that was called.'),
  action: described(nullable(t.String()), 'Which of several things it did: `off` of `servers.power`.'),
  title: described(nullable(t.String()), 'A sentence, where no operation says it.'),
  who: described(nullable(t.Object({ name: t.String(), you: t.Boolean() })), 'Null where nobody did it.'),
  from: described(nullable(t.String()), 'The address; null where you may not know it.'),
  result: described(t.String(), 'done, fired, recovered, the state of a job, or the code of a refusal.'),
  jobId: nullable(t.String()),
  until: described(nullable(time), 'The end of what lasts: when a console was closed.'),
})

const reading = {
  method: 'GET' as const,
  access: everybody('servers:read'),
  query: {
    kind: oneOf(kinds, 'Only entries of this kind.'),
    since: moment('Not before this time; without it, 30 days before the end. 93 days are the most.'),
    until: moment('Not after this time; a day alone is meant to its end. Without it: now.'),
  },
  response: page(entry),
  run(call: ReadContext & { target: Workload }) {
    const { target, query, registry, clock } = call
    const span = { ...spanFrom(query, clock()), most: MOST }
    const found = registry.features.flatMap(({ timeline = [] }) => timeline).flatMap((find) => find(call, target, span))
    const told = inOwnWords(found)
    const all = query['kind'] ? told.filter(({ kind }) => kind === query['kind']) : withoutTheirJobs(told)
    // Jobs of what has ended are staff's alone to read.
    const hasNoJobs = target.lifecycle === 'terminated' && call.actor.kind !== 'staff'
    return paginateAll({
      call,
      name: `timeline ${target.id}`,
      all,
      keyOf: ({ at, id }) => `${String(at).padStart(DIGITS_OF_TIME, '0')} ${id}`,
      show: ({ at, jobId, until = null, ofJob: _, ...rest }) => ({
        ...rest,
        until,
        jobId: hasNoJobs ? null : jobId,
        at: iso(at),
      }),
      order: 'newest',
    })
  },
}

export const getTimeline = operation({
  ...reading,
  id: 'servers.timeline',
  path: '/servers/{id}/timeline',
  summary: 'What happened to a server: changes, jobs, alerts and unexpected ends in one order, newest first',
  on: endedServer,
})

export const getInstanceTimeline = operation({
  ...reading,
  id: 'gpu-instances.timeline',
  path: '/gpu-instances/{id}/timeline',
  summary: 'What happened to a GPU instance: changes, jobs and unexpected ends in one order, newest first',
  on: endedInstance,
})

/** A feature may tell of a job in its own words, to those who see the job. */
function inOwnWords(found: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const own = new Map(found.flatMap((entry) => (entry.ofJob ? [[entry.jobId, entry] as const] : [])))
  if (!own.size) return found
  return found.flatMap((entry) =>
    entry.ofJob ? [] : ((entry.kind === 'job' ? own.get(entry.jobId) : undefined) ?? entry),
  )
}

/**
 * One line for a change and the job that it started: the change, with the result of the job; or the job where a feature
 * tells of it in its own words.
 */
function withoutTheirJobs(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const jobs = new Map(entries.flatMap((entry) => (entry.kind === 'job' ? [[entry.jobId, entry] as const] : [])))
  const told = new Set<TimelineEntry>()
  const changes = entries.flatMap((entry) => {
    const job = entry.kind === 'change' && entry.result === 'done' ? jobs.get(entry.jobId) : undefined
    if (!job) return [entry]
    if (job.ofJob) return []
    told.add(job)
    return [{ ...entry, result: job.result }]
  })
  return changes.filter((entry) => !told.has(entry))
}

/** Throws `invalid_request`. */
function spanFrom(query: Query, now: number): { from: number; to: number } {
  const { since, until } = query
  const to = until ? momentFrom('until', until) + (until.includes('T') ? 1 : day) : now + 1
  const from = since ? momentFrom('since', since) : to - USUAL_MS
  if (from >= to) throw new ApiError('invalid_request', 'since must be before until.')
  if (to - from > LONGEST_MS) throw new ApiError('invalid_request', 'Ask for 93 days at most.')
  return { from, to }
}
