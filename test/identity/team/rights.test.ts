// The rights of each role on a server, over every operation on servers.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { operations } from '../../../src/app/features.ts'
import { server as resource } from '../../../src/compute/server-records/model.ts'
import { opens, roleNames } from '../../../src/identity/team/role.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

const onServers = operations.filter((op) => op.on === resource)
const kinds = ['customer', 'reseller'] as const
type Person = { id: string } & Who

let p: World
let serverId: string
const member = {} as Record<`${(typeof kinds)[number]} ${(typeof roleNames)[number]}`, Person>

beforeAll(async () => {
  p = await world()
  serverId = (await p.admin('POST', '/admin/servers', p.order)).serverId
  await p.settle()
  for (const kind of kinds)
    for (const role of roleNames) {
      member[`${kind} ${role}`] = p.account(kind, `${role} ${kind}`)
      await share(p, p.customer, member[`${kind} ${role}`], role, serverId)
    }
})
afterAll(() => p.close())

const at = (op: Operation) => op.path.replace(/\{\w+\}/, serverId)
const examples: Record<string, () => object> = {
  'servers.power': () => ({ action: 'restart' }),
  'servers.reinstall': () => ({ imageId: p.image, access: { mode: 'password' } }),
}

/** Things of the account, which no member could take back. */
const ofOwnerAlone: ReadonlySet<string> = new Set(['volumes.create'])

test('there are operations on servers', () => expect(onServers.length).toBeGreaterThan(5))

for (const op of onServers)
  for (const kind of kinds)
    for (const role of roleNames) {
      const scopes = op.access === 'anyone' ? [] : (op.access[kind] ?? [])
      const opened: ReadonlySet<string> = opens(role)
      const may = !ofOwnerAlone.has(op.id) && scopes.some((scope) => opened.has(scope))
      test(`${op.id}: a ${kind} who may ${role} ${may ? 'may' : 'is refused, and nothing happens'}`, async () => {
        await p.settle()
        const who = member[`${kind} ${role}`]
        const before = p.fingerprint()
        const sent = examples[op.id]?.() ?? op.example ?? {}
        const { status, body } = await p.call(
          who,
          op.method,
          at(op),
          op.method === 'GET' ? undefined : op.body ? sent : undefined,
        )
        // A thing of the server that is named beside it may be missing.
        if (may) return expect([401, 403, 'server_not_found']).not.toContain(status === 404 ? body.error.code : status)
        expect([status, body.error?.code]).toEqual([403, 'forbidden'])
        expect(p.fingerprint()).toBe(before)
      })
      if (may)
        test(`${op.id}: a token of a ${kind} who may ${role} has no more than its own scopes`, async () => {
          await p.settle()
          const without = p.token(member[`${kind} ${role}`].id, ['account:read'])
          const before = p.fingerprint()
          expect((await p.call(without, op.method, at(op), op.method === 'GET' ? undefined : {})).body.error.code).toBe(
            'missing_scope',
          )
          expect(p.fingerprint()).toBe(before)
        })
    }

