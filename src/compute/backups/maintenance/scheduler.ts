// The clock of the repositories: each is checked every day and tidied every week, one job in it at a time.
import { isGoneNode, liveNodesNear } from '../../../fleet/node-records/queries.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { system } from '../../../kernel/api/actor.ts'
import type { AppContext } from '../../../kernel/api/operation.ts'
import { day, hour } from '../../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../../kernel/db/open.ts'
import { isHeldByJob } from '../../../kernel/jobs/queries.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import type { BackupTarget } from '../../backup-target-records/model.ts'
import { backupTargetById, nodesWithLogin } from '../../backup-target-records/queries.ts'
import { BackupSlots } from '../plans/concurrency.ts'
import { checkingRepository } from './check.ts'
import { pruningRepository } from './prune.ts'
import {
  dueRepositories,
  forgetEmptyRepositories,
  nodesOfRepository,
  type RepositoryKey,
  repositoriesAtWork,
  repositoryByKey,
  updateRepository,
} from './queries.ts'
import type { BackupRepository } from './tables.ts'

const PRUNE_EVERY_MS = 7 * day
/** One that failed is tried again earlier. */
const TRIED_AGAIN_MS = 6 * hour
/** Jobs at once in one target: backups go before. */
const MOST_PER_TARGET = 2

type Clocked = Pick<AppContext, 'clock' | 'nodes'>

/** One turn of the clock. */
export function startDueMaintenance(db: Db, app: Clocked) {
  const now = app.clock()
  const due = dueRepositories(db, now)
  if (!due.length) return
  const places = new BackupSlots(db)
  const perTarget = new Map<string, number>()
  const count = (targetId: string) => perTarget.set(targetId, (perTarget.get(targetId) ?? 0) + 1)
  for (const { targetId } of repositoriesAtWork(db)) count(targetId)
  write(db, forgetEmptyRepositories)
  for (const key of due) {
    if (!places.isIdle(key) || (perTarget.get(key.targetId) ?? 0) >= MOST_PER_TARGET) continue
    if (write(db, (tx) => begin(tx, app, key, now))) count(key.targetId)
  }
}

/** Of all its folders: they may be one, which all nodes have mounted. */
const lockOf = ({ targetId, ownerId }: RepositoryKey) => `${targetId} ${ownerId}`

function begin(tx: Tx, { nodes }: Clocked, key: RepositoryKey, now: number): boolean {
  const row = repositoryByKey(tx, key)
  const target = backupTargetById(tx, key.targetId)
  if (!row || !target || isHeldByJob(tx, lockOf(key))) return false
  const before = nodesOfRepository(tx, key)
  const others = key.folderNodeId === '' && before[0] !== undefined ? liveNodesNear(tx, before[0]) : []
  const nodeId = nodesWithLogin(tx, target.id, [...before, ...others]).find(
    (id) => !isGoneNode(tx, id) && nodes.connected(id),
  )
  if (!nodeId) return false
  return row.checkDueAt <= now ? startCheck(tx, row, target, nodeId, now) : startPrune(tx, row, target, nodeId, now)
}

const aboutJob = (tx: Tx, key: RepositoryKey, target: BackupTarget, nodeId: string, now: number) => ({
  about: { by: system, nodeId, holds: lockOf(key), now },
  words: `the backups of ${accountById(tx, key.ownerId)?.name ?? key.ownerId} in ${target.name}`,
})

function startCheck(tx: Tx, row: BackupRepository, target: BackupTarget, nodeId: string, now: number): boolean {
  const { targetId, ownerId, folderNodeId, nextPart: part } = row
  const { about, words } = aboutJob(tx, row, target, nodeId, now)
  const input = { targetId, ownerId, folderNodeId, nodeId, part }
  const jobId = startJob(tx, checkingRepository, input, { ...about, title: `Check ${words}` })
  updateRepository(tx, row, { jobId, checkDueAt: now + TRIED_AGAIN_MS })
  return true
}

function startPrune(tx: Tx, row: BackupRepository, target: BackupTarget, nodeId: string, now: number): boolean {
  if (row.pruneDueAt > now) return false
  const { targetId, ownerId, folderNodeId } = row
  updateRepository(tx, row, { pruneDueAt: now + PRUNE_EVERY_MS })
  if (target.appendOnly === 'yes') return false
  const { about, words } = aboutJob(tx, row, target, nodeId, now)
  const input = { targetId, ownerId, folderNodeId, nodeId }
  updateRepository(tx, row, {
    jobId: startJob(tx, pruningRepository, input, { ...about, title: `Free space in ${words}` }),
  })
  return true
}
