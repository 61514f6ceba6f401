// A hosting company in rows: written through the product's own migrations into a database that no controller has open.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import type { Facts } from '../../../agent/protocol/wire.ts'
import { newToken } from '../../../src/identity/tokens/model.ts'
import { presets } from '../../../src/identity/tokens/presets.ts'
import { digest, randomToken } from '../../../src/kernel/crypto/secrets.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { type Db, openDb, write } from '../../../src/kernel/db/open.ts'
import { VERSION } from '../../../src/kernel/version.ts'

export type Size = { servers: number; customers: number; nodes: number; tokens: number; freeAddresses: number }
export type SeededNode = {
  id: string
  name: string
  privateKey: string
  servers: { id: string; power: 'running' | 'stopped' }[]
}
export type Seeded = {
  /** Billing tokens of staff, many of them: each may make 1200 calls a minute. */
  tokens: string[]
  /** The cookie's value of an owner who is signed in. */
  session: string
  servers: string[]
  /** Each with the SSH key that is theirs. */
  customers: { id: string; sshKeyId: string }[]
  nodes: SeededNode[]
  packageId: string
  locationId: string
  imageId: string
}

const GIB = 1024 ** 3
/** Enough for every order that a benchmark can make. */
const NODE_MEMORY_MB = 64_000_000
export const NODE_POOL_BYTES = 4e6 * GIB
const TOKENS_PER_ACCOUNT = 50
const OLD_JOBS = 1000
const OLD_AUDIT_LINES = 20_000

export const factsOf = (hostname: string): Facts => ({
  hostname,
  agentVersion: VERSION,
  fake: true,
  os: 'Debian GNU/Linux 12 (bookworm)',
  kernel: '6.1.0-30-amd64',
  bootedAt: 1_760_000_000_000,
  cpu: { model: 'AMD EPYC 9354P 32-Core Processor', threads: 64 },
  memoryMb: NODE_MEMORY_MB,
  virtualisation: { kind: 'kvm', reason: 'a machine was started with it' },
  versions: { qemu: '7.2.15', libvirt: '9.0.0', nft: '1.0.6' },
  bridges: [{ name: 'br0', addresses: ['10.0.0.1/8'] }],
  addresses: ['10.0.0.1/8'],
})

/** Writes berth.db into `dataDir`, which must be empty, in one transaction. */
export function seed(dataDir: string, size: Size): Seeded {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const db = openDb(`${dataDir}/berth.db`)
  const seeded = write(db, () => new Rows(db).fill(size) as never) as Seeded
  db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.$client.close()
  return seeded
}

class Rows {
  private now = Date.now()
  private statements = new Map<string, { run(...values: any[]): unknown }>()
  constructor(private db: Db) {}

  private add(table: string, row: Record<string, string | number | null>) {
    const columns = Object.keys(row)
    const key = `${table} ${columns}`
    let statement = this.statements.get(key)
    if (!statement) {
      const sql = `INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`
      this.statements.set(key, (statement = this.db.$client.prepare(sql)))
    }
    statement.run(...Object.values(row))
  }

  fill({ servers, customers, nodes, tokens, freeAddresses }: Size): Seeded {
    const { session, tokens: made } = this.staff(tokens)
    const people = Array.from({ length: customers }, (_, i) => this.customer(i))
    const sold = this.sold()
    const hosts = Array.from({ length: nodes }, (_, i) => this.node(i, sold.locationId))
    const pools = this.pools(hosts, servers)
    const ids = Array.from({ length: servers }, (_, i) =>
      this.server(i, people[i % customers]!, hosts[i % nodes]!, sold, pools),
    )
    for (let i = servers; i < servers + freeAddresses; i++) this.ipv4(pools.v4, i, null)
    this.past(ids, hosts)
    return { tokens: made, session, servers: ids, customers: people, nodes: hosts, ...sold }
  }

  private staff(tokens: number) {
    const roleId = newId('role')
    this.add('roles', { id: roleId, name: 'Owner', permissions: '[]', is_owner: 1 })
    let accountId = ''
    const made = Array.from({ length: tokens }, (_, i) => {
      if (i % TOKENS_PER_ACCOUNT === 0) {
        accountId = newId('usr')
        const n = i / TOKENS_PER_ACCOUNT
        this.add('accounts', {
          id: accountId,
          kind: 'staff',
          email: `staff${n}@bench.example`,
          name: `Staff ${n}`,
          role_id: roleId,
          created_at: this.now,
        })
      }
      return this.token(accountId, i)
    })
    const session = randomToken()
    this.add('sessions', {
      id: newId('ses'),
      token_hash: digest(session),
      account_id: accountId,
      csrf: randomToken(),
      created_at: this.now,
      seen_at: this.now,
      confirmed_at: this.now,
      from_address: '127.0.0.1',
      user_agent: 'bench',
    })
    return { tokens: made, session }
  }

