// Traffic from the counters of a node to the report: exactly once, whatever breaks on the way.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { FromAgent, MOST_TRAFFIC_DAYS, type Traffic } from '../../../agent/protocol/wire.ts'
import { WaitingTraffic } from '../../../src/fleet/traffic-records/reports.ts'
import { workloadById } from '../../../src/fleet/workloads/queries.ts'
import { fits } from '../../../src/kernel/api/validate.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { takeTraffic } from '../../../src/network/traffic/take.ts'
import { type World, world } from '../../support/world/panel.ts'

const MB = 1_000_000
const DAY = 86_400_000
let p: World
let id = ''
let number = 0
beforeEach(async () => {
  p = await world()
  id = (await p.admin('POST', '/admin/servers', p.order)).serverId
  await p.settle()
  number = p.server(id).number
  await p.node.agent.meter()
})
afterEach(() => p.close())

const settle = async () => {
  await p.reported()
  await p.settle()
}
const flow = async (sent: number, received = 0) => {
  p.node.agent.flow(number, sent, received)
  p.turnClock(30_000)
  await p.node.agent.meter()
  await settle()
}
const trafficOf = async (who: object = p.token(p.owner.id)) =>
  (await p.call(who, 'GET', '/reports/usage')).body.data.find((l: any) => l.serverId === id).traffic

