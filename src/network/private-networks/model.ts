// A private network: its owner's, in one location. Its servers reach each other there under addresses that nobody else
// reaches, on the same node and over nodes.

import { Type as t } from 'typebox'
import { locationOf, locationReferred } from '../../fleet/locations/reference.ts'
import { ownedResource } from '../../identity/account-records/owned.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { type Network, toNetwork, toText } from '../ip-pools/ranges.ts'
import { macOf, type PrivateNetworkRow } from '../private-network-records/model.ts'
import { membersOf, networkById, type Present } from '../private-network-records/queries.ts'

export const MOST_NETWORKS = 10
export const MOST_MEMBERS = 100
/** Cards of one server: a machine has ten spare ports. */
export const MOST_OF_SERVER = 8

export const network = ownedResource({ name: 'private network', notFound: 'network_not_found' }, networkById)

const privateUse = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fd00::/8'].map((cidr) => toNetwork(cidr)!)
const isPrivate = (range: Network) =>
  privateUse.some((all) => all.version === range.version && all.first <= range.first && range.last <= all.last)

/** The range of RFC 1918 in its usual form. Throws `validation_failed`. */
export function ipv4Range(text: string): string {
  const range = toNetwork(text)
  if (range?.version !== 4 || range.bits < 16 || range.bits > 29 || !isPrivate(range))
    throw invalid({
      field: 'ipv4',
      message: 'must be a range of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16 from /16 to /29, such as 10.0.0.0/24.',
    })
  return `${toText(4, range.first)}/${range.bits}`
}

/** The unique local prefix of 64 bits in its usual form. Throws `validation_failed`. */
export function ipv6Range(text: string): string {
  const range = toNetwork(text)
  if (range?.version !== 6 || range.bits !== 64 || !isPrivate(range))
    throw invalid({ field: 'ipv6', message: 'must be a /64 of fd00::/8, such as fd12:3456:789a:1::/64.' })
  return `${toText(6, range.first)}/64`
}

export const tapOf = (number: number) => `btp${number}`
/** The first numbers are left to networks that somebody sets up by hand. */
export const vniOf = ({ number }: PrivateNetworkRow) => 4096 + number

export const memberResponse = namedSchema('PrivateNetworkMember', {
  server: t.Object({ id: t.String(), hostname: t.String() }),
  ipv4: t.String(),
  ipv6: nullable(t.String()),
  mac: t.String(),
  atNextStart: described(t.Boolean(), 'The running machine could not take the card: it comes at the next start.'),
})
const showMember = ({ workloadId, hostname, ipv4, ipv6, number, waits }: Present) => ({
  server: { id: workloadId, hostname },
  ipv4,
  ipv6,
  mac: macOf(number),
  atNextStart: !!waits,
})

export const networkResponse = namedSchema('PrivateNetwork', {
  id: t.String(),
  name: t.String(),
  ipv4: t.String(),
  ipv6: nullable(t.String()),
  location: locationReferred,
  owner: t.Object({ id: t.String(), name: t.String() }),
  members: t.Array(memberResponse),
  createdAt: time,
})
export const showNetwork = (tx: Db, network: PrivateNetworkRow) => ({
  id: network.id,
  name: network.name,
  ipv4: network.ipv4,
  ipv6: network.ipv6,
  location: locationOf(tx, network),
  owner: { id: network.ownerId, name: accountById(tx, network.ownerId)?.name ?? '' },
  members: membersOf(tx, network.id).map(showMember),
  createdAt: iso(network.createdAt),
})
