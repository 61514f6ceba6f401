import type { PrivateNetwork } from '../../protocol/wire.ts'
import type { PrivateNetworks } from './private-network.ts'

/** Private networks by name only: what was applied last. */
export class FakePrivateNetworks implements PrivateNetworks {
  applied: readonly PrivateNetwork[] = []
  async apply(networks: readonly PrivateNetwork[]) {
    this.applied = networks
  }
}
