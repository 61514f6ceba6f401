import { say } from '../controller-link/job-log.ts'
import { MOST_GUEST_BYTES } from '../drivers/guest-agent/guest-agent.ts'
import { Failure, wordsOf } from '../failure.ts'
import type { Handlers, Host } from '../host/host.ts'
import type { guestAgentCommands } from '../protocol/commands/guest-agent.ts'
import { startupFiles } from '../protocol/startup-script.ts'
import { purposeOf, type StartupResult } from '../protocol/wire.ts'
import { guestAddresses } from './vms/guest-addresses.ts'
import { readdress } from './vms/readdress.ts'

/** Failures of a guest, not of the node: the caller goes another way. */
const ofGuest: readonly string[] = [
  'guest_agent_silent',
  'guest_agent_broken',
  'guest_frozen',
  'guest_refused',
  'guest_timeout',
]
const isOfGuest = (error: unknown) => error instanceof Failure && ofGuest.includes(error.code)

export const guestAgent = {
  ...guestAddresses,
  ...readdress,

  async 'guest.set-password'({ workload, user, hash }, { guestAgent, decrypt }) {
    const password = hash.startsWith('$') ? { hash } : { text: decrypt(purposeOf(workload), hash) }
    try {
      await guestAgent.setPassword(workload, user, password)
    } catch (error) {
      if (!isOfGuest(error)) throw error
      say('warning', `The password was not set in the running guest: ${wordsOf(error)}`)
      return { set: false }
    }
    return { set: true }
  },

  async 'guest.look'({ workload, script }, { guestAgent }) {
    try {
      const { osId, osName, osVersion, kernel } = await guestAgent.info(workload)
      const system = { osId, osName, osVersion, kernel }
      return {
        answers: true,
        system,
        script: script ? await startupResult(guestAgent, workload) : null,
        fileSystems: await fileSystemsOf(guestAgent, workload),
      }
    } catch (error) {
      if (!isOfGuest(error)) throw error
      return { answers: false, system: null, script: null }
    }
  },
} satisfies Handlers<typeof guestAgentCommands>

/** Undefined where the guest does not tell: Windows may refuse it, and the rest of the look counts all the same. */
async function fileSystemsOf(agent: Host['guestAgent'], workload: string) {
  try {
    return await agent.fileSystems(workload)
  } catch (error) {
    if (isOfGuest(error)) return undefined
    throw error
  }
}

/** Null while the script runs, and where its guest has none. */
async function startupResult(agent: Host['guestAgent'], workload: string): Promise<StartupResult | null> {
  try {
    const exitCode = new TextDecoder().decode(await agent.readFile(workload, startupFiles.exitCode)).trim()
    if (!/^\d{1,3}$/.test(exitCode) || Number(exitCode) > 255) return null
    const bytes = await agent.readFile(workload, startupFiles.output)
    // A file of this size is the longest that is stored, so more was written.
    const truncated = bytes.length >= MOST_GUEST_BYTES
    return { exitCode: Number(exitCode), output: new TextDecoder().decode(bytes), truncated }
  } catch (error) {
    if (isOfGuest(error)) return null
    throw error
  }
}
