// The actor of a job or of an audit line, as far as the reader may know it: the same in jobs and in the activity of a
// server.
import { expect, test } from 'bun:test'
import { type AuditActor, auditActorFor } from '../../../src/identity/team/audit-actor.ts'
import type { AccountKind } from '../../../src/kernel/api/access.ts'
import { system } from '../../../src/kernel/api/actor.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

const person = (kind: AccountKind, accountId: string) => ({
  ...system,
  kind,
  accountId,
  via: { type: 'session', sessionId: '', confirmedAt: 0 } as const,
})
const did = (kind: AccountKind | null, accountId: string, more: Partial<AuditActor> = {}): AuditActor => ({
  accountId,
  kind,
  name: `${accountId} by name`,
  resellerId: null,
  providerId: 'reseller',
  ...more,
})

test('by everybody, of everybody', () => {
  const described = (viewer: ReturnType<typeof person>, actor: AuditActor, way: 'own' | 'guest' = 'own') => {
    const { name, token, from } = auditActorFor(viewer, actor, way)
    return [name, ...(token ? ['token'] : []), ...(from ? ['from'] : [])].join(' + ')
  }
  const [staff, reseller, owner, guest] = [
    person('staff', 'staff'),
    person('reseller', 'reseller'),
    person('customer', 'owner'),
    person('customer', 'guest'),
  ]
  const byOwner = did('customer', 'owner', { resellerId: 'reseller' })
  const byStaff = did('staff', 'staff')
  const bySystem = did(null, 'system')
  expect([described(staff, byOwner), described(staff, byStaff), described(staff, bySystem)]).toEqual([
    'owner by name + token + from',
    'staff by name + token + from',
    'system by name + token + from',
  ])
  for (const [viewer, way] of [
    [reseller, 'own'],
    [owner, 'own'],
    [guest, 'guest'],
  ] as const)
    expect([described(viewer, byStaff, way), described(viewer, bySystem, way)]).toEqual(['Staff', 'System'])
  const byReseller = did('reseller', 'reseller')
  expect([
    described(reseller, byReseller),
    described(owner, byReseller),
    described(guest, byReseller, 'guest'),
  ]).toEqual(['reseller by name + token + from', 'Staff', 'Staff'])
  // On its own server a reseller is nobody's provider, and neither is one whom a customer has invited.
  expect(described(guest, did('reseller', 'reseller', { providerId: null }), 'guest')).toBe('reseller by name')
  expect([described(reseller, byOwner), described(owner, byOwner), described(guest, byOwner, 'guest')]).toEqual([
    'owner by name + token + from',
    'owner by name + token + from',
    'owner by name',
  ])
  const byGuest = did('customer', 'guest')
  expect([described(owner, byGuest), described(guest, byGuest, 'guest')]).toEqual([
    'guest by name + from',
    'guest by name + token + from',
  ])
  const byNobody = did(null, '')
  expect([described(owner, byNobody), described(guest, byNobody, 'guest')]).toEqual(['Somebody + from', 'Somebody'])
})

async function shared() {
  const p = await world()
  const reseller = p.account('reseller', 'Rex Reseller')
  p.db.$client.run('UPDATE accounts SET reseller_id = ? WHERE id = ?', [reseller.id, p.customer.id])
  await p.admin('PATCH', `/resellers/${reseller.id}`, { packageIds: [p.pack], locationIds: [p.location] })
  const { serverId } = (await p.call(p.owner, 'POST', '/admin/servers', p.order)).body
  await p.settle()
  const guest = p.account('customer', 'Gus Guest')
  await share(p, p.customer, guest, 'operate')
  const power = async (who: Who, action: string) => {
    expect((await p.call(who, 'POST', `/servers/${serverId}/actions/power`, { action })).status).toBe(202)
    await p.settle()
  }
  const owners = p.token(p.customer.id)
  await power(owners, 'shutdown')
  await power(reseller, 'start')
  await power(p.token(reseller.id), 'restart')
  await power(guest, 'off')
  return Object.assign(p, {
    reseller,
    guest,
    serverId,
    tokens: p.db.$client.query<{ id: string }, []>('SELECT id FROM tokens').all(),
  })
}
const jobs = async (p: World, who: Who) =>
  ((await p.call(who, 'GET', '/jobs')).body.data as any[])
    .map((j) => `${j.title}: ${j.startedBy.name}${j.startedBy.id && ' (id)'}`)
    .reverse()
