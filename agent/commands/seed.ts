import type { Commands } from './commands.ts'

export const seedCommands = {
  async 'seed.write'(seed, { seeds }) {
    await seeds.write(seed)
    return {}
  },
  /** Ejects before it deletes: a vm whose definition names a missing file does not start. */
  async 'seed.remove'({ workload }, { hypervisor, seeds }) {
    await hypervisor.eject(workload)
    await seeds.remove(workload)
    return {}
  },
} satisfies Partial<Commands>