describe('traffic', () => {
  test('of both directions is in the report of its owner', async () => {
    await flow(3 * MB, 7 * MB)
    expect(await trafficOf(p.customer)).toMatchObject({ outBytes: 3 * MB, inBytes: 7 * MB, gapSeconds: 0 })
  })
  test('is unknown, and not 0, where nothing was ever measured', async () => {
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02' })
    await p.settle()
    const { data } = (await p.call(p.owner, 'GET', '/reports/usage')).body
    expect(data.find((l: any) => l.serverId === serverId).traffic).toBeNull()
  })
  test('counts once when a report is sent twice, and when the controller dies before it confirms it', async () => {
    await flow(MB)
    const { metering } = p.node.agent.host
    p.node.agent.flow(number, 2 * MB, 0)
    await metering.sample()
    const report = metering.report()!
    for (let i = 0; i < 3; i++)
      p.controller.hub.message({ data: { nodeId: p.node.id } } as never, JSON.stringify(report))
    await p.crash()
    await p.node.agent.meter()
    await settle()
    expect((await trafficOf()).outBytes).toBe(3 * MB)
  })
  test('goes on over restarts of the agent, of the guest, and a reinstallation', async () => {
    await flow(MB)
    p.node.agent.restart()
    await flow(MB)
    await p.admin('POST', `/servers/${id}/actions/power`, { action: 'off' })
    await p.settle()
    await p.admin('POST', `/servers/${id}/actions/power`, { action: 'start' })
    await p.settle()
    await flow(MB)
    await p.admin('POST', `/servers/${id}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
    await p.settle()
    await flow(MB)
    expect((await trafficOf()).outBytes).toBe(4 * MB)
  })
  test('of a time in which the node was away comes when it is back', async () => {
    p.node.agent.disconnect()
    p.node.agent.flow(number, 5 * MB, 0)
    p.turnClock(3_600_000)
    await p.node.agent.host.metering.sample()
    expect((await trafficOf())?.outBytes ?? 0).toBe(0)
    p.node.agent.connect()
    await flow(MB)
    expect(await trafficOf()).toMatchObject({ outBytes: 6 * MB, gapSeconds: 0 })
  })
  test('of a day belongs to its owner on that day, however late its report comes', async () => {
    const other = p.account('customer', 'Otto')
    p.node.agent.disconnect()
    p.node.agent.flow(number, 5 * MB, 0)
    p.turnClock(60_000)
    await p.node.agent.host.metering.sample()
    p.turnClock(DAY)
    await p.node.agent.host.metering.sample()
    write(p.db, ({ $client }) => void $client.run('UPDATE workloads SET owner_id = ? WHERE id = ?', [other.id, id]))
    p.node.agent.connect()
    await p.node.agent.meter()
    await settle()
    await flow(MB)
    const { data } = (await p.call(p.token(p.owner.id), 'GET', '/reports/usage')).body
    const of = (owner: { id: string }) => data.find((l: any) => l.owner.id === owner.id).traffic.outBytes
    expect([of(p.customer), of(other)]).toEqual([5 * MB, MB])
  })
  test('of an absence is cut at its days and owners, none of whom has more than the time that was theirs', async () => {
    await flow(MB)
    const other = p.account('customer', 'Otto')
    const owned = (ownerId: string) =>
      write(p.db, ({ $client }) => void $client.run('UPDATE workloads SET owner_id = ? WHERE id = ?', [ownerId, id]))
    // The agent is away for four days, and its counters go on.
    const { host } = p.node.agent
    p.node.agent.disconnect()
    p.node.agent.flow(number, 96 * MB, 0)
    p.turnClock(3 * DAY)
    owned(other.id)
    p.turnClock(7_000)
    owned(p.customer.id)
    p.turnClock(DAY)
    await host.metering.sample()
    p.node.agent.connect()
    await flow(MB)
    const { data } = (await p.call(p.token(p.owner.id), 'GET', '/reports/usage')).body
    const lines = data.filter((l: any) => l.serverId === id && l.traffic)
    for (const { owner, seconds, traffic } of lines)
      expect([owner.name, traffic.measuredSeconds <= seconds]).toEqual([owner.name, true])
    const of = (name: string) => lines.find((l: any) => l.owner.name === name)?.traffic
    expect(lines.reduce((sum: number, { traffic }: any) => sum + traffic.outBytes, 0)).toBe(98 * MB)
    expect(of('Otto')).toMatchObject({ measuredSeconds: 7, estimatedSeconds: 7 })
    expect(of('Otto').outBytes).toBeLessThan(0.1 * MB)
    const [mine] = lines.filter((l: any) => l.owner.name !== 'Otto')
    expect(mine.traffic.estimatedSeconds).toBeGreaterThanOrEqual(4 * 86_400 - 60)
    expect(mine.traffic.gapSeconds).toBe(0)
    const { text } = { text: String((await p.call(p.token(p.owner.id), 'GET', '/reports/usage.csv')).body) }
    expect(text.split('\n')[0]).toContain('trafficEstimatedSeconds')
  })
  test('that was never measured for a while shows as a gap', async () => {
    await flow(MB)
    const { host } = p.node.agent
    // The node loses its counters, as in a reboot, and comes back after two hours.
    p.turnClock(2 * 3_600_000)
    host.counters.flow(`bth${number}`, { sentBytes: 0, receivedBytes: 0 })
    p.node.agent.settings.bootId = 'second'
    p.node.agent.restart()
    await flow(MB)
    const traffic = await trafficOf()
    expect(traffic.outBytes).toBe(2 * MB)
    expect(traffic.gapSeconds).toBeGreaterThanOrEqual(7200)
  })
  test('of a server on another node is not taken, and is told to the operator', async () => {
    const other = p.addNode(p.location, 'fra-02')
    const day = Math.floor(p.now() / DAY)
    const days = [{ workload: id, day, rxBytes: MB, txBytes: MB, measuredSeconds: 60 }]
    const report = { type: 'traffic', meter: '0123456789abcdef', seq: 1, days }
    p.controller.reports.take(other.id, report as never)
    await settle()
    expect(p.db.$client.query('SELECT coalesce(sum(tx_bytes), 0) AS n FROM traffic_days').get()).toEqual({ n: 0 })
    expect(p.auditLines().some(({ details }) => JSON.stringify(details).includes('not_its_workload'))).toBe(true)
  })
  test('S53: of a node that names a new meter each time fills no disk', async () => {
    const day = Math.floor(p.now() / DAY)
    const days = [{ workload: id, day, rxBytes: MB, txBytes: MB, measuredSeconds: 60 }]
    const rows = () => (p.db.$client.query('SELECT count(*) AS n FROM traffic_meters').get() as { n: number }).n
    for (let i = 0; i < 40; i++) {
      const meter = i.toString(16).padStart(16, 'f')
      p.controller.reports.take(p.node.id, { type: 'traffic', meter, seq: i + 1, days } as never)
      if (i % 8 === 7) await settle()
    }
    await settle()
    expect(rows()).toBeLessThanOrEqual(4)
    expect(rows()).toBeGreaterThan(1)
  })
  test('S53: of more days than a report may name waits for no place, and the agent sends it again', () => {
    const waiting = new WaitingTraffic()
    const report = (meter: string): Traffic => ({
      type: 'traffic',
      meter: meter.repeat(16),
      seq: 1,
      days: Array.from({ length: MOST_TRAFFIC_DAYS }, (_, day) => ({
        workload: id,
        day,
        rxBytes: 1,
        txBytes: 1,
        measuredSeconds: 1,
      })),
    })
    for (const meter of ['1', '2', '3', '4']) waiting.add(report(meter))
    expect(waiting.days.size).toBe(2 * MOST_TRAFFIC_DAYS)
  })
  test('S52: of a node that claims all there is breaks no report', async () => {
    const today = Math.floor(p.now() / DAY)
    const most = { rxBytes: 2 ** 50, txBytes: 2 ** 50, measuredSeconds: 40_000_000 }
    for (let back = 0; back < 40; back++)
      for (const meter of ['a', 'b', 'c', 'd'])
        write(p.db, (tx) =>
          takeTraffic(
            tx,
            { meter: meter.repeat(16), day: today - back, workload: workloadById(tx, id)!, nodeId: p.node.id, ...most },
            p.now(),
          ),
        )
    expect((await trafficOf()).inBytes).toBeGreaterThan(2 ** 53)
    const { status } = await p.call(p.token(p.owner.id), 'GET', '/reports/usage')
    expect(status).toBe(200)
    expect(
      fits(FromAgent, { type: 'traffic', meter: 'a'.repeat(16), seq: 1, days: [{ workload: id, day: 1, ...most }] }),
    ).toBe(true)
    expect(
      fits(FromAgent, {
        type: 'traffic',
        meter: 'a'.repeat(16),
        seq: 1,
        days: [{ workload: id, day: 1, ...most, rxBytes: 2 ** 50 + 1 }],
      }),
    ).toBe(false)
  })
  test('of a day that is long past or far ahead is not taken', async () => {
    const today = Math.floor(p.now() / DAY)
    for (const day of [today + 2, today - 63, 0]) {
      const days = [{ workload: id, day, rxBytes: MB, txBytes: MB, measuredSeconds: 60 }]
      p.controller.reports.take(p.node.id, { type: 'traffic', meter: '0123456789abcdef', seq: 1, days } as never)
      await settle()
    }
    expect(p.db.$client.query('SELECT coalesce(sum(tx_bytes), 0) AS n FROM traffic_days').get()).toEqual({ n: 0 })
  })
})
