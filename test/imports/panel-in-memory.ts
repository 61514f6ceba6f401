// Another panel that is held in memory: what it lists can be changed between two readings, and it can fail anywhere.
import { SourceFailure, type SourceFailureCode } from '../../src/imports/sources/failure.ts'
import type {
  Source,
  SourceAddress,
  SourceHypervisor,
  SourceOwner,
  SourcePackage,
  SourceRange,
  SourceServer,
} from '../../src/imports/sources/source.ts'

export type Listed = {
  hypervisors: SourceHypervisor[]
  packages: SourcePackage[]
  ranges: SourceRange[]
  addresses: Record<string, SourceAddress[]>
  owners: SourceOwner[]
  servers: SourceServer[]
}
type List = keyof Listed | 'account'

export const hypervisor = (id: string, values: Partial<SourceHypervisor> = {}): SourceHypervisor => ({
  id,
  name: `kvm-${id}`,
  address: `192.0.2.${10 + Number(id)}`,
  addresses: values.addresses ?? [values.address ?? `192.0.2.${10 + Number(id)}`],
  isPanel: false,
  virtualizations: ['kvm'],
  network: 'bridged',
  bridges: ['br0'],
  location: null,
  isReachable: true,
  servers: null,
  ...values,
})
export const pack = (id: string, values: Partial<SourcePackage> = {}): SourcePackage => ({
  id,
  name: `SSD-${id}`,
  ...{ vcpus: 2, memoryMb: 2048, diskGb: 20, virtualization: 'kvm', swapMb: 0, trafficBytes: null },
  trafficCounts: 'both',
  speed: { inMbps: 1000, outMbps: 1000 },
  ipv4: 1,
  billingId: id,
  ...values,
})
export const range = (id: string, network: string, values: Partial<SourceRange> = {}): SourceRange => {
  const base = network.split('/')[0]!.replace(/\d+$/, '')
  return {
    id,
    name: `range-${id}`,
    version: 4,
    first: `${base}10`,
    last: `${base}250`,
    network,
    isSet: false,
    gateway: `${base}1`,
    prefixLength: null,
    resolvers: ['192.0.2.53'],
    reach: 'public',
    hypervisorIds: [],
    ...values,
  }
}
export const owner = (id: string, values: Partial<SourceOwner> = {}): SourceOwner => ({
  id,
  email: `owner${id}@source.test`,
  name: `Owner ${id}`,
  kind: 'customer',
  parentId: null,
  isSuspended: false,
  billingId: id,
  ...values,
})
export const v4 = (address: string) => ({
  address,
  version: 4 as const,
  prefixLength: null,
  isPrimary: true,
  rangeId: null,
})
export const server = (n: number, values: Partial<SourceServer> = {}): SourceServer => ({
  id: String(n),
  uuid: `uuid-${n}`,
  domain: `v${n}`,
  name: `server${n}.source.test`,
  hypervisorId: '1',
  ownerId: '1',
  ownerEmail: 'owner1@source.test',
  packageId: '1',
  packageName: null,
  ...{ vcpus: 2, memoryMb: 2048, diskGb: 20, virtualization: 'kvm' },
  addresses: [v4(`198.51.100.${10 + (n % 200)}`)],
  mac: null,
  osName: 'Debian 12',
  isWindows: false,
  isSuspended: false,
  isInRescue: false,
  state: 'running',
  createdAt: null,
  billingId: String(n),
  ...values,
})
export const v6 = (address: string, prefixLength: number | null = null) => ({
  address,
  version: 6 as const,
  prefixLength,
  isPrimary: true,
  rangeId: null,
})

/** One hypervisor, package, range and owner with two servers. */
export const small = (): Listed => ({
  hypervisors: [hypervisor('1')],
  packages: [pack('1')],
  ranges: [range('1', '198.51.100.0/24')],
  addresses: {},
  owners: [owner('1')],
  servers: [server(1), server(2)],
})

export class MemoryPanel {
  listed: Listed = small()
  certificate: string | null = null
  /** The next reading of this list fails so. */
  fails: { list: List; code: SourceFailureCode } | undefined
  /** Called before each record of a list. */
  onRecord: (list: List, n: number) => void | Promise<void> = () => {}
  connections = 0
  credentialsSeen: unknown[] = []

  readonly source: Source = {
    kind: 'solusvm2',
    label: 'SolusVM 2',
    addressExample: 'https://panel.source.test:443',
    hint: '',
    credentials: [{ name: 'token', label: 'Token', hint: '', maxLength: 4096 }],
    connect: (address, credentials, trust, options = {}) => {
      const url = URL.parse(address.includes('://') ? address : `https://${address}`)
      if (!url) throw new SourceFailure('bad_address', 'is none.')
      if (/^169\.254\./.test(url.hostname)) throw new SourceFailure('address_not_allowed', 'link-local.')
      if (!credentials['token']) throw new SourceFailure('bad_credential', 'token is missing.')
      this.connections++
      this.credentialsSeen.push(credentials)
      const { listed: _, ...of } = { listed: 0, self: this }
      const panel = of.self
      const check = (list: List) => {
        if (options.signal?.aborted) throw new SourceFailure('stopped')
        if (panel.certificate !== trust.certificateSha256) {
          const code = trust.certificateSha256 === null ? 'certificate_unknown' : 'certificate_changed'
          const sha256 = panel.certificate ?? '00'.repeat(32)
          throw new SourceFailure(code, sha256, { sha256, subject: 'CN=panel', issuer: 'CN=panel', validUntil: 2e12 })
        }
        if (panel.fails?.list === list) throw new SourceFailure(panel.fails.code, list)
      }
      async function* records<T>(list: Exclude<List, 'account'>, all: readonly T[]) {
        check(list)
        options.onProgress?.({ list, read: all.length, total: all.length })
        for (const [n, one] of all.entries()) {
          await panel.onRecord(list, n)
          yield structuredClone(one)
        }
      }
      return {
        address: `https://${url.hostname}:${url.port || 443}`,
        warnings: [],
        async account() {
          check('account')
          return { name: 'admin@source.test', warnings: [] }
        },
        panelAddresses: async () => ['192.0.2.1'],
        hypervisors: () => records('hypervisors', panel.listed.hypervisors),
        packages: () => records('packages', panel.listed.packages),
        ranges: () => records('ranges', panel.listed.ranges),
        addresses: ({ id }) => records('addresses', panel.listed.addresses[id] ?? []),
        owners: () => records('owners', panel.listed.owners),
        servers: () => records('servers', panel.listed.servers),
        disks: async () => null,
      }
    },
  }
}
