// The reference for the product: the same answers from the same rows, written by hand with Elysia and bun:sqlite. It
// does the least that is honest (who asks, may they, one query, JSON; an order in one transaction that has reached the
// disk) and none of the rest: no registry, no rate limit, no addresses of tokens, no job that runs afterwards. It uses
// every trick of the product: values hidden from the planner (+?), a pinned order of joins, the bytes of a row's JSON
// kept with the row's version, and one flush for the orders of a turn of the event loop, each in a savepoint.
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
const select = `SELECT w.*, s.package_id, s.image_id, s.traffic_gb, s.port_mbps, s.billing_service_id, s.protected,
    ${status} AS status,
    n.name AS node_name, o.name AS owner_name, o.email AS owner_email, p.name AS package_name, l.name AS location_name,
    i.name AS image_name,
  (SELECT json_group_array(json_object('address', a.address, 'prefixLength', a.prefix_length, 'version', a.version,
  'gateway', ap.gateway)) FROM addresses a JOIN pools ap ON ap.id = a.pool_id WHERE a.workload_id = w.id) AS addresses,
  (SELECT json_object('id', j.id, 'kind', j.kind, 'progress', j.progress) FROM jobs j WHERE j.holds = w.id
  AND j.state IN ('queued', 'running', 'undoing')) AS job
  FROM workloads w CROSS JOIN servers s ON s.id = w.id CROSS JOIN nodes n ON n.id = w.node_id CROSS JOIN accounts o
  ON o.id = w.owner_id
  CROSS JOIN packages p ON p.id = s.package_id CROSS JOIN locations l ON l.id = w.location_id LEFT JOIN images i
  ON i.id = s.image_id`
