import type { PortRules } from '../../protocol/wire.ts'

/** The packet filter that limits every vm to its own MAC and IP addresses. */
export interface Firewall {
  /**
   * Replaces all rules of Berth's by these in one transaction. Throws `firewall_failed`; the old rules then stay in
   * force.
   */
  load(rules: readonly PortRules[]): Promise<void>
  /** False when the rules were changed or removed since the last `load`, or were never loaded. */
  intact(): Promise<boolean>
}
