import type { PortRules } from '../../protocol/wire.ts'

/** What keeps guests to their own addresses. */
export interface Firewall {
  /** Replaces all rules of ours by these, in one step: there is no moment with half of them. */
  load(rules: readonly PortRules[]): Promise<void>
  /** False when somebody changed or removed the rules since they were loaded. */
  intact(): Promise<boolean>
}