const row = <R = Row>(sql: string) => db.prepare<R, any[]>(sql)
const find = {
  token: row(
    'SELECT t.id, t.name, t.scopes, a.id AS account, a.name AS account_name FROM tokens t JOIN accounts a ON ' +
      "a.id = t.account_id WHERE t.token_hash = +? AND t.revoked_at IS NULL AND a.kind = 'staff'",
  ),
  server: row(`${select} WHERE w.id = +?`),
  page: row(
    "SELECT w.id, w.version FROM workloads w WHERE w.kind = 'server' AND w.terminated_at IS NULL ORDER BY w.id " +
      'DESC LIMIT +?',
  ),
  total: row<{ n: number }>("SELECT listed AS n FROM workload_counts WHERE kind = 'server'"),
  pageOfNode: row(
    "SELECT w.id, w.version FROM workloads w WHERE w.kind = 'server' AND w.terminated_at IS NULL AND w.node_id = " +
      '+? ORDER BY w.id DESC LIMIT +?',
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
      'ORDER BY a.pool_id, a.place LIMIT 1',
  ),
  ipv6: row(
    'SELECT p.id, p.next_offset, (SELECT max(place) + 1 FROM addresses WHERE pool_id = p.id) AS place FROM pools ' +
      'p JOIN pool_nodes pn ON pn.pool_id = p.id WHERE pn.node_id = +? AND p.version = 6',
  ),
}
const put = {
  workload:
    row(`INSERT INTO workloads (id, kind, number, owner_id, node_id, location_id, hostname, name, lifecycle, vcpus,
      memory_mb, disk_gb, mac, placement, created_at)
    VALUES (?, 'server', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
  server: row(
    'INSERT INTO servers (id, package_id, image_id, traffic_gb, port_mbps, pool, format, billing_service_id) VALUES ' +
      "(?, ?, ?, ?, ?, ?, 'qcow2', ?)",
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
      "details) VALUES (?, ?, ?, ?, ?, 'servers.create', ?, '127.0.0.1', ?, 'done', ?)",
  ),
}

/** Memory that each node has left, kept in mind: a second process would need more, one does not. */
const nodes = db
  .query<{ id: string; name: string; pool: string; free: number }, []>(
    'SELECT n.id, n.name, n.pool, n.memory_mb - n.reserved_memory_mb - (SELECT coalesce(sum(memory_mb), 0) FROM ' +
      'workloads WHERE node_id = n.id AND released_at IS NULL) AS free FROM nodes n',
  )
  .all()

function who(request: Request, scope: string): Row {
  const token = request.headers.get('Authorization')?.slice(7) ?? ''
  const found = find.token.get(new Bun.CryptoHasher('sha256').update(token).digest('hex'))
  if (!found || !(JSON.parse(found['scopes']) as string[]).includes(scope)) throw new Error('not allowed')
  return found
}

const allowed: Record<string, string[]> = {
  running: ['shutdown', 'off', 'restart', 'reinstall', 'suspend', 'terminate', 'change_package'],
  stopped: ['start', 'reinstall', 'suspend', 'terminate', 'change_package'],
  suspended: ['unsuspend', 'terminate'],
  pending_setup: ['setup', 'suspend', 'terminate'],
  provisioning: [],
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
    image: s['image_id'] ? { id: s['image_id'], name: s['image_name'] } : null,
    ipv4,
    ipv6: prefix && `${prefix}1`,
    addresses,
    sshCommand: s['image_id'] ? `ssh root@${ipv4}` : null,
    mac: s['mac'],
    vcpus: s['vcpus'],
    memoryMb: s['memory_mb'],
    diskGb: s['disk_gb'],
    trafficGb: s['traffic_gb'],
    portMbps: s['port_mbps'],
    job: s['job'] ? JSON.parse(s['job']) : null,
    rescue: false,
    restartPolicy: s['restart_policy'],
    locked: false,
    protected: !!s['protected'],
    nodeConnected: true,
    nodeSeenAt: null,
    allowed: allowed[s['status']] ?? [],
    billingServiceId: s['billing_service_id'],
    createdAt: iso(s['created_at']),
    terminatedAt: iso(s['terminated_at']),
  }
}

const kept = new Map<string, { version: number; bytes: Buffer<ArrayBuffer> }>()
/** The JSON of a server as UTF-8, made again when its version is another. */
function bytes({ id, version }: Row): Buffer<ArrayBuffer> {
  let entry = kept.get(id)
  if (entry?.version !== version)
    kept.set(id, (entry = { version, bytes: Buffer.from(JSON.stringify(shown(find.server.get(id)!))) }))
  return entry!.bytes
}

const opening = Buffer.from('{"data":[')
const comma = Buffer.from(',')
const json = (body: unknown, status = 200) => answer(JSON.stringify(body), status)
const answer = (body: string | Buffer<ArrayBuffer>, status = 200) =>
  new Response(body, {
    status,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Request-Id': Bun.randomUUIDv7(),
    },
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
    `${node.name}: most free memory`,
    now,
  )
  const service = body['billingServiceId'] ?? null
  put.server.run(
    id,
    body['packageId'],
    image?.['id'] ?? null,
    what['traffic_gb'],
    what['port_mbps'],
    node.pool,
    service,
  )
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
  put.audit.run(
    newId('aud'),
    now,
    by['account'],
    by['account_name'],
    `token ${by['id']}`,
    id,
    Bun.randomUUIDv7(),
    JSON.stringify(body),
  )
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
    who(request, 'servers:read')
    const found = find.server.get(params.id)
    return found ? json(shown(found)) : json({ error: { code: 'server_not_found' } }, 404)
  })
  .get('/api/v1/admin/servers', ({ request, query }) => {
    who(request, 'servers:read')
    const limit = Number(query['limit'] ?? 50)
    const node = query['nodeId']
    const rows = node ? find.pageOfNode.all(node, limit + 1) : find.page.all(limit + 1)
    const nextCursor = rows.length > limit ? btoa(rows[limit - 1]!['id']) : null
    const total = (node ? find.totalOfNode.get(node) : find.total.get())!.n
    const parts = [opening]
    for (const row of rows.slice(0, limit)) parts.push(bytes(row), comma)
    if (rows.length) parts.pop()
    parts.push(Buffer.from(`],"nextCursor":${JSON.stringify(nextCursor)},"total":${total}}`))
    return answer(Buffer.concat(parts))
  })
  .post('/api/v1/admin/servers', async ({ request, body }) =>
    json(await ordered(who(request, 'servers:create'), body as Row), 201),
  )
  .listen({ hostname: '127.0.0.1', port: Number(process.argv[3]) })
