import { second } from '../../../kernel/db/clock.ts'
import { feature } from '../../../kernel/feature.ts'
import { getServerBackupPlan, keptWithoutPlan, setServerBackupPlan } from './assign.ts'
import { getBackupCalendar } from './calendar.ts'
import { perNode, perTarget } from './concurrency.ts'
import { changeBackupPlan, createBackupPlan, listBackupPlans, planWeakening } from './plans.ts'
import { backupPlanTarget } from './queries.ts'
import { startDueBackups } from './scheduler.ts'
import { planActions } from './states.ts'
import { backupPlans, serverBackupPlans } from './tables.ts'

const errors = {
  backup_plan_not_found: { status: 404, when: 'There is no such backup plan.', remedy: 'Check the id.' },
} as const

const ids = { backupPlan: { prefix: 'bpl', sample: 'Every night', also: ['backup plan'] } } as const

declare module '../../../kernel/register.ts' {
  interface Names {
    'backup-plans': { ids: typeof ids; errors: typeof errors }
  }
}

export const backupPlansFeature = feature({
  name: 'backup-plans',
  workloadActions: [planActions],
  ids,
  errors,
  samples: { every: 'day', startsAt: '01:00', windowMinutes: 240 },
  settings: [perNode, perTarget, keptWithoutPlan],
  schedule: [
    { everyMs: 15 * second, words: 'starting the backups of plans', work: ({ db, app }) => startDueBackups(db, app) },
  ],
  tables: [backupPlans, serverBackupPlans],
  weakenings: [planWeakening],
  operations: [
    listBackupPlans,
    createBackupPlan,
    changeBackupPlan,
    getServerBackupPlan,
    setServerBackupPlan,
    getBackupCalendar,
  ],
  auditTargets: [backupPlanTarget],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 236,
      name: 'backup-plans',
      title: 'Backup plans',
      href: '/admin/backup-plans',
      icon: 'history',
      within: 'backups',
      sees: listBackupPlans,
    },
  ],
  actions: [
    {
      kinds: ['staff'],
      position: 82,
      title: 'Add backup plan',
      page: '/admin/backup-plans',
      dialog: true,
      does: createBackupPlan,
    },
  ],
  async fixture({ admin }) {
    const { id: targetId } = await admin('POST', '/admin/backup-targets/local', {
      name: 'of a plan',
      address: '/srv/plan',
    })
    const body = { ...createBackupPlan.example!, name: 'fixture', targetId }
    return { 'backup plan': (await admin('POST', '/admin/backup-plans', body)).id }
  },
})
