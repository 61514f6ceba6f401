// IPv6 prefixes that are given before their pool was cut there: found by an index, left out by later orders, and
// nothing that grows without end.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { write } from '../../../src/kernel/db/open.ts'
import { cutFrom, supplyOf, takeIpv6 } from '../../../src/network/ip-pools/allocate.ts'
import { lackingGiven, takeGiven } from '../../../src/network/ip-pools/given.ts'
import { prefixIn, startOf } from '../../../src/network/ip-pools/prefixes.ts'
import { poolById } from '../../../src/network/ip-pools/queries.ts'
import { toNetwork, toText } from '../../../src/network/ip-pools/ranges.ts'
import { median } from '../../bench/words.ts'
import { seeded } from '../../support/random/seeded.ts'
import { type World, world } from '../../support/world/panel.ts'

const NETWORK = '2001:db8::/40'
async function open(more: object = {}) {
  const p = await world()
  const body = { name: 'v6', network: NETWORK, gateway: '2001:db8::1', nodeIds: [p.node.id], ...more }
  const { id } = await p.admin('POST', '/admin/ip-pools', body)
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return Object.assign(p, { pool6: id as string, id: serverId as string })
}
const give = (p: World & { id: string }, ...prefixes: string[]) =>
  write(p.db, (tx) => takeGiven(tx, p.id, [p.node.id], prefixes))
const order = (p: World & { id: string }, bits = 64) =>
  write(p.db, (tx) => takeIpv6(tx, p.id, { nodeId: p.node.id, vlan: null }, bits, { isPrimary: false }))
const earlyIn = (p: World) =>
  p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM addresses WHERE cut_early = 1').get()!.n

