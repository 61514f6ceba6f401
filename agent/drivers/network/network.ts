import type { Port } from '../../state.ts'

/** The host's side of a guest's network. */
export interface Network {
  /** Throws `no_bridge`, naming the bridges there are. */
  mustHaveBridge(name: string): Promise<void>
  /** Holds a running guest's port to its speed, both ways. Done again it sets the same. */
  limit(port: Port): Promise<void>
  /** Undoes what `limit` left behind once the port is gone. */
  unlimit(tap: string): Promise<void>
  /** True when something at `address` greets as an SSH server. */
  sshAnswers(address: string): Promise<boolean>
}
