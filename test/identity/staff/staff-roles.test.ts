// Staff and their roles: nobody gives, takes or changes more than they have, and there is always an owner.
import { describe, expect, test } from 'bun:test'
import { accountById } from '../../../src/identity/account-records/queries.ts'
import { makeLink } from '../../../src/identity/auth/links/links.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { panel, type Who } from '../../support/world/panel.ts'

type P = Awaited<ReturnType<typeof panel>>
const code = ({ status, body }: { status: number; body: any }) => `${status} ${body.error?.code ?? ''}`.trim()
const password = 'seven green bicycles'
/** Refused with this, and nothing is different afterwards. */
async function refused(p: P, who: Who, [method, path, body]: readonly [string, string, unknown?], expected: string) {
  const before = p.fingerprint()
  expect(`${method} ${path} ${code(await p.call(who, method, path, body))}`).toBe(`${method} ${path} ${expected}`)
  expect(p.fingerprint()).toBe(before)
}

describe('a role', () => {
  test('is made, changed and removed, and changes apply at the next call', async () => {
    using p = await panel()
    const owner = p.staff()
    const { body: role } = await p.call(owner, 'POST', '/admin/roles', {
      name: 'Support',
      permissions: ['customers.read'],
    })
    expect(role).toMatchObject({
      name: 'Support',
      permissions: ['customers.read'],
      isOwner: false,
      secondFactor: false,
      staff: 0,
    })
    const { body: bo } = await p.call(owner, 'POST', '/admin/staff', {
      name: 'Bo',
      email: 'bo@staff.test',
      role: 'Support',
      password,
    })
    expect(bo.role).toEqual({ id: role.id, name: 'Support' })
    const token = p.token(bo.id)
    expect(code(await p.call(token, 'GET', '/admin/customers'))).toBe('200')
    expect(code(await p.call(token, 'GET', '/admin/nodes'))).toBe('403 missing_scope')
    await p.call(owner, 'PATCH', `/admin/roles/${role.id}`, { permissions: ['nodes.read'] })
    expect(code(await p.call(token, 'GET', '/admin/customers'))).toBe('403 missing_scope')
    expect(code(await p.call(token, 'GET', '/admin/nodes'))).toBe('200')
    await refused(p, owner, ['DELETE', `/admin/roles/${role.id}`], '409 in_use')
    await p.call(owner, 'PATCH', `/admin/staff/${bo.id}`, { role: 'Owner' })
    expect(code(await p.call(owner, 'DELETE', `/admin/roles/${role.id}`))).toBe('200')
    expect((await p.call(owner, 'GET', '/admin/roles')).body.data.map((r: any) => r.name)).toEqual(['Owner'])
  })
  test('of a name that is taken, or with a permission that does not exist, is refused', async () => {
    using p = await panel()
    const owner = p.staff()
    await p.call(owner, 'POST', '/admin/roles', { name: 'Support', permissions: [] })
    await refused(p, owner, ['POST', '/admin/roles', { name: 'Support', permissions: [] }], '409 name_taken')
    await refused(
      p,
      owner,
      ['POST', '/admin/roles', { name: 'Other', permissions: ['everything'] }],
      '422 validation_failed',
    )
  })
  test('of owners holds everything: it can neither be cut nor removed', async () => {
    using p = await panel()
    const owner = p.staff()
    const [role] = (await p.call(owner, 'GET', '/admin/roles')).body.data
    await refused(p, owner, ['PATCH', `/admin/roles/${role.id}`, { permissions: [] }], '409 in_use')
    await refused(p, owner, ['DELETE', `/admin/roles/${role.id}`], '409 in_use')
  })
})

