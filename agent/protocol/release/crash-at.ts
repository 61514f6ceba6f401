// For tests of what a crash does: a variable `STEP@FILE` names a step after which the process kills itself, once, as a
// power cut would. The file remembers that it did.
import { existsSync, writeFileSync } from 'node:fs'

/** The moments between which a crash is tried. Without the variable `passed` does nothing. */
export function crashAt<const Step extends string>(variable: string, _steps: readonly Step[]) {
  const [wanted, mark = ''] = (process.env[variable] ?? '').split('@')
  return {
    passed(step: Step) {
      if (step !== wanted || existsSync(mark)) return
      writeFileSync(mark, step)
      process.kill(process.pid, 'SIGKILL')
      Bun.sleepSync(10_000) // the signal arrives in a moment; nothing may happen until then
    },
  }
}
