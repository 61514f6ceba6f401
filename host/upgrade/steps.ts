import { crashAt } from '../../agent/protocol/release/crash-at.ts'

/** The moments of an upgrade between which a crash is tried. */
export const upgradeSteps = [
  'prepared',
  'watched',
  'restarted',
  'copied',
  'trying',
  'switched',
  'answered',
  'done',
  'history',
  'last good program',
  'going back',
  'database restored',
  'program put back',
] as const
export const steps = crashAt('BERTH_CRASH_AT_UPGRADE', upgradeSteps)
