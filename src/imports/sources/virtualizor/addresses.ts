// The addresses of Virtualizor: those of its pools, and the prefixes that it routes to servers. Its pools have no ends,
// so these follow from the addresses in them.
import { optional } from '../client/reader.ts'
import type { SourceAddress, SourceOptions, SourceRange, SourceServerAddress } from '../source.ts'
import { address, endsAmong, endsOf, networkOf, prefixLength } from '../values/addresses.ts'
import { entriesOf, field, flag, id, type JsonObject, mac, reference, text } from '../values/scalars.ts'
import { type VirtualizorClient, virtualizorList } from './client.ts'

type Known = SourceAddress & { rangeId: string | null }

/** All addresses that the panel knows. */
export type AddressBook = {
  inRange(rangeId: string): readonly SourceAddress[]
  /** The addresses of a server, from its row: a map by the ids of addresses, or a list of texts. */
  ofServer(serverId: string, ips: unknown): readonly SourceServerAddress[]
}

function knownOf(row: JsonObject): { id: string; value: Known } | null {
  const own = id(field(row, 'ipid'))
  const parsed = address(field(row, 'ip'))
  if (own === null || !parsed) return null
  const serverId = reference(field(row, 'vpsid'))
  return {
    id: own,
    value: {
      ...parsed,
      prefixLength: prefixOf(row, parsed.version),
      serverId,
      isPrimary: flag(field(row, 'primary')),
      isHeldBack: serverId === null && flag(field(row, 'locked')),
      mac: mac(field(row, 'mac_addr')),
      rangeId: reference(field(row, 'ippid')),
    },
  }
}
const prefixOf = (row: JsonObject, version: 4 | 6): number | null =>
  reference(field(row, 'ipr_netmask')) === null ? null : prefixLength(field(row, 'ipr_netmask'), version)

/** `missing` is told where the prefixes cannot be read: not all versions and not all key pairs have them. */
export async function addressBook(
  client: VirtualizorClient,
  { onProgress }: SourceOptions,
  missing: (warning: string) => void,
): Promise<AddressBook> {
  const single = await virtualizorList(client, 'addresses', {
    record: knownOf,
    onProgress: (read, total) => onProgress?.({ list: 'addresses', read, total }),
  })
  const prefixes = await optional<ReadonlyMap<string, Known>>(
    () => virtualizorList(client, 'prefixes', { record: knownOf }),
    () => {
      missing('The panel does not list its IPv6 prefixes, so servers may lack one.')
      return new Map()
    },
  )
  const all = [...single.values(), ...prefixes.values()]
  const byRange = Map.groupBy(all, ({ rangeId }) => rangeId)
  const byServer = Map.groupBy(all, ({ serverId }) => serverId)
  return {
    inRange: (rangeId) => (byRange.get(rangeId) ?? []).map(({ rangeId: _, ...one }) => one),
    ofServer: (serverId, ips) => addressesOf(ips, single, byServer.get(serverId) ?? []),
  }
}

function addressesOf(
  ips: unknown,
  single: ReadonlyMap<string, Known>,
  ofServer: readonly Known[],
): readonly SourceServerAddress[] {
  const found = new Map<string, SourceServerAddress>()
  const add = (known: Pick<Known, 'address' | 'version'> & Partial<Known>) =>
    found.set(known.address, {
      address: known.address,
      version: known.version,
      rangeId: known.rangeId ?? null,
      prefixLength: known.prefixLength ?? null,
      isPrimary: known.isPrimary ?? false,
    })
  for (const [key, value] of entriesOf(ips)) {
    const parsed = address(value)
    if (!parsed) continue
    const byId = Array.isArray(ips) ? undefined : single.get(key)
    const known = byId?.address === parsed.address ? byId : ofServer.find((one) => one.address === parsed.address)
    add({ ...known, ...parsed })
  }
  for (const known of ofServer) if (!found.has(known.address)) add(known)
  return [...found.values()]
}

/** A pool, with the ends that follow from its addresses, or from its gateway and netmask where it has none. */
export function rangeOf(row: JsonObject, book: AddressBook): { id: string; value: SourceRange } | null {
  const own = id(field(row, 'ippid'))
  if (own === null) return null
  const gateway = address(field(row, 'gateway'))
  const version = flag(field(row, 'ipv6')) || gateway?.version === 6 ? 6 : 4
  const inside = book.inRange(own).filter((one) => one.version === version)
  const length = prefixLength(field(row, 'netmask'), version)
  const anyAddress = gateway?.version === version ? gateway.address : inside[0]?.address
  const cidr = anyAddress !== undefined && length !== null ? networkOf(anyAddress, length) : null
  const ends = endsAmong(inside.flatMap(bothEnds)) ?? (cidr === null ? null : endsOf(cidr))
  const prefixes = new Set(inside.flatMap((one) => one.prefixLength ?? []))
  return {
    id: own,
    value: {
      id: own,
      name: text(field(row, 'ippool_name')) ?? own,
      version,
      first: ends?.first ?? null,
      last: ends?.last ?? null,
      network: cidr,
      isSet: false,
      gateway: gateway?.address ?? null,
      prefixLength: prefixes.size === 1 ? [...prefixes][0]! : null,
      resolvers: ['ns1', 'ns2'].flatMap((name) => address(field(row, name))?.address ?? []),
      reach: flag(field(row, 'internal')) ? 'internal' : flag(field(row, 'nat')) ? 'nat' : 'public',
      // The field may name one of several, and 0 is also what a pool for all has.
      hypervisorIds: hypervisorIdsOf(field(row, 'ipp_serid')),
    },
  }
}
/** An address, or the first and the last one of a prefix. */
function bothEnds({ address: own, prefixLength: length }: SourceAddress): readonly string[] {
  const cidr = length === null ? null : networkOf(own, length)
  const ends = cidr === null ? null : endsOf(cidr)
  return ends ? [ends.first, ends.last] : [own]
}
const hypervisorIdsOf = (value: unknown): readonly string[] => {
  const one = reference(value)
  return one === null ? entriesOf(value).flatMap(([, each]) => id(each) ?? []) : [one]
}
