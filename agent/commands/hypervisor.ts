import { say } from '../controller-link/job-log.ts'
import type { ExtraDisk } from '../drivers/hypervisor/hypervisor.ts'
import { Failure } from '../failure.ts'
import type { Handlers, Host } from '../host/host.ts'
import { limitVm, startWanted } from '../host/start-vm.ts'
import type { hypervisorCommands } from '../protocol/commands/hypervisor.ts'
import { type Output, serialOf, type Vm, type Volume } from '../protocol/wire.ts'
import { drills } from './vms/drill.ts'
import { lookAtGuest } from './vms/look-at-guest.ts'
import { reachGuest } from './vms/reach-guest.ts'

const POLL_MS = 200
const AGENT_EVERY_MS = 1000
const POWER_EVERY_MS = 5000

export const hypervisor = {
  ...drills,
  ...reachGuest,

  async 'vm.define'(vm, host) {
    await defineVm(vm, host)
    return {}
  },

  async 'vm.set-restart-policy'({ workload, restartPolicy }, { hypervisor, state }) {
    if ((await hypervisor.power(workload)) === 'absent')
      throw new Failure('no_vm', `${workload} has no virtual machine on this node`)
    state.keepRestartPolicy(workload, restartPolicy)
    return {}
  },

  async 'vm.set-iso'({ workload, iso }, host) {
    await host.hypervisor.insert(workload, await mustHaveIso(host, iso))
    return {}
  },

  async 'vm.set-speed'({ workload, speed }, host) {
    const port = host.state.port(workload)
    const power = await host.hypervisor.power(workload)
    if (!port || power === 'absent') throw new Failure('no_vm', `${workload} has no virtual machine on this node`)
    host.state.keepPort(workload, { ...port, speed })
    if (power === 'running' || power === 'paused') await limitVm(host, workload, { ...port, speed })
    return {}
  },

  'vm.look': async ({ workload }, { hypervisor }) => ({ power: await hypervisor.power(workload) }),

  async 'vm.start'({ workload }, host) {
    await startWanted(host, workload)
    return {}
  },

  async 'vm.stop'({ workload, graceSeconds }, { hypervisor, state }) {
    state.wantStopped(workload)
    await hypervisor.stop(workload, graceSeconds)
    return {}
  },

  async 'vm.remove'({ workload }, { consoles, hypervisor, network, seeds, state, vlans }) {
    state.wantStopped(workload)
    await hypervisor.remove(workload)
    await consoles.forget(workload)
    await seeds.remove(workload)
    const port = state.port(workload)
    if (port) await network.unlimit(port.tap)
    await vlans.release(workload)
    state.forgetPort(workload)
    state.keepPools(workload, [])
    state.forgetGuest(workload)
    return {}
  },

  async 'vm.await'({ workload, address, limitSeconds, look }, host) {
    const began = performance.now()
    const answered = await firstAnswer(host, workload, address, began + limitSeconds * 1000)
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    if (answered === 'no') say('warning', `The guest did not answer within ${seconds} s`)
    else if (answered !== 'off') say('info', `The guest answers by ${answered} after ${seconds} s`)
    const answers = answered === 'agent' || answered === 'ssh'
    return { answered, ...(look && answers && { seen: await lookAtGuest(host, workload, look) }) }
  },
} satisfies Handlers<typeof hypervisorCommands>

/** Creates the definition of a vm or replaces it. */
export async function defineVm(vm: Vm, host: Host) {
  const seedPath = vm.seeded ? await mustHaveSeed(host, vm.workload) : undefined
  const disk = await (await host.storage.answering(vm.volume.pool)).disk(vm.volume)
  const rescue = vm.rescue ? await (await host.storage.answering(vm.rescue.pool)).disk(vm.rescue) : undefined
  const iso = await mustHaveIso(host, vm.iso)
  host.state.keepPools(vm.workload, [vm.volume.pool, ...(vm.rescue ? [vm.rescue.pool] : [])])
  host.state.keepPort(vm.workload, { tap: vm.network.tap, speed: vm.speed })
  const bridge = await bridgeOf(vm, host)
  const nics = host.privateNetworking.nicsOf(vm.workload)
  const volumes = await Promise.all(host.state.attachedTo(vm.workload).map((volume) => extraDisk(host, volume)))
  await host.hypervisor.define({ ...vm, network: { ...vm.network, bridge } }, disk, seedPath, {
    rescue,
    iso,
    nics,
    volumes,
  })
  host.state.keepRestartPolicy(vm.workload, vm.restartPolicy)
}

/** The bridge on which its card hangs: that of the node, or that of its VLAN. Throws `no_bridge`. */
async function bridgeOf(vm: Vm, { network, vlans }: Host): Promise<string> {
  if (vm.network.vlan === undefined) await network.mustHaveBridge(vm.network.bridge)
  return vlans.attach(vm)
}

/** An extra volume as the hypervisor attaches it. */
export async function extraDisk({ storage }: Pick<Host, 'storage'>, volume: Volume): Promise<ExtraDisk> {
  return { disk: await (await storage.answering(volume.pool)).disk(volume), serial: serialOf(volume.workload) }
}

async function mustHaveSeed(host: Host, workload: string): Promise<string> {
  const path = await host.seeds.path(workload)
  if (!path) throw new Failure('no_seed', `${workload} has no seed on this node; seed.write comes before vm.define`)
  return path
}

async function mustHaveIso(host: Host, id: string | null): Promise<string | undefined> {
  if (id === null) return undefined
  const iso = await host.isos.find(id)
  if (!iso) throw new Failure('no_iso', `ISO ${id} is not on this node; iso.ensure comes before it is attached`)
  return iso.path
}

/**
 * Tries SSH (one TCP connection) every 200 ms. The guest agent costs a process per try, so it is tried often in the
 * first second, when a small guest may already be up, and once a second after that.
 */
async function firstAnswer(
  host: Host,
  workload: string,
  address: string | null,
  until: number,
): Promise<Output<'vm.await'>['answered']> {
  const began = performance.now()
  let askAgentAt = began
  let askPowerAt = began + POWER_EVERY_MS
  while (performance.now() < until) {
    if (address && (await host.network.sshAt(address)) === 'greets') return 'ssh'
    if (performance.now() >= askAgentAt) {
      if (await host.hypervisor.guestAnswers(workload)) return 'agent'
      askAgentAt = performance.now() + Math.min(AGENT_EVERY_MS, 20 + (performance.now() - began) / 2)
    }
    if (performance.now() >= askPowerAt) {
      // While the hypervisor restarts nothing is known about the vm, so waiting goes on.
      const power = await host.hypervisor.power(workload).catch(() => 'running')
      if (power !== 'running') {
        say('warning', `The vm is ${power}, so its guest will not answer`)
        return 'off'
      }
      askPowerAt = performance.now() + POWER_EVERY_MS
    }
    await Bun.sleep(Math.max(1, Math.min(POLL_MS, askAgentAt - performance.now())))
  }
  return 'no'
}
