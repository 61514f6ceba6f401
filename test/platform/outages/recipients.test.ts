import { describe, expect, test } from 'bun:test'
import type { World } from '../../support/world/panel.ts'
import { mailsTo, noticesOf, outageWorld, pass, subjectsTo } from './world.ts'

const choose = (p: World, who: object, inPanel: string[], byMail: string[]) =>
  p.call(who, 'PUT', '/account/notice-choices', { inPanel, byMail })
const kindsOf = async (p: World, who: object) =>
  (await p.call(who, 'GET', '/account/notice-choices')).body.kinds.map(({ kind }: { kind: string }) => kind) as string[]

describe('who is told of nodes', () => {
  test('is every member of staff who may see them, and nobody else', async () => {
    using p = await outageWorld()
    const may = p.staff(['nodes.read'], 'May')
    const maintains = p.staff(['nodes.maintain'], 'Max')
    const not = p.staff(['servers.power'], 'Nan')
    const left = p.staff(['nodes.read'], 'Lea')
    p.db.$client.run('UPDATE accounts SET disabled_at = 1 WHERE id = ?', [left.id])
    p.node.agent.disconnect()
    await pass(p, 70)
    for (const who of [p.owner, may, maintains]) expect(subjectsTo(p, who)).toEqual(['fra-01 does not answer'])
    for (const who of [not, left, p.customer]) expect(mailsTo(p, who)).toEqual([])
    expect(await noticesOf(p, not)).toEqual([])
    expect(await kindsOf(p, may)).toContain('node_away')
    for (const who of [not, p.customer]) expect(await kindsOf(p, who)).not.toContain('node_away')
  })
  test('each chooses the way, and one who wants neither is told nothing', async () => {
    using p = await outageWorld()
    const [panel, mail, nothing] = ['Pia', 'Mo', 'Nic'].map((name) => p.staff(['nodes.read'], name)) as any[]
    await choose(p, panel, ['node_away'], [])
    await choose(p, mail, [], ['node_away'])
    await choose(p, nothing, [], [])
    p.node.agent.disconnect()
    await pass(p, 70)
    expect([await noticesOf(p, panel), subjectsTo(p, panel)]).toEqual([['● fra-01 does not answer'], []])
    expect([await noticesOf(p, mail), subjectsTo(p, mail)]).toEqual([[], ['fra-01 does not answer']])
    expect([await noticesOf(p, nothing), subjectsTo(p, nothing)]).toEqual([[], []])
  })
  test('and the locations, for each kind by itself', async () => {
    using p = await outageWorld()
    const { id: oslo } = await p.admin('POST', '/admin/node-groups', { name: 'Oslo' })
    const bea = p.staff(['nodes.read'], 'Bea')
    const { body } = await p.call(bea, 'PUT', '/account/notice-locations', { kind: 'node_away', locationIds: [oslo] })
    const byLocation = body.kinds.filter((one: any) => one.byLocation)
    expect(byLocation.map(({ kind, locationIds }: any) => [kind, locationIds])).toEqual([
      ['node_away', [oslo]],
      ['storage_nearly_full', []],
    ])
    expect(body.locations.map(({ name }: any) => name)).toEqual(['Frankfurt', 'Oslo'])
    p.node.agent.disconnect()
    await pass(p, 70)
    expect([await noticesOf(p, bea), subjectsTo(p, bea)]).toEqual([[], []])
  })
  test('a choice about a kind or a location that is not theirs is refused, and changes nothing', async () => {
    using p = await outageWorld()
    const [bea, nan] = [p.staff(['nodes.read'], 'Bea'), p.staff(['servers.power'], 'Nan')]
    const before = p.fingerprint(['audit'])
    const locations = (who: object, kind: string, locationIds: string[]) =>
      p.call(who, 'PUT', '/account/notice-locations', { kind, locationIds })
    for (const { status, body } of [
      await locations(bea, 'node_away', ['grp_0']),
      await locations(bea, 'node_away', [`grp_${'0'.repeat(26)}`]),
      await locations(bea, 'webhook_paused', [p.location]),
      await locations(nan, 'node_away', [p.location]),
      await choose(p, nan, ['node_away'], []),
      await choose(p, bea, [], ['server_ready']),
    ])
      expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    expect((await locations(p.customer, 'node_away', [])).status).toBe(403)
    expect(p.fingerprint(['audit'])).toEqual(before)
  })
})

test('owners see who is told of what; a location of which nobody gets a mail needs attention', async () => {
  using p = await outageWorld()
  const { id: oslo } = await p.admin('POST', '/admin/node-groups', { name: 'Oslo' })
  await p.admin('POST', '/admin/node-groups', { name: 'Empty' })
  p.addNode(oslo, 'osl-01')
  await p.reported()
  const bea = p.staff(['nodes.read'], 'Bea')
  const told = async () => (await p.call(p.owner, 'GET', '/admin/outage-recipients')).body.kinds[0]
  const attention = async () =>
    (await p.call(p.owner, 'GET', '/admin/overview')).body.attention
      .map(({ what }: { what: string }) => what)
      .filter((what: string) => what.startsWith('Nobody'))
  expect([(await told()).withoutMail, await attention()]).toEqual([[], []])
  await choose(p, p.owner, ['node_away'], [])
  await p.call(bea, 'PUT', '/account/notice-locations', { kind: 'node_away', locationIds: [p.location] })
  const { kind, staff, withoutMail } = await told()
  expect(kind).toBe('node_away')
  expect(staff).toContainEqual({ id: p.owner.id, name: 'Ada', inPanel: true, byMail: false, locations: [] })
  expect(staff).toContainEqual({
    ...{ id: bea.id, name: 'Bea', inPanel: true, byMail: true },
    locations: [{ id: p.location, name: 'Frankfurt' }],
  })
  expect(withoutMail).toEqual([{ id: oslo, name: 'Oslo' }])
  expect(await attention()).toEqual(['Nobody gets a mail when a node in Oslo goes away.'])
  expect((await p.call(bea, 'GET', '/admin/outage-recipients')).status).toBe(403)
})
