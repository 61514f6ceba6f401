// One turn of every action for many: jobs that have ended are noted, and the next ones begin. A node takes a few at a
// time and one more with each turn, so that hundreds of starts are no flood. Each workload has a transaction of its own
// with its job, its audit line and its row: it does not matter where a turn is cut off.
import { type Actor, system } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { auditLine } from '../../kernel/audit/audit.ts'
import { minute, second } from '../../kernel/db/clock.ts'
import { type Db, savepoint, type Tx, write } from '../../kernel/db/open.ts'
import { jobFacts } from '../../kernel/jobs/queries.ts'
import { noteHeld, releaseJob } from '../../kernel/jobs/start.ts'
import { bulkKindOf } from './deeds.ts'
import {
  atWorkByNode,
  type BulkAction,
  type BulkWorkload,
  bulkActionById,
  cancelWaiting,
  changeBulkWorkload,
  countsOf,
  openBulkActions,
  workloadsIn,
} from './queries.ts'
import { passing } from './select.ts'

/** Jobs of these actions at work on one node. */
export const MOST_ON_NODE = 4
/** So many in a turn, of an action that starts no job on a node. */
const MOST_RECORDS = 100
/** One on which something else works is tried again after this, so often. */
const BUSY_PAUSE_MS = 30 * second
const MOST_TRIES = 60
/** A node that is away is waited for. */
const NODE_AWAY_MS = 15 * minute

type App = Pick<AppContext, 'clock' | 'registry' | 'nodes'>

/** The lines of the audit log name the person who started it; System does it. */
const onBehalfOf = ({ startedBy }: BulkAction): Actor => ({
  ...system,
  accountId: startedBy.id,
  name: startedBy.name,
})

export function advanceBulkActions(db: Db, app: App) {
  const atWork = atWorkByNode(db)
  const begun = new Set<string>()
  for (const { id } of openBulkActions(db)) {
    write(db, (tx) => {
      for (const one of workloadsIn(tx, id, 'running')) noteEnd(tx, one, app.clock())
    })
    beginNext(db, app, bulkActionById(db, id)!, { atWork, begun })
    write(db, (tx) => settle(tx, bulkActionById(tx, id)!, app.clock()))
  }
}

function noteEnd(tx: Tx, one: BulkWorkload, now: number) {
  const job = jobFacts(tx, one.jobId!)
  if (job && job.state !== 'succeeded' && job.state !== 'failed') return
  const failed = job?.state === 'failed'
  changeBulkWorkload(tx, one, {
    state: failed ? 'failed' : 'done',
    code: failed ? 'job_failed' : null,
    reason: failed ? 'Its job failed. The log of the job says why.' : null,
    endedAt: now,
  })
}

/** `begun`: nodes on which one began in this turn. */
type Load = { atWork: Map<string, number>; begun: Set<string> }
function beginNext(db: Db, app: App, row: BulkAction, { atWork, begun }: Load) {
  const { find, deeds } = bulkKindOf(row.kind)
  const { loadsNodes } = deeds[row.action]!
  let left = MOST_RECORDS
  for (const next of workloadsIn(db, row.id, 'waiting', app.clock())) {
    if (!left || bulkActionById(db, row.id)!.state !== 'running') return
    if (!loadsNodes) {
      left--
      begin(db, app, row, next)
      continue
    }
    const { nodeId } = find(db, next.workloadId)!
    if (begun.has(nodeId) || (atWork.get(nodeId) ?? 0) >= MOST_ON_NODE) continue
    if (!app.nodes.connected(nodeId)) waitForNode(db, app, row, next)
    else if (begin(db, app, row, next)) {
      begun.add(nodeId)
      atWork.set(nodeId, (atWork.get(nodeId) ?? 0) + 1)
    }
  }
}

function waitForNode(db: Db, { clock }: App, { createdAt }: BulkAction, next: BulkWorkload) {
  const now = clock()
  const isOver = now - createdAt > NODE_AWAY_MS
  write(db, (tx) =>
    changeBulkWorkload(tx, next, {
      code: 'node_is_away',
      reason: 'Its node is not connected.',
      ...(isOver ? { state: 'refused', endedAt: now } : { notBefore: now + BUSY_PAUSE_MS }),
    }),
  )
}

/** Answers whether a job began. */
function begin(db: Db, app: App, row: BulkAction, next: BulkWorkload): boolean {
  const { operation, act } = bulkKindOf(row.kind).deeds[row.action]!
  const actor = onBehalfOf(row)
  return write(db, (tx) => {
    const now = app.clock()
    try {
      const jobId = savepoint(tx, () => {
        const target = bulkKindOf(row.kind).find(tx, next.workloadId)
        return act({ ...app, tx, actor, parentId: row.jobId }, target, row.body)
      })
      const state = jobId === null ? ({ state: 'done', endedAt: now } as const) : ({ state: 'running' } as const)
      changeBulkWorkload(tx, next, { ...state, jobId, code: null, reason: null })
      auditLine(tx, app, {
        ...{ actor, operation, target: next.workloadId, jobId, result: 'done' },
        ...{ from: row.fromAddress, requestId: row.requestId, details: { ...row.body, bulkActionId: row.id } },
      })
      return jobId !== null
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      noteRefusal(tx, next, error, now)
      return false
    }
  })
}

function noteRefusal(tx: Tx, next: BulkWorkload, { code, message: reason }: ApiError, now: number) {
  const tries = next.tries + 1
  const isPassing = passing.has(code) && tries < MOST_TRIES
  changeBulkWorkload(tx, next, {
    ...{ tries, code, reason },
    ...(isPassing ? { notBefore: now + BUSY_PAUSE_MS } : { state: 'refused', endedAt: now }),
  })
}

/** Says how far it is, and lets its job end when nothing of it is left to do. */
function settle(tx: Tx, row: BulkAction, now: number) {
  if (row.state === 'cancelling') cancelWaiting(tx, row.id, now)
  const { waiting = 0, running = 0, ...ended } = countsOf(tx, row.id)
  const over = Object.values(ended).reduce((sum, n) => sum + n, 0)
  if (!waiting && !running) return void releaseJob(tx, row.jobId)
  const all = over + waiting + running
  noteHeld(tx, row.jobId, `${over} of ${all}`, Math.floor((99 * over) / all))
}
