// Alerts of servers: they fire and recover once each, with event and mail, and nothing that was not measured counts.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { eventually } from '../../support/waiting/eventually.ts'
import { type World, world } from '../../support/world/panel.ts'

const MINUTE = 60_000
let p: World
let id = ''
beforeEach(async () => {
  p = await world()
  id = (await p.admin('POST', '/admin/servers', p.order)).serverId
  await p.settle()
})
afterEach(() => p.close())

/** The server uses so much for so many minutes: a share of its processors, bytes per second, a share of its memory. */
async function uses(minutes: number, { cpu = 0, bytes = 0, memory = 0, disk = 0, away = false } = {}) {
  const { vcpus, memoryMb } = p.server(id)
  const { app } = p.controller
  for (let i = 0; i < minutes; i++) {
    for (let k = 0; k < 6; k++) {
      p.turnClock(10_000)
      if (away) continue
      const ms = 10_000
      p.node.agent.say({
        type: 'metrics',
        samples: [
          {
            id,
            ms,
            fast: [cpu * vcpus * ms, bytes * 10, 0, 0, 0],
            disk: { ms, sums: [disk * 10, 0, 0, 0] },
            memory: { ms, usedMb: Math.round(memory * memoryMb) },
          },
        ],
      })
    }
    await app.metrics.advance()
    await app.alerts.turn(app)
  }
}
const add = async (body: object, who: object = p.customer) => {
  const reply = await p.call(who, 'POST', `/servers/${id}/alerts`, body)
  expect(reply.status).toBe(201)
  return reply.body
}
const told = () => p.events().filter((type) => type.startsWith('alert.'))
const mails = () =>
  p
    .mailed()
    .map(({ subject }) => subject)
    .filter((subject) => / above |off for/.test(subject))
const firing = async (alertId: string) =>
  (await p.call(p.customer, 'GET', `/servers/${id}/alerts`)).body.data.find((a: any) => a.id === alertId).firing

