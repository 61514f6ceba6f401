import type { Port } from '../../state.ts'

/** The host's side of the vms' network. */
export interface Network {
  /** Throws `no_bridge` with the names of the bridges that exist. */
  mustHaveBridge(name: string): Promise<void>
  /** Limits the port of a running vm to its speed in both directions, or removes the limit. Converges. */
  limit(port: Port): Promise<void>
  /** Removes the limit and its devices; works when the tap is gone. */
  unlimit(tap: string): Promise<void>
  /** True when an SSH server greets at `address` within a second. */
  sshAnswers(address: string): Promise<boolean>
}
