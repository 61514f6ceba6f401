import type { Handlers } from '../host/host.ts'
import type { seedCommands } from '../protocol/commands/seed.ts'
import { purposeOf } from '../protocol/wire.ts'

export const seed = {
  async 'seed.write'(seed, { seeds, decrypt }) {
    if ('form' in seed) {
      const { adminPassword, ...drive } = seed
      const password = adminPassword && decrypt(purposeOf(seed.workload), adminPassword)
      await seeds.write({ ...drive, ...(password !== undefined && { password }) })
    } else await seeds.write(seed)
    return {}
  },
  /** Ejects before it deletes: a vm whose definition names a missing file does not start. */
  async 'seed.remove'({ workload }, { hypervisor, seeds }) {
    await hypervisor.eject(workload)
    await seeds.remove(workload)
    return {}
  },
} satisfies Handlers<typeof seedCommands>
