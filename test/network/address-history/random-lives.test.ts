// 1,000 random lives of servers and floating addresses, and a model that knows nothing of rows and triggers: it writes
// down who was given what and when, and is asked who had an address at a time.
import { expect, test } from 'bun:test'
import { newId } from '../../../src/kernel/db/ids.ts'
import { type Tx, write } from '../../../src/kernel/db/open.ts'
import {
  addressesOf,
  freeReserved,
  parkAddress,
  releaseAddress,
  releaseAddresses,
  reserveAddresses,
  swapAddresses,
  takeExtraIpv4,
  takeIpv4,
  takeIpv6,
} from '../../../src/network/ip-pools/allocate.ts'
import { pointFloating, releaseFloating, takeFloating } from '../../../src/network/ip-pools/floating.ts'
import { endDueRests } from '../../../src/network/ip-pools/quarantine/rest.ts'
import { addressById } from '../../../src/network/ip-pools/queries.ts'
import { quickCount } from '../../support/quick.ts'
import { seeded } from '../../support/random/seeded.ts'
import { type World, world } from '../../support/world/panel.ts'

const hour = 3_600_000
const REST_HOURS = 5
type Held = { owner: string; server: string | null; floating: string | null; kind: string } | null
type Moment = { at: number; held: Held }

/** A server without a disk: only its row counts here. */
function makeWorkload(tx: Tx, template: string, ownerId: string, number: number): string {
  const row = tx.$client.query<Record<string, any>, [string]>('SELECT * FROM workloads WHERE id = ?').get(template)!
  const mac = `02:00:00:${[16, 8, 0].map((by) => ((number >> by) & 255).toString(16).padStart(2, '0')).join(':')}`
  const id = newId('srv')
  Object.assign(row, { id, number: 100_000 + number, mac, held_mac: mac, hostname: `life${number}`, owner_id: ownerId })
  Object.assign(row, { billing_service_id: null, memory_mb: 1, disk_gb: 1 })
  const names = Object.keys(row)
  tx.$client.run(`INSERT INTO workloads (${names}) VALUES (${names.map(() => '?')})`, Object.values(row))
  return id
}

/** The model: what happened to each address, in order. */
class Book {
  readonly moments = new Map<string, Moment[]>()
  note(address: string, at: number, held: Held) {
    const known = this.moments.get(address) ?? []
    this.moments.set(address, [...known, { at, held }])
  }
  at(address: string, at: number): Held {
    return this.moments.get(address)?.findLast((moment) => moment.at <= at)?.held ?? null
  }
  /** When it was last given back; undefined: somebody has it, or nobody had it. */
  freedAt(address: string): number | undefined {
    const last = this.moments.get(address)?.at(-1)
    return last?.held === null ? last.at : undefined
  }
}

