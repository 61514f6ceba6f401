// Not one test per endpoint: one test per promise, over every endpoint there is or will be.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { registry as product } from '../../src/app/features.ts'
import { accountKinds } from '../../src/identity/account-records/kinds.ts'
import { passkeys } from '../../src/identity/auth/second-factors/tables.ts'
import { presets } from '../../src/identity/tokens/presets.ts'
import { type AccountKind, isScope } from '../../src/kernel/api/access.ts'
import { Limit } from '../../src/kernel/api/limits.ts'
import { isAllowedInSupportSession, mayCall, type Operation } from '../../src/kernel/api/operation.ts'
import { check } from '../../src/kernel/api/validate.ts'
import { digest } from '../../src/kernel/crypto/secrets.ts'
import { newId } from '../../src/kernel/db/ids.ts'
import { write } from '../../src/kernel/db/open.ts'
import { openapi } from '../../src/kernel/openapi/openapi.ts'
import { addImport } from '../imports/record.ts'
import { textOf } from '../kernel/openapi/shape.ts'
import { golden } from '../support/golden.ts'
import { addDrain, addRolling } from '../support/nodes/drains.ts'
import { addGpuHost, addGpuOffer, gpuCard } from '../support/nodes/gpus.ts'
import { addTransfer } from '../support/nodes/transfers.ts'
import { addRollOut } from '../support/releases/roll-outs.ts'
import { type Who, type World, world } from '../support/world/panel.ts'
import { answered } from '../support/world/response-check.ts'
import { allPermissions, allScopes, scopes } from '../support/world/rights.ts'
import { invite, share } from '../support/world/team.ts'
import { added, allOperations, operations, registry } from './toy-feature/every-feature.ts'

const hostOperations = allOperations.filter((op) => op.localOnly)
let p: World
/** One real thing of each kind, by the resource's name. */
let things: Record<string, string>
let stranger: Record<AccountKind, { id: string } & Who>
/** An id of this kind that never was. */
const random = (name: string) => registry.examples.sampleId(name)!.replace(/_.*/, `_${'0'.repeat(26)}`)

