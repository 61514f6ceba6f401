// A real node with six guests is emptied: paused and resumed in the middle, cancelled and begun again, and filled again
// while the agent of the other node dies. Every guest keeps what it wrote and runs on one node. With BERTH_LONG alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { note } from '../../drivers/tools.ts'
import { type NodeName, noRealNodes, type Ordered, otherNode, RealNodes } from '../../support/nodes/real-nodes.ts'

const GUESTS = 6
const LIMIT_MS = 1_800_000
const SECONDS = 900
const reason = process.env['BERTH_LONG'] ? await noRealNodes() : 'BERTH_LONG is not set'

describe.skipIf(note(reason, 'a node that is emptied'))('a real node that is emptied', () => {
  const nodes = new RealNodes('dr')
  const servers: Ordered[] = []

  beforeAll(async () => {
    await nodes.open()
    for (let i = 0; i < GUESTS; i++) {
      const server = await nodes.order({ hostname: `web${i}.example.com` })
      await nodes.inGuest(server.ipv4, `echo guest ${i} >/root/kept && sync`)
      servers.push(server)
    }
  }, LIMIT_MS)
  afterAll(() => nodes.close(), 120_000)

  const call = async (method: string, path: string, body?: object) => {
    const answer = await nodes.api(method, path, body)
    if (answer.status > 299) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const read = (id: string) => call('GET', `/admin/drains/${id}`)
  const act = (id: string, action: string, body: object = {}) =>
    call('POST', `/admin/drains/${id}/actions/${action}`, body)
  const drain = (name: NodeName, body: object = {}) =>
    call('POST', `/admin/nodes/${nodes.ids[name]}/actions/drain`, body)
  /** Resolves with the drain as soon as that is so. */
  const until = (what: string, id: string, is: (drain: any) => boolean) =>
    nodes.live.until(
      what,
      async () => {
        const found = await read(id)
        return is(found) && found
      },
      SECONDS,
    )
  const ended = (id: string) => until(`the end of drain ${id}`, id, ({ finishedAt }) => finishedAt !== null)
  /** The nodes on which each guest runs, as their hypervisors tell it. */
  const runningOn = async () => {
    const found: string[] = []
    for (const { serverId } of servers) {
      const on = []
      for (const name of ['a', 'b'] as const) if ((await nodes.powerOn(name, serverId)) === 'running') on.push(name)
      found.push(on.join())
    }
    return found
  }
  /** Every guest runs there and has what it wrote, and nothing of it is left on the other node. */
  async function mustAllBeOn(name: NodeName) {
    for (const { serverId } of servers) await nodes.isClear(otherNode(name), serverId)
    expect(await runningOn()).toEqual(Array(GUESTS).fill(name))
    for (const [i, { ipv4 }] of servers.entries())
      expect(await nodes.inGuest(ipv4, 'cat /root/kept')).toBe(`guest ${i}`)
  }

  test(
    'it is paused with its moves cancelled, resumed, cancelled in the middle, and then emptied to its end',
    async () => {
      const began = Date.now()
      const { id } = await drain('a', { atOnce: 2, reason: 'Memory is exchanged' })
      await until('the first moves', id, ({ counts }) => counts.moving === 2)
      expect(await act(id, 'pause', { moves: 'cancel' })).toMatchObject({ state: 'paused' })
      const paused = await until('no move to be at work', id, ({ counts }) => counts.moving === 0)
      expect(paused.counts.moved + paused.counts.waiting).toBe(GUESTS)
      expect((await runningOn()).every((on) => on === 'a' || on === 'b')).toBe(true)
      await act(id, 'resume')
      await until('two to have moved', id, ({ counts }) => counts.moved >= 2)
      await act(id, 'cancel', { moves: 'finish' })
      const cancelled = await ended(id)
      expect(cancelled).toMatchObject({ state: 'cancelled', counts: { moving: 0, failed: 0 } })
      expect(cancelled.counts.moved).toBeLessThan(GUESTS)
      expect((await runningOn()).filter((on) => on === 'b')).toHaveLength(cancelled.counts.moved)

      const rest = await ended((await drain('a')).id)
      expect(rest).toMatchObject({ state: 'done', counts: { moved: GUESTS - cancelled.counts.moved, failed: 0 } })
      await mustAllBeOn('b')
      for (const { hostname, downtimeMs, expectedDowntimeMs } of [...cancelled.servers, ...rest.servers])
        process.stderr.write(`  ${hostname}: off for ${downtimeMs} ms, told ${expectedDowntimeMs} ms at most\n`)
      process.stderr.write(`  all in ${Math.round((Date.now() - began) / 1000)} s\n`)
      const { steps, back } = await call('GET', `/admin/nodes/${nodes.ids.a}/maintenance`)
      expect(steps.filter(({ done }: any) => done).map(({ name }: any) => name)).toEqual(
        expect.arrayContaining(['closed', 'stopped', 'cleared', 'quiet']),
      )
      expect(back.servers).toBe(GUESTS)
    },
    LIMIT_MS,
  )

  test(
    'the agent of the other node dies while that is emptied: no move begins, and it goes on when the agent is back',
    async () => {
      await call('POST', `/admin/nodes/${nodes.ids.a}/actions/end-maintenance`, {})
      const { id } = await drain('b', { atOnce: 1 })
      await until('one to have moved, and another to move', id, ({ counts }) => counts.moved >= 1 && counts.moving > 0)
      await nodes.killAgent('b')
      const waits = await until('the drain to wait', id, ({ waitsFor }) => waitsFor !== null)
      expect(waits.waitsFor).toBe('node-b is not connected. It goes on when the node is back.')
      expect((await runningOn()).every((on) => on !== 'a,b')).toBe(true)
      nodes.startAgent('b')
      let drained = await ended(id)
      // The move that was cut may have failed; what it left behind moves with the next drain.
      if (drained.counts.failed) drained = await ended((await drain('b')).id)
      expect(drained.counts.failed).toBe(0)
      await mustAllBeOn('a')
    },
    LIMIT_MS,
  )
})
