// The private cards of a server in the data for its boot, for guests without a guest agent.
import type { ConfigDrive, Seed } from '../../../agent/protocol/wire.ts'
import { managementAddressOf } from '../../fleet/node-records/queries.ts'
import type { Db } from '../../kernel/db/open.ts'
import { toNetwork } from '../../network/ip-pools/ranges.ts'
import { macOf } from '../../network/private-network-records/model.ts'
import { membershipsOf, networkById } from '../../network/private-network-records/queries.ts'
import { netmask } from './config-drive.ts'
import { withCards } from './network-config.ts'

/** The seed with the addresses of the server's private cards beside those that it has. */
export function withPrivateCards<S extends Seed | ConfigDrive>(tx: Db, seed: S): S {
  const cards = membershipsOf(tx, seed.workload)
  if (cards.length === 0) return seed
  if ('form' in seed) return { ...seed, networkData: withLinks(tx, seed.networkData as NetworkData, cards) }
  const own = cards.map(({ networkId, number, ipv4, ipv6, nodeId }) => ({
    name: `priv${number}`,
    mac: macOf(number),
    mtu: mtuOn(tx, nodeId),
    addresses: [`${ipv4}/${bitsOf(tx, networkId)}`, ...(ipv6 ? [`${ipv6}/64`] : [])],
    gateways: [],
    resolvers: [],
  }))
  return { ...seed, networkConfig: withCards(seed.networkConfig, own) }
}

const mtuOn = (tx: Db, nodeId: string) => (managementAddressOf(tx, nodeId)?.includes(':') ? 1430 : 1450)
const bitsOf = (tx: Db, networkId: string) => toNetwork(networkById(tx, networkId)!.ipv4)!.bits

type NetworkData = { links: readonly object[]; networks: readonly object[] }
/** The same in a config drive. */
const withLinks = (tx: Db, { links, networks, ...rest }: NetworkData, cards: ReturnType<typeof membershipsOf>) => ({
  ...rest,
  links: [
    ...links,
    ...cards.map(({ number, nodeId }) => ({
      id: `priv${number}`,
      type: 'phy',
      ethernet_mac_address: macOf(number),
      mtu: mtuOn(tx, nodeId),
    })),
  ],
  networks: [
    ...networks,
    ...cards.flatMap(({ networkId, number, ipv4, ipv6 }) => {
      const link = `priv${number}`
      return [
        { id: `${link}-ipv4`, type: 'ipv4', link, ip_address: ipv4, netmask: netmask(4, bitsOf(tx, networkId)) },
        ...(ipv6 ? [{ id: `${link}-ipv6`, type: 'ipv6', link, ip_address: ipv6, netmask: netmask(6, 64) }] : []),
      ]
    }),
  ],
})
