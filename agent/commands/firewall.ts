import type { Commands } from './commands.ts'

export const firewallCommands = {
  async 'firewall.allow'(rules, { portSecurity }) {
    await portSecurity.allow(rules)
    return {}
  },
  async 'firewall.forget'({ workload }, { portSecurity }) {
    await portSecurity.forget(workload)
    return {}
  },
} satisfies Partial<Commands>
