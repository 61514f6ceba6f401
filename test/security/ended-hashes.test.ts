// Rows from before hashes were erased: a migration erases what nothing reads any more, and leaves what something does.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'

const HASH = '$6$salt$hash/of.it'
const ENCRYPTED = 'v1.encrypted+for/a.node=='

function before() {
  const db = new Database(':memory:')
  db.run(`CREATE TABLE jobs (id TEXT PRIMARY KEY, state TEXT, undo_node_id TEXT, input TEXT);
    CREATE TABLE job_steps (job_id TEXT, name TEXT, output TEXT);
    CREATE TABLE workloads (id TEXT PRIMARY KEY, released_at INTEGER);
    CREATE TABLE servers (id TEXT PRIMARY KEY, pending_seed TEXT, pending_password_hash TEXT)`)
  const job = db.prepare('INSERT INTO jobs VALUES (?, ?, ?, ?)')
  const step = db.prepare('INSERT INTO job_steps VALUES (?, ?, ?)')
  const install = (passwordHash: string | null) => ({ serverId: 's', access: { passwordHash, publicKeys: ['ssh a'] } })
  const seed = (hash: string) => ({ userData: { users: [{ name: 'root', hashed_passwd: hash }] } })
  const add = (id: string, state: string, undo: string | null, input: object, output: object | null) => {
    job.run(id, state, undo, JSON.stringify(input))
    step.run(id, 'plan', output === null ? null : JSON.stringify(output))
  }
  add('installed', 'succeeded', null, install(HASH), { seed: seed(HASH), vm: 1 })
  add('failed', 'failed', null, install(HASH), null)
  add('running', 'running', null, install(HASH), { seed: seed(HASH) })
  add('undone later', 'failed', 'nod_1', install(HASH), { seed: seed(HASH) })
  add('of Windows', 'succeeded', null, install(ENCRYPTED), { seed: { adminPassword: ENCRYPTED } })
  add('addresses', 'succeeded', null, { serverId: 's' }, { before: { seed: seed(HASH) }, after: { seed: seed(HASH) } })
  add('rescue', 'succeeded', null, { serverId: 's', passwordHash: HASH }, { seed: seed(HASH) })
  add('with keys', 'succeeded', null, install(null), { seed: { users: [{ name: 'root' }] } })
  add('quoted', 'succeeded', null, { serverId: 's' }, { script: `echo "${HASH}"` })
  for (const [id, releasedAt] of [
    ['gone', 1],
    ['there', null],
  ] as const) {
    db.run('INSERT INTO workloads VALUES (?, ?)', [id, releasedAt])
    db.run("INSERT INTO servers VALUES (?, 'next_stop', ?)", [id, HASH])
  }
  return db
}
const rowsOf = (db: Database) =>
  Object.fromEntries(
    db
      .query<{ id: string; input: string; output: string | null }, []>(
        'SELECT id, input, output FROM jobs JOIN job_steps ON job_id = id',
      )
      .all()
      .map(({ id, input, output }) => [id, { input: JSON.parse(input), output: output && JSON.parse(output) }]),
  )

test('jobs that ended before keep no hash, and those that go on keep it', async () => {
  using db = before()
  const old = rowsOf(db)
  db.run(await Bun.file('migrations/0128_hashes_of_ended_jobs.sql').text())
  const now = rowsOf(db)
  const erased = { serverId: 's', access: { passwordHash: null, publicKeys: ['ssh a'] } }
  const seed = { userData: { users: [{ name: 'root', hashed_passwd: '***' }] } }
  expect(now).toEqual({
    ...old,
    installed: { input: erased, output: { seed, vm: 1 } },
    failed: { input: erased, output: null },
    'of Windows': { input: erased, output: { seed: { adminPassword: '***' } } },
    addresses: { input: { serverId: 's' }, output: { before: { seed }, after: { seed } } },
    rescue: { input: { serverId: 's', passwordHash: null }, output: { seed } },
  })
})

test('a server that is gone keeps no hash that waits for its next start, and one that is there does', async () => {
  using db = before()
  db.run(await Bun.file('migrations/0128_hashes_of_ended_jobs.sql').text())
  expect(db.query('SELECT * FROM servers ORDER BY id').values()).toEqual([
    ['gone', null, null],
    ['there', 'next_stop', HASH],
  ])
})
