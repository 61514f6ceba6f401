// For tests of what a crash does: the process kills itself at a named moment of a job, once, as a power cut would.
import { existsSync, writeFileSync } from 'node:fs'
import type { Failpoints } from '../kernel/jobs/runner/execution.ts'

/** `wanted` is `kind/step:moment` as the runner names them; undefined: never. */
export function crashAt(wanted: string | undefined, dir: string): Failpoints {
  if (!wanted) return () => {}
  const mark = `${dir}/crash-done`
  return (moment) => {
    if (moment !== wanted || existsSync(mark)) return
    writeFileSync(mark, moment)
    process.kill(process.pid, 'SIGKILL')
    Bun.sleepSync(10_000) // the signal arrives in a moment; nothing may happen until then
  }
}