class Lives {
  readonly book = new Book()
  readonly next: () => number
  readonly living: string[] = []
  readonly floating: string[] = []
  lives = 0
  constructor(
    private p: World,
    private template: string,
    private owners: readonly string[],
    seed: number,
  ) {
    this.next = seeded(seed)
  }
  private pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.next() * list.length)]
  }
  private ownerOf = (tx: Tx, id: string) =>
    tx.$client.query<{ o: string }, [string]>('SELECT owner_id AS o FROM workloads WHERE id = ?').get(id)!.o
  private heldBy = (tx: Tx, server: string, kind: string): Held => ({
    owner: this.ownerOf(tx, server),
    server,
    floating: null,
    kind,
  })
  /** Writes down what a server got. Nobody gets an address that rests. */
  private got(tx: Tx, server: string, address: string, kind: string) {
    this.mustHaveRested(address)
    this.book.note(address, this.p.now(), this.heldBy(tx, server, kind))
  }
  private mustHaveRested(address: string) {
    const freed = this.book.freedAt(address)
    if (freed !== undefined) expect(this.p.now() - freed).toBeGreaterThanOrEqual(REST_HOURS * hour)
  }
  private gave(address: string) {
    this.book.note(address, this.p.now(), null)
  }
  private own = (tx: Tx, server: string) => addressesOf(tx, server).filter(({ holderId }) => holderId === null)
  /** Where a floating address points changes; what it points to is gone with `null`. */
  private pointed(tx: Tx, addressId: string, server: string | null) {
    const { address, holderId } = addressById(tx, addressId)!
    const { owner } = tx.$client
      .query<{ owner: string }, [string]>('SELECT owner_id AS owner FROM floating_ips WHERE id = ?')
      .get(holderId!)!
    this.book.note(address, this.p.now(), { owner, server, floating: holderId, kind: 'floating' })
  }

  readonly deeds: readonly ((tx: Tx) => void)[] = [
    (tx) => this.beBorn(tx),
    (tx) => this.beBorn(tx),
    (tx) => {
      const server = this.pick(this.living)
      if (server && this.own(tx, server).length < 4)
        this.got(tx, server, takeExtraIpv4(tx, server, { nodeId: this.p.node.id, vlan: null }), 'extra')
    },
    (tx) => {
      const server = this.pick(this.living)
      const extra = server && this.own(tx, server).find(({ isPrimary }) => !isPrimary)
      if (!extra) return
      releaseAddress(tx, server, extra.id)
      this.gave(extra.address)
    },
    // It changes its owner.
    (tx) => {
      const server = this.pick(this.living)
      if (!server) return
      tx.$client.run('UPDATE workloads SET owner_id = ? WHERE id = ?', [this.pick(this.owners)!, server])
      for (const { address, isPrimary } of this.own(tx, server))
        this.book.note(address, this.p.now(), this.heldBy(tx, server, isPrimary ? 'primary' : 'extra'))
    },
    // It moves, and gets others; or comes back to those that it had.
    (tx) => {
      const server = this.pick(this.living)
      if (!server) return
      const leave = this.own(tx, server)
      const ipv4 = leave.filter(({ version }) => version === 4).length
      const reason = `Move ${newId('trf')}`
      const of = { workloadId: server, nodeId: this.p.node.id, reason }
      const take = reserveAddresses(tx, of, { ipv4, ipv6Prefix: leave.length > ipv4 ? 64 : null })
      const ids = leave.map(({ id }) => id)
      expect(swapAddresses(tx, of, { take, leave: ids })).toBe(true)
      if (this.next() < 0.3) {
        expect(swapAddresses(tx, of, { take: ids, leave: take })).toBe(true)
        freeReserved(tx, take, reason)
        // Those that were reserved were never in use, and which of its own is the primary one may have changed.
        for (const { address, isPrimary } of this.own(tx, server))
          this.book.note(address, this.p.now(), this.heldBy(tx, server, isPrimary ? 'primary' : 'extra'))
        return
      }
      freeReserved(tx, ids, reason)
      for (const { address } of leave) this.gave(address)
      for (const { address, isPrimary } of this.own(tx, server))
        this.got(tx, server, address, isPrimary ? 'primary' : 'extra')
    },
    // Its node is lost: its addresses are held for a while.
    (tx) => {
      const server = this.pick(this.living)
      if (!server || this.next() < 0.7) return
      const own = this.own(tx, server)
      for (const { id } of own) parkAddress(tx, server, id, 'its node is lost')
      this.end(tx, server)
      freeReserved(
        tx,
        own.map(({ id }) => id),
        'its node is lost',
      )
      for (const { address } of own) this.gave(address)
    },
    (tx) => {
      const server = this.pick(this.living)
      if (!server) return
      const own = this.own(tx, server)
      this.end(tx, server)
      for (const { address } of own) this.gave(address)
    },
    (tx) => {
      if (this.floating.length > 8) return
      const [id, owner] = [newId('fip'), this.pick(this.owners)!]
      const addressId = takeFloating(tx, { id, resellerId: null }, 4, {
        nodeIds: [this.p.node.id],
        vlans: new Set([null]),
      })
      tx.$client.run(
        'INSERT INTO floating_ips (id, owner_id, location_id, address_id, name, created_at) VALUES (?, ?, ?, ?, ?, ?)',
        [id, owner, this.p.location, addressId, id, this.p.now()],
      )
      this.mustHaveRested(addressById(tx, addressId)!.address)
      this.floating.push(addressId)
      this.pointed(tx, addressId, null)
    },
    (tx) => {
      const [addressId, server] = [this.pick(this.floating), this.pick(this.living) ?? null]
      if (!addressId) return
      const to = this.next() < 0.2 ? null : server
      pointFloating(tx, addressId, to)
      this.pointed(tx, addressId, to)
    },
    (tx) => {
      const addressId = this.pick(this.floating)
      if (!addressId || this.next() < 0.5) return
      const { address, holderId } = addressById(tx, addressId)!
      tx.$client.run('DELETE FROM floating_ips WHERE id = ?', [holderId!])
      releaseFloating(tx, addressId)
      this.floating.splice(this.floating.indexOf(addressId), 1)
      this.gave(address)
    },
  ]
  private beBorn(tx: Tx) {
    if (this.living.length > 30) return
    const server = makeWorkload(tx, this.template, this.pick(this.owners)!, ++this.lives)
    for (const address of takeIpv4(tx, server, { nodeId: this.p.node.id, vlan: null }, 1))
      this.got(tx, server, address, 'primary')
    if (this.next() < 0.5)
      this.got(tx, server, takeIpv6(tx, server, { nodeId: this.p.node.id, vlan: null }, 64), 'primary')
    this.living.push(server)
  }
  private end(tx: Tx, server: string) {
    for (const { id, holderId } of addressesOf(tx, server)) if (holderId !== null) this.pointed(tx, id, null)
    releaseAddresses(tx, server)
    this.living.splice(this.living.indexOf(server), 1)
    tx.$client.run("UPDATE workloads SET lifecycle = 'terminated', terminated_at = ?, released_at = ? WHERE id = ?", [
      this.p.now(),
      this.p.now(),
      server,
    ])
  }
}

