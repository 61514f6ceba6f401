// The network of a guest as cloud-init's network-config, in the version that its system reads best. Which version loses
// what with which system is measured by test/compute/installation/cloud-init.test.ts and told in docs/guests.md.
import type { NetworkConfigVersion } from '../../catalog/images/hardware.ts'

/** A network card of a guest. `isOnLink`: the gateway answers on its link, though no network of the card has it. */
export type Card = {
  name: string
  mac: string
  mtu?: number
  /** With prefix lengths. */
  addresses: readonly string[]
  gateways: readonly { version: 4 | 6; via: string; isOnLink: boolean }[]
  resolvers: readonly string[]
}

type V1 = { version: 1; config: readonly object[] }
type V2 = { version: 2; ethernets: Readonly<Record<string, object>> }

export function networkConfigOf(version: NetworkConfigVersion, cards: readonly Card[]): V1 | V2 {
  return version === 'v2'
    ? { version: 2, ethernets: Object.fromEntries(cards.map((card) => [card.name, inVersion2(card)])) }
    : { version: 1, config: cards.map(inVersion1) }
}

/** The same network with more cards. */
export function withCards(config: object, cards: readonly Card[]): V1 | V2 {
  const { version } = config as V1 | V2
  const added = networkConfigOf(version === 2 ? 'v2' : 'v1', cards)
  return added.version === 2
    ? { ...added, ethernets: { ...(config as V2).ethernets, ...added.ethernets } }
    : { ...added, config: [...(config as V1).config, ...added.config] }
}

/** IPv6 is `static` too: NetworkManager's renderer turns autoconfiguration on for `static6` before 23.2. */
function inVersion1({ name, mac, mtu, addresses, gateways, resolvers }: Card) {
  const versionOf = (cidr: string) => (cidr.includes(':') ? 6 : 4)
  const subnets = addresses.map((address, i) => {
    const isFirst = addresses.findIndex((other) => versionOf(other) === versionOf(address)) === i
    const gateway = isFirst && gateways.find(({ version }) => version === versionOf(address))
    return {
      type: 'static',
      address,
      ...(gateway && { gateway: gateway.via }),
      ...(i === 0 && resolvers.length && { dns_nameservers: resolvers }),
    }
  })
  return { type: 'physical', name, mac_address: mac, ...(mtu && { mtu }), 'accept-ra': false, subnets }
}

function inVersion2({ name, mac, mtu, addresses, gateways, resolvers }: Card) {
  return {
    match: { macaddress: mac },
    'set-name': name,
    ...(mtu && { mtu }),
    dhcp4: false,
    dhcp6: false,
    'accept-ra': false,
    addresses,
    ...(gateways.length && {
      routes: gateways.map(({ version, via, isOnLink }) => ({
        to: version === 4 ? '0.0.0.0/0' : '::/0',
        via,
        ...(isOnLink && { 'on-link': true }),
      })),
    }),
    ...(resolvers.length && { nameservers: { addresses: resolvers } }),
  }
}
