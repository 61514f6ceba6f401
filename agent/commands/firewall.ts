import { wordsOf } from '../failure.ts'
import { log } from '../log.ts'
import type { Commands } from './commands.ts'

export const firewallCommands = {
  async 'firewall.allow'(rules, { portSecurity }) {
    await portSecurity.allow(rules)
    return {}
  },
  async 'firewall.forget'({ workload }, { portSecurity, metering }) {
    // Traffic that cannot be counted any more keeps no vm from going.
    await metering
      .forget(workload)
      .catch((error) => log('warning', 'the last traffic of a vm is not counted', { workload, error: wordsOf(error) }))
    await portSecurity.forget(workload)
    return {}
  },
} satisfies Partial<Commands>
