import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { badControllerBackups, noCopyAtAll } from './attention.ts'
import { ControllerBackups } from './make.ts'
import { planOf, resultsOf } from './model.ts'
import { configureControllerBackups, controllerWeakening, getControllerBackups, makeControllerBackup } from './plan.ts'

const errors = {
  no_backup_plan: {
    status: 409,
    when: 'No target is chosen for backups of the controller.',
    remedy: 'Choose one on the page of the controller host.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'controller-backups': { errors: typeof errors }
  }
  interface Services {
    controllerBackups: ControllerBackups
  }
}

const LOOK_EVERY_MS = 5 * second

export const controllerBackupsFeature = feature({
  name: 'controller-backups',
  weakenings: [controllerWeakening],
  errors,
  operations: [getControllerBackups, configureControllerBackups, makeControllerBackup],
  attention: [noCopyAtAll, badControllerBackups],
  usesBackupTarget: (tx, targetId) =>
    planOf(tx).targets.includes(targetId) ? 'The controller stores backups of its database' : undefined,
  services: () => ({ controllerBackups: new ControllerBackups() }),
  schedule: [
    {
      everyMs: LOOK_EVERY_MS,
      words: 'backing up the controller',
      work: (context) => context.app.controllerBackups.makeDue(context),
    },
  ],
  figures({ db, app: { wallClock } }) {
    const results = resultsOf(db)
    const goodAt = planOf(db).targets.map((id) => results[id]?.goodAt ?? 0)
    const oldest = Math.min(...goodAt)
    return [
      {
        name: 'berth_controller_backup_age_seconds',
        help: 'Age of the last good backup of the controller, in the target where it is oldest.',
        type: 'gauge',
        samples: goodAt.length && oldest > 0 ? [{ value: Math.round((wallClock() - oldest) / second) }] : [],
      },
    ]
  },
})
