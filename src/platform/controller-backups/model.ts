// Backups of the controller's own database, each night, into targets that the panel knows.
import { backupAddress } from '../../../agent/protocol/backup.ts'
import { targetWithSecret } from '../../compute/backup-target-records/model.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import { type Clock, hour } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { getSetting, putSetting } from '../../kernel/db/queries.ts'
import { forOperator } from '../../kernel/net/egress.ts'
import { openStore } from '../../kernel/stores/open.ts'
import { type ObjectStore, StoreError } from '../../kernel/stores/store.ts'

/** `targets`: ids; empty while there are no backups. `hour`: of the day in UTC. */
export type Plan = { targets: string[]; hour: number; keepDays: number; since: number; requestedAt: number }
const noPlan: Plan = { targets: [], hour: 3, keepDays: 30, since: 0, requestedAt: 0 }

/** Of one target. `goodAt`: when the last one that succeeded was begun. */
export type Result = { at: number; error: string | null; goodAt: number | null; bytes: number; seconds: number }

const PLAN = 'controller-backups.plan'
const RESULTS = 'controller-backups.results'

export const planOf = (tx: Db): Plan => ({ ...noPlan, ...(getSetting(tx, PLAN) as Partial<Plan> | undefined) })
export const keepPlan = (tx: Tx, plan: Plan) => putSetting(tx, PLAN, plan)
export const resultsOf = (tx: Db) => (getSetting(tx, RESULTS) as Record<string, Result> | undefined) ?? {}
export const keepResult = (tx: Tx, targetId: string, result: Result) =>
  putSetting(tx, RESULTS, { ...resultsOf(tx), [targetId]: result })

/** A good backup that is older than this is too old: one a day, and time to make it. */
export const TOO_OLD_MS = 26 * hour
/** A backup that failed is tried again after this time. */
const RETRY_MS = hour

/** The last moment at which a backup was due. */
function lastDue({ hour: at }: Plan, now: number): number {
  const due = new Date(now).setUTCHours(at, 0, 0, 0)
  return due <= now ? due : due - 24 * hour
}

/** Targets without a good backup since the last was due or asked for; one that just failed waits. */
export function dueTargets(tx: Db, now: number): string[] {
  const plan = planOf(tx)
  const results = resultsOf(tx)
  const dueAt = Math.max(plan.requestedAt, lastDue(plan, now) > plan.since ? lastDue(plan, now) : 0)
  return plan.targets.filter((id) => {
    const result = results[id]
    if ((result?.goodAt ?? 0) >= dueAt) return false
    return !result?.error || result.at < dueAt || now - result.at >= RETRY_MS
  })
}

/** Below the folder of the target, apart from backups of servers. */
export const FOLDER = 'berth-controller'

type Opening = { secrets: Secrets; localServices: readonly string[]; wallClock: Clock }

/** The store of a target as the controller reaches it. Throws `StoreError` where there is none. */
export function storeOfTarget(tx: Db, id: string, { secrets, localServices, wallClock }: Opening): ObjectStore {
  const target = targetWithSecret(tx, secrets, id)
  if (!target) throw new StoreError('The target was removed. Choose another.')
  const { kind, address, login, secret, trust } = target
  const open = (store: Parameters<typeof openStore>[0]) => openStore(store, forOperator(localServices), wallClock)
  if (kind === 'local') return open({ kind: 'folder', path: address })
  if (kind === 's3') return open({ kind, url: address, login, secret, trust })
  const at = backupAddress('sftp', address)
  if (kind !== 'sftp' || !at) throw new StoreError('The target is a REST server, which takes backups of servers only.')
  return open({ kind, host: at.host, port: at.port, path: at.path, login, secret, trust })
}