test('1,000 random lives: the history says who had each address, and none is given while it rests', async () => {
  using p = await world()
  const { serverId: template } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const owners = Array.from({ length: 4 }, (_, i) => p.account('customer', `Owner ${i}`).id)
  const pools = [
    { name: 'lives4', network: '198.18.0.0/22', gateway: '198.18.0.1' },
    { name: 'lives6', network: '2001:db8:7::/48', gateway: 'fe80::1' },
  ]
  for (const pool of pools)
    await p.admin('POST', '/admin/ip-pools', { ...pool, nodeIds: [p.node.id], quarantineHours: REST_HOURS })
  await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id] })
  p.db.$client.run("UPDATE addresses SET reserved_for = 'test' WHERE pool_id = ? AND workload_id IS NULL", [p.pool])
  const lives = new Lives(p, template, owners, 29)
  const begun = p.now()
  const wanted = quickCount(1000, 5)
  while (lives.lives < wanted) {
    // Sometimes several things happen in one moment.
    if (lives.next() > 0.1) p.turnClock(Math.floor(lives.next() * 40 * 60_000))
    await endDueRests({ db: p.db, app: { clock: p.now } as any })
    const deed = lives.deeds[Math.floor(lives.next() * lives.deeds.length)]!
    write(p.db, (tx) => deed(tx))
  }
  const all = [...lives.book.moments.keys()]
  expect(all.length).toBeGreaterThan(50)
  const asked = p.db.$client.query<any, [string, number, number]>(
    `SELECT owner_id AS owner, workload_id AS server, floating_ip_id AS floating, kind FROM address_history
     WHERE address = ?1 AND since <= ?2 AND (until IS NULL OR until > ?3)`,
  )
  const held: [address: string, at: number, owner: string][] = []
  for (const address of all)
    for (let i = 0; i < 200; i++) {
      const at = begun + Math.floor(lives.next() * (p.now() - begun))
      const [found = null, ...others] = asked.all(address, at, at)
      expect([address, at, found, others]).toEqual([address, at, lives.book.at(address, at), []])
      if (found) held.push([address, at, found.owner])
    }
  expect(held.length).toBeGreaterThan(all.length)
  // The call asks the same, also of an address inside a prefix.
  for (const [address, at, owner] of held.filter((_, i) => i % 500 === 0)) {
    const inside = address.replace(/::$/, '::5')
    const { data } = await p.admin('GET', `/admin/addresses/${inside}/history?at=${new Date(at).toISOString()}`)
    expect(data.map((line: any) => [line.address, line.owner.id])).toEqual([[address, owner]])
  }
})
