// The forms in which a server can be sold addresses, with the network that its guest is to have of each.
import type { NetworkConfigVersion } from '../../../src/catalog/images/hardware.ts'
import type { Server } from '../../../src/compute/server-records/model.ts'
import { withCards } from '../../../src/compute/server-vm/network-config.ts'
import { networkFor } from '../../../src/compute/server-vm/seed.ts'
import type { HeldAddress } from '../../../src/network/ip-pools/allocate.ts'
import type { Network } from './rendered.ts'

export const server = {
  id: `srv_${'0'.repeat(26)}`,
  hostname: 'web01.example.com',
  mac: '02:00:00:00:00:01',
  os: 'linux',
  pendingPasswordHash: null,
  networkConfig: 'v1',
} as Server

const held = (version: 4 | 6, address: string, prefixLength: number, gateway: string, holderId: string | null = null) =>
  ({
    version,
    address,
    prefixLength,
    holderId,
    pool: { gateway, resolvers: version === 4 ? ['9.9.9.9', '149.112.112.112'] : ['2620:fe::fe'] },
  }) as HeldAddress
const inside = held(4, '203.0.113.10', 24, '203.0.113.1')
const linkLocal = held(6, '2001:db8:7:1::', 64, 'fe80::1')

type Form = { held: readonly HeldAddress[]; addresses: readonly string[]; gateways: readonly Gateway[] }
/** `outside`: no network of the card has it. */
type Gateway = { version: 4 | 6; via: string; outside?: true }
const four: Gateway = { version: 4, via: '203.0.113.1' }
const six: Gateway = { version: 6, via: 'fe80::1' }

export const forms: Readonly<Record<string, Form>> = {
  'gateway inside, fe80::1': {
    held: [inside, linkLocal],
    addresses: ['203.0.113.10/24', '2001:db8:7:1::1/64'],
    gateways: [four, six],
  },
  'IPv4 only': { held: [inside], addresses: ['203.0.113.10/24'], gateways: [four] },
  'IPv6 only': { held: [linkLocal], addresses: ['2001:db8:7:1::1/64'], gateways: [six] },
  'gateway inside the IPv6 prefix': {
    held: [inside, held(6, '2001:db8:7:1::10', 64, '2001:db8:7:1::1')],
    addresses: ['203.0.113.10/24', '2001:db8:7:1::11/64'],
    gateways: [four, { version: 6, via: '2001:db8:7:1::1' }],
  },
  'single addresses (/32 and /128)': {
    held: [held(4, '203.0.113.10', 32, '198.51.100.1'), held(6, '2001:db8:7::5', 128, 'fe80::1')],
    addresses: ['203.0.113.10/32', '2001:db8:7::5/128'],
    gateways: [{ version: 4, via: '198.51.100.1', outside: true }, six],
  },
  'gateway outside the IPv4 network': {
    held: [held(4, '203.0.113.10', 28, '203.0.113.254'), linkLocal],
    addresses: ['203.0.113.10/28', '2001:db8:7:1::1/64'],
    gateways: [{ version: 4, via: '203.0.113.254', outside: true }, six],
  },
  'gateway outside the IPv6 prefix': {
    held: [inside, held(6, '2001:db8:7:1::', 64, '2001:db8:7::1')],
    addresses: ['203.0.113.10/24', '2001:db8:7:1::1/64'],
    gateways: [four, { version: 6, via: '2001:db8:7::1', outside: true }],
  },
  'several, two of them floating': {
    held: [
      inside,
      held(4, '203.0.113.11', 24, '203.0.113.1'),
      held(4, '198.51.100.7', 24, '198.51.100.1', 'fip_1'),
      linkLocal,
      held(6, '2001:db8:9::7', 64, 'fe80::1', 'fip_2'),
    ],
    addresses: ['203.0.113.10/24', '203.0.113.11/24', '198.51.100.7/32', '2001:db8:7:1::1/64', '2001:db8:9::7/128'],
    gateways: [four, six],
  },
}

/** The second card, of a private network, that every form has beside it. */
const privateCard = {
  name: 'priv7',
  mac: '02:00:00:00:00:07',
  mtu: 1450,
  addresses: ['10.0.0.5/24', 'fd00:7::5/64'],
  gateways: [],
  resolvers: [],
}

export const networkConfigFor = (form: Form, networkConfig: NetworkConfigVersion) =>
  withCards(networkFor({ ...server, networkConfig }, form.held), [privateCard])

/** The differences between the guest's network and what was sold. */
export function lossesOf({ held, addresses, gateways }: Form, eth0: Network, priv7: Network): string[] {
  const losses = [...eth0.problems, ...priv7.problems]
  const differ = (found: readonly string[], sold: readonly string[]) =>
    found.join() !== [...new Set(sold)].sort().join()
  if (differ(eth0.addresses, addresses)) losses.push(`addresses ${eth0.addresses.join(' ') || 'none'}`)
  if (differ(priv7.addresses, privateCard.addresses))
    losses.push(`private addresses ${priv7.addresses.join(' ') || 'none'}`)
  if (priv7.gateways.length) losses.push('private gateway')
  for (const { version, via, outside } of gateways)
    if (!eth0.gateways.some((g) => g.via === via && (g.onLink || !outside))) losses.push(`IPv${version} gateway`)
  if (eth0.gateways.length > gateways.length) losses.push('too many gateways')
  const resolvers = held.flatMap((a) => a.pool.resolvers)
  if (differ(eth0.resolvers, resolvers)) losses.push(`resolvers ${eth0.resolvers.join(' ') || 'none'}`)
  return losses
}
