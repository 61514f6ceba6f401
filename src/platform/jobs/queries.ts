// Jobs with the names beside them, as actors see them. The engine's own statements are in kernel/jobs.

import { nodeReference } from '../../fleet/node-records/queries.ts'
import { workloadReference } from '../../fleet/workloads/queries.ts'
import { everyWorkload } from '../../fleet/workloads/reports.ts'
import { idsNamed } from '../../fleet/workloads/search.ts'
import type { TimelineSource } from '../../fleet/workloads/timeline.ts'
import { accountReference } from '../../identity/account-records/queries.ts'
import { visible } from '../../identity/team/access.ts'
import { tokenReference } from '../../identity/tokens/queries.ts'
import type { AccountKind } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { endOf, type Slice, sortColumn } from '../../kernel/api/list.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting, type Where } from '../../kernel/db/rows.ts'
import {
  isJobGone,
  isOpenJob,
  type Job,
  jobReference,
  jobsCounted,
  newestJobId,
  newestJobIds,
} from '../../kernel/jobs/queries.ts'
import { everyWord, isIn, wordsOf } from '../../kernel/search/text.ts'
import { subjectKinds } from './subjects.ts'
import { failuresTold } from './tables.ts'

export const jobTarget: AuditTarget = { prefix: 'job', isGone: isJobGone }

const withWorkload = workloadReference.leftJoin('w', 'j.subject_id')
/** The jobs `j` for a condition over them and `workloads w`, which are joined where the condition names them. */
const jobsWhere = (where: string, index = '') =>
  `${jobReference.from('j')} ${index} ${/\bw\./.test(where) ? withWorkload : ''} WHERE ${where}`

const isOfOwner = `j.created_at >= coalesce(${workloadReference.column('w', 'ownedSince')}, 0)`
/**
 * The jobs that an actor sees, over `jobs j` and `workloads w`: those of the workloads it sees, and those about what an
 * account has without a server; jobs of a node or without a subject are for staff who see nodes. Jobs of an earlier
 * owner name what is still that owner's, such as volumes, and are for staff alone.
 */
export function visibleJobs(tx: Db, actor: Actor): Where {
  const { where, values } = visible(tx, actor)
  if (where === everyWorkload.where && actor.kind === 'staff' && actor.scopes.has('nodes:read')) return everyWorkload
  const ofWorkloads = `(j.subject_id IS NOT NULL AND ${where})`
  if (actor.kind === 'staff') {
    const ofOthers = `(${ofWorkloads} AND j.subject_type <> 'node')`
    const ofNodes = "j.subject_id IS NULL OR j.subject_type = 'node'"
    return { where: actor.scopes.has('nodes:read') ? `(${ofOthers} OR ${ofNodes})` : ofOthers, values }
  }
  const ofOwners = `(${ofWorkloads} AND ${isOfOwner})`
  if (!actor.scopes.has('servers:read')) return { where: ofOwners, values }
  const isReseller = actor.kind === 'reseller'
  const inCare = isReseller ? ` OR ${accountReference.value('resellerId', 'j.subject_id')} = +?` : ''
  // The subjects are named first: their index has the few jobs of an account among all.
  const subjects = [
    `SELECT w.id ${workloadReference.from('w')} WHERE ${where}`,
    'SELECT +?',
    ...(isReseller ? [accountsInCare] : []),
  ]
  const accounts = [actor.accountId, ...(isReseller ? [actor.accountId] : [])]
  return {
    where: `(j.subject_id IN (${subjects.join(' UNION ALL ')})
      AND (${ofOwners} OR (j.subject_type = 'account' AND (j.subject_id = +?${inCare}))))`,
    values: [...values, ...accounts, ...values, ...accounts],
  }
}
const accountsInCare = `SELECT c.id ${accountReference.from('c')}
  WHERE ${accountReference.column('c', 'resellerId')} = +?`

