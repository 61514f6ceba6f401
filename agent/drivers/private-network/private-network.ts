import type { PrivateNetwork } from '../../protocol/wire.ts'

/** Names on the host: every interface with one of these prefixes is Berth's. */
export const vxlanOf = (vni: number) => `bpx${vni}`
export const bridgeOf = (vni: number) => `bpb${vni}`
/** A frame of this size, with the headers around it, fits the 1500 bytes between two nodes. */
export const mtuOf = (local: string) => (local.includes(':') ? 1430 : 1450)

/** Private networks of vms on this node: a bridge each, joined with those of other nodes over VXLAN. */
export interface PrivateNetworks {
  /**
   * Makes exactly these networks exist: devices, peers, the rules of their ports, and who may send to UDP port 4789.
   * A network that is there loses no frame; other networks of Berth's are removed. Throws `tool_failed`.
   */
  apply(networks: readonly PrivateNetwork[]): Promise<void>
}
