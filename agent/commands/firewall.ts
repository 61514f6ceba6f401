import type { Commands } from './index.ts'

export const firewallCommands = {
  async 'firewall.allow'(allowance, { portSecurity }) {
    await portSecurity.allow(allowance)
    return {}
  },
  async 'firewall.forget'({ server }, { portSecurity }) {
    await portSecurity.forget(server)
    return {}
  },
} satisfies Partial<Commands>