export type JobRow = Job & {
  nodeName: string | null
  otherNodeName: string | null
  ownerId: string | null
  providerId: string | null
  actorId: string | null
  actorKind: AccountKind | null
  actorName: string | null
  actorResellerId: string | null
  cancellerId: string | null
  cancellerKind: AccountKind | null
  cancellerName: string | null
  cancellerResellerId: string | null
}
// Raw: drizzle has no form for joins that other features export as text. +?: one job 5 µs instead of 29, a page of 51
// 97 µs instead of 128.
const fromJobs = `${jobReference.from('j')} ${nodeReference.leftJoin('n', 'j.node_id')}
  ${nodeReference.leftJoin('other', 'j.other_node_id')} ${withWorkload}
  ${tokenReference.leftJoin('tk', "j.started_by_id AND j.started_by_type = 'token'")}
  ${accountReference.leftJoin('ac', `coalesce(${tokenReference.column('tk', 'accountId')}, j.started_by_id)`)}
  ${tokenReference.leftJoin('ctk', "j.cancel_by_id AND j.cancel_by_type = 'token'")}
  ${accountReference.leftJoin('cac', `coalesce(${tokenReference.column('ctk', 'accountId')}, j.cancel_by_id)`)}`
const selectJobs = `SELECT j.id, j.kind, j.title, j.state, j.progress, j.step_n AS stepN, j.step_of AS stepOf,
  j.step_name AS stepName, j.started_by_type AS startedByType, j.started_by_id AS startedById,
  j.started_by_name AS startedByName, j.node_id AS nodeId, j.subject_type AS subjectType, j.subject_id AS subjectId,
  j.created_at AS createdAt, j.started_at AS startedAt, j.finished_at AS finishedAt, j.error_code AS errorCode,
  j.error_message AS errorMessage, j.cancel_scope AS cancelScope, j.cancel_requested_at AS cancelRequestedAt,
  j.cancel_by_type AS cancelByType, j.cancel_by_id AS cancelById, j.cancel_by_name AS cancelByName,
  j.undo_node_id AS undoNodeId, j.pivot_at AS pivotAt, j.waiting_since AS waitingSince,
  j.other_node_id AS otherNodeId, ${nodeReference.columns('n', { nodeName: 'name' })},
  ${nodeReference.columns('other', { otherNodeName: 'name' })},
  ${workloadReference.columns('w', { ownerId: 'ownerId', providerId: 'resellerId' })},
  ${accountReference.columns('ac', { actorId: 'id', actorKind: 'kind', actorName: 'name' })},
  ${accountReference.columns('ac', { actorResellerId: 'resellerId' })},
  ${accountReference.columns('cac', { cancellerId: 'id', cancellerKind: 'kind', cancellerName: 'name' })},
  ${accountReference.columns('cac', { cancellerResellerId: 'resellerId' })}
  ${fromJobs}`

export const jobRow = (tx: Db, { where, values }: Where, id: string): JobRow | undefined =>
  tx.$client.query<JobRow, string[]>(`${selectJobs} WHERE j.id = +? AND ${where}`).get(id, ...values) ?? undefined

/** The orders of the list, over `jobs j`, each with its index. */
export const jobSorts = {
  title: { exact: 'j.title COLLATE NOCASE', index: 'jobs_titled' },
  state: { exact: 'j.state', index: 'jobs_state' },
  startedBy: { exact: 'j.started_by_name COLLATE NOCASE', index: 'jobs_starter' },
  // Ids sort by the time they were made.
  createdAt: { exact: 'j.id', index: 'sqlite_autoindex_jobs_1' },
} satisfies Readonly<Record<string, { exact: string; index: string }>>
/**
 * The jobs of a slice that fit: their ids first, so that names are looked up for those of the page alone. `index`: read
 * in its order, which is that of the slice; without it those that fit are found and sorted.
 */
export function jobRows(tx: Db, { where, values }: Where, slice: Slice, index?: string): JobRow[] {
  const end = endOf(slice, 'j.id', index === undefined ? 'sorted' : 'by index')
  const ids = tx.$client
    .query<{ id: string; sortValue?: string }, (string | number)[]>(
      `SELECT j.id${sortColumn(slice)} ${jobsWhere(`${where}${end.sql}`, index && `INDEXED BY ${index}`)}`,
    )
    .all(...values, ...end.values)
  const rows = tx.$client
    .query<JobRow, [string]>(`${selectJobs} WHERE j.id IN (SELECT value FROM json_each(?))`)
    .all(JSON.stringify(ids.map(({ id }) => id)))
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.map(({ id, ...sorted }) => ({ ...byId.get(id)!, ...sorted }))
}
/** How many fit. `isCounted`: the condition names no other columns than kind and state, whose totals are kept. */
export const countJobs = (tx: Db, { where, values, isCounted }: Where & { isCounted: boolean }): number =>
  tx.$client
    .query<{ n: number }, string[]>(
      isCounted ? `${jobsCounted('j')} WHERE ${where}` : `SELECT count(*) AS n ${jobsWhere(where)}`,
    )
    .get(...values)!.n
