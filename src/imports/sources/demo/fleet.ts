// The fleet of the demonstration panel. It is the same for the same size, so that what was chosen for it stays right.
import { toNumber, toText } from '../../../network/ip-pools/ranges.ts'
import type {
  SourceAddress,
  SourceHypervisor,
  SourceOwner,
  SourcePackage,
  SourceRange,
  SourceServer,
} from '../source.ts'

export type Fleet = {
  hypervisors: readonly SourceHypervisor[]
  packages: readonly SourcePackage[]
  ranges: readonly SourceRange[]
  /** By the id of their range. */
  addresses: ReadonlyMap<string, readonly SourceAddress[]>
  owners: readonly SourceOwner[]
  servers: readonly SourceServer[]
}

const hypervisor = (n: number, isPanel: boolean): SourceHypervisor => ({
  id: String(n),
  name: `demo-kvm-${n}`,
  address: `192.0.2.${10 + n}`,
  addresses: [`192.0.2.${10 + n}`],
  isPanel,
  virtualizations: ['kvm'],
  network: 'bridged',
  bridges: ['br0'],
  location: n === 0 ? 'Frankfurt' : 'Helsinki',
  isReachable: true,
  servers: null,
})

const sizes = [
  { name: 'KVM 1', vcpus: 1, memoryMb: 1024, diskGb: 20 },
  { name: 'KVM 2', vcpus: 2, memoryMb: 2048, diskGb: 25 },
  { name: 'KVM 4', vcpus: 4, memoryMb: 8192, diskGb: 80 },
] as const

const packages: readonly SourcePackage[] = sizes.map((size, i) => ({
  ...size,
  id: String(i + 1),
  virtualization: 'kvm',
  swapMb: 0,
  trafficBytes: (i + 1) * 1e12,
  trafficCounts: 'both',
  speed: { inMbps: 1000, outMbps: 1000 },
  ipv4: 1,
  billingId: String(i + 1),
}))

const FIRST_V4 = toNumber('10.64.0.10')!.n
const FIRST_V6 = toNumber('2001:db8:64::')!.n
const v4 = (n: number) => toText(4, FIRST_V4 + BigInt(n))
const v6 = (n: number) => toText(6, FIRST_V6 + (BigInt(n) << 64n))

const ranges = (servers: number): readonly SourceRange[] => [
  {
    id: '1',
    name: 'Demo IPv4',
    version: 4,
    first: v4(0),
    last: v4(servers + 9),
    network: '10.64.0.0/15',
    isSet: false,
    gateway: '10.64.0.1',
    prefixLength: null,
    resolvers: ['192.0.2.53'],
    reach: 'public',
    hypervisorIds: ['0', '1'],
  },
  {
    id: '2',
    name: 'Demo IPv6',
    version: 6,
    first: v6(0),
    last: '2001:db8:64:ffff:ffff:ffff:ffff:ffff',
    network: '2001:db8:64::/48',
    isSet: false,
    gateway: 'fe80::1',
    prefixLength: 64,
    resolvers: ['2001:db8::53'],
    reach: 'public',
    hypervisorIds: ['0', '1'],
  },
]

/** Every tenth owner is a reseller, the one behind it is its customer, and one is staff. */
function owner(n: number): SourceOwner {
  const kind = n === 3 ? 'staff' : n % 10 === 1 ? 'reseller' : 'customer'
  return {
    id: String(n),
    email: `owner-${n}@example.com`,
    name: `Owner ${n}`,
    kind,
    parentId: n % 10 === 2 ? String(n - 1) : null,
    isSuspended: n % 17 === 0,
    billingId: `client-${n}`,
  }
}

const systems = ['AlmaLinux 9', 'Ubuntu 22.04', 'Debian 12', null] as const

/** Some servers in each thirty are of the kinds that cannot be imported as they are. */
function server(n: number, owners: number): SourceServer {
  const kind = n % 30
  const size = sizes[n % sizes.length]!
  const ownerId = kind === 7 ? null : String((n % owners) + 1)
  const uuid = `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`
  return {
    ...{ vcpus: size.vcpus, memoryMb: size.memoryMb, diskGb: size.diskGb },
    id: String(n),
    uuid,
    domain: uuid,
    name: `server-${n}.example.com`,
    hypervisorId: kind === 11 ? null : String(n % 2),
    ownerId,
    ownerEmail: ownerId && `owner-${ownerId}@example.com`,
    packageId: kind === 13 ? null : String((n % sizes.length) + 1),
    packageName: kind === 13 ? null : size.name,
    virtualization: kind === 3 ? 'container' : kind === 4 ? 'other' : 'kvm',
    addresses: [
      { address: v4(n), version: 4, rangeId: '1', prefixLength: null, isPrimary: true },
      { address: toText(6, toNumber(v6(n))!.n + 1n), version: 6, rangeId: '2', prefixLength: 64, isPrimary: true },
    ],
    mac: `02:00:5e:${[16, 8, 0].map((bits) => ((n >> bits) & 255).toString(16).padStart(2, '0')).join(':')}`,
    osName: kind === 5 ? 'Windows 2022' : systems[n % systems.length]!,
    isWindows: kind === 5,
    isSuspended: kind === 17,
    isInRescue: kind === 19,
    state: kind === 23 ? 'stopped' : kind === 29 ? 'unknown' : 'running',
    createdAt: Date.UTC(2024, 0, 1) + n * 3_600_000,
    billingId: `service-${n}`,
  }
}

export function demoFleet(size: number): Fleet {
  const ownerCount = Math.max(4, Math.ceil(size / 3))
  const servers = Array.from({ length: size }, (_, i) => server(i + 1, ownerCount))
  const addressesIn = (rangeId: string): readonly SourceAddress[] =>
    servers.flatMap(({ id, mac, addresses }) =>
      addresses
        .filter((one) => one.rangeId === rangeId)
        .map(({ rangeId: _, ...one }) => ({ ...one, serverId: id, isHeldBack: false, mac })),
    )
  return {
    hypervisors: [hypervisor(0, true), hypervisor(1, false)],
    packages,
    ranges: ranges(size),
    addresses: new Map(['1', '2'].map((id) => [id, addressesIn(id)])),
    owners: Array.from({ length: ownerCount }, (_, i) => owner(i + 1)),
    servers,
  }
}
