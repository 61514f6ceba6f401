// The reference for the product: the same answers from the same rows, written by hand with Elysia and bun:sqlite. It
// has the duties of these calls by their contract: the token and its end, its addresses, its maker's role, 1200 calls a
// minute, the headers of every response, an order in one transaction that has reached the disk, with its event, its
// line in the chain of the audit log and its interval of usage, a cursor that only its reader can use, a limit that is
// a number, and what the contact with each node says. It does none of the rest: no registry, no validation
// beyond what the statements need, no quotas, no search for nodes that lack addresses, no mail, no job that runs.
// It uses every trick of the product: values hidden from the planner (+?), a pinned order of joins, one read
// transaction for a call, the bytes of a row's JSON and of a page kept with the versions of the rows, headers that are
// copied whole, and one flush for the orders of a turn of the event loop, each in a savepoint.
//
//   bun test/bench/reference.ts DATABASE PORT
import { Database } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { Elysia } from 'elysia'
import { newId } from '../../src/kernel/db/ids.ts'

type Row = Record<string, any>

const db = new Database(process.argv[2]!, { strict: true })
for (const pragma of [
  'busy_timeout=5000',
  'journal_mode=WAL',
  'synchronous=FULL',
  'foreign_keys=ON',
  'temp_store=MEMORY',
  'cache_size=-32000',
])
  db.run(`PRAGMA ${pragma}`)

const status = `CASE WHEN w.lifecycle = 'terminated' THEN 'terminated' WHEN w.suspended_at IS NOT NULL THEN 'suspended'
  WHEN w.lifecycle <> 'active' THEN w.lifecycle
  WHEN w.power IN ('running', 'paused') THEN 'running' ELSE 'stopped' END`
const select = `SELECT w.*, s.package_id, s.image_id, s.image_checksum, s.traffic_gb, s.port_mbps,
    s.protected,
    s.pending_password_hash, s.os, s.rescue, g.os_id, g.os_name, g.os_version, g.kernel, g.detected_at,
    s.speed_in_mbps, s.speed_out_mbps, s.speed_cpu_percent, s.throttle_mbps,
    s.disk_read_iops, s.disk_write_iops, s.disk_read_mb_per_second, s.disk_write_mb_per_second,
    (SELECT class FROM storage_pools WHERE node_id = w.node_id AND name = w.pool) AS storage_class,
    ${status} AS status,
    n.name AS node_name, o.name AS owner_name, o.email AS owner_email, p.name AS package_name, l.name AS location_name,
    i.name AS image_name,
  (SELECT json_group_array(json_object('address', a.address, 'prefixLength', a.prefix_length, 'version', a.version,
  'gateway', ap.gateway, 'kind', CASE WHEN a.is_primary THEN 'primary' ELSE 'extra' END))
  FROM addresses a JOIN pools ap ON ap.id = a.pool_id WHERE a.workload_id = w.id) AS addresses,
  (SELECT json_group_array(wl.label) FROM workload_labels wl WHERE wl.workload_id = w.id AND wl.side = 'owner')
    AS labels,
  (SELECT json_group_array(wl.label) FROM workload_labels wl WHERE wl.workload_id = w.id AND wl.side = 'staff')
    AS staff_labels,
  (SELECT json_object('id', j.id, 'kind', j.kind, 'progress', j.progress) FROM jobs j WHERE j.holds = w.id
  AND j.state IN ('queued', 'running', 'undoing')) AS job
  FROM workloads w CROSS JOIN servers s ON s.id = w.id CROSS JOIN nodes n ON n.id = w.node_id CROSS JOIN accounts o
  ON o.id = w.owner_id
  CROSS JOIN packages p ON p.id = s.package_id CROSS JOIN locations l ON l.id = w.location_id LEFT JOIN images i
  ON i.id = s.image_id LEFT JOIN server_guests g ON g.server_id = w.id`