beforeAll(async () => {
  p = await world({ features: added })
  // Refused attempts count for the limit, and all of them come from one address here.
  p.controller.app.signIns = new Limit(10_000, p.now)
  const { serverId, jobId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const address = (await p.admin('GET', `/admin/ip-pools/${p.pool}/addresses`)).data[3].id
  const identity = newId('idn')
  p.db.$client.run("INSERT INTO account_identities VALUES (?, ?, 'https://id.example.com', 'cal-1', 1, 1)", [
    identity,
    p.customer.id,
  ])
  const place = await p.admin('POST', '/admin/backup-targets/local', { name: 'Disk', address: '/srv/backups' })
  await p.admin('POST', `/admin/backup-targets/${place.id}/actions/make-default`)
  const { backupId } = await p.admin('POST', `/servers/${serverId}/backups`, {})
  await p.settle()
  const friend = p.account('customer', 'Bo')
  things = {
    'team member': (await invite(p, p.customer, 'bo@customer.test')).id,
    membership: await share(p, friend, p.customer, 'view'),
    identity,
    'member of staff': p.staff(['servers.power']).id,
    customer: p.customer.id,
    reseller: p.account('reseller', 'Rita').id,
    package: p.pack,
    location: p.location,
    node: p.node.id,
    'address pool': p.pool,
    'storage pool': p.storagePool(),
    'GPU card': gpuCard(p),
    address,
    image: p.image,
    ISO: p.addIso('Tools', p.customer.id),
    volume: p.addVolume(p.customer.id, p.node.id),
    server: serverId,
    backup: backupId,
    job: jobId,
    transfer: addTransfer(p, serverId),
    drain: addDrain(p, p.node.id, serverId),
    'import server': addImport(p).serverId,
    'roll-out': addRollOut(p, p.node.id),
    'rolling maintenance': addRolling(p, p.node.id, addDrain(p, p.node.id, serverId)),
  }
  const call = async (who: { id: string }, method: string, path: string, body?: unknown) => {
    const reply = await p.call(who as Who, method, path, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  for (const { fixture } of registry.features)
    Object.assign(things, await fixture?.({ customer: p.customer, call, admin: p.admin }))
  addGpuHost(p, p.location, 1)
  const gpuOrder = { ownerId: p.customer.id, offerId: await addGpuOffer(p), nodeGroupId: p.location }
  things['GPU instance'] = (await p.admin('POST', '/admin/gpu-instances', gpuOrder)).instanceId
  await p.settle()
  stranger = { staff: p.staff(), reseller: p.account('reseller', 'Eve'), customer: p.account('customer', 'Mallory') }
  // These are seen by their own account only, also among staff.
  things['session'] = p.db.$client
    .query<{ id: string }, [string]>('SELECT id FROM sessions WHERE account_id = ?')
    .get(stranger.staff.id)!.id
  things['brake'] = newId('brk')
  p.db.$client.run("INSERT INTO brake_cases (id, actor_id, actor_name, opened_at) VALUES (?, ?, 'Ada', 1)", [
    things['brake'],
    p.owner.id,
  ])
  things['weakening'] = newId('wkn')
  p.db.$client.run(
    `INSERT INTO weakenings (id, kind, name, title, from_words, to_words, asked_by, asked_by_name, asked_at,
       takes_effect_at) VALUES (?, 'setting', 'brake.limit', 'Brake', '25', '26', ?, 'Ada', 1, 1)`,
    [things['weakening'], p.owner.id],
  )
  things['passkey'] = newId('pky')
  write(p.db, (tx) =>
    tx
      .insert(passkeys)
      .values({
        id: things['passkey']!,
        accountId: stranger.staff.id,
        credentialId: 'AQ',
        publicKey: 'AQ',
        counter: 0,
        transports: [],
        name: 'Key',
        createdAt: 1,
      })
      .run(),
  )
  things['token'] = (
    await p.call(stranger.staff, 'POST', '/account/tokens', { name: 'Own', scopes: ['servers:read'] })
  ).body.id
})
afterAll(() => p.close())

/** Somebody who may call it, and sees the thing it is on. */
const caller = ({ access }: Operation): Who | undefined =>
  access === 'anyone'
    ? undefined
    : !access.staff && access.customer
      ? p.customer
      : stranger[accountKinds.find((k) => access[k])!]

const made = new Map<string, Who>()
/** One token a kind: an account has at most 50. */
function tokenOf(kind: AccountKind, none?: []): Who {
  const key = `${kind} ${none ? 'none' : 'all'}`
  if (!made.has(key)) made.set(key, p.token(stranger[kind].id, none))
  return made.get(key)!
}

const at = (op: Operation, id = op.on ? things[op.on.name]! : 'x') => op.path.replace(/\{\w+\}/, id)
const send = (op: Operation, who: Who | undefined, path = at(op)) =>
  p.call(who, op.method, path, op.method === 'GET' ? undefined : op.body ? (op.example ?? {}) : undefined)

test('every resource of an operation has a thing to be tested with', () => {
  for (const op of operations) if (op.on) expect(things).toHaveProperty([op.on.name])
})

/** The table where a refused sign-in is noted. */
const notedBy = ({ authAttempt, access }: Operation) => (authAttempt && access === 'anyone' ? ['audit'] : [])

for (const op of operations)
  describe(`${op.id} (${op.method} ${op.path})`, () => {
    if (op.access !== 'anyone') {
      test('401 without credentials', async () => {
        const before = p.fingerprint()
        const { status, body } = await send(op, undefined)
        expect([status, body.error.code]).toEqual([401, 'not_authenticated'])
        expect(p.fingerprint()).toBe(before)
      })
      test('401 for a token that is none', async () => {
        const { status, body } = await send(op, { token: `pnl_${'x'.repeat(49)}` })
        expect([status, body.error.code]).toEqual([401, 'invalid_token'])
      })

      for (const kind of accountKinds) {
        const accepted = op.access[kind]
        if (!accepted) {
          test(`S25: 403 for ${kind} accounts, before anything is looked up`, async () => {
            const before = p.fingerprint()
            const [real, unreal] = await Promise.all([
              send(op, tokenOf(kind)),
              send(op, tokenOf(kind), at(op, op.on ? random(op.on.name) : 'x')),
            ])
            expect([real.status, real.body.error.code]).toEqual([
              403,
              op.requiresSession ? 'token_not_allowed' : 'forbidden',
            ])
            expect(unreal.body).toEqual(real.body)
            expect(p.fingerprint().replace(/tokens .*/, '')).toBe(before.replace(/tokens .*/, ''))
          })
          continue
        }
        test(`403 naming the scopes for a ${kind}'s token without them`, async () => {
          const { status, body } = await send(op, tokenOf(kind, []))
          if (op.requiresSession || !accepted.some(isScope))
            return expect([status, body.error.code]).toEqual([403, 'token_not_allowed'])
          expect([status, body.error.code]).toEqual([403, 'missing_scope'])
          // Only what a token can be given: a permission of staff would send its reader looking for something that is
          // not there.
          expect(body.error.details.scopes).toEqual(accepted.filter(isScope))
        })
        const { on } = op
        if (on && kind !== 'staff')
          test(`S25: 404, never 403, for what another ${kind} has, in the bytes of one that never was`, async () => {
            const before = p.fingerprint()
            const who = op.requiresSession ? stranger[kind] : tokenOf(kind)
            const [foreign, unreal, nonsense] = [
              await send(op, who),
              await send(op, who, at(op, random(on.name))),
              await send(op, who, at(op, 'xyz')),
            ]
            expect([foreign.status, foreign.body.error.code]).toEqual([404, on.notFound])
            expect(JSON.stringify(foreign.body)).toBe(JSON.stringify(unreal.body))
            expect(JSON.stringify(nonsense.body)).toBe(JSON.stringify(unreal.body))
            expect(p.fingerprint().replace(/tokens .*/, '')).toBe(before.replace(/tokens .*/, ''))
          })
        if (on && kind === 'staff')
          test('404 for staff and an id that never was', async () => {
            const { status, body } = await send(op, stranger.staff, at(op, random(on.name)))
            expect([status, body.error.code]).toEqual([404, on.notFound])
          })
      }
    }

    test('405 with Allow for a method it has not', async () => {
      const known = operations.filter((o) => o.path === op.path).map((o) => o.method)
      const method = (['PUT', 'DELETE', 'PATCH', 'POST'] as const).find((m) => !known.includes(m))!
      const { status, body, headers } = await p.call(undefined, method, at(op), {})
      expect([status, body.error.code]).toEqual([405, 'method_not_allowed'])
      for (const m of known) expect(headers.get('Allow')).toContain(m)
    })

    test('a request id on every answer', async () =>
      expect((await send(op, undefined)).headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/))

    if (op.method === 'GET')
      test('answers what it declares, and no field more', async () => {
        const kind =
          op.access === 'anyone' ? 'staff' : accountKinds.find((k) => op.access !== 'anyone' && op.access[k])!
        // Held against the declaration by `call` itself. What is somebody else's is not there for who is no staff.
        const { status, body } = await p.call(stranger[kind], 'GET', at(op))
        if (kind !== 'staff' && op.on) expect(status).toBe(404)
        else if (status !== 200) expect(op.refuses ?? []).toContain(body.error.code)
      })

    if (op.method !== 'GET' && op.body)
      test('refuses a field that is not listed, by name, and nothing happens', async () => {
        const who = caller(op)
        const before = p.fingerprint(notedBy(op))
        const { status, body } = await p.call(who, op.method, at(op), {
          ...(op.example ?? {}),
          surprise: 'secret-value',
        })
        expect([status, body.error.code]).toEqual([422, 'validation_failed'])
        expect(JSON.stringify(body)).toContain('surprise')
        expect(JSON.stringify(body)).not.toContain('secret-value')
        expect(p.fingerprint(notedBy(op))).toBe(before)
      })

    const moments = Object.entries<any>(op.body?.properties ?? {}).filter(([, s]) =>
      /"date-time"/.test(JSON.stringify(s)),
    )
    if (moments.length)
      test('refuses a moment that no clock shows, or that is not of our age, by its field', async () => {
        const before = p.fingerprint()
        for (const [field] of moments)
          for (const moment of [
            '2027-06-30T23:59:60Z',
            '9999-12-31T23:59:59-23:59',
            '1969-12-31T23:59:59Z',
            '0000-01-01T00:00:00Z',
          ]) {
            const { status, body } = await p.call(caller(op), op.method, at(op), {
              ...(op.example as object),
              [field]: moment,
            })
            expect([moment, status, body.error?.details?.fields?.[0].field]).toEqual([moment, 422, field])
          }
        expect(p.fingerprint()).toBe(before)
      })

    if (op.method !== 'GET') {
      test('415, 413 and 400 before anything else is looked at', async () => {
        const who = caller(op)
        const before = p.fingerprint(notedBy(op))
        const send = (body: string, type: string) => p.call(who, op.method, at(op), body, { 'Content-Type': type })
        expect((await send('a=1', 'application/x-www-form-urlencoded')).body.error.code).toBe('unsupported_media_type')
        expect(
          (await send(`"${'x'.repeat((op.mostBytes ?? 1_000_000) + 1)}"`, 'application/json')).body.error.code,
        ).toBe('too_large')
        expect((await send('{', 'application/json')).body.error.code).toBe('invalid_json')
        expect(p.fingerprint(notedBy(op))).toBe(before)
      })
      if (op.access !== 'anyone')
        test('S20: a browser without our token or from elsewhere is refused', async () => {
          const who = caller(op)
          expect((await p.call(who, op.method, at(op), {}, { 'X-CSRF-Token': 'x' })).body.error.code).toBe(
            'csrf_failed',
          )
          expect((await p.call(who, op.method, at(op), {}, { Origin: 'https://evil.test' })).body.error.code).toBe(
            'bad_origin',
          )
        })
    }

    if (op.method === 'GET')
      test('400 for a query parameter it does not know, for a bad limit and for a foreign cursor', async () => {
        const code = async (query: string) => (await p.call(caller(op), 'GET', `${at(op)}?${query}`)).body.error.code
        expect(await code('nonsense=1')).toBe('invalid_request')
        if (!op.pages) return
        expect(await code('limit=0')).toBe('invalid_request')
        expect(await code('limit=x')).toBe('invalid_request')
        expect(await code('cursor=abcdef')).toBe('invalid_request')
      })

    if (op.body)
      test('has an example, and it has the shape that it asks for', () => {
        expect(op.example).toBeDefined()
        expect(() => check(op.body, op.example)).not.toThrow()
      })
  })

describe('S50: what decides where credentials and links go, or lifts a protection', () => {
  const ownerOnly = operations.filter((op) => op.ownerOnly)
  test('is the mail server, the identity provider and the second word for a weaker protection', () =>
    expect(ownerOnly.map((op) => op.id).toSorted()).toEqual([
      'mail.configure',
      'sign-in-provider.remove',
      'sign-in-provider.set',
      'weakenings.confirm',
    ]))
  for (const op of ownerOnly)
    test(
      `${op.id} is refused to every token, to staff who are no owners, and to an owner who did not ` + 'confirm',
      async () => {
        const [owner, staff, helper] = [p.staff(), p.staff(allPermissions), p.staff()]
        const late = p.signIn(owner.id)
        p.db.$client.run('UPDATE sessions SET confirmed_at = confirmed_at - 660000 WHERE token_hash = ?', [
          digest(late.cookie!),
        ])
        const { headers } = await p.call(helper, 'POST', `/customers/${p.customer.id}/support-session`, {
          reason: 'Help',
        })
        const { csrf } = p.db.$client
          .query<{ csrf: string }, [string]>('SELECT csrf FROM sessions WHERE account_id = ?')
          .get(helper.id)!
        const supporter = { cookie: headers.get('Set-Cookie')!.split(/[=;]/)[1]!, csrf }
        const roles = allPermissions.map((permission) => p.staff([permission]))
        const tokens = [owner, staff, ...Object.values(stranger)].map(({ id }) => p.token(id))
        const narrow = [...allScopes].map((scope) => p.token(owner.id, [scope]))
        const before = p.fingerprint(['tokens'])
        const code = async (who: Who) => (await send(op, who)).body.error?.code
        for (const token of [...tokens, ...narrow]) expect(await code(token)).toBe('token_not_allowed')
        for (const who of [staff, ...roles, stranger.reseller, stranger.customer])
          expect(await code(who)).toBe('forbidden')
        expect(await code(supporter)).toBe('support_session')
        expect(await code(late)).toBe('confirmation_required')
        expect(p.fingerprint(['tokens'])).toBe(before)
        const document: any = openapi(product, { version: '0', root: '/' })
        expect(document.paths[op.path][op.method.toLowerCase()].description).toContain(
          'Only an owner. A person who is signed in, not a token.',
        )
      },
    )
})

describe('what only who runs the controller may do', () => {
  test('is the tokens of others and the key file', () =>
    expect(hostOperations.map((op) => op.id).toSorted()).toEqual([
      'secrets.drop',
      'secrets.list',
      'secrets.rotate',
      'tokens.grant',
    ]))
  for (const op of hostOperations) {
    test(`S26: ${op.id} has no path for anybody else, whatever they may do, and nothing happens`, async () => {
      const everybody = [undefined, ...Object.values(stranger), tokenOf('staff')]
      const { body: never } = await p.call(undefined, op.method, '/no/such/path', op.example)
      const before = p.fingerprint()
      for (const who of everybody)
        for (const method of ['GET', 'POST', 'OPTIONS', op.method]) {
          const { status, body, headers } = await p.call(
            who,
            method,
            op.path,
            method === 'GET' ? undefined : op.example,
          )
          expect([method, status, body]).toEqual([method, 404, never])
          expect(headers.get('Allow')).toBeNull()
        }
      expect(p.fingerprint()).toBe(before)
    })
    test(`S26: ${op.id} is refused by the gate too, and drawn nowhere`, () => {
      expect(op.access).toEqual({})
      const actor = {
        accountId: stranger.staff.id,
        kind: 'staff',
        name: 'A',
        scopes: allScopes,
        permissions: new Set(allPermissions),
      } as const
      const via = { type: 'session', sessionId: '', confirmedAt: p.now() } as const
      expect(mayCall(op, { ...actor, via })).toBe(false)
      expect(() => p.controller.gate(op, { ...actor, via }, { body: op.example })).toThrow('There is no such path')
      expect(() => p.controller.gate(op, undefined, { body: op.example })).toThrow('There is no such path')
      const document = JSON.stringify(openapi(registry, { version: '0', root: '/' }))
      for (const word of [op.id, `"${op.path}"`]) expect(document).not.toContain(word)
    })
  }
})

describe('changes by operations are in the audit log', () => {
  test('with who, from where, through what; and secrets are masked', async () => {
    const before = p.auditLines().length
    const { body } = await p.call(stranger.staff, 'POST', '/admin/staff', {
      email: 'new@staff.test',
      name: 'New',
      password: 'seven green bicycles',
    })
    const [line] = p.auditLines().slice(before)
    expect(line).toMatchObject({
      operation: 'staff.create',
      target: body.id,
      actorId: stranger.staff.id,
      via: 'page',
      from: '127.0.0.1',
      result: 'done',
      details: { email: 'new@staff.test', password: '***' },
    })
  })
  test('by every change that succeeds, exactly one line', async () => {
    for (const [method, path, body] of [
      ['POST', '/admin/customers', { name: 'N', email: 'n@customer.test' }],
      ['PATCH', `/admin/packages/${p.pack}`, { trafficGb: 1000 }],
      ['PATCH', `/admin/node-groups/${p.location}`, { placement: 'fill' }],
      ['PATCH', `/admin/nodes/${p.node.id}`, { reservedMemoryMb: 1 }],
    ] as const) {
      const before = p.auditLines().length
      expect((await p.call(stranger.staff, method, path, body)).status).toBeLessThan(300)
      expect(p.auditLines().length).toBe(before + 1)
    }
  })
  test('and nothing can change or delete a line', () => {
    expect(() => p.db.$client.run("UPDATE audit SET actor_name = 'x'")).toThrow('append-only')
    expect(() => p.db.$client.run('DELETE FROM audit')).toThrow('append-only')
  })
})

test('dozens of operations have answered in this run, each held against its declaration', () =>
  expect(answered.size).toBeGreaterThan(36))

describe('what is declared', () => {
  test('S24: is a list without doubles, in which every scope exists', () => {
    expect(new Set(operations.map((o) => o.id)).size).toBe(operations.length)
    expect(new Set(operations.map((o) => `${o.method} ${o.path}`)).size).toBe(operations.length)
    for (const preset of Object.values(presets)) for (const scope of preset) expect(scopes).toHaveProperty([scope])
  })
  test('changes only with a line in access.txt', () =>
    golden(
      'test/every/access.txt',
      product.operations
        .map((op) => {
          const access = op.access
          const who =
            access === 'anyone'
              ? 'anyone'
              : accountKinds.map((k) => `${k}: ${access[k]?.join(' | ') ?? '-'}`).join('; ')
          const also = [
            op.ownerOnly && 'owner',
            op.requiresSession && 'in person',
            op.requiresRecentAuth &&
              (op.requiresRecentAuth === true ? 'confirmed' : `confirmed for ${op.requiresRecentAuth.join(' | ')}`),
            access !== 'anyone' &&
              (access.reseller || access.customer) &&
              isAllowedInSupportSession(op) &&
              'in support',
            op.withoutSecondFactor && 'without a second factor',
            op.idempotent && 'Idempotency-Key',
            op.destroys?.length && `destroys ${op.destroys.join(', ')}`,
          ].filter(Boolean)
          return `${op.method.padEnd(6)} ${op.path.padEnd(42)} ${op.id.padEnd(22)} ${[who, ...also].join('; ')}`
        })
        .sort()
        .join('\n') + '\n',
    ))
  test('is what openapi.txt says', () =>
    golden('test/every/openapi.txt', textOf(JSON.parse(JSON.stringify(openapi(product, { version: '0', root: '/' }))))))
})
