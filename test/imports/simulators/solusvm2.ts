// SolusVM 2 as the facts describe it: lists in pages of Laravel's paginator, a token in a header, secrets in answers.
import { canary, html, json, Panel, type PanelAnswer, type PanelRequest, Violation } from './panel.ts'

type Row = Record<string, unknown>
export const TOKEN = canary('token')

export type SolusVariants = {
  servers?: number
  hypervisors?: number
  ipv6?: 'array' | 'object' | 'flat' | 'none'
  /** The most rows of a page. */
  cap?: number
  /** The page size is fixed, whatever is asked for. */
  ignoresPageSize?: boolean
  /** Where `links.next` leads. */
  host?: string
  /** Some versions tell the hypervisor in the row of a server. */
  tellsHypervisor?: 'id' | 'object'
  /** Rows of the list without addresses and size. */
  shortRows?: boolean
  isAdmin?: boolean
  ignoresFilter?: boolean
  /** No `meta`, or neither `meta` nor `links`. */
  without?: 'meta' | 'paging'
  /** Spells the names of lists in ranges with brackets. */
  brackets?: boolean
}

export class SolusPanel extends Panel {
  readonly hypervisors: Row[]
  readonly packages: Row[]
  readonly ranges: Row[]
  readonly owners: Row[]
  readonly images: Row[]
  readonly servers: Row[]
  readonly addresses = new Map<string, Row[]>()
  constructor(readonly variants: SolusVariants = {}) {
    super((request) => this.#handle(request))
    const { servers = 17, hypervisors = 2, brackets = false } = variants
    this.hypervisors = Array.from({ length: hypervisors }, (_, i) => hypervisor(i + 1))
    this.packages = [plan(7, 'KVM 2'), plan(8, 'VZ 1', { virtualization_type: 'vz', storage_type: 'vz' })]
    this.ranges = [ipv4Block(5, brackets), ipv6Block(6, brackets), setBlock(7)]
    this.addresses.set('5', [
      address(901, '198.51.100.20', { server: { id: 1, name: 'one' }, is_reserved: true, is_primary: true }),
      address(902, '198.51.100.21', { is_reserved: true }),
      address(903, '198.51.100.22'),
    ])
    this.addresses.set('6', [address(950, '2001:db8:20:41::1', { range: '2001:db8:20:41::/64', server: { id: 1 } })])
    this.addresses.set('7', [address(960, '203.0.113.7'), address(961, '203.0.113.99')])
    this.owners = [
      user(12, 'Owner@Example.com'),
      user(13, 'admin@example.com', { roles: [{ id: 1, name: 'Admin' }] }),
      user(14, 'locked@example.com', { status: 'locked', billing_user_id: 4711 }),
    ]
    this.images = [
      image(1, 'AlmaLinux', [['9', 'v2']]),
      image(2, 'Datacenter', [['2022', 'cloudbase']]),
      image(3, 'Mixed', [
        ['A', 'v2'],
        ['B', 'cloudbase'],
      ]),
    ]
    this.servers = Array.from({ length: servers }, (_, i) => server(i + 1, { ...place(i + 1, hypervisors, variants) }))
  }

  /** Changes a server; the names are those of the API. */
  change(id: number, fields: Row): void {
    const at = this.servers.findIndex((one) => one['id'] === id)
    this.servers[at] = { ...this.servers[at], ...fields }
  }

  #handle(request: PanelRequest): PanelAnswer {
    const { method, path, query, headers } = request
    if (method !== 'GET') throw new Violation(`${method} ${path}`)
    if (headers['authorization'] !== `Bearer ${TOKEN}`) return json({ message: 'Unauthenticated.' }, 401)
    if (headers['accept'] !== 'application/json') return html()
    const [name = '', id, part, ...more] = path.replace(/^\/api\/v1\//, '').split('/')
    for (const parameter of query.keys())
      if (!['page', 'per_page', 'filter[compute_resource_id]'].includes(parameter)) throw new Violation(`?${parameter}`)
    if (!path.startsWith('/api/v1/') || more.length > 0) return html()
    return this.#read(name, id, part, query) ?? json({ message: 'Not found', http_code: 404 }, 404)
  }

  #read(name: string, id: string | undefined, part: string | undefined, query: URLSearchParams): PanelAnswer | null {
    const { isAdmin = true } = this.variants
    const route = [name, ...(id === undefined ? [] : ['{id}']), ...(part === undefined ? [] : [part])].join('/')
    const known = (rows: readonly Row[]) => rows.some((row) => String(row['id']) === id)
    switch (route) {
      case 'account':
        return json({ data: user(1, 'me@example.com', { roles: [{ id: 1, name: isAdmin ? 'Admin' : 'Client' }] }) })
      case 'compute_resources':
        return this.#list(isAdmin ? this.hypervisors : [], name, query)
      case 'compute_resources/{id}/networks':
        return known(this.hypervisors) ? json({ data: networks(Number(id)) }) : null
      case 'plans':
        return this.#list(this.packages, name, query)
      case 'ip_blocks':
        return this.#list(this.ranges, name, query)
      case 'ip_blocks/{id}/ips':
        return known(this.ranges) ? this.#list(this.addresses.get(id!) ?? [], path(name, id, part), query) : null
      case 'servers':
        return this.#servers(query)
      case 'servers/{id}': {
        const found = this.servers.find((one) => String(one['id']) === id)
        return found ? json({ data: withoutPlace(found, this.variants) }) : null
      }
      case 'servers/{id}/disks':
        return known(this.servers) ? json({ data: disks(Number(id)) }) : null
      case 'users':
        return this.#list(this.owners, name, query)
      case 'os_images':
        return this.#list(this.images, name, query)
      default:
        return html()
    }
  }

