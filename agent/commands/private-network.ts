import type { privateNetworkCommands } from '../protocol/commands/private-network.ts'
import type { Handlers } from './handlers.ts'

export const privateNetwork = {
  'network.set': async (network, { privateNetworking }) => ({ waiting: await privateNetworking.set(network) }),
  async 'network.remove'({ network }, { privateNetworking }) {
    await privateNetworking.remove(network)
    return {}
  },
} satisfies Handlers<typeof privateNetworkCommands>
