import type { FirewallReport } from '../../protocol/firewall.ts'
import type { PortRules } from '../../protocol/wire.ts'

/** The packet filter that limits every vm to its own MAC and IP addresses, and carries out its firewall. */
export interface Firewall {
  /**
   * Replaces all rules of Berth's by these in one transaction. Connections that a firewall remembered are forgotten.
   * Throws `firewall_failed`, `invalid_address`; the old rules then stay in force.
   */
  load(rules: readonly PortRules[]): Promise<void>
  /**
   * Replaces the rules of one vm, which are `old` in the state; undefined: it has none, or has none from now on. Throws
   * `firewall_failed`, `invalid_address`; the old rules then stay in force.
   */
  change(old: PortRules | undefined, next: PortRules | undefined): Promise<void>
  /** True when exactly these rules are in force, as they were loaded and changed here, also by an agent before. */
  intact(rules: readonly PortRules[]): Promise<boolean>
  /** True when the rules of this vm are there, without a look at those of others. */
  holds(rules: PortRules): Promise<boolean>
  /** The counters of a vm with these rules. Throws `firewall_failed` where they are not in force. */
  look(rules: PortRules): Promise<FirewallReport>
}
