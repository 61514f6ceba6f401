// S24, S25: who may do what with whose things. Every operation on a thing × everybody × every thing there is, against a rule that is
// written here once more and independently: from who owns what, not from the code that decides it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Permission, permissions, type Scope } from '../../src/kernel/api/access.ts'
import type { Operation } from '../../src/kernel/api/operation.ts'
import { newId } from '../../src/kernel/db/ids.ts'
import { operations } from '../../src/operations.ts'
import { type Who, type World, world } from '../support/panel.ts'
import { invite, share } from '../support/team.ts'

// ---------------------------------------------------------------- everybody
const cast = ['owner', 'reader', 'reseller', 'rival', 'customer', 'sibling', 'foreign', 'direct', 'viewer', 'operator', 'manager'] as const
type Name = (typeof cast)[number]
const reads: readonly Permission[] = ['servers.see_all', 'customers.read', 'nodes.read', 'audit.read']
/** In whose care they are. */
const resellerOf: Partial<Record<Name, Name>> = { customer: 'reseller', sibling: 'reseller', foreign: 'rival', manager: 'rival' }
/** What `customer` lets them do: with one server, or with all. */
const shared: Partial<Record<Name, { does: readonly Scope[]; only?: string }>> = {
  viewer: { does: ['servers:read'], only: "the customer's" },
  operator: { does: ['servers:read', 'servers:power'] },
  manager: { does: ['servers:read', 'servers:power', 'servers:reinstall', 'servers:settings'] },
}
const kindOf = (who: Name) =>
  who === 'owner' || who === 'reader' ? 'staff' : who === 'reseller' || who === 'rival' ? 'reseller' : 'customer'
const withOwn: readonly Scope[] = [
  'account:read',
  'account:write',
  'servers:read',
  'servers:power',
  'servers:reinstall',
  'servers:settings',
  'webhooks:write',
]
const withOwnReseller: readonly Scope[] = [...withOwn, 'reseller:read', 'reseller:customers', 'reseller:servers']
const held = (who: Name): ReadonlySet<string> => {
  if (kindOf(who) === 'customer') return new Set(withOwn)
  if (kindOf(who) === 'reseller') return new Set(withOwnReseller)
  const all = who === 'owner' ? (Object.keys(permissions) as Permission[]) : reads
  return new Set(['account:read', 'account:write', ...all, ...all.flatMap((name) => permissions[name].opens as readonly Scope[])])
}

// ---------------------------------------------------------------- everything
/** `of`: whose it is; without one it is the installation's. `gone`: it was, and is not any more. */
type Thing = { label: string; id: string; of?: Name; gone?: true; never?: true }
let p: World
let people: Record<Name, { id: string } & Who>
let things: Record<string, Thing[]>

const key = (n: number) => {
  const blob = Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519'), Buffer.from([0, 0, 0, 32]), Buffer.alloc(32, n)])
  return { publicKey: `ssh-ed25519 ${blob.toString('base64')} k${n}` }
}

