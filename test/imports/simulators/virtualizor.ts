// Virtualizor as the facts describe it: acts in a query that may change things on GET, numbers as text, empty maps as
// lists, and a page or a redirect for a refused sign-in.
import { createHash } from 'node:crypto'
import { canary, html, json, Panel, type PanelAnswer, type PanelRequest, redirect, Violation } from './panel.ts'

type Row = Record<string, unknown>
export const KEY = canary('key')
export const PASS = canary('pass')

export type VirtualizorVariants = {
  servers?: number
  /** The secrets that the panel wants: the pair alone, the hash beside it, or either. */
  auth?: 'pair-only' | 'needs-apikey' | 'hash-only'
  refuses?: 'redirect' | 'html'
  /** Callers from elsewhere are sent to the sign-in. */
  callerIsAllowed?: boolean
  /** Acts that the pair may not use. */
  forbidden?: readonly string[]
  /** Addresses of servers as a list of texts. */
  ips?: 'map' | 'array'
  data?: 'object' | 'serialized'
  preferences?: 'object' | 'serialized'
  /** Collections as arrays. */
  arrays?: boolean
  /** The form of the field `error` where nothing went wrong. */
  error?: unknown
  cap?: number
  /** The wrong count of servers in the list of hypervisors, or none. */
  counts?: 'right' | 'none' | 'wrong'
  masterIp?: string
  isSlave?: boolean
  states?: 'object' | 'number'
  only?: 'servs' | 'servers'
}

/** Acts that lists are read with; the pages of some are always the same. */
const paged: ReadonlySet<string> = new Set(['vs', 'ips', 'users', 'ipranges'])
const allowedParameters: ReadonlySet<string> = new Set(['act', 'api', 'page', 'reslen', 'vs_status'])
const secrets: ReadonlySet<string> = new Set(['adminapikey', 'adminapipass', 'apikey'])

