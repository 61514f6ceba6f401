// The step "Enrolment" as a process of its own, which waits for the program that it starts: `bun enrolling.ts DIR URL
// TOKEN UPLINK VLANS`. Prints how it ended.
import { openMachine } from '../../host/machine/machine.ts'
import { installed, usedToken } from '../../host/machine/paths.ts'
import { Failed } from '../../host/machine/report.ts'
import { enrol } from '../../host/node/enrol.ts'

export const pathsIn = (dir: string) => ({
  ...installed,
  agentState: `${dir}/state`,
  settings: `${dir}/settings`,
  program: `${dir}/berth`,
})
/** `isAnew`: the agent is started anew afterwards. */
export type Enrolled = { code: number; note: string; isAnew: boolean; err: string }

if (import.meta.main) {
  const [dir = '', controllerUrl = '', token = '', uplink, vlans] = process.argv.slice(2)
  const machine = openMachine(`${dir}/log`, pathsIn(dir))
  const ended = { code: 0, note: '', err: '' }
  try {
    const wanted = {
      ...({ mode: 'agent', bridge: 'berthbr0', controllerUrl } as const),
      ...(token && { token }),
      ...(uplink && { uplink }),
      ...(vlans && { vlans }),
    }
    ended.note = enrol(machine, wanted)
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    Object.assign(ended, { code: 1, err: `${error.problem}\n${error.remedy}` })
  }
  console.log(JSON.stringify({ ...ended, isAnew: machine.changed.has(usedToken(machine.paths)) }))
}