  #servers(query: URLSearchParams): PanelAnswer {
    const { ignoresFilter = false, shortRows = false, isAdmin = true } = this.variants
    const wanted = query.get('filter[compute_resource_id]')
    const seen = isAdmin ? this.servers : this.servers.slice(0, 2)
    const there = wanted === null || ignoresFilter ? seen : seen.filter((one) => String(one['_place']) === wanted)
    const rows = there.map((one) => withoutPlace(one, this.variants))
    return this.#list(shortRows ? rows.map(short) : rows, 'servers', query)
  }

  #list(rows: readonly Row[], at: string, query: URLSearchParams): PanelAnswer {
    const { cap = 100, ignoresPageSize = false, host = 'https://master.example.com', without } = this.variants
    const page = Number(query.get('page') ?? 1)
    const size = ignoresPageSize ? 15 : Math.min(Number(query.get('per_page') ?? 15), cap)
    const last = Math.max(1, Math.ceil(rows.length / size))
    const data = rows.slice((page - 1) * size, page * size)
    const url = (n: number) => `${host}/api/v1/${at}?page=${n}`
    const links = { first: url(1), last: url(last), prev: null, next: page < last ? url(page + 1) : null }
    const meta = { current_page: page, last_page: last, per_page: size, total: rows.length, from: null, to: null }
    return json({ data, ...(without !== 'paging' && { links }), ...(without === undefined && { meta }) })
  }
}

const path = (...parts: (string | undefined)[]) => parts.join('/')
const short = ({ id, name, uuid }: Row): Row => ({ id, name, uuid })

function place(n: number, hypervisors: number, { ipv6 = 'array' }: SolusVariants): Row {
  const v6 = {
    id: 5000 + n,
    primary_ip: `2001:db8:20:${n.toString(16)}::1`,
    range: `2001:db8:20:${n.toString(16)}::/64`,
  }
  const v4 = { id: 1000 + n, ip: ipv4(n), is_primary: true, issued_for: 'vm' }
  return {
    _place: ((n - 1) % hypervisors) + 1,
    ...(ipv6 === 'flat'
      ? {
          ips: [
            { id: 1, ip: ipv4(n), ip_block: { id: 5, type: 'IPv4' } },
            { id: 2, ip: `2001:db8:20:${n.toString(16)}::1` },
          ],
        }
      : {
          ip_addresses: {
            ipv4: [v4],
            ...(ipv6 === 'array' && { ipv6: [{ ...v6, is_primary: true }] }),
            ...(ipv6 === 'object' && { ipv6: { primary_ip: v6.primary_ip } }),
          },
        }),
  }
}
export const ipv4 = (n: number) => `198.${51 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`
export const uuidOf = (n: number) => `6f9d3c4e-2f0b-4f0e-9a54-${n.toString(16).padStart(12, '0')}`

function withoutPlace({ _place, ...row }: Row, { tellsHypervisor }: SolusVariants): Row {
  if (tellsHypervisor === 'id') return { ...row, compute_resource_id: _place }
  return tellsHypervisor === 'object' ? { ...row, compute_resource: { id: _place } } : row
}

const hypervisor = (id: number): Row => ({
  id,
  name: `kvm-fra-0${id}`,
  host: id === 2 ? 'kvm-2.panel.test' : `192.0.2.${10 + id}`,
  agent_port: 8080,
  status: 'active',
  version: '2.0.0',
  is_locked: false,
  vms_count: 12,
  settings: {
    virtualization_types: ['kvm'],
    limits: { ram: { unlimited: false, total: 68719476736, used: 21474836480 } },
    network: { type: id === 2 ? 'routed' : 'bridged', bridges: [{ type: 'bridged', name: 'br0' }] },
  },
  locations: [{ id: 1, name: 'Frankfurt' }],
  ip_blocks: [{ id: 5, name: 'fra-v4' }],
  credentials: { password: canary('hypervisor-credentials') },
})
const networks = (id: number): Row[] => [
  { id: 'a', name: 'eth0', addr_conf_type: 'static', ip_version: 4, ip: `192.0.2.${10 + id}`, mask: '255.255.255.0' },
  { id: 'b', name: 'eth1', addr_conf_type: 'static', ip_version: 4, ip: `10.0.0.${id}`, mask_size: 24 },
  { id: 'c', name: 'lo', addr_conf_type: 'static', ip_version: 4, ip: '127.0.0.1', mask_size: 8 },
  { id: 'd', name: 'eth0', addr_conf_type: 'static', ip_version: 6, ip: 'fe80::1', mask_size: 64 },
]