/** All of them. */
export const countEveryJob = (tx: Db): number => countJobs(tx, { ...everyWorkload, isCounted: true })

/** Conditions over `jobs j` for the states by which people filter. */
export const jobStates = {
  running: isOpenJob('j'),
  done: "j.state = 'succeeded'",
  failed: "j.state = 'failed'",
}

/** How many jobs failed after `since` (milliseconds). */
export const countFailedSince = (tx: Db, { where, values }: Where, since: number): number =>
  tx.$client
    .query<{ n: number }, (string | number)[]>(
      `SELECT count(*) AS n ${jobsWhere(`${jobStates.failed} AND j.finished_at > ? AND ${where}`)}`,
    )
    .get(since, ...values)!.n

type Counts = { running: number; failed: number; done: number }
/** How many jobs are at work, and how many failed or succeeded after `since` (milliseconds). */
export function countsSince(tx: Db, { where, values }: Where, since: number): Counts {
  const count = (which: string, ...more: number[]) =>
    tx.$client
      .query<{ n: number }, (string | number)[]>(`SELECT count(*) AS n ${jobsWhere(`${which} AND ${where}`)}`)
      .get(...more, ...values)!.n
  return {
    running: count(jobStates.running),
    failed: count(`${jobStates.failed} AND j.finished_at > ?`, since),
    done: count(`${jobStates.done} AND j.finished_at > ?`, since),
  }
}

export type FailureToTell = { id: string; title: string; code: string; message: string; resellerId: string | null }
const told = prepared(({ $client }) => ({
  // The planner would walk through all jobs in the order of their ids instead.
  toTell: $client.prepare<FailureToTell, [number, number]>(
    `SELECT j.id, j.title, coalesce(j.error_code, '') AS code, coalesce(j.error_message, '') AS message,
       ${workloadReference.columns('w', { resellerId: 'resellerId' })}
     ${jobReference.from('j')} INDEXED BY jobs_ended ${workloadReference.join('w', 'j.subject_id')}
     WHERE j.state = 'failed' AND j.finished_at > +? AND j.parent_id IS NULL AND j.error_code <> 'cancelled'
       AND NOT EXISTS (SELECT 1 FROM failures_told t WHERE t.job_id = j.id)
     ORDER BY j.finished_at LIMIT +?`,
  ),
  at: $client.prepare<{ at: number }, [string]>('SELECT at FROM failures_told WHERE job_id = ?'),
}))
/** Jobs of workloads that failed after `since` (milliseconds), and of which nobody was told. */
export const failuresToTell = (tx: Db, since: number, limit: number): FailureToTell[] =>
  told(tx).toTell.all(since, limit)
const insertTold = inserting(failuresTold)
export const noteTold = (tx: Tx, jobId: string, at: number): void => void insertTold(tx, { jobId, at })
/** In milliseconds. */
export const toldAt = (tx: Db, jobId: string): number | null => told(tx).at.get(jobId)?.at ?? null

type Trouble<Code> = { id: string; title: string; code: Code; words: string | null; at: number }
/**
 * Jobs whose step keeps failing and is tried again, the oldest first; `at` is when they were created (milliseconds).
 */
export const stuckJobRows = (tx: Db, { where, values }: Where, limit: number): Trouble<string>[] =>
  tx.$client
    .query<Trouble<string>, (string | number)[]>(
      `SELECT j.id, j.title, j.error_code AS code, j.error_message AS words, j.created_at AS at
       ${jobsWhere(`${jobStates.running} AND j.state <> 'queued' AND j.error_code IS NOT NULL AND j.tries > 0
         AND ${where}`)} ORDER BY +j.id LIMIT +?`,
    )
    .all(...values, limit)

/**
 * Jobs that passed a point of no return after they had begun, and wait since before `before` for a node that is away;
 * `at` is since when (milliseconds).
 */
export const waitingJobRows = (
  tx: Db,
  { where, values }: Where,
  before: number,
  limit: number,
): { id: string; title: string; at: number }[] =>
  tx.$client
    .query<{ id: string; title: string; at: number }, (string | number)[]>(
      `SELECT j.id, j.title, j.waiting_since AS at
       ${jobsWhere(`${jobStates.running} AND j.state = 'running' AND j.pivot_at > j.created_at
         AND j.waiting_since < +? AND ${where}`)} ORDER BY +j.id LIMIT +?`,
    )
    .all(before, ...values, limit)

