// Each night one backup is proven by a restore. A night in which nothing is free for it is left out, and says so.
import { type Static, Type as t } from 'typebox'
import { system } from '../../../kernel/api/actor.ts'
import type { AppContext } from '../../../kernel/api/operation.ts'
import { described, mayCall, namedSchema, nullable, operation, time } from '../../../kernel/api/operation.ts'
import { MOST_SHOWN, type Source } from '../../../kernel/attention.ts'
import { hour, iso, isoOrNull } from '../../../kernel/db/clock.ts'
import { type Db, write } from '../../../kernel/db/open.ts'
import { settingValue, switchSetting, wholeSetting } from '../../../kernel/setting.ts'
import { BackupSlots } from '../plans/concurrency.ts'
import { backupById } from '../queries.ts'
import { startDrill } from './drill.ts'
import { nodeForDrill } from './placement.ts'
import { drillCandidates, drillsAtWork, failedDrills, failuresOfDeleted, lastNight, noteNight } from './queries.ts'

export const drillsOn = switchSetting({
  name: 'backups.drill',
  title: 'Restore drill',
  words: 'Each night one backup is restored into a machine without network, and its system has to answer.',
  weakens: 'off',
  default: true,
})
export const drillHour = wholeSetting({
  name: 'backups.drill_hour',
  title: 'Hour of the restore drill',
  words: 'From when on it begins each night.',
  weakens: 'never',
  default: 3,
  minimum: 0,
  maximum: 23,
  unit: 'o’clock UTC',
})

/** A night is so long: a drill for which no node has space is tried until its end. */
const NIGHT_HOURS = 6
const ONCE_A_NIGHT_MS = 18 * hour

/** Begins the drill of this night, unless it has begun. */
export function drillAtNight(db: Db, { clock, nodes }: Pick<AppContext, 'clock' | 'nodes'>) {
  const now = clock()
  if (!settingValue(db, drillsOn)) return
  if ((24 + new Date(now).getUTCHours() - settingValue(db, drillHour)) % 24 >= NIGHT_HOURS) return
  if (now - (lastNight(db)?.begunAt ?? 0) < ONCE_A_NIGHT_MS || drillsAtWork(db).length) return
  const places = new BackupSlots(db)
  let skipped: string | undefined
  for (const backup of drillCandidates(db)) {
    const node = nodeForDrill(db, nodes, backup)
    if ('words' in node) {
      skipped ??= node.words
      continue
    }
    // Restic locks a repository that is tidied, and a node that makes backups reads disks enough.
    if (!places.isFree({ ...backup, nodeId: node.nodeId })) {
      skipped ??= 'Other work on backups was under way.'
      continue
    }
    const begun = write(db, (tx) => {
      const still = backupById(tx, backup.id)
      if (still?.state !== 'ready') return false
      startDrill(tx, still, node, { by: system, now })
      noteNight(tx, { begunAt: now, skippedAt: null, skippedWords: null })
      return true
    })
    if (begun) return
  }
  if (skipped !== undefined && lastNight(db)?.skippedWords !== skipped)
    write(db, (tx) => noteNight(tx, { skippedAt: now, skippedWords: skipped! }))
}

const drills = namedSchema('RestoreDrills', {
  on: described(t.Boolean(), 'Each night one backup is drilled.'),
  hour: described(t.Integer(), 'In UTC.'),
  runningJobId: nullable(t.String()),
  lastProven: described(
    nullable(
      t.Object({
        backupId: t.String(),
        serverId: t.String(),
        serverName: t.String(),
        at: time,
        seconds: described(nullable(t.Number()), 'From its begin until all of it was removed again.'),
      }),
    ),
    'The last restore that worked; its backup may be deleted since. Null: none yet.',
  ),
  skipped: described(
    nullable(t.Object({ at: time, reason: t.String() })),
    'The last night, where none could begin. Null: it began.',
  ),
})

function show(tx: Db): Static<typeof drills> {
  const night = lastNight(tx)
  return {
    on: settingValue(tx, drillsOn),
    hour: settingValue(tx, drillHour),
    runningJobId: drillsAtWork(tx)[0]?.drillJobId ?? null,
    lastProven: night?.proven ? { ...night.proven, at: iso(night.proven.at) } : null,
    skipped: night?.skippedAt ? { at: iso(night.skippedAt), reason: night.skippedWords ?? '' } : null,
  }
}

export const getDrills = operation({
  id: 'backups.drills',
  method: 'GET',
  path: '/admin/restore-drills',
  summary: 'The restore drill: the last restore that worked, and whether one is under way',
  access: { staff: ['settings:write'] },
  response: drills,
  run: ({ tx }) => show(tx),
})

/** Backups whose last drill failed, and a night without one. */
export const failedDrillsShown: Source = ({ tx, actor }) => {
  if (!mayCall(getDrills, actor)) return []
  const night = lastNight(tx)
  return [
    ...failedDrills(tx, MOST_SHOWN).map((backup) => ({
      level: 'bad' as const,
      what: `A backup of ${backup.serverName} did not work when it was restored.`,
      effect: backup.drillError!,
      since: isoOrNull(backup.drilledAt),
      action: 'Open the job',
      href: `/admin/jobs/${backup.drillJobId}`,
    })),
    ...failuresOfDeleted(tx, MOST_SHOWN).map((failure) => ({
      level: 'bad' as const,
      what: `A backup of ${failure.serverName} did not work when it was restored.`,
      effect: `${failure.words} It is deleted since, and no other one of ${failure.serverName} was proven.`,
      since: iso(failure.failedAt),
      action: 'Open the job',
      href: `/admin/jobs/${failure.jobId}`,
    })),
    ...(night?.skippedAt && settingValue(tx, drillsOn)
      ? [
          {
            level: 'warn' as const,
            what: 'No backup was proven by a restore last night.',
            effect: night.skippedWords ?? '',
            since: iso(night.skippedAt),
            action: 'Show backup targets',
            href: '/admin/backup-targets',
          },
        ]
      : []),
  ]
}
