import { say } from '../controller-link/job-log.ts'
import { Failure } from '../failure.ts'
import type { Host } from '../host/host.ts'
import { startGuest } from '../host/start-vm.ts'
import type { Output } from '../protocol/wire.ts'
import type { Commands } from './index.ts'

const POLL_MS = 200
const AGENT_EVERY_MS = 1000
const POWER_EVERY_MS = 5000

export const domainCommands = {
  async 'domain.define'(domain, host) {
    await host.network.mustHaveBridge(domain.network.bridge)
    const seedPath = domain.seeded ? await mustHaveSeed(host, domain.server) : undefined
    const disk = host.storage.pool(domain.volume.pool).disk(domain.volume)
    host.state.keepPort(domain.server, { tap: domain.network.tap, mbps: domain.network.portMbps })
    await host.hypervisor.define(domain, disk, seedPath)
    return {}
  },

  'domain.look': async ({ server }, { hypervisor }) => ({ power: await hypervisor.power(server) }),

  async 'domain.start'({ server }, host) {
    if (!host.state.hasAllowance(server))
      throw new Failure('no_allowance', `${server} has no firewall rules on this node yet, so it is not started`)
    await startGuest(host, server)
    // Noted last: a crash before this line means the command runs again, and a start that failed is not tried at every boot.
    host.state.wantRunning(server)
    return {}
  },

  async 'domain.stop'({ server, graceSeconds }, { hypervisor, state }) {
    state.wantStopped(server)
    await hypervisor.stop(server, graceSeconds)
    return {}
  },

  async 'domain.remove'({ server }, { hypervisor, network, seeds, state }) {
    state.wantStopped(server)
    await hypervisor.remove(server)
    await seeds.remove(server)
    const port = state.port(server)
    if (port) await network.unlimit(port.tap)
    state.forgetPort(server)
    return {}
  },

  async 'domain.await'({ server, address, limitSeconds }, host) {
    const began = Date.now()
    const answered = await firstAnswer(host, server, address, began + limitSeconds * 1000)
    const seconds = ((Date.now() - began) / 1000).toFixed(1)
    say(
      answered === 'no' ? 'warning' : 'info',
      answered === 'no'
        ? `The guest did not answer within ${seconds} s`
        : `The guest answers by ${answered} after ${seconds} s`,
    )
    return { answered }
  },
} satisfies Partial<Commands>

async function mustHaveSeed(host: Host, server: string): Promise<string> {
  const path = await host.seeds.path(server)
  if (!path) throw new Failure('no_seed', `${server} has no seed on this node; seed.write comes before domain.define`)
  return path
}

/**
 * The cheap question (a TCP connection) is asked at every turn; the dear one (a process) often at first, when a small guest
 * may be up at once, later once a second.
 */
async function firstAnswer(
  host: Host,
  server: string,
  address: string | null,
  until: number,
): Promise<Output<'domain.await'>['answered']> {
  const began = Date.now()
  let askAgentAt = began
  let askPowerAt = began + POWER_EVERY_MS
  while (Date.now() < until) {
    if (address && (await host.network.sshAnswers(address))) return 'ssh'
    if (Date.now() >= askAgentAt) {
      if (await host.hypervisor.guestAnswers(server)) return 'agent'
      askAgentAt = Date.now() + Math.min(AGENT_EVERY_MS, 20 + (Date.now() - began) / 2)
    }
    if (Date.now() >= askPowerAt) {
      // A hypervisor that is being restarted is no answer of the guest's.
      const power = await host.hypervisor.power(server).catch(() => 'running')
      if (power !== 'running') {
        say('warning', `The guest is ${power} and will not answer`)
        return 'no'
      }
      askPowerAt = Date.now() + POWER_EVERY_MS
    }
    await Bun.sleep(Math.max(1, Math.min(POLL_MS, askAgentAt - Date.now())))
  }
  return 'no'
}