  private token(accountId: string, i: number): string {
    const token = newToken()
    this.add('tokens', {
      id: newId('tok'),
      token_hash: digest(token),
      account_id: accountId,
      name: `Billing ${i}`,
      ending: token.slice(-4),
      scopes: JSON.stringify(presets.billing),
      allow: '[]',
      created_at: this.now,
    })
    return token
  }

  private customer(i: number) {
    const id = newId('usr')
    const sshKeyId = newId('key')
    this.add('accounts', {
      id,
      kind: 'customer',
      email: `customer${i}@bench.example`,
      name: `Customer ${i}`,
      organization: `Company ${i} Ltd`,
      external_id: `whmcs:${i}`,
      created_at: this.now,
    })
    this.add('ssh_keys', {
      id: sshKeyId,
      owner_id: id,
      name: 'laptop',
      public_key: `ssh-ed25519 ${randomBytes(51).toString('base64')} customer${i}`,
      fingerprint: `SHA256:${randomBytes(32).toString('base64url')}`,
      created_at: this.now,
    })
    return { id, sshKeyId }
  }

  private sold() {
    const ids = { packageId: newId('pkg'), locationId: newId('grp'), imageId: newId('img') }
    this.add('packages', {
      id: ids.packageId,
      name: 'KVM 2G',
      vcpus: 2,
      memory_mb: 2048,
      disk_gb: 40,
      traffic_gb: 2000,
      port_mbps: 1000,
      ipv4: 1,
      ipv6_prefix: 64,
      created_at: this.now,
    })
    this.add('locations', { id: ids.locationId, name: 'Frankfurt', placement: 'spread', open: 1, created_at: this.now })
    this.add('images', {
      id: ids.imageId,
      name: 'Debian 13',
      origin: 'catalogue',
      catalogue_id: 'debian-13',
      url: 'https://images.bench.example/debian-13.qcow2',
      format: 'qcow2',
      checksum: `sha512:${'ab'.repeat(64)}`,
      size_bytes: 350_000_000,
      min_disk_gb: 3,
      user: 'root',
      published: 1,
      created_at: this.now,
    })
    return ids
  }

  private node(i: number, locationId: string): SeededNode {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const id = newId('nod')
    const name = `fra-${String(i + 1).padStart(3, '0')}`
    this.add('nodes', {
      id,
      name,
      location_id: locationId,
      public_key: publicKey.export({ format: 'jwk' }).x as string,
      bridge: 'br0',
      open: 1,
      reserved_memory_mb: 4096,
      facts: JSON.stringify(factsOf(name)),
      memory_mb: NODE_MEMORY_MB,
      threads: 64,
      seen_at: this.now,
      created_at: this.now,
    })
    this.add('storage_pools', {
      id: newId('stp'),
      node_id: id,
      name: 'local',
      kind: 'fake',
      path: '/var/lib/berth',
      total_bytes: NODE_POOL_BYTES,
      created_at: this.now,
    })
    return { id, name, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, servers: [] }
  }

  private pools(nodes: readonly SeededNode[], servers: number) {
    const [v4, v6] = [newId('pool'), newId('pool')]
    const resolvers = '["9.9.9.9","1.1.1.1"]'
    this.add('pools', {
      id: v4,
      name: 'Frankfurt IPv4',
      version: 4,
      network: '10.0.0.0/8',
      gateway: '10.0.0.1',
      first: '10.1.0.0',
      last: '10.255.255.254',
      resolvers,
      created_at: this.now,
    })
    const next = String(BigInt(servers + 1) << 64n)
    this.add('pools', {
      id: v6,
      name: 'Frankfurt IPv6',
      version: 6,
      network: '2001:db8::/32',
      gateway: '2001:db8::1',
      first: '2001:db8::',
      last: '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
      resolvers,
      next_offset: next,
      created_at: this.now,
    })
    for (const { id } of nodes) for (const pool of [v4, v6]) this.add('pool_nodes', { pool_id: pool, node_id: id })
    return { v4, v6 }
  }

