// Random imports with random choices: no two servers that would come have one address, none has an address that
// something here has, and no owner joins an account that nobody chose.
import { expect, test } from 'bun:test'
import { compare } from '../../src/imports/mapping/compare.ts'
import { toNumber } from '../../src/network/ip-pools/ranges.ts'
import { quickCount } from '../support/quick.ts'
import { seeded } from '../support/random/seeded.ts'
import { hypervisor, owner, pack, range, server, v4, v6 } from './panel-in-memory.ts'
import { begin, discovered, giveAddresses, type Importing, open, rows, servers } from './world.ts'

const CASES = quickCount(10, 3)
const parts = ['hypervisors', 'packages', 'ranges', 'owners'] as const

type Random = { n(most: number): number; one<T>(of: readonly T[]): T; chance(part: number): boolean }
const randomOf = (seed: number): Random => {
  const next = seeded(seed)
  const n = (most: number) => Math.floor(next() * most)
  return { n, one: (of) => of[n(of.length)]!, chance: (part) => next() < part }
}

/** Few addresses and few owners, so that they meet. */
function list(p: Importing, { n, one, chance }: Random) {
  const emails = p.db.$client
    .query<{ email: string }, []>('SELECT email FROM accounts')
    .all()
    .map(({ email }) => email)
  const plus = emails.map((email) => email.replace('@', '+solusvm2@'))
  const address = () =>
    chance(0.3) ? `203.0.113.${10 + n(20)}` : chance(0.3) ? `192.168.1.${10 + n(6)}` : `198.51.100.${10 + n(12)}`
  p.other.listed = {
    hypervisors: ['1', '2', '3'].map((id) => hypervisor(id)),
    packages: ['1', '2'].map((id) => pack(id, { diskGb: one([10, 20, 40]) })),
    ranges: [
      range('1', '198.51.100.0/24'),
      range('2', '203.0.113.0/24', { first: '203.0.113.10', last: one(['203.0.113.25', '203.0.113.240']) }),
      range('3', '192.168.1.0/24', { reach: one(['public', 'internal', 'nat']) }),
      range('4', '2001:db8:40::/48', { version: 6, first: null, last: null, gateway: 'fe80::1' }),
      range('5', '198.51.100.0/28', { first: '198.51.100.10', last: '198.51.100.12' }),
    ],
    addresses: {},
    owners: ['1', '2', '3', '4', '5', '6'].map((id) =>
      owner(id, {
        email: chance(0.4) ? one([...emails, ...emails, ...plus]) : chance(0.1) ? null : `owner${n(4)}@source.test`,
      }),
    ),
    servers: Array.from({ length: 12 }, (_, i) =>
      server(i + 1, {
        hypervisorId: chance(0.05) ? null : one(['1', '2', '3']),
        packageId: one(['1', '2', null]),
        ownerId: chance(0.1) ? null : one(['1', '2', '3', '4', '5', '6']),
        ownerEmail: null,
        diskGb: one([10, 20]),
        addresses: [
          v4(address()),
          ...(chance(0.3) ? [v6(`2001:db8:40:${n(3)}::${n(2)}`, one([64, null, 80]))] : []),
          ...(chance(0.2) ? [v4(address())] : []),
        ],
      }),
    ),
  }
}

