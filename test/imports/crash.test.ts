// A crash before and after every transaction of a discovery, of the comparing behind a decision, and of a cancellation:
// the next start goes on by itself and ends as if nothing had been.
import { describe, expect, test } from 'bun:test'
import { quickly } from '../support/quick.ts'
import { panel } from '../support/world/panel.ts'
import { owner, pack, range, server } from './panel-in-memory.ts'
import { inventory } from './product/served.ts'
import { begin, discovered, type Importing, map, open, put, settled, turn } from './world.ts'

/** The process ends at its nth transaction from now on, `before` or `after` it is on disk; answers what counts them. */
function dieAt(p: Importing, at: number, when: 'before' | 'after') {
  const { $client } = p.db
  const inOne = $client.inOne.bind($client)
  const found = { n: 0, isDead: false }
  $client.inOne = (kind, work) => {
    if (found.isDead) throw new Error('this process is dead')
    if (kind !== 'IMMEDIATE') return inOne(kind, work)
    if (found.n++ !== at) return inOne(kind, work)
    found.isDead = true
    if (when === 'after') inOne(kind, work)
    throw new Error('this process dies')
  }
  return found
}

/** Everything that people see of it, but ids that were made and times. */
async function seen(p: Importing, id: string) {
  const all = await inventory(p, id)
  const { data: changes } = await p.admin('GET', `/admin/migrations/${id}/changes?limit=200`)
  const {
    status,
    phase,
    trouble,
    servers,
    left,
    isCompared,
    changes: counted,
  } = await p.admin('GET', `/admin/migrations/${id}`)
  const told = { status, phase, trouble: trouble?.message, servers, left, isCompared, counted }
  return JSON.stringify({ ...all, changes, told }).replace(/(ims|imp|usr|pkg|grp|node)_\w+/g, '$1')
}

type Way = {
  name: string
  /** Makes the import that the work begins with; answers its id. */
  before: (p: Importing) => Promise<string>
  /** Begins the work; it goes on with the clock. */
  start: (p: Importing, id: string) => Promise<unknown>
}
const MANY = 201
const servers = Array.from({ length: MANY }, (_, i) => server(i + 1))
async function readOnce(p: Importing) {
  Object.assign(p.other.listed, { servers, owners: [owner('1'), owner('2')] })
  const id = await begin(p)
  await discovered(p, id)
  await map(p, id, { ranges: [{ sourceId: '1', choice: 'keep' }], owners: [{ sourceId: '2', choice: 'leave_out' }] })
  await settled(p, id)
  return id
}
const discover = (p: Importing, id: string) => p.admin('POST', `/admin/migrations/${id}/actions/discover`)

const ways: readonly Way[] = [
  {
    name: 'the first discovery',
    async before(p) {
      Object.assign(p.other.listed, { servers, owners: [owner('1'), owner('2')] })
      return await begin(p)
    },
    start: discover,
  },
  {
    name: 'Discover again, with new, gone and changed servers',
    before: readOnce,
    start(p, id) {
      const changed = server(1, { memoryMb: 4096, packageId: '2' })
      Object.assign(p.other.listed, {
        servers: [changed, ...servers.slice(2), server(MANY + 1, { ownerId: '3', ownerEmail: 'owner3@source.test' })],
        owners: [owner('1'), owner('3')],
        packages: [pack('1'), pack('2', { memoryMb: 4096 })],
        ranges: [range('1', '198.51.100.0/24'), range('2', '198.18.0.0/24')],
      })
      return discover(p, id)
    },
  },
  {
    name: 'Discover again of a panel that fails in its last list',
    before: readOnce,
    start(p, id) {
      p.other.fails = { list: 'servers', code: 'html' }
      return discover(p, id)
    },
  },
  {
    name: 'comparing after an account took the address of an owner',
    before: readOnce,
    async start(p, id) {
      await p.admin('POST', '/admin/customers', { name: 'Late', email: 'owner1@source.test' })
      await map(p, id, {})
    },
  },
]

/** The import as it stands when the work has begun, in copies that a test can kill. */
async function copies({ before, start }: Pick<Way, 'before' | 'start'>) {
  using base = await open()
  const id = await before(base)
  await start(base, id)
  const from = base.snapshot()
  const copy = async (): Promise<Importing> => {
    const p = Object.assign(await panel({ from }), { other: base.other }) as unknown as Importing
    put(p)
    return p
  }
  return { id, copy }
}

describe('A crash', () => {
  for (const way of ways)
    test(`at every transaction of ${way.name}`, async () => {
      const { id, copy } = await copies(way)
      using counting = await copy()
      const found = dieAt(counting, Number.POSITIVE_INFINITY, 'before')
      await settled(counting, id)
      const expected = await seen(counting, id)
      expect(found.n).toBeGreaterThan(2)
      const points = Array.from({ length: found.n }, (_, at) =>
        (['before', 'after'] as const).map((when) => ({ at, when })),
      )
      // Each is a restart; outside of the long run every third one.
      const some = points.flat().filter((_, i) => process.env['BERTH_LONG'] === '1' || i % 3 === 0)
      for (const { at, when } of quickly(some, 4)) {
        using p = await copy()
        const dying = dieAt(p, at, when)
        for (let i = 0; i < 5 && !dying.isDead; i++) await turn(p).catch(() => {})
        expect([at, when, dying.isDead]).toEqual([at, when, true])
        await p.crash()
        put(p)
        await settled(p, id)
        expect([at, when, await seen(p, id)]).toEqual([at, when, expected])
        expect(p.db.$client.query('SELECT count(*) AS n FROM import_staged').get()).toEqual({ n: 0 })
      }
    }, 120_000)

  test('at every transaction of a cancellation leaves nothing behind', async () => {
    const { id, copy } = await copies({ before: readOnce, start: async () => {} })
    const cancel = (p: Importing) => p.admin('POST', `/admin/migrations/${id}/actions/cancel`)
    using counting = await copy()
    const found = dieAt(counting, Number.POSITIVE_INFINITY, 'before')
    await cancel(counting)
    await turn(counting)
    for (let at = 0; at < found.n; at++)
      for (const when of ['before', 'after'] as const) {
        using p = await copy()
        dieAt(p, at, when)
        await cancel(p).catch(() => {})
        await turn(p).catch(() => {})
        await p.crash()
        put(p)
        if (p.db.$client.query("SELECT 1 FROM imports WHERE status <> 'cancelled'").get()) await cancel(p)
        await turn(p)
        for (const table of ['imports', 'import_servers', 'import_owners', 'import_addresses', 'import_log'])
          expect([at, when, table, p.db.$client.query(`SELECT count(*) AS n FROM ${table}`).get()]).toEqual([
            ...[at, when, table],
            { n: 0 },
          ])
      }
  }, 120_000)
})