beforeAll(async () => {
  p = await world()
  const [reseller, rival] = [p.account('reseller', 'Reseller'), p.account('reseller', 'Rival')]
  people = {
    owner: p.owner as { id: string } & Who,
    reader: p.staff(reads),
    reseller,
    rival,
    customer: p.account('customer', 'Customer', reseller.id),
    sibling: p.account('customer', 'Sibling', reseller.id),
    foreign: p.account('customer', 'Foreign', rival.id),
    direct: p.account('customer', 'Direct'),
    viewer: p.account('customer', 'Viewer'),
    operator: p.account('customer', 'Operator'),
    manager: p.account('customer', 'Manager', rival.id),
  }
  for (const { id } of [reseller, rival]) await p.admin('PATCH', `/resellers/${id}`, { packageIds: [p.pack], locationIds: [p.location] })
  things = {}
  const add = (name: string, thing: Thing) => (things[name] ??= []).push(thing)
  const order = async (of: Name, label: string, gone?: true) => {
    const { serverId, jobId } = await p.admin('POST', '/admin/servers', {
      ...p.order,
      ownerId: people[of].id,
      hostname: label.replace(/\W+/g, '-'),
    })
    await p.settle()
    if (gone) await p.admin('DELETE', `/servers/${serverId}`)
    await p.settle()
    add('server', { label, id: serverId, of, ...(gone && { gone }) })
    add('job', { label: `the job of ${label}`, id: jobId, of, ...(gone && { gone }) })
    return serverId as string
  }
  const first = await order('customer', "the customer's")
  await order('customer', "the customer's other")
  await order('customer', 'one that was terminated', true)
  for (const of of ['sibling', 'foreign', 'reseller', 'direct'] as const) await order(of, `one of ${of}`)

  for (const of of cast.slice(2)) add('customer', { label: of, id: people[of].id, of })
  add('customer', { label: 'a member of staff', id: people.owner.id, never: true })
  for (const of of ['reseller', 'rival'] as const) add('reseller', { label: of, id: people[of].id, of })
  add('reseller', { label: 'a customer', id: people.customer.id, never: true })
  for (const [n, of] of (['customer', 'foreign', 'reseller', 'direct'] as const).entries())
    add('SSH key', { label: `one of ${of}`, id: (await p.admin('POST', `/customers/${people[of].id}/ssh-keys`, key(n + 1))).id, of })
  const lost = (await p.admin('POST', `/customers/${people.customer.id}/ssh-keys`, key(99))).id
  await p.admin('DELETE', `/ssh-keys/${lost}`)
  add('SSH key', { label: 'one that was removed', id: lost, never: true })
  for (const of of ['owner', 'reseller', 'customer'] as const)
    add('token', {
      label: `one of ${of}`,
      id: (await p.call(people[of], 'POST', '/account/tokens', { name: 'T', scopes: ['servers:read'] })).body.id,
      of,
    })
  for (const of of ['customer', 'reseller'] as const)
    add('team member', { label: `one of ${of}`, id: (await invite(p, people[of], `x@${of}.test`)).id, of })
  add('membership', { label: "the viewer's", id: await share(p, people.customer, people.viewer, 'view', first), of: 'viewer' })
  add('membership', { label: "the operator's", id: await share(p, people.customer, people.operator, 'operate'), of: 'operator' })
  add('membership', { label: "the manager's", id: await share(p, people.customer, people.manager, 'manage'), of: 'manager' })

  const installation: Record<string, string> = {
    package: p.pack,
    location: p.location,
    node: p.node.id,
    'address pool': p.pool,
    address: (await p.admin('GET', `/admin/ip-pools/${p.pool}/addresses`)).data[9].id,
    image: p.image,
    enrollment: (await p.admin('POST', '/admin/node-enrollments', { locationId: p.location })).id,
    role: (await p.admin('POST', '/admin/roles', { name: 'Nobody', permissions: [] })).id,
    'member of staff': people.reader.id,
    announcement: await p.admin('POST', '/admin/announcements', { text: 'Hello', audience: 'everybody' }).then(
      (a) => a.id,
      () => '',
    ),
  }
  for (const [name, id] of Object.entries(installation)) if (id) add(name, { label: 'the one there is', id })
  await more(add)
  for (const [name, of] of Object.entries(things)) {
    const prefix = of[0]!.id.split('_')[0]
    add(name, { label: 'an id that never was', id: `${prefix}_${'0'.repeat(26)}`, never: true })
    add(name, { label: 'an id of another kind', id: name === 'image' ? p.pack : p.image, never: true })
    add(name, { label: 'no id at all', id: 'xyz', never: true })
  }
}, 60_000)
afterAll(() => p.close())

/** What is made through the session of whom it belongs to. */
async function more(add: (name: string, thing: Thing) => void) {
  for (const of of ['customer', 'owner'] as const) {
    const id = newId('identity')
    p.db.$client.run("INSERT INTO account_identities VALUES (?, ?, 'https://id.example.com', ?, 1, 1)", [id, people[of].id, of])
    add('identity', { label: `one of ${of}`, id, of })
    const key = newId('passkey')
    p.db.$client.run("INSERT INTO passkeys VALUES (?, ?, ?, 'AA', 0, '[]', 'Key', 1, NULL, NULL)", [key, people[of].id, key])
    add('passkey', { label: `one of ${of}`, id: key, of })
  }
  for (const of of ['customer', 'reader'] as const) {
    const { id } = p.db.$client.query<{ id: string }, [string]>('SELECT id FROM sessions WHERE account_id = ?').get(people[of].id)!
    add('session', { label: `one of ${of}`, id, of })
  }
}

// ---------------------------------------------------------------- the rule
const personal = new Set(['token', 'team member', 'membership', 'session', 'passkey', 'identity'])
const ofServers = new Set(['server', 'job'])

function sees(who: Name, name: string, { of, gone, never, label }: Thing): boolean {
  if (never) return false
  if (personal.has(name)) return of === who
  if (kindOf(who) === 'staff') return true // for the record: also what is gone
  if (gone || !of) return false
  if (of === who || resellerOf[of] === who) return true
  const share = ofServers.has(name) && of === 'customer' ? shared[who] : undefined
  return !!share && (!share.only || label.endsWith(share.only))
}

