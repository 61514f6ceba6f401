import type { Uplink, VlanRange } from '../../protocol/wire.ts'

/** Names on the host: every interface `bvl` or `bvb` with a number is Berth's. */
export const deviceOf = (vlan: number) => `bvl${vlan}`
export const vlanBridgeOf = (vlan: number) => `bvb${vlan}`

/** As the operator said it: the interface that leads out of the node, and the VLANs that its switch port has. */
export type UplinkSettings = { name: string; vlans: readonly VlanRange[] }

/** VLANs on the uplink of this node, a bridge for each that vms are in. */
export interface Vlans {
  /** The uplink as it is now. Throws nothing: what is wrong with it is its `problem`. */
  look(settings: UplinkSettings): Promise<Uplink>
  /**
   * Makes a bridge for each of these VLANs, joined with that VLAN of the uplink and with nothing of the host. Bridges
   * of other VLANs are removed when no vm is on them. Without an uplink those that are there stay as they are.
   * Converges, also after a boot or where another program removed something. Answers why some could not be made, in
   * words.
   */
  apply(uplink: string | undefined, vlans: readonly number[]): Promise<ReadonlyMap<number, string>>
}
