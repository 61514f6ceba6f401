import type { Handlers } from '../host/host.ts'
import type { privateNetworkCommands } from '../protocol/commands/private-network.ts'

export const privateNetwork = {
  'network.set': async (network, { privateNetworking }) => ({ waiting: await privateNetworking.set(network) }),
  async 'network.remove'({ network }, { privateNetworking }) {
    await privateNetworking.remove(network)
    return {}
  },
} satisfies Handlers<typeof privateNetworkCommands>
