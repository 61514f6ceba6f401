// A running instance for its owner: its log, and the stop when nothing uses its cards.
import { describe, expect, test } from 'bun:test'
import { stopIdle } from '../../../src/compute/gpu-instances/use/idle-stop.ts'
import {
  type GpuWorld,
  gpuWorld,
  instanceEvents,
  orderInstance,
  power,
  showInstance,
} from '../../support/nodes/instances.ts'

const second = 1000
const minute = 60 * second

describe('the log', () => {
  const logs = async (p: GpuWorld, id: string, query = '', who: object = p.customer) =>
    p.call(who, 'GET', `/gpu-instances/${id}/logs${query}`)
  test('is read from the host, the last lines of it', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.host.agent.host.containers.write(id, 'one\n\u001b[32mtwo\u001b[0m\n10 %\r50 %\rdone\nbell \u0007\n')
    const { body } = await logs(p, id)
    expect(body).toMatchObject({ instanceId: id, state: 'read', truncated: false })
    expect(body.lines.slice(-4)).toEqual(['one', 'two', 'done', 'bell \\x07'])
    expect((await logs(p, id, '?lines=1')).body).toMatchObject({ lines: ['bell \\x07'] })
    expect((await logs(p, id, '?lines=0')).body.error.code).toBe('invalid_request')
    const file = await p.call(p.customer, 'GET', `/gpu-instances/${id}/logs.txt`)
    expect(String(file.body)).toContain('\u001b[32mtwo')
    // Nothing of it stays here or there.
    const kept = p.db.$client.query<{ n: number }, []>("SELECT count(*) AS n FROM job_log WHERE job_id LIKE 'read%'")
    expect(kept.get()!.n).toBe(0)
  })
  test('goes on from a cursor, and says when lines between were left out', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const { containers } = p.host.agent.host
    containers.write(id, 'one\n')
    const first = (await logs(p, id)).body
    expect(first).toMatchObject({ continues: false, lines: expect.arrayContaining(['one']) })
    const since = `?since=${first.cursor}`
    expect((await logs(p, id, since)).body).toMatchObject({ continues: true, lines: [], cursor: first.cursor })
    containers.write(id, 'two\nthree\n')
    const next = (await logs(p, id, since)).body
    expect(next).toMatchObject({ continues: true, lines: ['two', 'three'], truncated: false })
    expect((await logs(p, id, `${since}&lines=1`)).body).toMatchObject({ lines: ['three'], truncated: true })
    expect((await logs(p, id, `?since=${next.cursor}`)).body.lines).toEqual([])
    expect((await logs(p, id, '?since=now')).body.error.code).toBe('invalid_request')
  })
  test('of an agent that knows no cursors is its last lines, again and again', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const { containers } = p.host.agent.host
    containers.write(id, 'one\n')
    const { logs: read } = containers
    // As it answered before: without a cursor.
    containers.logs = async (workload, lines) =>
      ({ ...(await read.call(containers, workload, lines)), cursor: undefined }) as never
    for (const query of ['', '?since=1-1'])
      expect((await logs(p, id, query)).body).toMatchObject({
        state: 'read',
        continues: false,
        cursor: null,
        lines: expect.arrayContaining(['one']),
      })
  })
  test('of a host that is away says so, and a stranger finds none', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const otto = p.account('customer', 'Otto')
    expect((await logs(p, id, '', otto)).body.error.code).toBe('gpu_instance_not_found')
    p.host.agent.disconnect()
    expect((await logs(p, id)).body).toMatchObject({ state: 'unreachable', lines: [] })
  })
})

describe('the stop when idle', () => {
  const report = (p: GpuWorld, forMs: number, usePercent: number) => {
    const { uuid } = p.db.$client.query<{ uuid: string }, []>('SELECT uuid FROM gpu_cards').get()!
    const rest = { memoryUsedMb: 0, temperatureC: 40, powerW: 60, correctedErrors: 0, uncorrectedErrors: 0 }
    for (let ms = 0; ms < forMs; ms += 10 * second) {
      p.turnClock(10 * second)
      p.controller.app.cardMetrics.take(p.host.id, [{ uuid, usePercent, ...rest }])
    }
  }
  const turn = async (p: GpuWorld) => {
    stopIdle(p.db, p.controller.app)
    await p.settle()
  }
  const set = (p: GpuWorld, id: string, minutes: number | null) =>
    p.call(p.customer, 'PUT', `/gpu-instances/${id}/idle-stop`, { minutes })
  const status = async (p: GpuWorld, id: string) => (await showInstance(p, id)).status

  test('comes when no program has run on the cards for so long, as a requested stop, with a notice', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    expect((await set(p, id, 30)).body).toMatchObject({ minutes: 30 })
    report(p, 20 * minute, 90)
    report(p, 29 * minute, 0)
    await turn(p)
    expect(await status(p, id)).toBe('running')
    const shown = (await p.call(p.customer, 'GET', `/gpu-instances/${id}/idle-stop`)).body
    expect(shown.idleSeconds).toBeGreaterThanOrEqual(29 * 60)
    report(p, 2 * minute, 0)
    await turn(p)
    expect(await status(p, id)).toBe('stopped')
    expect(instanceEvents(p).at(-1)).toMatchObject({ type: 'stopped', data: { reason: 'requested' } })
    const [notice] = (await p.call(p.customer, 'GET', '/notices')).body.data
    expect(notice).toMatchObject({ kind: 'gpu_instance_idle', href: `/gpu/${id}` })
    expect(notice.words).toContain('30 minutes')
    // It is started again, and has its time anew.
    await power(p, id, 'start')
    await turn(p)
    expect(await status(p, id)).toBe('running')
  })
  test('never comes for a time that nobody measured, nor after it was taken back', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    await set(p, id, 10)
    p.turnClock(60 * minute)
    await turn(p)
    report(p, 9 * minute, 0)
    p.turnClock(5 * minute)
    report(p, 9 * minute, 0)
    await turn(p)
    expect(await status(p, id)).toBe('running')
    await set(p, id, null)
    report(p, 60 * minute, 0)
    await turn(p)
    expect(await status(p, id)).toBe('running')
  })
  test('refuses a time that is too short or too long', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    for (const minutes of [0, 9, 10_081]) expect((await set(p, id, minutes)).status).toBe(422)
  })
})
