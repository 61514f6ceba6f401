// The uplink of a node as it reports it: the words about its troubles, and where they are said.
import { describe, expect, test } from 'bun:test'
import type { Uplink } from '../../../agent/protocol/wire.ts'
import { uplinkTroubles } from '../../../src/fleet/node-records/uplink.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { world } from '../../support/world/panel.ts'

const port = (name: string, state: 'up' | 'down' | 'apart') => ({ name, state })
const uplink = (more: Partial<Uplink> = {}): Uplink => ({
  ...{ name: 'bond0', up: true, vlans: [{ first: 20, last: 29 }] },
  bond: { mode: '802.3ad', ports: [port('eno1', 'up'), port('eno2', 'up')] },
  ...more,
})
const bond = (...ports: ReturnType<typeof port>[]) => uplink({ bond: { mode: '802.3ad', ports } })

describe('the troubles of an uplink', () => {
  test('are none where all is as its operator said', () => {
    expect(uplinkTroubles(uplink())).toEqual([])
    expect(uplinkTroubles({ name: 'eno1', up: true, vlans: [] })).toEqual([])
    // A VLAN that the host uses itself is left out, and said on the page of the node.
    expect(uplinkTroubles(uplink({ problem: 'VLAN 25 is bond0.25 of the host itself' }))).toEqual([])
  })
  test('are ports without link, and those that the switch leaves out', () => {
    const words = (of: Uplink) => uplinkTroubles(of).map(({ level, words }) => `${level}: ${words}`)
    expect(words(bond(port('eno1', 'up'), port('eno2', 'down')))).toEqual(['warn: eno2 of bond0 has no link'])
    expect(words(bond(port('eno1', 'up'), port('eno2', 'down'), port('eno3', 'apart')))).toEqual([
      'warn: eno2 of bond0 has no link and the switch does not take eno3 into the aggregate of bond0',
    ])
    expect(words(uplink({ up: false }))).toEqual(['bad: its uplink bond0 has no link'])
    expect(words(uplink({ up: false, vlans: [], problem: 'this node has no interface bond0' }))).toEqual([
      'bad: this node has no interface bond0',
    ])
  })
})

test('what a node reports is on its page, under Needs attention, and says which VLANs it carries', async () => {
  using p = await world()
  const attention = async (): Promise<string[]> =>
    (await p.admin('GET', '/admin/overview')).attention.map(({ what }: any) => what)
  const carried = () =>
    p.db.$client
      .query<{ first: number; last: number }, [string]>('SELECT first, last FROM node_vlans WHERE node_id = ?')
      .all(p.node.id)
  const before = await attention()
  const facts = (await p.admin('GET', `/admin/nodes/${p.node.id}`)).facts
  const report = async (now: Uplink | undefined) => {
    p.node.agent.say({ type: 'facts', facts: { ...facts, ...(now && { uplink: now }) } })
    const shown = async () => (await p.admin('GET', `/admin/nodes/${p.node.id}`)).facts.uplink
    await eventually(async () => Bun.deepEquals(await shown(), now))
  }
  await report(bond(port('eno1', 'up'), port('eno2', 'down')))
  expect(carried()).toEqual([{ first: 20, last: 29 }])
  expect(await attention()).toContain('fra-01: eno2 of bond0 has no link.')
  await report(
    uplink({
      vlans: [
        { first: 1, last: 9 },
        { first: 11, last: 4094 },
      ],
    }),
  )
  expect(carried()).toEqual([
    { first: 1, last: 9 },
    { first: 11, last: 4094 },
  ])
  expect(await attention()).toEqual(before)
  await report(undefined)
  expect(carried()).toEqual([])
})

test('the command of an enrolment names the uplink and its VLANs, and a list that is none makes no token', async () => {
  using p = await world()
  const enrol = (fields: object) =>
    p.call(p.token(p.owner.id, ['nodes:write']), 'POST', '/admin/node-enrollments', {
      locationId: p.location,
      ...fields,
    })
  const made = () => p.db.$client.query('SELECT count(*) AS n FROM enrollments').get()
  const { body } = await enrol({ uplink: 'bond0', vlans: '20, 100-199' })
  expect(body.command).toContain(' --uplink bond0 --vlans 20,100-199')
  expect((await enrol({ uplink: '', vlans: '' })).body.command).not.toMatch(/uplink|vlans/)
  const before = made()
  for (const [fields, field] of [
    [{ vlans: '20' }, 'uplink'],
    [{ uplink: 'bond0', vlans: '20-4095' }, 'vlans'],
    [{ uplink: 'bond0; reboot' }, 'uplink'],
  ] as const) {
    const refused = await enrol(fields)
    expect([refused.status, refused.body.error.details.fields[0].field]).toEqual([422, field])
  }
  expect(made()).toEqual(before)
})