const off = (unit: string) => ({ is_enabled: false, limit: 777, unit })
export const plan = (id: number, name: string, more: Row = {}): Row => ({
  id,
  name,
  virtualization_type: 'kvm',
  storage_type: 'fb',
  image_format: 'qcow2',
  params: { disk: 25, ram: 2147483648, vcpu: 2, swap: 536870912 },
  limits: {
    network_incoming_bandwidth: { is_enabled: true, limit: 1000, unit: 'Mbps' },
    network_outgoing_bandwidth: { is_enabled: true, limit: 2, unit: 'Gbps' },
    network_incoming_traffic: off('GiB'),
    network_outgoing_traffic: { is_enabled: true, limit: 2, unit: 'TiB' },
    network_total_traffic: off('GiB'),
  },
  network_traffic_limit_type: 'separate',
  price: { per_month: '5.00', currency_code: 'EUR' },
  ...more,
})

const placesOf = (brackets: boolean) => ({ [brackets ? 'compute_resources[]' : 'compute_resources']: [{ id: 1 }] })
const ipv4Block = (id: number, brackets: boolean): Row => ({
  ...{ id, name: 'fra-v4', type: 'IPv4', list_type: 'range', gateway: '198.51.100.1', netmask: '255.255.255.0' },
  ...{ ns_1: '192.0.2.53', ns_2: '192.0.2.54', from: '198.51.100.10', to: '198.51.100.250', range: null, subnet: null },
  ...placesOf(brackets),
})
const ipv6Block = (id: number, brackets: boolean): Row => ({
  ...{ id, name: 'fra-v6', type: 'IPv6', list_type: 'range', gateway: 'fe80::1', netmask: null, ns_1: '2001:db8::53' },
  ...{ ns_2: '', from: null, to: null, range: '2001:db8:20::/48', subnet: 64 },
  ...placesOf(brackets),
})
const setBlock = (id: number): Row => ({
  ...{ id, name: 'loose', type: 'IPv4', list_type: 'set', gateway: '203.0.113.1', netmask: '255.255.255.0' },
  ...{ from: null, to: null, range: null, subnet: null, compute_resources: [] },
})
const address = (id: number, ip: string, more: Row = {}): Row => ({
  ...{ id, ip, server: null, user: null, issued_for: 'vm', is_primary: false, is_reserved: false, comment: '' },
  ...more,
})
export const user = (id: number, email: string, more: Row = {}): Row => ({
  ...{ id, email, status: 'active', roles: [{ id: 2, name: 'Client' }], created_at: '2024-05-01T10:00:00.000000Z' },
  billing_token: canary('billing-token'),
  password: canary('user-password'),
  ...more,
})
const image = (id: number, name: string, versions: readonly (readonly [string, string])[]): Row => ({
  id,
  name,
  versions: versions.map(([version, cloud_init_version], i) => ({ id: id * 10 + i, version, cloud_init_version })),
})
const disks = (id: number): Row[] => [
  {
    ...{ id: 55, is_primary: true, name: 'Primary', size: 25, actual_size: 4, path: `/var/lib/libvirt/images/${id}` },
    full_path: `/var/lib/libvirt/images/${id}/0`,
    storage: { id: 2, name: 'local', credentials: { password: canary('storage-credentials') } },
  },
]

/** A server on one of the hypervisors, as the list has it. */
export const placed = (n: number, hypervisors: number, variants: SolusVariants): Row =>
  withoutPlace(server(n, place(n, hypervisors, variants)), variants)

export const server = (id: number, more: Row = {}): Row => ({
  ...{ id, uuid: uuidOf(id), name: `server-${id}.example.com`, description: '', virtualization_type: 'kvm' },
  ...{ status: 'started', real_status: 'started', is_suspended: false, is_processing: false, boot_mode: 'disk' },
  specifications: { disk: 25, ram: 2147483648, vcpu: 2 },
  plan: { id: 7, name: 'KVM 2' },
  user: { id: 12, email: 'owner@example.com', status: 'active', billing_token: canary('owner-billing-token') },
  settings: {
    os_image: { name: 'AlmaLinux 9', icon: 'https://x/almalinux.png' },
    vnc_password: canary('vnc-password'),
  },
  vnc: { password: canary('vnc') },
  ...{ os_type: 'Linux', created_at: '2024-05-01T10:00:00.000000Z' },
  ...more,
})
