import { Failure } from '../failure.ts'
import type { Handlers } from '../host/host.ts'
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
} satisfies Handlers<typeof sourceHostCommands>
