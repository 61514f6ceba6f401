// The database was restored as it was before a server moved: it names the former home, and another node runs it.

import type { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { raiseEpochIn } from '../../../src/kernel/nodes/epoch.ts'
import { type World, world } from '../../support/world/panel.ts'

const say = (p: World, nodeId: string, frame: unknown) => {
  const hub = p.controller.hub as unknown as { sockets: Map<string, any>; message(socket: any, text: string): void }
  hub.message(hub.sockets.get(nodeId), JSON.stringify(frame))
}
async function settled(p: World) {
  const { waiting } = p.controller.reports as unknown as { waiting: Map<string, unknown> }
  do await Bun.sleep(2)
  while (waiting.size)
}
type Power = 'running' | 'paused' | 'stopped'
async function beats(p: World, nodeId: string, powers: Record<string, Power>) {
  say(p, nodeId, {
    ...{ type: 'heartbeat', at: p.now(), cpuPercent: 1, load1: 1, memoryFreeMb: 1000, pools: [] },
    workloads: Object.entries(powers).map(([id, power]) => ({
      ...{ id, power, cpuMs: 0, rxBytes: 0, txBytes: 0 },
    })),
  })
  await settled(p)
}
const restore = (p: World) => {
  p.turnClock(60_000)
  raiseEpochIn(p.db.$client as Database, [], p.now())
  p.turnClock(60_000)
}
/** A server that is off at home on fra-01, and a second node. */
async function away() {
  const p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const other = p.addNode(p.location, 'fra-02')
  await settled(p)
  await power(p, serverId, 'shutdown')
  return Object.assign(p, { serverId: serverId as string, other })
}
const power = async (p: World, serverId: string, action: string) => {
  const { body } = await p.call(p.customer, 'POST', `/servers/${serverId}/actions/power`, { action })
  await p.settle()
  return p.job(body.jobId)
}
const strays = async (p: World) =>
  (await p.call(p.owner, 'GET', '/admin/overview')).body.attention
    .map(({ what }: { what: string }) => what)
    .filter((what: string) => what.includes('the restored records say'))

describe('a server that another node runs since before a restore', () => {
  test('is not started at its recorded home until that node runs it no more, and staff sees it', async () => {
    using p = await away()
    restore(p)
    await beats(p, p.other.id, { [p.serverId]: 'running' })
    expect(await strays(p)).toEqual(['web01 runs on fra-02, and the restored records say that it is on fra-01.'])
    const refused = await power(p, p.serverId, 'start')
    expect([refused, p.server(p.serverId).status]).toMatchObject([
      { state: 'failed', errorCode: 'runs_elsewhere' },
      'stopped',
    ])
    await beats(p, p.other.id, { [p.serverId]: 'stopped' })
    expect(await strays(p)).toEqual([])
    expect((await power(p, p.serverId, 'start')).state).toBe('succeeded')
  })
  test('is started when that node does not name it any more, or is removed', async () => {
    for (const end of [
      (p: World, nodeId: string) => beats(p, nodeId, {}),
      (p: World, nodeId: string) => p.admin('DELETE', `/admin/nodes/${nodeId}`),
    ]) {
      using p = await away()
      restore(p)
      await beats(p, p.other.id, { [p.serverId]: 'paused' })
      expect((await power(p, p.serverId, 'start')).errorCode).toBe('runs_elsewhere')
      await end(p, p.other.id)
      expect([(await power(p, p.serverId, 'start')).state, await strays(p)]).toEqual(['succeeded', []])
    }
  })
})

describe('a node that says so of the server of another', () => {
  test('keeps nothing from starting where no database was restored', async () => {
    using p = await away()
    await beats(p, p.other.id, { [p.serverId]: 'running' })
    expect([(await power(p, p.serverId, 'start')).state, await strays(p)]).toEqual(['succeeded', []])
  })
  test('nor where the server came to its home after the restore', async () => {
    using p = await world()
    restore(p)
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const other = p.addNode(p.location, 'fra-02')
    await settled(p)
    await power(p, serverId, 'shutdown')
    await beats(p, other.id, { [serverId]: 'running' })
    expect([(await power(p, serverId, 'start')).state, await strays(p)]).toEqual(['succeeded', []])
  })
})
