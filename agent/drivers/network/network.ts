import type { Port } from '../../state.ts'

/** A prefix of a vm, and the address of its guest to which all of it goes. */
export type RoutedPrefix = { prefix: string; nextHop: string }

/** The host's side of the vms' network. */
export interface Network {
  /** Throws `no_bridge` with the names of the bridges that exist. */
  mustHaveBridge(name: string): Promise<void>
  /**
   * Limits the port of a running vm in each direction, or removes the limit. A limit that changes does so without a gap
   * in the traffic. Converges.
   */
  limit(port: Port): Promise<void>
  /** Removes the limit and its devices; works when the tap is gone. */
  unlimit(tap: string): Promise<void>
  /**
   * Tells every neighbour on the vm's bridge, and beyond its uplink, that these addresses are at the vm's MAC address:
   * gratuitous ARP, and unsolicited neighbour advertisements. The host forgets where it believed them to be. Without a
   * tap, because the vm is off, nobody is told. Throws `announce_failed`.
   */
  announce(vm: { tap: string; mac: string }, addresses: readonly string[]): Promise<void>
  /**
   * Routes these prefixes and no others, where the node is the router of the link that they lie in; elsewhere it does
   * nothing. Converges, also where another program removed a route.
   */
  route(prefixes: readonly RoutedPrefix[]): Promise<void>
  /**
   * Those of the addresses for which the vm's card answers within a second: ARP and neighbour discovery, asked at its
   * tap, so that the host needs no address in their networks. None without a tap. Throws `announce_failed` where the
   * host cannot ask.
   */
  answering(vm: { tap: string; mac: string }, addresses: readonly string[]): Promise<string[]>
  /**
   * Those of the addresses that answer an ICMP echo within a second, by the host's own routes. Throws `ping_failed`
   * where the host cannot ask.
   */
  pinged(addresses: readonly string[]): Promise<string[]>
  /** Whether something accepts a TCP connection to the port of `address` within a second. */
  accepts(address: string, port: number): Promise<boolean>
  /** Whether an SSH server greets at `address` within a second. */
  sshAt(address: string): Promise<SshState>
}

/** `closed`: the system answers there, and its SSH server does not, or not yet. `silent`: nothing answers. */
export type SshState = 'greets' | 'closed' | 'silent'
