import { Type as t } from 'typebox'
import { workloadId } from '../bounds.ts'
import { networkId, PrivateNetwork } from '../values/ports.ts'
import { act } from './declare.ts'

export const privateNetworkCommands = {
  /**
   * Sets a private network on this node, or replaces it: devices, rules, and the cards of its vms, also of running
   * ones. `waiting`: vms whose card comes or goes at their next start, because they cannot change while they run.
   */
  'network.set': act({
    input: PrivateNetwork,
    output: t.Object({ waiting: t.Array(workloadId, { maxItems: 500 }) }),
    failures: ['hypervisor_silent', 'invalid_address'],
  }),
  /** Removes a private network from this node, and the cards of its vms. Without it nothing happens. */
  'network.remove': act({
    input: t.Object({ network: networkId }),
    output: t.Object({}),
    failures: ['hypervisor_silent', 'invalid_address'],
  }),
}