const row = <R = Row>(sql: string) => db.prepare<R, any[]>(sql)
const find = {
  token: row(
    `SELECT t.id, t.name, t.scopes, t.allow, t.expires_at, a.id AS account, a.name AS account_name, a.disabled_at,
      r.permissions, r.is_owner FROM tokens t CROSS JOIN accounts a ON a.id = t.account_id JOIN roles r ON
      r.id = a.role_id WHERE t.token_hash = +? AND t.revoked_at IS NULL AND a.kind = 'staff'`,
  ),
  server: row(`${select} WHERE w.id = +?`),
  version: row("SELECT id, version FROM workloads WHERE id = +? AND kind = 'server'"),
  lastLine: row('SELECT seq, hash FROM audit WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1'),
  page: row<{ keys: string }>(
    'SELECT json_group_array(json_array(id, version)) AS keys FROM (SELECT w.id, w.version FROM workloads w WHERE ' +
      "w.kind = 'server' AND w.terminated_at IS NULL ORDER BY w.id DESC LIMIT +?)",
  ),
  total: row<{ n: number }>("SELECT listed AS n FROM workload_counts WHERE kind = 'server'"),
  pageOfNode: row<{ keys: string }>(
    'SELECT json_group_array(json_array(id, version)) AS keys FROM (SELECT w.id, w.version FROM workloads w WHERE ' +
      "w.kind = 'server' AND w.terminated_at IS NULL AND w.node_id = +? ORDER BY w.id DESC LIMIT +?)",
  ),
  totalOfNode: row<{ n: number }>(
    "SELECT count(*) AS n FROM workloads WHERE kind = 'server' AND terminated_at IS NULL AND node_id = +?",
  ),
  order:
    row(`SELECT p.*, l.placement, o.name AS owner_name, o.email AS owner_email, o.external_id, l.name AS location_name
      FROM packages p, locations l, accounts o
    WHERE p.id = ? AND l.id = ? AND o.id = ? AND p.archived = 0 AND l.open = 1 AND o.locked_at IS NULL`),
  image: row('SELECT * FROM images WHERE id = ? AND published = 1 AND removed_at IS NULL'),
  key: row('SELECT public_key FROM ssh_keys WHERE id = ? AND owner_id = ?'),
  number: row<{ n: number }>('SELECT max(number) + 1 AS n FROM workloads'),
  ipv4: row(
    'SELECT a.id, a.address FROM pool_nodes pn JOIN addresses a INDEXED BY addresses_free ON a.pool_id = ' +
      'pn.pool_id WHERE pn.node_id = +? AND a.version = 4 AND a.workload_id IS NULL AND a.reserved_for IS NULL ' +
      'AND a.rests_until IS NULL ORDER BY a.pool_id, a.place LIMIT 1',
  ),
  ipv6: row(
    'SELECT p.id, p.next_offset, (SELECT max(place) + 1 FROM addresses WHERE pool_id = p.id) AS place FROM pools ' +
      'p JOIN pool_nodes pn ON pn.pool_id = p.id WHERE pn.node_id = +? AND p.version = 6',
  ),
}
const put = {
  workload:
    row(`INSERT INTO workloads (id, kind, number, owner_id, node_id, location_id, hostname, name, lifecycle, vcpus,
      memory_mb, disk_gb, mac, held_mac, placement, created_at, pool, billing_service_id)
    VALUES (?, 'server', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
  stay: row("INSERT INTO workload_stays VALUES (?, ?, 'home', ?, ?, ?, ?, 0, 0, 0)"),
  server: row(
    'INSERT INTO servers (id, package_id, image_id, traffic_gb, port_mbps, format) VALUES ' +
      "(?, ?, ?, ?, ?, 'qcow2')",
  ),
  take: row('UPDATE addresses SET workload_id = ?, is_primary = 1 WHERE id = ?'),
  prefix: row(
    'INSERT INTO addresses (id, pool_id, version, address, prefix_length, place, workload_id, is_primary) VALUES ' +
      '(?, ?, 6, ?, 64, ?, ?, 1)',
  ),
  offset: row('UPDATE pools SET next_offset = ? WHERE id = ?'),
  event: row("INSERT INTO events (id, type, created_at, customer_id, data) VALUES (?, 'server.created', ?, ?, ?)"),
  job: row(`INSERT INTO jobs (id, kind, title, input, state, holds, node_id, subject_type, subject_id, lane,
    started_by_type, started_by_id, started_by_name, created_at, progress, step_n, step_of, tries)
    VALUES (?, 'install', ?, ?, 'queued', ?, ?, 'server', ?, 'build', 'token', ?, ?, ?, 0, 0, 12, 0)`),
  audit: row(
    'INSERT INTO audit (id, at, actor_id, actor_name, via, operation, target, from_address, request_id, result, ' +
      "details, seq, hash) VALUES (?, ?, ?, ?, ?, ?, ?, '127.0.0.1', ?, 'done', ?, ?, ?)",
  ),
  usage: row(
    'INSERT INTO usage_intervals (workload_id, kind, owner_id, hostname, product_id, product_name, ' +
      "billing_product_id, billing_service_id, state, since) VALUES (?, 'server', ?, ?, ?, ?, ?, ?, ?, ?)",
  ),
  settled: row('DELETE FROM usage_due'),
  name: row('UPDATE accounts SET name = ? WHERE id = ? RETURNING id, name, email, external_id'),
}
const control = { begin: row('BEGIN'), commit: row('COMMIT') }
/** One snapshot for a call that reads. */
function reading<T>(work: () => T): T {
  control.begin.run()
  try {
    return work()
  } finally {
    control.commit.run()
  }
}

/** Memory that each node has left, kept in mind: a second process would need more, one does not. */
const nodes = db
  .query<{ id: string; name: string; pool: string; free: number }, []>(
    'SELECT n.id, n.name, (SELECT min(name) FROM storage_pools WHERE node_id = n.id) AS pool, ' +
      'n.memory_mb - n.reserved_memory_mb - (SELECT coalesce(sum(memory_mb), 0) FROM ' +
      'workloads WHERE node_id = n.id AND released_at IS NULL) AS free FROM nodes n',
  )
  .all()

const CALLS_PER_MINUTE = 1200
const calls = new Map<string, { left: number; at: number }>()
/** Takes one call of the token, refilled evenly. */
function take(token: string, now: number) {
  const bucket = calls.get(token) ?? { left: CALLS_PER_MINUTE, at: now }
  bucket.left = Math.min(CALLS_PER_MINUTE, bucket.left + ((now - bucket.at) / 60_000) * CALLS_PER_MINUTE) - 1
  bucket.at = now
  calls.set(token, bucket)
  if (bucket.left < 0) throw new Error('too many calls')
}

/** The permission of a role that gives the scope. */
const permissionFor: Record<string, string> = {
  'servers:read': 'servers.see_all',
  'servers:create': 'servers.create',
  'customers:write': 'customers.write',
}
function who(request: Request, scope: string): Row {
  const token = request.headers.get('Authorization')?.slice(7) ?? ''
  const found = find.token.get(Bun.CryptoHasher.hash('sha256', token, 'hex'))
  const now = Date.now()
  if (!found || found['disabled_at'] !== null || (found['expires_at'] ?? now + 1) <= now) throw new Error('no token')
  if (found['allow'] !== '[]' && !(JSON.parse(found['allow']) as string[]).includes(from(request)))
    throw new Error('not from here')
  take(found['id'], now)
  const holds = found['is_owner'] || (JSON.parse(found['permissions']) as string[]).includes(permissionFor[scope]!)
  if (!holds || !(JSON.parse(found['scopes']) as string[]).includes(scope)) throw new Error('not allowed')
  return found
}
/** The proxy in front says it. */
const from = (request: Request) => request.headers.get('X-Forwarded-For') ?? '127.0.0.1'

const allowed: Record<string, string[]> = {
  running: [
    'shutdown',
    'off',
    'restart',
    'reinstall',
    'suspend',
    'terminate',
    'change_owner',
    'console',
    'speed',
    'change_package',
    'addresses',
  ],
  stopped: ['start', 'reinstall', 'suspend', 'terminate', 'change_owner', 'speed', 'change_package', 'addresses'],
  suspended: ['unsuspend', 'terminate', 'change_owner', 'speed'],
  pending_setup: ['setup', 'suspend', 'terminate', 'change_owner', 'speed', 'addresses'],
  provisioning: ['suspend', 'terminate', 'console'],
}
const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString())

function shown(s: Row) {
  const addresses = (JSON.parse(s['addresses']) as Row[]).sort((a, b) => a['version'] - b['version'])
  const ipv4 = addresses.find((a) => a['version'] === 4)?.['address'] ?? null
  const prefix = addresses.find((a) => a['version'] === 6)?.['address'] ?? null
  return {
    id: s['id'],
    number: s['number'],
    name: s['name'],
    hostname: s['hostname'],
    status: s['status'],
    suspendReason: s['suspend_reason'],
    failure: s['failure'],
    access: 'own',
    owner: { id: s['owner_id'], name: s['owner_name'], email: s['owner_email'] },
    package: { id: s['package_id'], name: s['package_name'] },
    location: { id: s['location_id'], name: s['location_name'] },
    node: { id: s['node_id'], name: s['node_name'] },
    placement: s['placement'],
    storagePool: s['pool'],
    storageClass: s['storage_class'],
    image: s['image_id'] ? { id: s['image_id'], name: s['image_name'] } : null,
    imageChecksum: s['image_checksum'],
    ipv4,
    ipv6: prefix && `${prefix}1`,
    addresses,
    sshCommand: s['image_id'] ? `ssh root@${ipv4}` : null,
    osFamily: s['os'],
    user: 'root',
    mac: s['mac'],
    vcpus: s['vcpus'],
    memoryMb: s['memory_mb'],
    diskGb: s['disk_gb'],
    trafficGb: s['traffic_gb'],
    portMbps: s['port_mbps'],
    speed: speedOf(s),
    diskLimits: {
      readIops: s['disk_read_iops'],
      writeIops: s['disk_write_iops'],
      readMbPerSecond: s['disk_read_mb_per_second'],
      writeMbPerSecond: s['disk_write_mb_per_second'],
    },
    job: s['job'] ? JSON.parse(s['job']) : null,
    rescue: !!s['rescue'],
    os:
      s['detected_at'] === null
        ? null
        : {
            id: s['os_id'],
            name: s['os_name'],
            version: s['os_version'],
            kernel: s['kernel'],
            detectedAt: iso(s['detected_at']),
          },
    passwordPending: s['pending_password_hash'] !== null,
    restartPolicy: s['restart_policy'],
    locked: false,
    protected: !!s['protected'],
    nodeConnected: true,
    nodeSeenAt: null,
    powerKnownAt: null,
    allowed: allowed[s['status']] ?? [],
    billingServiceId: s['billing_service_id'],
    labels: JSON.parse(s['labels']),
    staffLabels: JSON.parse(s['staff_labels']),
    createdAt: iso(s['created_at']),
    terminatedAt: iso(s['terminated_at']),
    purgeAt: iso(s['purge_at']),
  }
}

function speedOf(s: Row) {
  const override = {
    portInMbps: s['speed_in_mbps'],
    portOutMbps: s['speed_out_mbps'],
    cpuPercent: s['speed_cpu_percent'],
  }
  const throttled = s['throttle_mbps']
  const slower = (mbps: number | null) => (throttled === null ? mbps : Math.min(mbps ?? throttled, throttled))
  return {
    portInMbps: slower(override.portInMbps ?? s['port_mbps']),
    portOutMbps: slower(override.portOutMbps ?? s['port_mbps']),
    cpuPercent: override.cpuPercent,
    override,
    throttledToMbps: throttled,
  }
}

/** Nodes that are away or do not tell what runs, by id, with the words of it; no agent connects to the reference. */
const contact = new Map<string, string>()
/** Counts the changes of `contact`. */
const contactVersion = 0
const kept = new Map<string, { version: number; nodeId: string; contact?: string; bytes: Buffer<ArrayBuffer> }>()
/** The JSON of a server as UTF-8, made again when its version or the contact with its node is another. */
function bytes({ id, version }: Row): Buffer<ArrayBuffer> {
  const entry = kept.get(id)
  if (entry?.version === version && entry!.contact === contact.get(entry!.nodeId)) return entry!.bytes
  const row = find.server.get(id)!
  const nodeId = row['node_id']
  const made = { version, nodeId, contact: contact.get(nodeId)!, bytes: Buffer.from(JSON.stringify(shown(row))) }
  kept.set(id, made)
  return made.bytes
}

const cursorKey = randomBytes(32)
/** Of one list and one reader: another is refused. */
function cursorAfter(by: Row, id: string): string {
  const text = JSON.stringify({ at: 50, key: id })
  const mac = new Bun.CryptoHasher('sha256', cursorKey).update(`all servers\n${by['account']}\n${text}`).digest('hex')
  return Buffer.from(`${mac.slice(0, 16)}${text}`).toString('base64url')
}

const opening = Buffer.from('{"data":[')
const comma = Buffer.from(',')
const pages = new Map<string, { keys: string; total: number; body: Blob }>()
/** The page is put together again when the ids and versions of its rows are others, or the total. */
function page(by: Row, name: string, keys: string, total: number, limit: number): Blob {
  const kept = pages.get(name)
  if (kept?.keys === keys && kept.total === total) return kept.body
  const rows = (JSON.parse(keys) as [string, number][]).map(([id, version]) => ({ id, version }))
  const nextCursor = rows.length > limit ? cursorAfter(by, rows[limit - 1]!.id) : null
  const parts = [opening]
  for (const row of rows.slice(0, limit)) parts.push(bytes(row), comma)
  if (rows.length) parts.pop()
  parts.push(Buffer.from(`],"nextCursor":${JSON.stringify(nextCursor)},"total":${total}}`))
  const body = new Blob(parts)
  pages.set(name, { keys, total, body })
  return body
}
const common = new Headers({
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
})
const json = (body: unknown, status = 200) => answer(JSON.stringify(body), status)
function answer(body: string | Buffer<ArrayBuffer> | Blob, status = 200) {
  const response = new Response(body, { status, headers: common })
  response.headers.set('X-Request-Id', Bun.randomUUIDv7())
  return response
}

/** The line of a change in the chain of the audit log. */
function audited(by: Row, operation: string, target: string, body: Row, now: number) {
  const before = find.lastLine.get() ?? { seq: 0, hash: '' }
  const line = [
    newId('aud'),
    now,
    by['account'],
    by['account_name'],
    `token ${by['id']}`,
    operation,
    target,
    Bun.randomUUIDv7(),
    JSON.stringify(body),
    before['seq'] + 1,
  ]
  put.audit.run(...line, Bun.CryptoHasher.hash('sha256', before['hash'] + JSON.stringify(line), 'hex'))
}

const rename = db.transaction((by: Row, id: string, body: Row) => {
  const renamed = put.name.get(body['name'], id)!
  audited(by, 'customers.update', id, body, Date.now())
  return renamed
})

const order = db.transaction((by: Row, body: Row) => {
  const now = Date.now()
  const what = find.order.get(body['packageId'], body['nodeGroupId'], body['ownerId'])
  const node = nodes.reduce((most, n) => (n.free > most.free ? n : most))
  const image = body['imageId'] ? find.image.get(body['imageId']) : undefined
  if (!what) throw new Error('not possible')
  const id = newId('srv')
  const number = find.number.get()!.n
  const host = body['hostname'] ?? `server${number}`
  const mac = `02:${randomBytes(5).toString('hex').match(/../g)!.join(':')}`
  const service = body['billingServiceId'] ?? null
  put.workload.run(
    id,
    number,
    body['ownerId'],
    node.id,
    body['nodeGroupId'],
    host,
    host,
    image ? 'provisioning' : 'pending_setup',
    what['vcpus'],
    what['memory_mb'],
    what['disk_gb'],
    mac,
    mac,
    `${node.name}: most free memory`,
    now,
    node.pool,
    service,
  )
  put.stay.run(id, node.id, node.pool, what['vcpus'], what['memory_mb'], what['disk_gb'])
  put.server.run(id, body['packageId'], image?.['id'] ?? null, what['traffic_gb'], what['port_mbps'])
  node.free -= what['memory_mb']
  const ipv4 = find.ipv4.get(node.id)!
  put.take.run(id, ipv4['id'])
  const pool = find.ipv6.get(node.id)!
  const group = BigInt(pool['next_offset']) >> 64n
  put.prefix.run(
    newId('ip'),
    pool['id'],
    `2001:db8:${(group >> 16n).toString(16)}:${(group & 0xffffn).toString(16)}::`,
    pool['place'],
    id,
  )
  put.offset.run(String((group + 1n) << 64n), pool['id'])
  const server = {
    id,
    hostname: host,
    status: image ? 'provisioning' : 'pending_setup',
    package: what['name'],
    location: what['location_name'],
    ipv4: ipv4['address'],
    billingServiceId: service,
  }
  const customer = {
    id: body['ownerId'],
    email: what['owner_email'],
    name: what['owner_name'],
    externalId: what['external_id'],
  }
  put.event.run(newId('evt'), now, body['ownerId'], JSON.stringify({ server, customer, image: image?.['id'] ?? null }))
  let jobId: string | null = null
  if (image) {
    jobId = newId('job')
    const publicKeys = body['access'].sshKeyIds.map((key: string) => find.key.get(key, body['ownerId'])!['public_key'])
    const input = {
      serverId: id,
      nodeId: node.id,
      image: { id: image['id'], url: image['url'], format: image['format'], checksum: image['checksum'] },
      access: { passwordHash: null, publicKeys },
      purpose: 'create',
    }
    put.job.run(
      jobId,
      `Install ${host}`,
      JSON.stringify(input),
      id,
      node.id,
      id,
      by['id'],
      `${by['name']} (${by['account_name']})`,
      now,
    )
  }
  put.usage.run(
    id,
    body['ownerId'],
    host,
    body['packageId'],
    what['name'],
    what['billing_product_id'] ?? null,
    service,
    image ? 'provisioning' : 'pending_setup',
    now,
  )
  put.settled.run()
  audited(by, 'servers.create', id, body, now)
  return { jobId, serverId: id, ipv4: ipv4['address'] }
})

type Ordered = ReturnType<typeof order>
const waiting: { by: Row; body: Row; resolve(made: Ordered): void; reject(error: unknown): void }[] = []
const orderAll = db.transaction((all: typeof waiting) =>
  all.map(({ by, body, resolve, reject }) => {
    try {
      const made = order(by, body)
      return () => resolve(made)
    } catch (error) {
      return () => reject(error)
    }
  }),
)
const ordered = (by: Row, body: Row) =>
  new Promise<Ordered>((resolve, reject) => {
    if (!waiting.length)
      setImmediate(() => {
        for (const settle of orderAll.immediate(waiting.splice(0))) settle()
      })
    waiting.push({ by, body, resolve, reject })
  })

new Elysia()
  .get('/api/v1/status', () => 'up')
  .get('/api/v1/servers/:id', ({ request, params }) => {
    const response = reading(() => {
      who(request, 'servers:read')
      const found = find.version.get(params.id)
      return found ? answer(bytes(found)) : json({ error: { code: 'server_not_found' } }, 404)
    })
    return response
  })
  .get('/api/v1/admin/servers', ({ request, query }) => {
    const response = reading(() => {
      const by = who(request, 'servers:read')
      const limit = Math.min(Number(query['limit'] ?? 50), 100)
      if (!(Number.isInteger(limit) && limit >= 1)) throw new Error('no limit')
      const node = query['nodeId']
      const { keys } = (node ? find.pageOfNode.get(node, limit + 1) : find.page.get(limit + 1))!
      const total = (node ? find.totalOfNode.get(node) : find.total.get())!.n
      return answer(page(by, `${by['account']} ${node} ${limit} ${contactVersion}`, keys, total, limit))
    })
    return response
  })
  .patch('/api/v1/customers/:id', ({ request, params, body }) =>
    json(rename.immediate(who(request, 'customers:write'), params.id, body as Row)),
  )
  .post('/api/v1/admin/servers', async ({ request, body }) =>
    json(await ordered(who(request, 'servers:create'), body as Row), 201),
  )
  .listen({ hostname: '127.0.0.1', port: Number(process.argv[3]) })
