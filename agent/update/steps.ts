import { crashAt } from '../protocol/release/crash-at.ts'

/** The moments of the agent's part in an update, between which a crash is tried. */
export const updateSteps = [
  'manifest verified',
  'file fetched',
  'program verified',
  'host noted',
  'trial begun',
  'host probed',
  'acceptance heard',
  'acceptance written',
  'rejection written',
] as const
export const steps = crashAt('BERTH_CRASH_AT_UPDATE', updateSteps)