export class VirtualizorPanel extends Panel {
  readonly servers: Row[]
  readonly hypervisors: Row[]
  readonly packages: Row[]
  readonly pools: Row[]
  readonly addresses: Row[]
  readonly prefixes: Row[]
  readonly owners: Row[]
  readonly templates: Row[]
  constructor(readonly variants: VirtualizorVariants = {}) {
    super((request) => this.#handle(request))
    const { servers = 7 } = variants
    this.servers = Array.from({ length: servers }, (_, i) => server(i + 1, variants))
    this.hypervisors = [
      ...(variants.isSlave ? [] : [hypervisor('0', variants.masterIp ?? '127.0.0.1', 'localhost')]),
      hypervisor('2', '192.0.2.32', 'slave-2', { internal_ip: '10.0.0.32', virts: ['kvm', 'lxc'] }),
    ]
    this.packages = [plan('4', 'KVM 2'), plan('5', 'Unlimited', { bandwidth: '0', network_speed: '0', virt: 'lxc' })]
    this.pools = [
      pool('9', 'fra-v4'),
      pool('10', 'fra-v6', v6Pool),
      pool('11', 'inside', insidePool),
      pool('12', 'empty', emptyPool),
    ]
    this.addresses = [
      ...this.servers.flatMap((_, i) => addressesOf(i + 1)),
      address('9001', '9', '198.51.255.200', { vpsid: '0' }),
      address('9002', '9', '198.51.255.201', { vpsid: '0', locked: '1' }),
    ]
    this.prefixes = [
      address('9500', '10', '2001:0db8:0021:0000:0000:0000:0000:0000', { vpsid: '1001', ipr_netmask: '64' }),
    ]
    this.owners = [
      owner('12', 'Owner@Example.com', variants),
      owner('13', 'admin@example.com', variants, { type: '1' }),
      owner('14', 'reseller@example.com', variants, { type: '2' }),
      owner('15', 'customer@example.com', variants, { pid: '14', suspended: '1' }),
    ]
    this.templates = [template('871', 'almalinux-9-x86_64', 'almalinux'), template('900', 'base-2022', 'windows')]
  }

  change(id: number, fields: Row): void {
    const at = this.servers.findIndex((one) => one['vpsid'] === String(1000 + id))
    this.servers[at] = { ...this.servers[at], ...fields }
  }

  #handle({ method, path, query }: PanelRequest): PanelAnswer {
    if (method !== 'GET') throw new Violation(`${method} ${path}`)
    for (const parameter of query.keys())
      if (!allowedParameters.has(parameter) && !secrets.has(parameter)) throw new Violation(`?${parameter}`)
    if (path !== '/index.php') return html(404)
    if (query.get('api') !== 'json' || !this.#signedIn(query))
      return this.variants.refuses === 'html' ? html() : redirect('https://panel/index.php?act=login')
    const act = query.get('act') ?? ''
    if (this.variants.forbidden?.includes(act))
      return json({ title: 'Error', error: ['You are not allowed to access this page'], timenow: '1' })
    const { error = [] } = this.variants
    return json({ title: act, error, timenow: '1714557600', time_taken: '0.1', ...this.#read(act, query) })
  }

  #signedIn(query: URLSearchParams): boolean {
    const { auth = 'pair-only', callerIsAllowed = true } = this.variants
    const pair = query.get('adminapikey') === KEY && query.get('adminapipass') === PASS
    const given = query.get('apikey') ?? ''
    const salt = given.slice(0, 8)
    const hash =
      /^[a-z0-9]{8}$/.test(salt) &&
      given ===
        salt +
          createHash('md5')
            .update(PASS + salt)
            .digest('hex')
    return callerIsAllowed && (auth === 'pair-only' ? pair : auth === 'needs-apikey' ? pair && hash : hash)
  }

  #read(act: string, query: URLSearchParams): Row {
    if (act === 'vs' && query.has('vs_status')) return { status: this.#states(query.get('vs_status')!.split(',')) }
    const rows = (all: readonly Row[]) => this.#page(act, all, query)
    const { only } = this.variants
    switch (act) {
      case 'servers': {
        const servs = this.#collection(rows(this.#counted()), 'serid')
        return { ...(only !== 'servers' && { servs }), ...(only !== 'servs' && { servers: only ? servs : {} }) }
      }
      case 'plans':
        return { plans: this.#collection(rows(this.packages), 'plid') }
      case 'ippool':
        return { ippools: this.#collection(rows(this.pools), 'ippid') }
      case 'ips':
        return { ips: this.#collection(rows(this.addresses), 'ipid'), ippools: {} }
      case 'ipranges':
        return { ips: this.#collection(rows(this.prefixes), 'ipid') }
      case 'users':
        return { users: this.#collection(rows(this.owners), 'uid') }
      case 'vs':
        return {
          vs: this.#collection(rows(this.servers), 'vpsid'),
          ostemplates: this.#collection(this.templates, 'osid'),
          plans: Object.fromEntries(this.packages.map((one) => [one['plid'], one['plan_name']])),
          servers: {},
        }
      default:
        throw new Violation(`act=${act}`)
    }
  }

  #counted(): readonly Row[] {
    const { counts = 'right' } = this.variants
    if (counts === 'none') return this.hypervisors
    const on = (id: unknown) => this.servers.filter((one) => one['serid'] === id).length
    return this.hypervisors.map((one) => ({
      ...one,
      numvps: String(on(one['serid']) + (counts === 'wrong' ? 1 : 0)),
    }))
  }

  #page(act: string, all: readonly Row[], query: URLSearchParams): readonly Row[] {
    if (!paged.has(act)) return all
    const size = Math.min(Number(query.get('reslen') ?? 50), this.variants.cap ?? 1_000_000)
    const page = Number(query.get('page') ?? 1)
    return all.slice((page - 1) * size, page * size)
  }

  /** An empty map is an empty list in PHP. */
  #collection(rows: readonly Row[], key: string): unknown {
    if (rows.length === 0) return []
    return this.variants.arrays ? rows : Object.fromEntries(rows.map((row) => [String(row[key]), row]))
  }

  #states(ids: readonly string[]): Row {
    const status = (id: string) => (Number(id) % 5 === 0 ? 0 : Number(id) % 7 === 0 ? 2 : 1)
    return Object.fromEntries(
      ids.map((id) => [id, this.variants.states === 'number' ? status(id) : { status: status(id) }]),
    )
  }
}

export const ipv4 = (n: number) => `198.${51 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`
const ipv6 = (n: number) => `2001:0db8:0020:0000:0000:0000:0000:${n.toString(16).padStart(4, '0')}`

const hypervisor = (serid: string, ip: string, server_name: string, more: Row = {}): Row => ({
  ...{ serid, sgid: '0', server_name, virt: 'kvm', virts: ['kvm'], ip, internal_ip: '', status: '1', locked: null },
  ...{ total_ram: '64000', ram: '40000', vcores: '16', settings: `a:1:{s:1:"x";s:9:"${canary('settings')}";}` },
  unique_txt: canary('unique-txt'),
  ...more,
})
const plan = (plid: string, plan_name: string, more: Row = {}): Row => ({
  ...{ plid, plan_name, virt: 'kvm', space: '25', ram: '2048', burst: '0', swap: '512', cpu: '1000', cores: '2' },
  ...{ cpu_percent: '100.00', bandwidth: '2000', network_speed: '12500', upload_speed: '0', ips: '1', ips6: '1' },
  dns_nameserver: 'a:0:{}',
  ...more,
})
const pool = (ippid: string, ippool_name: string, more: Row = {}): Row => ({
  ...{ ippid, ipp_serid: '0', ippool_name, gateway: '198.51.0.1', netmask: '255.255.0.0', ns1: '192.0.2.53', ns2: '' },
  ...{ ipv6: '0', nat: '0', internal: '0', bridge: '', totalip: '20', freeip: '17' },
  ...more,
})
const v6Pool = { ipp_serid: '2', gateway: '2001:db8:20::1', netmask: '64', ns1: '2001:db8::53', ipv6: '1' }
const insidePool = { gateway: '10.99.0.1', netmask: '255.255.255.0', internal: '1', bridge: 'intbr0' }
const emptyPool = { gateway: '203.0.113.1', netmask: '255.255.255.128', nat: '1' }
const address = (ipid: string, ippid: string, ip: string, more: Row = {}): Row => ({
  ...{ ipid, ippid, ip_serid: '2', vpsid: '0', ip, ipv6: ip.includes(':') ? '1' : '0', ipr_netmask: '', primary: '0' },
  ...{ mac_addr: '', locked: '0', note: null },
  ...more,
})
/** Two addresses of the server. */
export const addressesOf = (n: number): Row[] => [
  address(String(1_000_000 + n), '9', ipv4(n), { vpsid: String(1000 + n), primary: '1' }),
  address(String(2_000_000 + n), '10', ipv6(n), { vpsid: String(1000 + n) }),
]
export const owner = (uid: string, email: string, { preferences }: VirtualizorVariants, more: Row = {}): Row => ({
  ...{ uid, email, type: '0', aclid: '0', pid: '0', num_vs: '1', suspended: null, act_status: '1' },
  preferences:
    preferences === 'object'
      ? { fname: 'Ada', lname: 'Byron' }
      : 'a:2:{s:5:"fname";s:3:"Ada";s:5:"lname";s:5:"Byron";}',
  password: canary('user-password'),
  ...more,
})
const template = (osid: string, name: string, distro: string): Row => ({ osid, type: 'kvm', name, distro, hvm: '0' })

export function server(n: number, { ips = 'map', data }: VirtualizorVariants): Row {
  const own = [ipv4(n), ipv6(n)]
  return {
    // The id is another number than the one in the name of the domain.
    ...{ vpsid: String(1000 + n), vps_name: `v${n}`, uuid: `k3v9p2q8r7s6${n}`, serid: n % 2 ? '2' : '0', virt: 'kvm' },
    ...{ uid: '12', email: 'owner@example.com', plid: '4', hostname: `server-${n}.example.com`, osid: '871' },
    ...{ os_name: 'almalinux-9-x86_64', os_distro: 'almalinux', space: '25', ram: '2048', swap: '0', cores: '2' },
    ...{ suspended: '0', suspend_reason: null, nw_suspended: null, rescue: '0', mac: '02-00-5E-10-00-01', rdp: '0' },
    ...{ time: '1700000000', disks: null, stid: ['1'], vnc_passwd: canary('vnc-passwd') },
    data:
      data === 'serialized'
        ? `a:1:{s:12:"crypted_pass";s:9:"${canary('crypted-pass')}";}`
        : { os_type: 0, bios: '', crypted_pass: canary('crypted-pass'), salt: canary('salt') },
    ips: ips === 'array' ? own : { [String(1_000_000 + n)]: own[0], [String(2_000_000 + n)]: own[1] },
  }
}