/** Which of their rights count on it. */
function counts(who: Name, name: string, { of }: Thing, right: string): boolean {
  if (kindOf(who) === 'staff' || !of || personal.has(name)) return true
  if (ofServers.has(name)) return of === who || resellerOf[of] === who || shared[who]!.does.includes(right as Scope)
  if (kindOf(who) !== 'reseller') return true
  return of === who ? ['account:read', 'account:write', 'reseller:read'].includes(right) : right.startsWith('reseller:')
}

function expected(op: Operation, who: Name, thing: Thing, by: 'session' | 'token'): string {
  const access = op.access as Exclude<Operation['access'], 'anyone'>
  const accepted = access[kindOf(who)]
  if (op.inPerson && by === 'token') return '403 token_not_allowed'
  if (!accepted) return '403 forbidden'
  // No token can have what is no scope.
  if (by === 'token' && !accepted.some((right) => right.includes(':'))) return '403 token_not_allowed'
  const usable = accepted.filter((right) => held(who).has(right) && (by === 'session' || right.includes(':')))
  if (!usable.length) return by === 'token' ? '403 missing_scope' : '403 forbidden'
  if (!sees(who, op.on!.name, thing)) return `404 ${op.on!.notFound}`
  if (!usable.some((right) => counts(who, op.on!.name, thing, right))) return '403 forbidden'
  // A body that no call takes: what comes this far was allowed, and still nothing happens.
  return op.method === 'GET' ? '200' : '422 validation_failed'
}

// ---------------------------------------------------------------- the matrix
const onThings = operations.filter((op) => op.on && op.access !== 'anyone')

test('everything that an operation is on has things to be tested with', () => {
  for (const op of onThings) expect(things).toHaveProperty([op.on!.name])
})

for (const by of ['session', 'token'] as const)
  describe(`everybody, by ${by}`, () => {
    const credentials = new Map<Name, Who>()
    beforeAll(() => {
      for (const who of cast) credentials.set(who, by === 'session' ? people[who] : p.token(people[who].id))
    })
    for (const op of onThings)
      test(`${op.id}: yes, no, and not there, for each of ${cast.length} people and each ${op.on!.name}`, async () => {
        const before = p.fingerprint()
        const [wanted, got]: string[][] = [[], []]
        for (const who of cast) {
          const absent = new Set<string>()
          for (const thing of things[op.on!.name]!) {
            const path = op.path.replace(/\{\w+\}/, thing.id)
            const { status, body, headers } = await p.call(
              credentials.get(who),
              op.method,
              path,
              op.method === 'GET' ? undefined : { surprise: 1 },
            )
            const line = `${who} with ${thing.label}: `
            wanted!.push(line + expected(op, who, thing, by))
            got!.push(`${line}${status}${body.error ? ` ${body.error.code}` : ''}`)
            headers.delete('X-Request-Id')
            if (status === 404) absent.add(JSON.stringify([body, [...headers]]))
          }
          // S25: what is another's, what is gone and what never was are one answer, byte for byte.
          expect(`${who}: ${absent.size || 1} kind of "not there"`).toBe(`${who}: 1 kind of "not there"`)
        }
        expect(got!).toEqual(wanted!)
        expect(p.fingerprint()).toBe(before)
      })
  })

describe('nobody in particular', () => {
  test('is told nothing about any thing', async () => {
    const before = p.fingerprint()
    for (const op of onThings)
      for (const thing of things[op.on!.name]!) {
        const { status, body } = await p.call(
          undefined,
          op.method,
          op.path.replace(/\{\w+\}/, thing.id),
          op.method === 'GET' ? undefined : {},
        )
        expect(`${op.id} ${thing.label}: ${status} ${body.error.code}`).toBe(`${op.id} ${thing.label}: 401 not_authenticated`)
      }
    expect(p.fingerprint()).toBe(before)
  })
})

describe('lists and counts', () => {
  test('S24: hold exactly the servers and jobs that one by one can be seen, and say how many', async () => {
    for (const who of cast) {
      for (const [path, name] of [
        ['/servers', 'server'],
        ['/jobs', 'job'],
      ] as const) {
        const { body } = await p.call(people[who], 'GET', `${path}?limit=100`)
        const seen = things[name]!.filter((t) => sees(who, name, t) && !(t.gone && name === 'server')).map((t) => t.id)
        const listed = body.data.map((row: any) => row.id).filter((id: string) => things[name]!.some((t) => t.id === id))
        expect(`${who} ${path}: ${listed.sort().join(' ')}`).toBe(`${who} ${path}: ${seen.sort().join(' ')}`)
        if (name === 'server') expect(body.total).toBe(seen.length)
        expect(body.data.length).toBe(Math.min(100, body.total))
      }
    }
  })
})
