// The buttons of a server are drawn by `allowed`: it must say what the gate would.
import { expect, test } from 'bun:test'
import { actions, allActions } from '../../../src/compute/servers/actions.ts'
import { isUniqueViolation } from '../../../src/kernel/db/open.ts'
import { type Who, world } from '../../support/world/panel.ts'

test('what may be done with a server is what its operations let in, for every kind of reader', async () => {
  using p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const clerk = p.staff(['servers.see_all', 'servers.suspend'])
  const [mine, its] = [p.customer, p.token(p.owner.id, ['servers:read', 'servers:power'])]
  const bodies: Record<string, unknown> = { speed: { portInMbps: 'none' } }
  for (const who of [p.owner, clerk, mine, its] as Who[]) {
    const { allowed } = (await p.call(who, 'GET', `/servers/${serverId}`)).body
    const refused = new Set(['forbidden', 'missing_scope'])
    for (const action of allActions.filter(
      (a) =>
        ![
          'start',
          'setup',
          'unsuspend',
          'terminate',
          'undelete',
          'exit_rescue',
          'reset_password',
          'detect_os',
        ].includes(a),
    )) {
      const op = actions[action]
      // An empty body is refused by itself, so nothing is done; who may not is refused before.
      const { body } = await p.call(who, op.method, op.path.replace('{id}', serverId), bodies[action] ?? {})
      expect([action, refused.has(body.error.code)]).toEqual([action, !allowed.includes(action)])
    }
  }
})

test('a clash says which index it was, whatever is wrapped around it', () => {
  const of = (what: string) =>
    Object.assign(new Error(`UNIQUE constraint failed: ${what}`), { code: 'SQLITE_CONSTRAINT_UNIQUE' })
  const wrapped = new Error('Failed query: insert into accounts (email, external_id)', {
    cause: of("index 'accounts_external_id'"),
  })
  expect(isUniqueViolation(wrapped)).toBe(true)
  expect(isUniqueViolation(wrapped, 'accounts_external_id')).toBe(true)
  expect(isUniqueViolation(wrapped, 'accounts.email')).toBe(false)
  expect(isUniqueViolation(of('servers.owner_id, servers.hostname'), 'servers.hostname')).toBe(true)
  expect(isUniqueViolation(of('servers.owner_id, servers.hostname'), 'servers.mac')).toBe(false)
  expect(isUniqueViolation(new Error('UNIQUE constraint failed: accounts.email'), 'accounts.email')).toBe(false)
})
