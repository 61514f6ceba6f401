// Addresses, and the ports of vms in the protocol.
import { type Static, Type as t } from 'typebox'
import { workloadId } from '../bounds.ts'
import { PortPolicy } from '../firewall.ts'

export const mac = t.String({ pattern: '^([0-9a-f]{2}:){5}[0-9a-f]{2}$' })
/** A tap is `bth<workload number>`; Linux allows 15 characters. Every interface with this prefix is Berth's. */
export const TAP_PREFIX = 'bth'
export const tap = t.String({ pattern: '^bth[0-9]{1,11}$' })
export const address = t.String({ maxLength: 45, pattern: '^[0-9a-fA-F.:]+$' })
export const cidr = t.String({ maxLength: 49, pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$' })

export const MANY = { maxItems: 1000 }
/** The frames that a vm may send. Addresses are the controller's allocation and are never learned. */
export const PortRules = t.Object({
  workload: workloadId,
  tap,
  mac,
  ipv4: t.Array(address, MANY),
  ipv6: t.Array(cidr, MANY),
  /** Left out: the node keeps the policy that it has for the workload. */
  policy: t.Optional(PortPolicy),
})
export type PortRules = Static<typeof PortRules>

/** A private tap is `btp<number>`. */
const privateTap = t.String({ pattern: '^btp[0-9]{1,11}$' })
export const networkId = t.String({ pattern: '^net_[0-9a-z]{26}$' })
/**
 * A private network on one node, all of it: its ports there, and the other nodes that have ports, with the MAC
 * addresses behind each. `vni` is unique over all networks; `local` is this node's address between the nodes.
 */
export const PrivateNetwork = t.Object({
  network: networkId,
  vni: t.Integer({ minimum: 1, maximum: 2 ** 24 - 1 }),
  local: address,
  peers: t.Array(t.Object({ address, macs: t.Array(mac, MANY) }), { maxItems: 500 }),
  /** `addresses` are the vm's own in the network, with its prefix length. */
  ports: t.Array(t.Object({ workload: workloadId, tap: privateTap, mac, addresses: t.Array(cidr, { maxItems: 8 }) }), {
    maxItems: 500,
  }),
})
export type PrivateNetwork = Static<typeof PrivateNetwork>
