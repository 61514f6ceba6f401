import { expect, test } from 'bun:test'
import { LiveCopies } from '../../../src/compute/transfers/live-copies.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { move, nodeNamed, open, order } from './world.ts'

test('the page of a move says how far it is, and what is left', async () => {
  using p = await open()
  const id = await order(p)
  p.arm({
    failpoints: (moment) => {
      if (moment === 'move/receive:before') for (const agent of p.agents.values()) agent.disconnect()
    },
  })
  const { jobId, transferId } = await move(p, id)
  await Bun.sleep(50)
  const GIB = 1024 ** 3
  const { liveCopies } = p.controller.app
  liveCopies.take(jobId, { copiedBytes: GIB, totalBytes: 4 * GIB })
  p.turnClock(10_000)
  liveCopies.take(jobId, { copiedBytes: 2 * GIB, totalBytes: 4 * GIB })
  const shown = await p.admin('GET', `/admin/transfers/${transferId}`)
  expect(shown).toMatchObject({ state: 'copying', bytesCopied: 2 * GIB, bytesTotal: 4 * GIB })
  expect(shown.bytesPerSecond).toBeGreaterThan(GIB / 11)
  expect(shown.secondsLeft).toBeGreaterThanOrEqual(19)
  expect(shown.secondsLeft).toBeLessThan(23)
})

test('the steps of a move say what is done, and when', async () => {
  using p = await open()
  const id = await order(p)
  p.arm({
    failpoints: (moment) => {
      if (moment === 'move/mirror:before') p.turnClock(7000)
      if (moment === 'move/read:before') for (const agent of p.agents.values()) agent.disconnect()
    },
  })
  const { transferId } = await move(p, id, { nodeId: nodeNamed(p, 'fra-02'), mode: 'cold' })
  await eventually(async () => !p.controller.hub.connected(p.node.id))
  const half = await p.admin('GET', `/admin/transfers/${transferId}/progress`)
  expect(half.steps.map(({ title, state }: any) => `${title}: ${state}`)).toEqual([
    'Reserve space on fra-02: done',
    'Prepare network and virtual machine on fra-02: done',
    'Shut it down: done',
    'Copy its disks, and compare: running',
    'Switch over: waiting',
    'Start it on fra-02: waiting',
    'Clean up: waiting',
  ])
  for (const agent of p.agents.values()) agent.connect()
  p.arm({})
  for (let i = 0; i < 5; i++) await p.settle()
  const { steps, rates } = await p.admin('GET', `/admin/transfers/${transferId}/progress`)
  expect([steps.every(({ state }: any) => state === 'done'), rates]).toEqual([true, []])
  expect(steps.every(({ seconds, startedAt }: any) => seconds >= 0 && startedAt)).toBe(true)
  expect(steps[1].seconds).toBe(7)
})

test('rates are kept from the beginning of a copy on, in ever longer steps', () => {
  let now = 0
  const copies = new LiveCopies(() => now)
  for (let i = 0; i <= 1000; i++) {
    copies.take('job', { copiedBytes: i * 1000, totalBytes: 1_000_000 })
    now += 1000
  }
  const rates = copies.ratesOf('job')
  expect(rates.length).toBeGreaterThan(50)
  expect(rates.length).toBeLessThanOrEqual(120)
  expect(new Set(rates.map(({ bytesPerSecond }) => bytesPerSecond))).toEqual(new Set([1000]))
  expect(rates[0]!.at).toBeLessThan(20_000)
})

test('a month of moves in figures, and the list by server and way', async () => {
  using p = await open()
  const id = await order(p)
  const none = await p.admin('GET', '/admin/transfer-figures')
  expect(none).toMatchObject({ moves: 0, finished: 0, medianDowntimeMs: null, longestOverMs: null, bytesCopied: 0 })
  for (const nodeId of [nodeNamed(p, 'fra-02'), p.node.id]) {
    await move(p, id, { nodeId, mode: nodeId === p.node.id ? 'cold' : 'auto' })
    await p.settle()
  }
  p.db.$client.run("UPDATE transfers SET downtime_ms = expected_downtime_ms + 4000 WHERE mode = 'cold'")
  p.db.$client.run("UPDATE transfers SET downtime_ms = 400 WHERE mode = 'live'")
  expect(await p.admin('GET', '/admin/transfer-figures')).toMatchObject({
    ...{ moves: 2, finished: 2, announced: 2, longerThanAnnounced: 1, longestOverMs: 4000, medianDowntimeMs: 400 },
    bytesCopied: expect.any(Number),
  })
  const total = async (query: string) => (await p.admin('GET', `/admin/transfers?${query}`)).total
  expect(
    await Promise.all(
      ['server=EB0', `server=${id}`, 'server=db', 'mode=cold', 'mode=warm'].map((query) =>
        total(query).catch(() => 'refused'),
      ),
    ),
  ).toEqual([2, 2, 0, 1, 'refused'])
  p.turnClock(31 * 24 * 3_600_000)
  expect((await p.admin('GET', '/admin/transfer-figures')).moves).toBe(0)
})

test('its owner reads one line on the timeline, with the downtime and without a node', async () => {
  using p = await open()
  const id = await order(p)
  const { jobId } = await move(p, id)
  await p.settle()
  p.db.$client.run('UPDATE transfers SET downtime_ms = 38400')
  for (const who of [p.owner, p.customer]) {
    const { body } = await p.call(who, 'GET', `/servers/${id}/timeline`)
    const lines = body.data.filter((entry: any) => entry.jobId === jobId && entry.kind === 'job')
    expect(lines.map(({ title, result }: any) => `${title}: ${result}`)).toEqual([
      'Moved to another node; it was off for 38.4 s: succeeded',
    ])
    if (who === p.customer) expect(JSON.stringify(body)).not.toMatch(/fra-0/)
  }
})
