import type { Commands } from './index.ts'

export const firewallCommands = {
  async 'firewall.allow'(allowance, { guard }) {
    await guard.allow(allowance)
    return {}
  },
  async 'firewall.forget'({ server }, { guard }) {
    await guard.forget(server)
    return {}
  },
} satisfies Partial<Commands>
