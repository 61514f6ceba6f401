// The columns of jobs that features read. The states of a job that is not finished are said here once.
import { type Db, prepared } from '../db/open.ts'
import { reference } from '../db/reference.ts'
import { type Job, jobs } from './tables.ts'

export type { Job }

const OPEN = "('queued', 'running', 'undoing')"

/** The product's view of jobs is the feature platform/jobs: it reads every column. */
export const jobReference = reference(jobs, [
  'kind',
  'title',
  'state',
  'progress',
  'stepN',
  'stepOf',
  'stepName',
  'input',
  'startedByType',
  'startedById',
  'startedByName',
  'nodeId',
  'otherNodeId',
  'subjectType',
  'subjectId',
  'cancelScope',
  'cancelRequestedAt',
  'cancelByType',
  'cancelById',
  'cancelByName',
  'undoNodeId',
  'createdAt',
  'startedAt',
  'finishedAt',
  'errorCode',
  'errorMessage',
  'tries',
  'lane',
  'heldAt',
  'pivotAt',
  'waitingSince',
  'parentId',
])

/** How many jobs fit a condition over `kind` and `state`, which follows: triggers keep it. */
export const jobsCounted = (as: string) => `SELECT coalesce(sum(${as}.jobs), 0) AS n FROM job_counts ${as}`

/** Is the job not finished? `as` is its alias in the query. */
export const isOpenJob = (as: string) => `${as}.state IN ${OPEN}`

/**
 * The unfinished job that holds something, as JSON of `{ id, kind, progress }`: the newest, when others end before it.
 * `holds` is an SQL expression.
 */
export const openJobJson = (holds: string) =>
  `(SELECT json_object('id', j.id, 'kind', j.kind, 'progress', j.progress) FROM jobs j
    WHERE j.holds = ${holds} AND ${isOpenJob('j')} ORDER BY j.rowid DESC LIMIT 1)`

const openJobs = prepared(({ $client }) =>
  $client.prepare<{ json: string | null }, [string]>(`SELECT ${openJobJson('+?')} AS json`),
)
/** The open job that has this lock, or null. */
export function openJobOf(tx: Db, lock: string): { id: string; kind: string; progress: number } | null {
  const { json } = openJobs(tx).get(lock)!
  return json === null ? null : JSON.parse(json)
}

/** The id of the newest job about a subject; NULL without one. `subjectId` is an SQL expression. */
export const newestJobId = (subjectId: string) => `(SELECT max(j.id) FROM jobs j WHERE j.subject_id = ${subjectId})`

/** The id that is the first parameter, and the ids of the newest jobs; the second parameter is how many. */
export const newestJobIds = 'SELECT ? UNION ALL SELECT id FROM (SELECT id FROM jobs ORDER BY id DESC LIMIT +?)'

/** 1 when there is no such job any more. */
export const isJobGone = (id: string) => `NOT EXISTS (SELECT 1 FROM jobs WHERE id = ${id})`

const held = prepared(({ $client }) =>
  $client.prepare<unknown, [string]>(
    `SELECT 1 FROM jobs WHERE holds = +?1 AND state IN ${OPEN} UNION ALL
     SELECT 1 FROM jobs WHERE holds = +?1 AND undo_node_id IS NOT NULL LIMIT 1`,
  ),
)
/** Does an unfinished job hold it, or one whose undo is not through? */
export const isHeldByJob = (tx: Db, id: string): boolean => held(tx).get(id) !== null

const others = prepared(({ $client }) =>
  $client.prepare<unknown, [string, string]>(
    `SELECT 1 FROM jobs WHERE holds = +? AND id <> ? AND state IN ${OPEN} LIMIT 1`,
  ),
)
/** Does another job than this one wait for the lock? */
export const isAnotherWaiting = (tx: Db, jobId: string, lock: string): boolean => others(tx).get(lock, jobId) !== null

const openOn = prepared(({ $client }) =>
  $client.prepare<{ n: number }, [string]>(
    `SELECT count(*) AS n FROM jobs
     WHERE (node_id = ?1 OR other_node_id = ?1) AND state IN ${OPEN} OR undo_node_id = ?1`,
  ),
)
/** How many jobs work on this node, or wait for it. */
export const countJobsOn = (tx: Db, nodeId: string): number => openOn(tx).get(nodeId)!.n

const ended = prepared(({ $client }) =>
  $client.prepare<unknown, [string, number]>(
    'SELECT 1 FROM jobs WHERE subject_id = +?1 AND finished_at >= +?2 LIMIT 1',
  ),
)
const facts = prepared(({ $client }) =>
  $client.prepare<JobFacts, [string]>(
    `SELECT state, progress, step_name AS stepName, pivot_at AS pivotAt, cancel_requested_at AS cancelRequestedAt,
       undo_node_id AS undoNodeId
     FROM jobs WHERE id = +?`,
  ),
)
type JobFacts = Pick<Job, 'state' | 'progress' | 'stepName' | 'pivotAt' | 'cancelRequestedAt' | 'undoNodeId'>
/** How far a job is; undefined where it is older than those that are kept. */
export const jobFacts = (tx: Db, id: string): JobFacts | undefined => facts(tx).get(id) ?? undefined

/** Did a job about this subject end at or after this time, in milliseconds? */
export const hasEndedSince = (tx: Db, subjectId: string, since: number): boolean =>
  ended(tx).get(subjectId, since) !== null

/** How far a step is. `answered` is 1 when it has an output or started a job, which stays so when it is undone. */
export type StepNote = { name: string; state: 'started' | 'done' | 'undone'; answered: 0 | 1 }

const noted = prepared(({ $client }) => ({
  steps: $client.prepare<StepNote, [string]>(
    "SELECT name, state, output IS NOT NULL AND output <> '[]' AS answered FROM job_steps WHERE job_id = ?",
  ),
  input: $client.prepare<{ input: string }, [string]>('SELECT input FROM jobs WHERE id = ?'),
}))
/** The input of a job, and the notes of those of its steps that have started. */
export const stepNotes = (tx: Db, jobId: string): { notes: StepNote[]; input: unknown } => {
  const { steps, input } = noted(tx)
  return { notes: steps.all(jobId), input: JSON.parse(input.get(jobId)?.input ?? 'null') }
}
