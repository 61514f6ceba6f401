import { Type as t } from 'typebox'
import { workloadId } from '../bounds.ts'
import { FirewallReport, PortPolicy } from '../firewall.ts'
import { address, PortRules } from '../values/ports.ts'
import { act, look } from './declare.ts'

const nothing = t.Object({})
/** Failures of rules that are loaded. */
export const loadsRules = ['firewall_failed', 'invalid_address'] as const

export const firewallCommands = {
  /** Loads the vm's rules, which replace its earlier ones, and stores them for reboots of the host. */
  'firewall.allow': act({ input: PortRules, output: nothing, failures: loadsRules }),
  /**
   * Puts the policy of the vm's port into force. A policy older than the one in force changes nothing, nor does one of
   * a vm without rules: `firewall.allow` brings it.
   */
  'firewall.set-policy': act({
    input: t.Object({ workload: workloadId, policy: PortPolicy }),
    output: nothing,
    failures: loadsRules,
    outOfTurn: true,
  }),
  /** The counters of the vm's firewall. */
  'firewall.look': look({
    input: t.Object({ workload: workloadId }),
    output: FirewallReport,
    failures: [...loadsRules, 'no_port_rules'],
  }),
  /** Removes the vm's rules: its tap then sends nothing. */
  'firewall.forget': act({ input: t.Object({ workload: workloadId }), output: nothing, failures: loadsRules }),
  /**
   * Lets the vm use floating addresses beside those of its `firewall.allow`, or not any more; they last until they are
   * taken away, also while the vm has no rules. On: another vm of this node that had one loses it, and the neighbours
   * learn where the address is.
   */
  'firewall.float': act({
    input: t.Object({ workload: workloadId, addresses: t.Array(address, { maxItems: 100 }), on: t.Boolean() }),
    output: nothing,
    failures: [...loadsRules, 'no_port_rules'],
    outOfTurn: true,
  }),
}
