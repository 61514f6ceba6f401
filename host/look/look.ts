// Before an installation changes anything: all that is in its way, said together.
import type { Flags } from '../flags.ts'
import type { Machine } from '../machine/machine.ts'
import { Failed } from '../machine/report.ts'
import { nameProblems } from './names.ts'
import { networkProblems } from './network.ts'
import { portProblems } from './ports.ts'
import { needsOf, spaceProblems } from './space.ts'
import { uplinkProblems } from './uplink.ts'

/** Throws `Failed` with every problem. */
export function lookBefore(machine: Machine, flags: Flags) {
  const problems = [
    ...spaceProblems(needsOf(machine, flags)),
    ...portProblems(machine, flags),
    ...networkProblems(machine, flags),
    ...uplinkProblems(flags),
    ...nameProblems(machine, flags),
  ]
  if (problems.length === 0) return
  const lines = problems.map(({ problem, remedy }) => `- ${problem}\n  ${remedy}`)
  throw new Failed(
    `${problems.length === 1 ? 'This is' : 'These are'} in the way:\n${lines.join('\n')}`,
    'Nothing of Berth was changed. Put that right and run the same command again.',
  )
}
