// A large hosting company in rows: one of each thing by `seed`, and the rest of the same form by a statement for each
// table, with all triggers. 300 000 servers take some minutes; inserted one by one they would take an hour.
import { type Db, openDb, write } from '../../../../src/kernel/db/open.ts'
import { type Seeded, seed } from '../../../support/world/seed.ts'
import { say } from '../../words.ts'

export type ScaleSize = {
  servers: number
  customers: number
  nodes: number
  /** IPv4, of which each server has one; more than servers. */
  addresses: number
  auditLines: number
  jobs: number
}
/** The proportions of the company that the goals are about, for this number of servers. */
export const sizeFor = (servers: number, auditLines: number): ScaleSize => ({
  servers,
  customers: Math.ceil(servers / 3),
  nodes: Math.ceil(servers / 30),
  addresses: Math.ceil((servers * 5) / 3),
  auditLines,
  jobs: servers,
})

const PACKAGES = 20
const RESELLERS = 50
const DAY_MS = 86_400_000

/** An id that sorts before every one that the product makes: SQL over `n`. */
const id = (prefix: string, n = 'n') => `printf('${prefix}_0000%022d', ${n})`

/** Writes berth.db into `dataDir`, which must be empty. Answers what `seed` does, of its first rows. */
export function fillScale(dataDir: string, size: ScaleSize): Seeded {
  const seeded = seed(dataDir, { servers: 1, customers: 1, nodes: 1, tokens: 50, freeAddresses: 0 })
  const db = openDb(`${dataDir}/berth.db`)
  const { $client } = db
  $client.run('PRAGMA synchronous=OFF')
  $client.run('PRAGMA wal_autocheckpoint=100000')
  $client.run('PRAGMA cache_size=-1000000')
  $client.run('PRAGMA foreign_keys=OFF')
  for (const [words, work] of parts(db, size)) {
    const began = performance.now()
    write(db, work)
    say(`  ${words}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  }
  $client.run('PRAGMA wal_checkpoint(TRUNCATE)')
  $client.close()
  return seeded
}

function parts(db: Db, size: ScaleSize): [words: string, work: () => void][] {
  const { $client } = db
  const { servers, customers, nodes, addresses, auditLines, jobs } = size
  /** Copies the one row of a table as rows 1 to `count`; `columns` are SQL over `n`, others are those of the row. */
  const copies = (table: string, count: number, columns: Record<string, string>, from = 1) => {
    const names = $client.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`).all()
    const filled = names.map(({ name }) => columns[name] ?? `t."${name}"`)
    $client.run(
      `INSERT INTO ${table} (${names.map(({ name }) => `"${name}"`)})
       WITH RECURSIVE counted (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM counted WHERE n < ${count})
       SELECT ${filled} FROM counted CROSS JOIN
         (SELECT * FROM ${table} ${table === 'accounts' ? "WHERE kind = 'customer'" : ''}
          ORDER BY rowid LIMIT 1) t WHERE n <= ${count}`,
    )
  }
  const sql = (text: string) => $client.run(text)
  const now = Date.now()
  /** Each server's row is one of the seed's, so that its own values are right. */
  const ofServer = { owner: id('usr', `(n % ${customers}) + 1`), node: id('nod', `(n % ${nodes}) + 1`) }
  const server = id('srv', `(n % ${servers}) + 1`)
  const accounts = () => {
    for (let n = 1; n <= RESELLERS; n++)
      sql(`INSERT INTO accounts (id, kind, email, name, created_at)
           VALUES ('usr_0000r${String(n).padStart(21, '0')}', 'reseller', 'reseller${n}@bench.example',
             'Reseller ${n}', ${now})`)
    copies('accounts', customers, {
      id: id('usr'),
      email: "'buyer' || n || '@bench.example'",
      name: "'Customer ' || n",
      organization: "'Company ' || n || ' Ltd'",
      external_id: "'whmcs:n' || n",
      reseller_id: `iif(n % 10 = 0, printf('usr_0000r%021d', n % ${RESELLERS} + 1), NULL)`,
      created_at: `${now} - (${customers} - n) * 60000`,
    })
  }
  const nodeRows = () => {
    const name = "printf('fra-%05d', n)"
    copies('nodes', nodes, {
      id: id('nod'),
      name,
      facts: `json_set(t.facts, '$.hostname', ${name})`,
      seen_at: String(now),
    })
    sql(`INSERT INTO storage_pools (id, node_id, name, kind, path, total_bytes, created_at)
         SELECT 'stp_' || substr(n.id, 5), n.id, s.name, s.kind, s.path, s.total_bytes, s.created_at
         FROM nodes n CROSS JOIN (SELECT * FROM storage_pools LIMIT 1) s WHERE n.id GLOB 'nod_0000*'`)
    sql("INSERT INTO pool_nodes SELECT p.id, n.id FROM pools p CROSS JOIN nodes n WHERE n.id GLOB 'nod_0000*'")
    copies('packages', PACKAGES, { id: id('pkg'), name: "'KVM ' || n" })
  }
  const serverRows = () => {
    const mac = "printf('02:01:%02x:%02x:%02x:%02x', n >> 24, (n >> 16) & 255, (n >> 8) & 255, n & 255)"
    const state = (suspended: string, other: string) => `iif(n % 50 = 1, ${suspended}, ${other})`
    copies('workloads', servers, {
      id: id('srv'),
      number: 'n + 100',
      owner_id: ofServer.owner,
      reseller_id: `iif(((n % ${customers}) + 1) % 10 = 0,
        printf('usr_0000r%021d', ((n % ${customers}) + 1) % ${RESELLERS} + 1), NULL)`,
      node_id: ofServer.node,
      hostname: "'web' || n || '.bench.example'",
      name: "'web' || n || '.bench.example'",
      mac,
      held_mac: mac,
      lifecycle: "iif(n % 1000 = 7, 'failed', 'active')",
      suspended_at: state(String(now), 'NULL'),
      suspend_reason: state("'Invoice 4711 is overdue'", 'NULL'),
      power: state("'stopped'", "iif(n % 20 = 0, 'stopped', 'running')"),
      wanted_power: "iif(n % 20 = 0, 'stopped', 'running')",
      created_at: `${now} - (${servers} - n) * 1000`,
    })
    copies('servers', servers, { id: id('srv'), package_id: id('pkg', `(n % ${PACKAGES}) + 1`) })
    sql(`INSERT INTO workload_stays (workload_id, node_id, role, pool, vcpus, memory_mb, disk_gb)
         SELECT id, node_id, 'home', pool, vcpus, memory_mb, disk_gb FROM workloads`)
    sql(`INSERT INTO server_guests (server_id, next_look_at, os_id, os_name, os_version, detected_at, agent_answers)
         SELECT id, ${now} + 1000 * (number % 86400), 'debian', 'Debian GNU/Linux', '13', ${now}, 1 FROM workloads`)
  }
  const addressRows = () => {
    sql(`INSERT INTO addresses (id, pool_id, version, address, prefix_length, place, workload_id, is_primary)
         WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${addresses})
         SELECT ${id('ip')}, p.id, 4, printf('10.%d.%d.%d', 1 + (n >> 16), (n >> 8) & 255, n & 255), 8, n,
           iif(n <= ${servers}, ${id('srv')}, NULL), n <= ${servers}
         FROM counted CROSS JOIN pools p WHERE p.version = 4`)
    sql(`INSERT INTO addresses (id, pool_id, version, address, prefix_length, place, workload_id, is_primary)
         WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${servers})
         SELECT ${id('ip', `n + ${addresses}`)}, p.id, 6,
           printf('2001:db8:%x:%x::', (n + 9) >> 16, (n + 9) & 65535), 64,
           n + 9, ${id('srv')}, 1
         FROM counted CROSS JOIN pools p WHERE p.version = 6`)
    sql(`UPDATE pools SET next_offset = '${String(BigInt(servers + 10) << 64n)}' WHERE version = 6`)
  }
  const ledgers = () => {
    sql(`INSERT INTO usage_intervals (workload_id, kind, owner_id, reseller_id, hostname, product_id, product_name,
           state, since, until, power)
         SELECT w.id, w.kind, w.owner_id, w.reseller_id, w.hostname, s.package_id, 'KVM', 'active',
           ${now} - (3 - m.value) * 30 * ${DAY_MS}, iif(m.value = 2, NULL, ${now} - (2 - m.value) * 30 * ${DAY_MS}),
           'running'
         FROM json_each('[0,1,2]') m CROSS JOIN workloads w JOIN servers s ON s.id = w.id`)
    sql(`INSERT INTO address_history (address_id, pool_id, address, prefix_length, version, kind, workload_id, owner_id,
           hostname, since)
         SELECT a.id, a.pool_id, a.address, a.prefix_length, a.version, 'primary', w.id, w.owner_id, w.hostname,
           ${now} - ${DAY_MS} FROM addresses a JOIN workloads w ON w.id = a.workload_id`)
    for (const due of ['usage_due', 'address_history_due', 'address_due']) sql(`DELETE FROM ${due}`)
  }
  const past = () => {
    const kinds = ['install', 'power', 'suspend', 'backup']
    copies('jobs', jobs, {
      id: id('job'),
      kind: `json_extract('${JSON.stringify(kinds)}', '$[' || (n % ${kinds.length}) || ']')`,
      title: "'Install web' || n || '.bench.example'",
      state: "iif(n % 40 = 3, 'failed', 'succeeded')",
      error_code: "iif(n % 40 = 3, 'node_away', NULL)",
      holds: 'NULL',
      node_id: ofServer.node,
      subject_id: server,
      started_by_name: "'Staff ' || (n % 7)",
      created_at: `${now} - (${jobs} - n) * 20000`,
      started_at: `${now} - (${jobs} - n) * 20000`,
      finished_at: `${now} - (${jobs} - n) * 20000 + 40000`,
    })
    sql(`INSERT INTO events (id, type, created_at, subject_type, subject_id, data)
         WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${servers})
         SELECT ${id('evt')}, 'server.started', ${now} - (${servers} - n) * 1000, 'server', ${server}, '{}'
         FROM counted`)
  }
  const auditLog = () => {
    const operations = ['servers.power', 'servers.list', 'auth.sign_in', 'servers.create', 'jobs.cancel']
    sql(`INSERT INTO audit (id, at, actor_id, actor_name, via, operation, target, from_address, request_id, result,
           details, seq, hash)
         WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${auditLines})
         SELECT ${id('aud')}, ${now} - (${auditLines} - n) * 10, ${ofServer.owner}, 'Customer ' || (n % ${customers}),
           'session', json_extract('${JSON.stringify(operations)}', '$[' || (n % ${operations.length}) || ']'),
           ${server}, '192.0.2.' || (n % 250), 'req_' || n, iif(n % 100 = 9, 'forbidden', 'done'),
           '{"action":"restart"}', n, printf('%064x', n) FROM counted`)
  }
  return [
    [`${customers} customers`, accounts],
    [`${nodes} nodes`, nodeRows],
    [`${servers} servers`, serverRows],
    [`${addresses} IPv4 addresses, and an IPv6 network for each server`, addressRows],
    ['usage and history of addresses', ledgers],
    [`${jobs} ended jobs and ${servers} events`, past],
    [`${auditLines} audit lines`, auditLog],
  ]
}
