import { Failure } from '../failure.ts'
import type { Handlers } from '../host/host.ts'
import { startWanted } from '../host/start-vm.ts'
import type { sourceHostCommands } from '../protocol/commands/source-host.ts'
import { sourcePasswordPurpose } from '../protocol/values/source-hosts.ts'
import { MOST_FRAME_BYTES } from '../protocol/wire.ts'

/** The rest of a frame holds the answer's key. */
const MOST_ANSWER_BYTES = MOST_FRAME_BYTES - 4096

/** A longer frame would cost this node its connection. */
function fitting<A>(host: string, answer: A): A {
  if (Buffer.byteLength(JSON.stringify(answer)) > MOST_ANSWER_BYTES)
    throw new Failure('source_invalid', `${host} says more about its servers than anybody can read`)
  return answer
}

export const sourceHost = {
  'source-host.key': async (_, { sourceHosts }) => ({ publicKey: await sourceHosts.key() }),

  async 'source-host.add-keys'({ host, password: encrypted, keys }, { decrypt, sourceHosts }) {
    const password = decrypt(sourcePasswordPurpose(host.address), encrypted)
    return sourceHosts.addKeys({ host, password, keys })
  },

  'source-host.remove-keys': async ({ host, nodeIds }, { sourceHosts }) => sourceHosts.removeKeys(host, nodeIds),

  'source-host.look': async ({ host }, { sourceHosts }) => sourceHosts.look(host),

  async 'source-servers.look'({ host, servers }, { sourceHosts }) {
    return fitting(host.address, await sourceHosts.servers(host, servers))
  },

  async 'own-servers.look'({ servers }, { sourceHosts }) {
    return fitting('this host', { servers: await sourceHosts.ownServers(servers) })
  },

  'source-host.save': async (of, { sourceServers }) => sourceServers.save(of),

  'source-host.stop': async ({ graceSeconds, ...of }, { sourceServers }) => sourceServers.stop(of, graceSeconds),

  async 'source-host.start'({ definition, ...of }, { sourceServers }) {
    await sourceServers.start(of, definition)
    return {}
  },

  async 'source-host.start-here'({ workload, host: source, domain }, host) {
    if ((await host.hypervisor.power(workload)) !== 'running') {
      const { servers } = await host.sourceHosts.servers(source, [{ domain }])
      const state = servers[0]?.state
      if (state !== 'off' && state !== 'absent')
        throw new Failure('source_started', `${domain} is ${state} at ${source.address}`)
    }
    await startWanted(host, workload)
    return {}
  },

  async 'source-host.adopt'(input, { adoptions, storage }) {
    return adoptions.adopt({ ...input, pool: await storage.answering(input.volume.pool) })
  },

  async 'source-host.give-back'(input, { adoptions, hypervisor, storage }) {
    const power = await hypervisor.power(input.volume.workload)
    if (power === 'running' || power === 'paused')
      throw new Failure('volume_in_use', `${input.volume.workload} is ${power} on this node, and has the disk open`)
    await adoptions.giveBack({ ...input, pool: await storage.answering(input.volume.pool) })
    return {}
  },

  async 'source-host.forget'(of, { adoptions, sourceServers }) {
    await sourceServers.forget(of)
    if (of.host === null) await adoptions.forget(of.domain)
    return {}
  },

  async 'source-host.copy'(input, { sourceCopies, storage }) {
    return sourceCopies.copy({ ...input, pool: await storage.answering(input.volume.pool) })
  },

  async 'source-host.limit'({ copy, maxMbps }, { sourceCopies }) {
    sourceCopies.limit(copy, maxMbps)
    return {}
  },

  async 'source-host.discard'({ copy, volume }, { hypervisor, sourceCopies, storage }) {
    const power = await hypervisor.power(volume.workload)
    if (power === 'running' || power === 'paused')
      throw new Failure('volume_in_use', `${volume.workload} is ${power} on this node, and has the disk of this copy`)
    await sourceCopies.discard(copy, volume, await storage.answering(volume.pool))
    return {}
  },
} satisfies Handlers<typeof sourceHostCommands>