type Backlog = { jobs: number; since: number | null }
/**
 * How many jobs of the lane wait for their turn since before `before`, and when the first of them was created
 * (milliseconds). A job of a node that is away waits for the node, so it does not count.
 */
export const backlogOf = (tx: Db, { where, values }: Where, bulk: boolean, before: number): Backlog =>
  tx.$client
    .query<Backlog, (string | number)[]>(
      `SELECT count(*) AS jobs, min(j.created_at) AS since
       ${jobsWhere(`j.state = 'queued' AND (j.lane = 'bulk') = +? AND j.created_at < +? AND j.waiting_since IS NULL
         AND j.held_at IS NULL AND ${where}`)}`,
    )
    .get(Number(bulk), before, ...values)!

/**
 * Jobs that failed after `since` and are the newest of their workload, newest first; `at` is when they failed
 * (milliseconds), `where` is over `workloads w`. A failed installation shows as a failed server instead.
 */
export const lastFailedJobs = (
  tx: Db,
  { where, values }: Where,
  since: number,
  limit: number,
): Trouble<string | null>[] =>
  tx.$client
    .query<Trouble<string | null>, (string | number)[]>(
      `SELECT j.id, j.title, j.error_code AS code, j.error_message AS words, j.finished_at AS at
       ${workloadReference.from('w')} ${jobReference.join('j', newestJobId('w.id'))}
       WHERE ${where} AND ${workloadReference.column('w', 'lifecycle')} <> 'failed'
         AND ${jobStates.failed} AND j.finished_at > +? ORDER BY j.id DESC LIMIT +?`,
    )
    .all(...values, since, limit)

/** A search by title reads only the newest jobs; an older one is found by its id. */
const JOBS_SEARCHED = 2000
type Found = { id: string; title: string; detail: string }
/** Jobs with each word in title or state, such as `failed jobs`, or with the text as id, the newest first. */
export function searchJobs(tx: Db, { where, values }: Where, text: string, limit: number): Found[] {
  const named = wordsOf(text).filter((word) => !/^jobs?$/i.test(word))
  const fits = everyWord(named.join(' ') || text, (word) => isIn(['j.title', 'j.state'], word))
  return tx.$client
    .query<Found, (string | number)[]>(
      `SELECT j.id, j.title, j.state AS detail ${jobReference.from('j')} ${withWorkload}
       WHERE j.id IN (${newestJobIds}) AND ${where} AND (${fits.where} OR j.id = ?)
       ORDER BY j.id DESC LIMIT +?`,
    )
    .all(text, JOBS_SEARCHED, ...values, ...fits.values, text, limit)
}

/** So many workloads of a name are looked at for their jobs. */
const MOST_NAMED = 100
/** Over `jobs j`: newest jobs with each word in their title, those of workloads with such a name, or the one job. */
export function jobsWithWords(tx: Db, text: string): { where: string; values: string[] } {
  const fits = everyWord(text, (word) => isIn(['n.title'], word))
  const kinds = subjectKinds.map(({ type }) => type)
  return {
    where: `j.id IN (
      SELECT n.id FROM (
        SELECT newest.id, newest.title ${jobReference.from('newest')} ORDER BY newest.id DESC LIMIT ${JOBS_SEARCHED}
      ) n WHERE ${fits.where}
      UNION SELECT about.id ${jobReference.from('about')} WHERE about.subject_id IN (SELECT value FROM json_each(+?))
      UNION SELECT +?)`,
    values: [...fits.values.map(String), JSON.stringify(idsNamed(tx, kinds, text, MOST_NAMED)), text],
  }
}

/** The jobs of a workload that ended, or began and have not ended, in a span of time, newest first. */
export const timelineOfJobs: TimelineSource = ({ tx, actor }, { id }, { from, to, most }) =>
  jobRows(
    tx,
    {
      where: `j.subject_id = +? AND coalesce(j.finished_at, j.created_at) >= CAST(+? AS INTEGER)
        AND coalesce(j.finished_at, j.created_at) < CAST(+? AS INTEGER)
        AND ${actor.kind === 'staff' ? '1' : isOfOwner}`,
      values: [id, String(from), String(to)],
    },
    { after: undefined, skip: 0, limit: most, order: undefined },
  ).map((job) => ({
    id: job.id,
    at: job.finishedAt ?? job.createdAt,
    kind: 'job',
    operation: null,
    action: null,
    title: job.title,
    who: null,
    from: null,
    result: job.state === 'undoing' ? 'running' : job.state,
    jobId: job.id,
  }))