describe('S26: nobody gives what they lack', () => {
  test('S26: not by a role that they make, change or hand out, nor by a new colleague', async () => {
    using p = await panel()
    p.staff()
    const lead = p.staff(['staff.write', 'customers.read'])
    const rich = await p.admin('POST', '/admin/roles', { name: 'Rich', permissions: ['servers.terminate'] })
    const poor = await p.admin('POST', '/admin/roles', { name: 'Poor', permissions: ['customers.read'] })
    const friend = { name: 'Bo', email: 'bo@staff.test', password }
    await refused(
      p,
      lead,
      ['POST', '/admin/roles', { name: 'New', permissions: ['servers.terminate'] }],
      '403 forbidden',
    )
    await refused(p, lead, ['PATCH', `/admin/roles/${poor.id}`, { permissions: ['nodes.write'] }], '403 forbidden')
    const { error } = (await p.call(lead, 'PATCH', `/admin/roles/${poor.id}`, { permissions: ['nodes.write'] })).body
    expect(error.message).toContain('You do not have: Manage nodes and locations.')
    await refused(p, lead, ['PATCH', `/admin/roles/${rich.id}`, { name: 'Poorer' }], '403 forbidden')
    await refused(p, lead, ['DELETE', `/admin/roles/${rich.id}`], '403 forbidden')
    await refused(p, lead, ['POST', '/admin/staff', { ...friend, role: 'Rich' }], '403 forbidden')
    await refused(p, lead, ['POST', '/admin/staff', friend], '403 forbidden') // nothing said: an owner
    await refused(p, lead, ['PATCH', `/admin/staff/${lead.id}`, { role: 'Rich' }], '403 forbidden')
    await refused(p, lead, ['PATCH', `/admin/staff/${lead.id}`, { role: 'Owner' }], '403 forbidden')
    expect(code(await p.call(lead, 'POST', '/admin/staff', { ...friend, role: 'Poor' }))).toBe('201')
  })
  test('S26: not even with every permission there is: an owner is more', async () => {
    using p = await panel()
    const owner = p.staff()
    const every = (await p.call(owner, 'GET', '/admin/roles')).body.data[0].permissions
    const deputy = p.staff(every)
    await refused(p, deputy, ['PATCH', `/admin/staff/${deputy.id}`, { role: 'Owner' }], '403 forbidden')
    await refused(p, deputy, ['POST', `/admin/staff/${owner.id}/actions/disable`], '403 forbidden')
  })
  test('S26: and nobody acts upon those who have more', async () => {
    using p = await panel()
    const owner = p.staff()
    const lead = p.staff(['staff.write'])
    const admin = p.staff(['staff.write', 'nodes.write'])
    for (const above of [owner.id, admin.id]) {
      await refused(p, lead, ['POST', `/admin/staff/${above}/actions/disable`], '403 forbidden')
      await refused(p, lead, ['PATCH', `/admin/staff/${above}`, { email: 'mine@staff.test' }], '403 forbidden')
    }
    expect(code(await p.call(admin, 'POST', `/admin/staff/${lead.id}/actions/disable`))).toBe('200')
    expect(code(await p.call(owner, 'POST', `/admin/staff/${lead.id}/actions/enable`))).toBe('200')
  })
})

describe('S26: the last owner', () => {
  test('S26: can be neither demoted nor disabled, until there is another', async () => {
    using p = await panel()
    const owner = p.staff()
    const support = await p.admin('POST', '/admin/roles', { name: 'Support', permissions: [] })
    await refused(p, owner, ['PATCH', `/admin/staff/${owner.id}`, { role: 'Support' }], '409 last_owner')
    expect(() => p.admin('POST', `/admin/staff/${owner.id}/actions/disable`)).toThrow('last_owner')
    const second = p.staff()
    expect(code(await p.call(owner, 'POST', `/admin/staff/${second.id}/actions/disable`))).toBe('200')
    // One who is disabled could not give the rights back.
    await refused(p, owner, ['PATCH', `/admin/staff/${owner.id}`, { role: 'Support' }], '409 last_owner')
    await p.call(owner, 'POST', `/admin/staff/${second.id}/actions/enable`)
    expect((await p.call(owner, 'PATCH', `/admin/staff/${owner.id}`, { role: 'Support' })).body.role).toEqual({
      id: support.id,
      name: 'Support',
    })
  })
})

