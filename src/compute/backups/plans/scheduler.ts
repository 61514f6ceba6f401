// The clock of the plans: backups that are due begin, and those that a plan no longer keeps go. When a server's next
// backup is due is changed in the transaction that starts the job, so no crash starts one twice. A run that was missed,
// because the controller was down, is made up for once.
import { system } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import type { AppContext } from '../../../kernel/api/operation.ts'
import { hour, minute } from '../../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../../kernel/db/open.ts'
import { isHeldByJob } from '../../../kernel/jobs/queries.ts'
import { backupTargetById } from '../../backup-target-records/queries.ts'
import { readingLockOf } from '../../server-records/disk-lock.ts'
import { load, type Server } from '../../server-records/model.ts'
import { startForgetting } from '../delete.ts'
import { startBackup } from '../make.ts'
import { recordMissed } from '../missed.ts'
import { backupActions } from '../model.ts'
import { BackupSlots } from './concurrency.ts'
import {
  backupPlanById,
  dueServers,
  plannedBackups,
  removeServerBackupPlan,
  serverBackupPlan,
  serversToRetain,
  serversToRetime,
  updateServerBackupPlan,
} from './queries.ts'
import { expendable } from './retention.ts'
import type { BackupPlan, ServerBackupPlan } from './tables.ts'
import { dueAfter, offsetOf } from './times.ts'

type Clocked = Pick<AppContext, 'clock' | 'nodes' | 'secrets'>

/** So many begin in one turn; the next takes more. */
const MOST_STARTED = 50
/** Less than the time between two runs of any plan. */
const LEAST_PERIOD_MS = 4 * hour
/** A server that is busy, or whose node is away, is tried again for at least so long. */
const TRIED_FOR_MS = hour

/** One turn of the clock. */
export function startDueBackups(db: Db, app: Clocked) {
  const now = app.clock()
  retime(db, now)
  startDue(db, app, now)
  retainDue(db, now)
}

/** Works out the next backups of servers whose plan has changed. */
function retime(db: Db, now: number) {
  const changed = serversToRetime(db, 500)
  if (!changed.length) return
  write(db, (tx) => {
    for (const { serverId, planId } of changed)
      updateServerBackupPlan(tx, serverId, { dueAt: dueAfter(backupPlanById(tx, planId)!, serverId, now) })
  })
}

function startDue(db: Db, app: Clocked, now: number) {
  const due = dueServers(db, now)
  if (!due.length) return
  const places = new BackupSlots(db)
  let started = 0
  for (const one of due) {
    const isFree = places.isFree(one)
    // Thousands may wait for a place: without one nothing is to do before a run can be lost.
    if (isFree ? started >= MOST_STARTED : now - one.dueAt < LEAST_PERIOD_MS) continue
    if (write(db, (tx) => settle(tx, app, one.serverId, isFree, now)) !== 'started') continue
    places.take(one)
    started++
  }
}

/** States in which no backup is made, and nothing is said of it. */
const notBackedUp: ReadonlySet<string> = new Set([
  'server_suspended',
  'server_terminated',
  'server_failed',
  'not_set_up',
  'node_lost',
])

/** Starts the backup of a server that is due, lets it wait, or gives this run up. */
function settle(tx: Tx, app: Clocked, serverId: string, isFree: boolean, now: number): 'started' | 'waits' | 'ended' {
  const row = serverBackupPlan(tx, serverId)
  if (!row || row.dueAt === null || row.dueAt > now) return 'ended'
  const plan = backupPlanById(tx, row.planId)!
  const target = load(tx, serverId)
  const why = obstacleOf(tx, app, target, plan)
  if (why && notBackedUp.has(why.code)) {
    if (target.releasedAt !== null) removeServerBackupPlan(tx, serverId)
    else goOn(tx, row, plan, now)
    return 'ended'
  }
  if (!why && isFree) {
    const { backupId } = startBackup(tx, {
      ...{ serverId, targetId: plan.targetId, planId: plan.id, kind: 'scheduled', keepUntil: null },
      ...{ by: system, now, secrets: app.secrets },
    })
    goOn(tx, row, plan, now, backupId)
    return 'started'
  }
  return why ? waitFor(tx, why, target, row, plan, now) : waitForPlace(tx, target, row, plan, now)
}

