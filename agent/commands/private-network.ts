import type { Commands } from './commands.ts'

export const privateNetworkCommands = {
  'network.set': async (network, { privateNetworking }) => ({ waiting: await privateNetworking.set(network) }),
  async 'network.remove'({ network }, { privateNetworking }) {
    await privateNetworking.remove(network)
    return {}
  },
} satisfies Partial<Commands>
