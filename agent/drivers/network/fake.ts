import { Failure } from '../../failure.ts'
import type { Port } from '../../state.ts'
import type { Network, RoutedPrefix } from './network.ts'

/** Bridges by name only. There is nothing to connect to, so its vms answer by guest agent and never by SSH. */
export class FakeNetwork implements Network {
  readonly limits = new Map<string, Port>()
  constructor(private bridges: readonly string[]) {}

  async mustHaveBridge(name: string) {
    if (!this.bridges.includes(name))
      throw new Failure('no_bridge', `this node has no bridge ${name}; it has ${this.bridges.join(', ')}`)
  }
  async limit(port: Port) {
    this.limits.set(port.tap, port)
  }
  async unlimit(tap: string) {
    this.limits.delete(tap)
  }
  readonly announced: string[] = []
  async announce({ mac }: { mac: string }, addresses: readonly string[]) {
    for (const address of addresses) this.announced.push(`${address} is at ${mac}`)
  }
  routed: readonly RoutedPrefix[] = []
  async route(prefixes: readonly RoutedPrefix[]) {
    this.routed = prefixes
  }
  /** A test takes an address away by replacing it. */
  answering = async (_vm: { tap: string; mac: string }, addresses: readonly string[]) => [...addresses]
  /** Its vms answer to ping; a test takes an address away by replacing it. */
  pinged = async (addresses: readonly string[]) => [...addresses]
  /** A test opens a port by replacing it. */
  accepts = async (_address: string, _port: number) => false
  sshAt = async () => 'silent' as const
}