describe('what a server says of itself', () => {
  const shown = async (who: Who) => (await p.call(who, 'GET', `/servers/${serverId}`)).body
  const power = ['shutdown', 'off', 'restart']
  const managing = [...power, 'reinstall', 'restart_policy', 'protect', 'reset_password']
  const provider = ['suspend', 'terminate', 'change_package', 'addresses', 'speed']
  const including = (...actions: string[]) => expect.arrayContaining(actions)
  // The calls above have protected it.
  beforeAll(async () => {
    await p.settle()
    await p.admin('PUT', `/servers/${serverId}/protection`, { protected: false })
  })
  test('to its members: whose it is, as what they stand before it, and what they may do now', async () => {
    await p.settle()
    const seen = (role: (typeof roleNames)[number]) => shown(member[`customer ${role}`])
    const owner = { id: p.customer.id, name: 'Cal', email: null }
    expect(await seen('view')).toMatchObject({ access: 'view', owner, allowed: [] })
    expect(await seen('operate')).toMatchObject({ access: 'operate', owner, allowed: including(...power) })
    for (const action of [...managing.slice(power.length), ...provider])
      expect((await seen('operate')).allowed).not.toContain(action)
    expect(await seen('manage')).toMatchObject({ access: 'manage', owner, allowed: including(...managing) })
    for (const action of provider) expect((await seen('manage')).allowed).not.toContain(action)
  })
  test('to its owner and to staff: that it is theirs, and what each may do', async () => {
    expect(await shown(p.customer)).toMatchObject({ access: 'own', allowed: including(...managing) })
    for (const action of provider) expect((await shown(p.customer)).allowed).not.toContain(action)
    const staff = await shown(p.owner)
    const allowed = including(...managing, ...provider)
    expect(staff).toMatchObject({ access: 'own', allowed, owner: { email: expect.stringContaining('@') } })
    expect((await shown(p.staff(['servers.see_all', 'servers.suspend']))).allowed).toEqual(['suspend'])
  })
  test('what is in it as allowed is exactly what the operations do not refuse for want of a right', async () => {
    const needs: Record<string, string> = { start: 'power', shutdown: 'power', off: 'power', restart: 'power' }
    for (const [name, scopes] of [
      ['suspend', ['servers:read', 'servers:suspend']],
      ['terminate', ['servers:read', 'servers:terminate']],
      ['reinstall', ['servers:read', 'servers:reinstall']],
      ['restart', ['servers:read', 'servers:power']],
    ] as const) {
      const { allowed } = await shown(p.token(p.owner.id, scopes))
      const op = operations.find((o) => o.id === `servers.${needs[name] ?? name}`)!
      expect(op.access).toMatchObject({ staff: [scopes[1]] })
      expect(allowed).toContain(name)
      for (const other of ['suspend', 'terminate', 'reinstall', 'restart'].filter((o) => o !== name))
        expect(allowed).not.toContain(other)
    }
  })
  test('not why the owner is suspended: that is between them and the provider', async () => {
    await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'Invoice 2041 is overdue' })
    await p.settle()
    expect((await shown(p.customer)).suspendReason).toBe('Invoice 2041 is overdue')
    expect(await shown(member['customer manage'])).toMatchObject({
      status: 'suspended',
      suspendReason: null,
      allowed: ['protect'],
    })
    await p.admin('POST', `/servers/${serverId}/actions/unsuspend`)
    await p.settle()
  })
})

describe('a member who reinstalls', () => {
  const blob = (n: number) =>
    Buffer.concat([
      Buffer.from([0, 0, 0, 11]),
      Buffer.from('ssh-ed25519'),
      Buffer.from([0, 0, 0, 32]),
      Buffer.alloc(32, n),
    ])
  const key = (n: number) => `ssh-ed25519 ${blob(n).toString('base64')} k${n}`
  const add = async (who: Person, n: number) =>
    (await p.call(who, 'POST', `/customers/${who.id}/ssh-keys`, { publicKey: key(n) })).body.id as string
  const reinstall = (who: Who, ...sshKeyIds: string[]) =>
    p.call(who, 'POST', `/servers/${serverId}/actions/reinstall`, {
      imageId: p.image,
      access: { mode: 'ssh_keys', sshKeyIds },
    })

  test("may use the owner's keys and the own ones, and is named as who began it", async () => {
    await p.settle()
    const who = member['customer manage']
    const [owners, own] = [await add(p.customer, 1), await add(who, 2)]
    const { status, body } = await reinstall(who, owners, own)
    expect(status).toBe(202)
    await p.settle()
    const job = (await p.call(p.customer, 'GET', `/jobs/${body.jobId}`)).body
    expect(job).toMatchObject({
      state: 'succeeded',
      startedBy: { type: 'person', id: who.id, name: 'manage customer' },
    })
  })
  test("may not use a third person's keys, nor may the owner use a member's", async () => {
    const theirs = await add(member['customer view'], 3)
    const before = p.fingerprint()
    for (const who of [member['customer manage'], p.customer])
      expect((await reinstall(who, theirs)).body.error.code).toBe('validation_failed')
    expect(p.fingerprint()).toBe(before)
  })
})
