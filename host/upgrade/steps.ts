// For tests of what a crash does: `BERTH_CRASH_AT_UPGRADE=STEP@FILE` names a step of an upgrade after which the process
// kills itself, once, as a power cut would. The file remembers that it did.
import { existsSync, writeFileSync } from 'node:fs'

const [wanted, mark = ''] = (process.env['BERTH_CRASH_AT_UPGRADE'] ?? '').split('@')

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

export const steps = {
  passed(step: (typeof upgradeSteps)[number]) {
    if (step !== wanted || existsSync(mark)) return
    writeFileSync(mark, step)
    process.kill(process.pid, 'SIGKILL')
    Bun.sleepSync(10_000) // the signal arrives in a moment; nothing may happen until then
  },
}