describe('a prefix that is given', () => {
  test('is of the piece of the network that has it', async () => {
    using p = await open({ name: 'A', first: '2001:db8::', last: '2001:db8:7f:ffff:ffff:ffff:ffff:ffff' })
    const rest = { first: '2001:db8:80::', last: '2001:db8:ff:ffff:ffff:ffff:ffff:ffff' }
    const body = { name: 'B', network: NETWORK, gateway: '2001:db8::1', nodeIds: [p.node.id], ...rest }
    const { id } = await p.admin('POST', '/admin/ip-pools', body)
    give(p, '2001:db8:90::/64', '2001:db8:10::/64')
    const found = p.db.$client.query('SELECT address, pool_id AS pool FROM addresses WHERE version = 6 ORDER BY place')
    expect(found.all()).toEqual([
      { address: '2001:db8:90::', pool: id },
      { address: '2001:db8:10::', pool: p.pool6 },
    ])
    expect(lackingGiven(p.db, p.node.id, ['2001:db8:7f:ffff::/64', '2001:db9::/64'])?.words).toBe(
      'no pool with 2001:db9::/64',
    )
  })
  test('is an exception only until its pool has been cut beyond it', async () => {
    using p = await open()
    give(p, '2001:db8:0:2::/64', '2001:db8:0:5::/64')
    expect([order(p), order(p), earlyIn(p)]).toEqual(['2001:db8:0:1::', '2001:db8:0:3::', 1])
    expect([order(p), order(p), earlyIn(p)]).toEqual(['2001:db8:0:4::', '2001:db8:0:6::', 0])
    // A row is a row: it still keeps others away.
    expect(lackingGiven(p.db, p.node.id, ['2001:db8:0:5:1::/80'])?.words).toContain('beside 2001:db8:0:5::/64')
  })
  test('leaves out what an order would overlap with, of whatever length', async () => {
    using p = await open({ network: '2001:db8::/112', gateway: '2001:db8::1' })
    const size = (bits: number) => 1n << BigInt(128 - bits)
    const base = toNetwork('2001:db8::/112')!.first
    const next = seeded(7)
    for (let i = 0; i < 40; i++) {
      const bits = 116 + Math.floor(next() * 12)
      const first = base + (BigInt(Math.floor(next() * 65_536)) / size(bits)) * size(bits)
      const prefix = `${toText(6, first)}/${bits}`
      if (!lackingGiven(p.db, p.node.id, [prefix])) give(p, prefix)
    }
    const rows = () =>
      p.db.$client
        .query<{ address: string; bits: number }, []>(
          'SELECT address, prefix_length AS bits FROM addresses WHERE version = 6',
        )
        .all()
        .map(({ address, bits }) => toNetwork(`${address}/${bits}`)!)
    expect(rows().length).toBeGreaterThan(15)
    const meets = (a: { first: bigint; last: bigint }, b: { first: bigint; last: bigint }) =>
      a.first <= b.last && b.first <= a.last
    for (const bits of [117, 118, 119, 120]) {
      const left = () => supplyOf(p.db, { ipv4: 0, ipv6Prefix: bits }).free.get(p.pool6)!
      for (let n = left(); ; n--) {
        expect([bits, left()]).toEqual([bits, n])
        const pool = poolById(p.db, p.pool6)!
        const cut = cutFrom(p.db, pool, bits)
        if (n === 0) {
          expect(cut).toBeUndefined()
          break
        }
        const first = toNetwork(`${cut!.address}/${bits}`)!.first
        const range = { first, last: first + size(bits) - 1n }
        expect(rows().filter((row) => meets(row, range))).toEqual([])
        expect(prefixIn(p.db, p.pool6, range)).toBeUndefined()
        order(p, bits)
      }
      p.db.$client.run("DELETE FROM addresses WHERE version = 6 AND cut_early = 0; UPDATE pools SET next_offset = '0'")
    }
  }, 60_000)
  test('takes at most 2 ms among 60,000 others, and so does an order beside them', async () => {
    using p = await open()
    const base = toNetwork(NETWORK)!.first
    const at = (n: number) => base + (BigInt(2 * n + 1000) << 64n)
    p.db.$client.transaction(() => {
      const insert = p.db.$client.prepare(
        `INSERT INTO addresses (id, pool_id, version, address, prefix_length, place, reserved_for, range_start,
         cut_early) VALUES (?, ?, 6, ?, 64, ?, ?, ?, 1)`,
      )
      for (let n = 0; n < 60_000; n++) insert.run(`ip_${n}`, p.pool6, toText(6, at(n)), n, 'imported', startOf(at(n)))
    })()
    const ms = (work: (i: number) => unknown) =>
      median(
        Array.from({ length: 21 }, (_, i) => {
          const began = performance.now()
          work(i)
          return performance.now() - began
        }),
      )
    const free = (i: number) => `${toText(6, at(30_000 + i) + (1n << 64n))}/64`
    const taken = `${toText(6, at(30_000))}/72`
    const figures = {
      judged: ms((i) => expect(lackingGiven(p.db, p.node.id, [free(i)])).toBeUndefined()),
      refused: ms(() => expect(lackingGiven(p.db, p.node.id, [taken])?.isTaken).toBe(true)),
      given: ms((i) => give(p, free(i))),
      ordered: ms(() => order(p)),
    }
    for (const [what, taking] of Object.entries(figures)) expect([what, taking <= 2]).toEqual([what, true])
  }, 60_000)
})

test('prefixes from before are found by the index, too', async () => {
  const db = new Database(':memory:')
  db.run(`CREATE TABLE addresses (id TEXT PRIMARY KEY, pool_id TEXT, version INTEGER, address TEXT,
      prefix_length INTEGER, cut_early INTEGER);
    CREATE INDEX addresses_cut_early ON addresses (pool_id) WHERE cut_early = 1;
    INSERT INTO addresses VALUES ('v4', 'p', 4, '203.0.113.1', 24, 0)`)
  const next = seeded(3)
  const some = [0n, 1n, 1n << 127n, (1n << 128n) - 1n, 0xffff00000000n, 1n << 16n]
  const hextet = () => (next() < 0.5 ? 0n : BigInt(Math.floor(next() * 65_536)))
  for (let i = 0; i < 2000; i++) some.push(Array.from({ length: 8 }, hextet).reduce((n, part) => (n << 16n) | part, 0n))
  const insert = db.prepare("INSERT INTO addresses VALUES (?, 'p', 6, ?, 64, 0)")
  for (const [i, n] of some.entries()) insert.run(`${i}`, toText(6, n))
  db.run(await Bun.file('migrations/0117_prefix_ranges.sql').text())
  const found = db.query<{ id: string; start: string | null }, []>('SELECT id, range_start AS start FROM addresses')
  const wrong = found.all().filter(({ id, start }) => start !== (id === 'v4' ? null : startOf(some[Number(id)]!)))
  expect(wrong).toEqual([])
})