describe('an alert', () => {
  test('has the usual threshold of its kind where nothing is said, and says in words what it watches', async () => {
    const described = []
    for (const kind of ['cpu', 'memory', 'disk_io', 'network', 'traffic', 'down'])
      described.push((await add({ kind })).description)
    expect(described).toEqual([
      'CPU above 90 % for 5 minutes',
      'Memory above 90 % for 5 minutes',
      'Disk above 100 MiB/s for 10 minutes',
      'Network above 100 Mbit/s for 10 minutes',
      'Monthly traffic above 1 TB',
      'Server off for 5 minutes',
    ])
  })
  test('fires once and recovers once, with event, notice and mail', async () => {
    const { id: alertId } = await add({ kind: 'cpu', threshold: 80, minutes: 3 })
    await uses(10, { cpu: 0.95 })
    expect([told(), mails(), await firing(alertId)]).toEqual([
      ['alert.fired'],
      ['web01: CPU above 80 % for 3 minutes'],
      true,
    ])
    await uses(10, { cpu: 0.1 })
    expect([told(), await firing(alertId)]).toEqual([['alert.fired', 'alert.recovered'], false])
    expect(mails().toSorted()).toEqual([
      'web01 has recovered: CPU above 80 % for 3 minutes',
      'web01: CPU above 80 % for 3 minutes',
    ])
    const notices = (await p.call(p.customer, 'GET', '/notices')).body.data
    expect(notices.filter((n: any) => n.kind === 'alert')).toHaveLength(2)
    const [event] = (await p.call(p.owner, 'GET', '/events?type=alert.fired')).body.data
    expect(event.data.alert).toEqual({
      id: alertId,
      kind: 'cpu',
      threshold: 80,
      description: 'CPU above 80 % for 3 minutes',
    })
    expect(event.data.server.hostname).toBe('web01')
  })
  test('says nothing of a peak that is shorter, and stays while the value is just below the threshold', async () => {
    const { id: alertId } = await add({ kind: 'cpu', threshold: 80, minutes: 4 })
    await uses(2, { cpu: 0.95 })
    await uses(5, { cpu: 0.2 })
    expect(told()).toEqual([])
    await uses(7, { cpu: 0.95 })
    await uses(10, { cpu: 0.77 })
    expect([told(), await firing(alertId)]).toEqual([['alert.fired'], true])
  })
  test('neither fires nor recovers in a time of which nothing is known, also over a restart', async () => {
    const { id: alertId } = await add({ kind: 'cpu', threshold: 80, minutes: 4 })
    await uses(2, { cpu: 0.95 })
    await uses(10, { away: true })
    expect(told()).toEqual([])
    await uses(7, { cpu: 0.95 })
    await uses(30, { away: true })
    await p.crash()
    await uses(5, { away: true })
    await uses(10, { cpu: 0.95 })
    expect([told(), await firing(alertId)]).toEqual([['alert.fired'], true])
    await uses(7, { cpu: 0.1 })
    expect(told()).toEqual(['alert.fired', 'alert.recovered'])
  })
  for (const [kind, over, under] of [
    ['memory', { memory: 0.97 }, { memory: 0.3 }],
    ['network', { bytes: 20e6 }, { bytes: 1000 }],
    ['disk_io', { disk: 200 * 1024 * 1024 }, { disk: 1000 }],
  ] as const)
    test(`of the kind ${kind} follows what was measured`, async () => {
      await add({ kind, minutes: 2 })
      await uses(6, over)
      expect(told()).toEqual(['alert.fired'])
      await uses(6, under)
      expect(told()).toEqual(['alert.fired', 'alert.recovered'])
    })
  test('of the kind down fires while it is off, but not while its node is away or it is suspended', async () => {
    await add({ kind: 'down', minutes: 3 })
    await uses(5)
    expect(told()).toEqual([])
    await p.admin('POST', `/servers/${id}/actions/power`, { action: 'off' })
    await p.settle()
    p.node.agent.disconnect()
    await uses(10, { away: true })
    expect(told()).toEqual([])
    p.node.agent.connect()
    await p.settle()
    await uses(5, { away: true })
    expect(told()).toEqual(['alert.fired'])
    await p.admin('POST', `/servers/${id}/actions/power`, { action: 'start' })
    await p.settle()
    await uses(5)
    expect(told()).toEqual(['alert.fired', 'alert.recovered'])
    await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
    await p.settle()
    await uses(10, { away: true })
    expect(told()).toHaveLength(2)
  })
  test('of the kind traffic fires at its GB and recovers with the next month', async () => {
    await add({ kind: 'traffic', threshold: 50 })
    const { number } = p.server(id)
    await p.node.agent.meter()
    p.node.agent.flow(number, 60e9, 0)
    p.turnClock(30_000)
    await p.node.agent.meter()
    await eventually(async () => {
      await uses(6)
      return told().length > 0
    })
    expect(told()).toEqual(['alert.fired'])
    p.turnClock(20 * 24 * 60 * MINUTE)
    await uses(6)
    expect(told()).toEqual(['alert.fired', 'alert.recovered'])
  })
  test('whose mails are turned off still has its event and its notice', async () => {
    expect(
      (await p.call(p.customer, 'PUT', '/account/notice-choices', { inPanel: ['alert'], byMail: ['server_ready'] }))
        .status,
    ).toBe(200)
    await add({ kind: 'cpu', threshold: 80, minutes: 1 })
    await uses(5, { cpu: 1 })
    expect([told(), mails()]).toEqual([['alert.fired'], []])
  })
  test('ends with its server without a word, and watches again when that is brought back', async () => {
    const { id: alertId } = await add({ kind: 'cpu', threshold: 80, minutes: 2 })
    await add({ kind: 'traffic', threshold: 1 })
    await uses(5, { cpu: 1 })
    expect(told()).toEqual(['alert.fired'])
    await p.admin('DELETE', `/servers/${id}`)
    await p.settle()
    await p.node.agent.meter()
    p.node.agent.flow(p.server(id).number, 60e9, 0)
    await uses(10, { away: true })
    const left = p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM alerts WHERE fired_at > 0').get()!.n
    expect([told(), left]).toEqual([['alert.fired'], 0])
    await p.admin('POST', `/servers/${id}/actions/undelete`)
    await p.settle()
    expect(told()).toEqual(['alert.fired'])
    await uses(6, { cpu: 1 })
    expect([told(), await firing(alertId)]).toEqual([['alert.fired', 'alert.fired'], true])
  })
  test('is deleted when nothing brings its server back', async () => {
    await add({ kind: 'cpu', threshold: 80, minutes: 2 })
    await uses(5, { cpu: 1 })
    await p.admin('DELETE', `/servers/${id}?immediately=true`)
    await p.settle()
    await uses(3, { away: true })
    const left = p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM alerts').get()!.n
    expect([left, told()]).toEqual([0, ['alert.fired']])
  })
  test('that is changed or removed is compared as it is now', async () => {
    const { id: alertId } = await add({ kind: 'cpu', threshold: 80, minutes: 2 })
    expect((await p.call(p.customer, 'PATCH', `/alerts/${alertId}`, { threshold: 99 })).body.description).toBe(
      'CPU above 99 % for 2 minutes',
    )
    await uses(6, { cpu: 0.9 })
    expect(told()).toEqual([])
    expect((await p.call(p.customer, 'DELETE', `/alerts/${alertId}`)).status).toBe(200)
    await uses(6, { cpu: 1 })
    expect([told(), mails()]).toEqual([[], []])
  })
})

describe('refused, and nothing happens:', () => {
  const refused = async (who: object, method: string, path: string, body: object | undefined, answer: string) => {
    const before = p.fingerprint(['audit'])
    const reply = await p.call(who, method, path, body)
    expect(`${reply.status} ${reply.body.error?.code}`).toBe(answer)
    expect(p.fingerprint(['audit'])).toBe(before)
  }
  test('a threshold that its kind cannot have', async () => {
    for (const body of [
      { kind: 'cpu', threshold: 101 },
      { kind: 'memory', threshold: 0 },
      { kind: 'down', threshold: 5 },
      { kind: 'nothing' },
      { kind: 'cpu', minutes: 61 },
    ])
      await refused(p.customer, 'POST', `/servers/${id}/alerts`, body, '422 validation_failed')
    const { id: down } = await add({ kind: 'down' })
    await refused(p.customer, 'PATCH', `/alerts/${down}`, { threshold: 5 }, '422 validation_failed')
  })
  test('the 21st alert of a server', async () => {
    for (let i = 0; i < 20; i++) await add({ kind: 'cpu', threshold: i + 1 })
    await refused(p.customer, 'POST', `/servers/${id}/alerts`, { kind: 'cpu' }, '422 limit_reached')
  })
  test('somebody who does not see the server', async () => {
    const mallory = p.account('customer', 'Mallory')
    const { id: alertId } = await add({ kind: 'cpu' })
    await refused(mallory, 'POST', `/servers/${id}/alerts`, { kind: 'cpu' }, '404 server_not_found')
    await refused(mallory, 'PATCH', `/alerts/${alertId}`, { threshold: 1 }, '404 alert_not_found')
    await refused(mallory, 'DELETE', `/alerts/${alertId}`, undefined, '404 alert_not_found')
  })
})