test(
  `in ${CASES} random imports no mapping gives two servers one address, and nobody joins an ` + `account unasked`,
  async () => {
    using p = await open()
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    p.account('customer', 'Ada')
    p.account('reseller', 'Rita')
    p.staff(['servers.power'])
    giveAddresses(p, p.node, ['192.0.2.13/24'])
    const oslo = (await p.admin('POST', '/admin/node-groups', { name: 'Oslo' })).id
    const used = p.db.$client
      .query<{ address: string }, []>(
        `SELECT address FROM addresses
       WHERE workload_id IS NOT NULL OR reserved_for IS NOT NULL OR holder_id IS NOT NULL`,
      )
      .all()
      .map(({ address }) => address)
    const accounts = new Map(
      p.db.$client
        .query<{ id: string; email: string; kind: string }, []>('SELECT id, email, kind FROM accounts')
        .all()
        .map((one) => [one.id, one]),
    )
    let complete = 0
    let joined = 0
    for (let seed = 1; seed <= CASES; seed++) {
      const random = randomOf(seed)
      const { one, chance } = random
      list(p, random)
      const q = Object.assign(p, { id: await begin(p) })
      await discovered(p, q.id)
      /** The accounts that were named for owners. */
      const chosen = new Map<string, string>()
      const path = `/admin/migrations/${q.id}/mapping`
      const decide = async (part: (typeof parts)[number], row: any) => {
        // Mostly one that is offered; the rest is refused.
        const isFair = chance(0.85)
        const choices: string[] = row.offers
          .filter(({ isOffered }: { isOffered: boolean }) => isOffered || !isFair)
          .map((each: { choice: string }) => each.choice)
        const choice = one(chance(0.85) ? choices.filter((each) => each !== 'leave_out') : choices) ?? 'leave_out'
        const accountId = one([...accounts.keys()])
        const body = {
          sourceId: row.sourceId,
          choice: chance(0.03) ? null : choice,
          ...(part === 'hypervisors' && choice === 'copy' && { locationId: one([p.location, oslo]) }),
          ...(part === 'packages' && choice === 'own' && { packageId: p.pack }),
          ...(part === 'owners' && choice === 'existing' && { accountId }),
        }
        const { status } = await p.call(p.owner, 'PATCH', path, { [part]: [body] })
        if (part !== 'owners' || status !== 200) return
        chosen.delete(row.sourceId)
        if (body.choice === 'existing') chosen.set(row.sourceId, accountId)
        if (body.choice === 'merge' && row.account) chosen.set(row.sourceId, row.account.id)
      }
      for (const part of parts) for (const row of await rows(q, part)) await decide(part, row)
      for (let step = 0; step < 4; step++) {
        const part = one(parts)
        await decide(part, one(await rows(q, part)))
      }
      await compare(p.db, p.controller.app, q.id)
      const coming = (await servers(q)).filter(({ isComplete }: { isComplete: boolean }) => isComplete)
      complete += coming.length
      const taken: { version: 4 | 6; first: bigint; last: bigint; place: string; server: string }[] = []
      for (const each of coming) {
        for (const { address, prefixLength, becomes } of each.addresses) {
          expect(becomes).not.toBe('undecided')
          if (becomes !== 'kept') continue
          const { version, n } = toNumber(address)!
          const size = 1n << BigInt(version === 4 ? 0 : 128 - (prefixLength ?? 128))
          const first = n - (n % size)
          const place = address.startsWith('192.168.') ? (each.goesTo?.id ?? p.location) : ''
          for (const other of taken)
            if (other.server !== each.id && other.version === version && other.place === place)
              expect(`${seed} ${address}: ${other.last < first || first + size - 1n < other.first}`).toBe(
                `${seed} ${address}: true`,
              )
          taken.push({ version, first, last: first + size - 1n, place, server: each.id })
          expect(used).not.toContain(address)
        }
        const { accountId, newEmail } = each.becomes
        if (accountId !== null) {
          joined++
          expect(accounts.get(accountId)?.kind).not.toBe('staff')
          expect(chosen.get(each.ownerId)).toBe(accountId)
        } else if (newEmail !== null) expect([...accounts.values()].map(({ email }) => email)).not.toContain(newEmail)
      }
      // Different owners never end in one new account, unless one of them was merged into the other by choice.
      const owners = await rows(q, 'owners')
      const made = owners.flatMap(({ newEmail }: { newEmail: string | null }) => newEmail ?? [])
      expect(new Set(made).size).toBe(made.length)
      await p.admin('POST', `/admin/migrations/${q.id}/actions/cancel`)
    }
    expect(complete).toBeGreaterThan(CASES)
    expect(joined).toBeGreaterThan(0)
  },
)