type Obstacle = { code: string; words: string }
function obstacleOf(tx: Tx, { nodes }: Clocked, target: Server, plan: BackupPlan): Obstacle | undefined {
  try {
    backupActions.mustAllowFor(tx, system, target, 'backup')
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, words: error.message }
    throw error
  }
  if (!backupTargetById(tx, plan.targetId))
    return { code: 'no_backup_target', words: 'The place for backups of its plan was removed.' }
  if (isHeldByJob(tx, target.id) || isHeldByJob(tx, readingLockOf(target.id)))
    return { code: 'server_busy', words: 'Another job worked on the server until the time for its backup was over.' }
  if (!nodes.connected(target.nodeId))
    return { code: 'node_unreachable', words: 'The node could not be reached until the time was over.' }
  return undefined
}

/** The next run. */
function goOn(tx: Tx, { serverId }: ServerBackupPlan, plan: BackupPlan, now: number, lastBackupId?: string) {
  const next = { dueAt: dueAfter(plan, serverId, now), triesUntil: null }
  updateServerBackupPlan(tx, serverId, lastBackupId === undefined ? next : { ...next, lastBackupId })
}

function waitFor(tx: Tx, why: Obstacle, target: Server, row: ServerBackupPlan, plan: BackupPlan, now: number) {
  const windowEnd = row.dueAt! - offsetOf(row.serverId, plan.windowMinutes) + plan.windowMinutes * minute
  const until = row.triesUntil ?? Math.max(windowEnd, now + TRIED_FOR_MS)
  if (now >= until || why.code === 'no_backup_target') return giveUp(tx, why, target, row, plan, now)
  if (row.triesUntil === null) updateServerBackupPlan(tx, row.serverId, { triesUntil: until })
  return 'waits'
}

/** Only its own next run ends the wait for a place. */
function waitForPlace(tx: Tx, target: Server, row: ServerBackupPlan, plan: BackupPlan, now: number) {
  if (now < dueAfter(plan, row.serverId, row.dueAt!)) return 'waits'
  const words = 'Other backups took all places until its next one was due.'
  return giveUp(tx, { code: 'no_place', words }, target, row, plan, now)
}

function giveUp(
  tx: Tx,
  { code, words }: Obstacle,
  target: Server,
  row: ServerBackupPlan,
  plan: BackupPlan,
  now: number,
) {
  recordMissed(tx, target, { targetId: plan.targetId, planId: plan.id, code, words, now })
  goOn(tx, row, plan, now)
  return 'ended' as const
}

/** A target that keeps backups is asked again when its administrator may have deleted them there. */
const ASKED_AGAIN_MS = 7 * 24 * hour

/** After each backup, those go that its plan no longer keeps. */
function retainDue(db: Db, now: number) {
  const changed = serversToRetain(db)
  if (!changed.length) return
  const places = new BackupSlots(db)
  for (const { serverId, lastBackupId, ...repository } of changed) {
    if (!places.isIdle(repository)) continue
    write(db, (tx) => {
      const plan = backupPlanById(tx, serverBackupPlan(tx, serverId)?.planId ?? '')
      if (!plan) return
      updateServerBackupPlan(tx, serverId, { retainedBackupId: lastBackupId })
      const going = expendable(plannedBackups(tx, load(tx, serverId)), plan, plan.timeZone).filter(
        ({ keptAt }) => keptAt === null || keptAt < now - ASKED_AGAIN_MS,
      )
      const groups = Map.groupBy(going, ({ targetId, nodeId }) => `${targetId} ${nodeId}`)
      for (const them of groups.values()) startForgetting(tx, them.slice(0, 200), { by: system, now })
    })
  }
}