describe('a disabled member of staff', () => {
  test('S19: is out at the next call: sessions, tokens and password, until enabled again', async () => {
    using p = await panel()
    const owner = p.staff()
    const { body: bo } = await p.call(owner, 'POST', '/admin/staff', { name: 'Bo', email: 'bo@staff.test', password })
    const signIn = () => p.call(undefined, 'POST', '/sessions', { email: 'bo@staff.test', password })
    const session = (await signIn()).headers.get('Set-Cookie')!.split(/[=;]/)[1]!
    const token = p.token(bo.id)
    const tries = async () => [
      code(await p.call({ cookie: session }, 'GET', '/admin/servers')),
      code(await p.call(token, 'GET', '/admin/servers')),
      code(await signIn()),
    ]
    expect(await tries()).toEqual(['200', '200', '201'])
    expect((await p.call(owner, 'POST', `/admin/staff/${bo.id}/actions/disable`)).body.disabledAt).toBeString()
    expect(await tries()).toEqual(['401 not_authenticated', '401 invalid_token', '401 sign_in_failed'])
    await refused(p, owner, ['POST', `/admin/staff/${bo.id}/actions/disable`], '409 already_done')
    await p.call(owner, 'POST', `/admin/staff/${bo.id}/actions/enable`)
    // Revoked tokens stay revoked when the person comes back.
    expect(await tries()).toEqual(['401 not_authenticated', '401 invalid_token', '201'])
    await refused(p, owner, ['POST', `/admin/staff/${bo.id}/actions/enable`], '409 already_done')
  })
  test('S23: has no token that counts, also one that a command on the host made meanwhile', async () => {
    using p = await panel()
    const owner = p.staff()
    const bo = p.staff()
    await p.call(owner, 'POST', `/admin/staff/${bo.id}/actions/disable`)
    const token = p.token(bo.id)
    expect(code(await p.call(token, 'GET', '/admin/servers'))).toBe('401 invalid_token')
    await p.call(owner, 'POST', `/admin/staff/${bo.id}/actions/enable`)
    expect(code(await p.call(token, 'GET', '/admin/servers'))).toBe('200')
  })
  test('has no link that comes back, either', async () => {
    using p = await panel()
    const owner = p.staff()
    const bo = p.staff(['servers.power'])
    const { path } = write(p.db, (tx) =>
      makeLink(tx, { purpose: 'reset', account: accountById(tx, bo.id)!, now: p.now() }),
    )
    for (const action of ['disable', 'enable']) await p.call(owner, 'POST', `/admin/staff/${bo.id}/actions/${action}`)
    const answer = await p.call(undefined, 'POST', '/passwords', {
      token: path.split('/').pop(),
      password: 'a second set of words',
    })
    expect(code(answer)).toBe('401 link_not_valid')
  })
})

describe('S19: another role', () => {
  test('ends the sessions of those who had the old one; the one who changes it goes on under a new value', async () => {
    using p = await panel()
    const [owner, bo] = [p.staff(), p.staff(['servers.see_all'])]
    p.staff()
    await p.call(owner, 'POST', '/admin/roles', {
      name: 'Powerful',
      permissions: ['servers.see_all', 'servers.power', 'staff.write'],
    })
    expect(code(await p.call(owner, 'PATCH', `/admin/staff/${bo.id}`, { name: 'Bob' }))).toBe('200')
    expect(code(await p.call(bo, 'GET', '/servers'))).toBe('200')
    expect(code(await p.call(owner, 'PATCH', `/admin/staff/${bo.id}`, { role: 'Powerful' }))).toBe('200')
    expect(code(await p.call(bo, 'GET', '/servers'))).toBe('401 not_authenticated')
    const { status, headers } = await p.call(owner, 'PATCH', `/admin/staff/${owner.id}`, { role: 'Powerful' })
    expect(status).toBe(200)
    const cookie = headers.get('Set-Cookie')!.split(/[=;]/)[1]!
    expect(code(await p.call(owner, 'GET', '/servers'))).toBe('401 not_authenticated')
    expect(code(await p.call({ ...owner, cookie }, 'POST', '/admin/roles', { name: 'Other', permissions: [] }))).toBe(
      '201',
    )
  })
  test('is never oneself', async () => {
    using p = await panel()
    const owner = p.staff()
    p.staff()
    await refused(p, owner, ['POST', `/admin/staff/${owner.id}/actions/disable`], '403 forbidden')
  })
})

describe('S21: who is at the screen after ten minutes', () => {
  test('is asked again before staff and roles are changed', async () => {
    using p = await panel()
    const owner = p.staff()
    const other = p.staff(['servers.power'])
    p.turnClock(11 * 60_000)
    await refused(p, owner, ['POST', '/admin/roles', { name: 'New', permissions: [] }], '403 confirmation_required')
    await refused(p, owner, ['POST', `/admin/staff/${other.id}/actions/disable`], '403 confirmation_required')
    expect(code(await p.call(owner, 'GET', '/admin/roles'))).toBe('200')
  })
})