  private ipv4(poolId: string, i: number, workloadId: string | null) {
    const address = `10.${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`
    this.add('addresses', {
      id: newId('ip'),
      pool_id: poolId,
      version: 4,
      address,
      prefix_length: 8,
      place: i,
      workload_id: workloadId,
      is_primary: workloadId ? 1 : 0,
    })
  }

  private server(
    i: number,
    owner: { id: string },
    node: SeededNode,
    sold: ReturnType<Rows['sold']>,
    pools: { v4: string; v6: string },
  ): string {
    const id = newId('srv')
    const hostname = `web${i}.bench.example`
    const status = i % 20 === 0 ? 'stopped' : i % 50 === 1 ? 'suspended' : 'running'
    const power = status === 'running' ? 'running' : 'stopped'
    const mac = ['02', '00', ...i.toString(16).padStart(8, '0').match(/../g)!].join(':')
    this.add('workloads', {
      id,
      kind: 'server',
      number: i + 1,
      owner_id: owner.id,
      node_id: node.id,
      location_id: sold.locationId,
      hostname,
      name: hostname,
      lifecycle: 'active',
      ...(status === 'suspended'
        ? { suspended_at: this.now - 1000, suspend_reason: 'Invoice 4711 is overdue' }
        : { suspended_at: null, suspend_reason: null }),
      power,
      wanted_power: status === 'stopped' ? 'stopped' : 'running',
      vcpus: 2,
      memory_mb: 2048,
      disk_gb: 40,
      mac,
      held_mac: mac,
      placement: `${node.name}: most free memory of 20`,
      created_at: this.now - 1000 * (1_000_000 - i),
    })
    this.add('servers', {
      id,
      package_id: sold.packageId,
      image_id: sold.imageId,
      traffic_gb: 2000,
      port_mbps: 1000,
      format: 'qcow2',
    })
    this.ipv4(pools.v4, i, id)
    const group = i + 1
    const prefix = `2001:db8:${group >> 16 ? `${(group >> 16).toString(16)}:` : '0:'}${(group & 0xffff).toString(16)}::`
    this.add('addresses', {
      id: newId('ip'),
      pool_id: pools.v6,
      version: 6,
      address: prefix,
      prefix_length: 64,
      place: i,
      workload_id: id,
      is_primary: 1,
    })
    node.servers.push({ id, power })
    return id
  }

  /** The history of a company that has run for a while: a thousand ended jobs and an audit log. */
  private past(servers: readonly string[], nodes: readonly SeededNode[]) {
    const steps = [
      'plan',
      'image',
      'clear',
      'clear-disk',
      'disk',
      'seed',
      'firewall',
      'define',
      'start',
      'boot',
      'unseed',
      'tell',
    ]
    for (let i = 0; i < Math.min(OLD_JOBS, servers.length); i++) {
      const id = newId('job')
      const at = this.now - (OLD_JOBS - i) * 60_000
      this.add('jobs', {
        id,
        kind: 'install',
        title: `Install web${i}.bench.example`,
        input: JSON.stringify({ serverId: servers[i], nodeId: nodes[i % nodes.length]!.id, purpose: 'create' }),
        state: 'succeeded',
        holds: servers[i]!,
        node_id: nodes[i % nodes.length]!.id,
        subject_type: 'server',
        subject_id: servers[i]!,
        lane: 'build',
        started_by_type: 'system',
        started_by_id: 'system',
        started_by_name: 'System',
        created_at: at,
        started_at: at,
        finished_at: at + 40_000,
        progress: 100,
        step_n: 12,
        step_of: 12,
        step_name: 'Ready',
        tries: 0,
      })
      for (const [n, name] of steps.entries()) {
        this.add('job_steps', { job_id: id, name, state: 'done', output: '{}' })
        this.add('job_log', { job_id: id, n: n + 1, at, level: 'info', text: name })
      }
    }
    for (let i = 0; i < Math.min(OLD_AUDIT_LINES, servers.length * 2); i++)
      this.add('audit', {
        id: newId('aud'),
        at: this.now,
        actor_id: 'system',
        actor_name: 'System',
        via: 'system',
        operation: 'servers.power',
        target: servers[i % servers.length]!,
        from_address: '',
        request_id: '',
        result: 'done',
        details: '{"action":"restart"}',
      })
  }
}