const activity = async (p: World & { serverId: string }, who: Who) =>
  ((await p.call(who, 'GET', `/servers/${p.serverId}/activity`)).body.data as any[])
    .map(
      (l) =>
        `${l.action ?? l.operation}: ` +
        `${l.who.name}${l.via.name ? ` by ${l.via.name}` : ''}${l.from ? ` from ${l.from}` : ''}`,
    )
    .reverse()

test('in jobs and in activity, by whoever sees the server', async () => {
  using p = await shared()
  expect(await jobs(p, p.owner)).toEqual([
    'Install web01: Ada (id)',
    'Shut down web01: test (Cal) (id)',
    'Start web01: Rex Reseller (id)',
    'Restart web01: test (Rex Reseller) (id)',
    'Force off web01: Gus Guest (id)',
  ])
  expect(await jobs(p, p.reseller)).toEqual([
    'Install web01: Staff',
    'Shut down web01: test (Cal) (id)',
    'Start web01: Rex Reseller (id)',
    'Restart web01: test (Rex Reseller) (id)',
    'Force off web01: Gus Guest (id)',
  ])
  expect(await jobs(p, p.customer)).toEqual([
    'Install web01: Staff',
    'Shut down web01: test (Cal) (id)',
    'Start web01: Staff',
    'Restart web01: Staff',
    'Force off web01: Gus Guest (id)',
  ])
  expect(await jobs(p, p.guest)).toEqual([
    'Install web01: Staff',
    'Shut down web01: Cal',
    'Start web01: Staff',
    'Restart web01: Staff',
    'Force off web01: Gus Guest (id)',
  ])
  const here = ' from 127.0.0.1'
  expect(await activity(p, p.customer)).toEqual([
    'servers.create: Staff',
    `shutdown: Cal by test${here}`,
    'start: Staff',
    'restart: Staff',
    `off: Gus Guest${here}`,
  ])
  expect(await activity(p, p.guest)).toEqual([
    'servers.create: Staff',
    'shutdown: Cal',
    'start: Staff',
    'restart: Staff',
    `off: Gus Guest${here}`,
  ])
  // No id of a token but one's own, and none of the provider's people.
  for (const [who, own] of [
    [p.guest, []],
    [p.customer, [p.tokens[0]!.id]],
  ] as const)
    for (const path of ['/jobs', `/servers/${p.serverId}/activity`]) {
      const text = JSON.stringify((await p.call(who, 'GET', path)).body)
      for (const id of [p.owner.id, p.reseller.id, ...p.tokens.map((t) => t.id)])
        if (!own.includes(id as never)) expect(text).not.toContain(id)
    }
})

test('each line of activity names its job', async () => {
  using p = await shared()
  const lines = (await p.call(p.customer, 'GET', `/servers/${p.serverId}/activity`)).body.data as any[]
  for (const line of lines) {
    const { body } = await p.call(p.customer, 'GET', `/jobs/${line.jobId}`)
    expect(body.serverId).toBe(p.serverId)
  }
  expect((await p.admin('GET', '/admin/audit/verify')).ok).toBe(true)
})

test("commands in a job's log are for staff only, and the numbers of the other lines stay", async () => {
  using p = await world()
  const { jobId } = (await p.call(p.owner, 'POST', '/admin/servers', p.order)).body
  await p.settle()
  p.db.$client.run('DELETE FROM job_log')
  for (const [n, level] of [
    [1, 'info'],
    [2, 'command'],
    [3, 'info'],
  ] as const)
    p.db.$client.run('INSERT INTO job_log (job_id, n, at, level, text) VALUES (?, ?, 1, ?, ?)', [
      jobId,
      n,
      level,
      `line ${n}`,
    ])
  const lines = async (who: Who) => (await p.call(who, 'GET', `/jobs/${jobId}/log`)).body.lines.map((l: any) => l.n)
  expect(await lines(p.owner)).toEqual([1, 2, 3])
  expect(await lines(p.customer)).toEqual([1, 3])
})
