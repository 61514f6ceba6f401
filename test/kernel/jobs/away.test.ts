// Jobs whose node is away: they end 15 minutes after it was last seen, and nothing of a dead node blocks another's.
import { describe, expect, test } from 'bun:test'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { AWAY_MS, RECONNECT_MS } from '../../../src/kernel/jobs/runner/away.ts'
import { AT_ONCE } from '../../../src/kernel/jobs/runner/lanes.ts'
import { forwardSaga, saga } from '../../../src/kernel/jobs/saga.ts'
import { type Engine, engine, tick } from './engine.ts'

const minute = 60_000
const workload = `srv_${'0'.repeat(26)}`
type Input = { nodeId: string; second?: string }
const look = (nodeId: string) => nodeCommand(nodeId, 'vm.look', { workload })
const stop = (nodeId: string) => nodeCommand(nodeId, 'vm.stop', { workload, graceSeconds: 0 })

const undone: string[] = []
const building = saga<Input>('build')
  .record('plan', 'Planning', {
    do: () => {},
    undo: (_, { error }) => void undone.push(`plan ${error?.code}`),
    undoAtOnce: true,
  })
  .record('reserve', 'Reserving', { do: () => {}, undo: () => void undone.push('reserve') })
  .command('make', 'Making', { do: ({ input }) => look(input.nodeId), undo: ({ input }) => stop(input.nodeId) })
  .command('wait', 'Waiting', { do: ({ input }) => look(input.second ?? input.nodeId) })
const stubborn = forwardSaga<Input>('stubborn').command('stop', 'Stopping', {
  do: ({ input }) => stop(input.nodeId),
})
const all = [building, stubborn]
function fresh(options: Parameters<typeof engine>[1] = {}) {
  undone.length = 0
  return engine(all, options)
}
async function until(what: () => boolean) {
  for (let tries = 0; tries < 50 && !what(); tries++) await tick()
}
function later(e: Engine, ms: number) {
  e.turnClock(ms)
  e.runner.sweep()
}
const keys = (e: Engine) => e.sent.map((s) => s.key.split('/').slice(1).join('/'))

describe('a job whose node went away', () => {
  test('fails 15 minutes after the node was last seen, not earlier; its undo waits for the node', async () => {
    const e = fresh()
    const id = e.start(building, 'a', { holds: 'x' })
    await tick()
    e.node('a', 'away')
    later(e, AWAY_MS - 1)
    await tick()
    expect(e.job(id)).toMatchObject({ state: 'running', waitingSince: 1000 })
    later(e, 1)
    await tick()
    expect(e.job(id)).toMatchObject({
      state: 'failed',
      errorCode: 'node_unreachable',
      undoNodeId: 'a',
      waitingSince: null,
    })
    expect(undone).toEqual(['plan node_unreachable'])
    expect(e.log(id).at(-1)).toBe('Failed. A node is away: what is left there is rolled back when it is back.')
    e.answering(() => ({}))
    e.node('a', 'connected')
    await tick()
    expect([e.job(id).undoNodeId, undone, keys(e)]).toEqual([
      null,
      ['plan node_unreachable', 'reserve'],
      ['make', 'make/undo'],
    ])
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'node_unreachable' })
  })
  test('goes on where it was when the node is back in time, and the next wait counts anew', async () => {
    const e = fresh()
    const id = e.start(building, 'a')
    await tick()
    e.node('a', 'away')
    later(e, AWAY_MS - 1)
    e.node('a', 'connected')
    expect(e.job(id).waitingSince).toBe(null)
    e.node('a', 'away')
    later(e, AWAY_MS - 1)
    await tick()
    expect(e.job(id).state).toBe('running')
    e.answering(() => ({}))
    e.node('a', 'connected')
    await e.runner.idle()
    expect(e.job(id).state).toBe('succeeded')
  })
  test('works as long as it needs while its node is there', async () => {
    const e = fresh()
    const id = e.start(building, 'a')
    await tick()
    later(e, 100 * AWAY_MS)
    await tick()
    expect(e.job(id).state).toBe('running')
  })
  test('fails too when it was still queued; nothing was begun, so nothing waits', async () => {
    const e = fresh()
    e.node('a', 'away')
    e.turnClock(60 * minute)
    const ids = Array.from({ length: 20 }, () => e.start(building, 'a'))
    e.runner.sweep()
    later(e, AWAY_MS - 1)
    await tick()
    expect(ids.map((id) => e.job(id).state)).toEqual(ids.map(() => 'queued'))
    later(e, 1)
    await e.runner.idle()
    expect(ids.map((id) => [e.job(id).state, e.job(id).errorCode, e.job(id).undoNodeId])).toEqual(
      ids.map(() => ['failed', 'node_unreachable', null]),
    )
    expect(e.sent).toEqual([])
  })
  test('a restart does not begin the wait anew, and gives the nodes two minutes to connect', async () => {
    const e = fresh()
    const id = e.start(building, 'a')
    await tick()
    e.node('a', 'away')
    later(e, 10 * minute)
    e.runner.stop()
    e.sent[0]!.fail('stopping')
    await e.runner.idle()
    const again = fresh({ db: e.db })
    again.turnClock(10 * minute)
    again.node('a', 'away')
    again.runner.start()
    await tick()
    later(again, 5 * minute - 1)
    await tick()
    expect(again.job(id).state).toBe('running')
    later(again, 1)
    await tick()
    expect(again.job(id)).toMatchObject({ state: 'failed', errorCode: 'node_unreachable' })

    const down = fresh()
    down.node('b', 'away')
    const other = down.start(building, 'b')
    down.db.$client.run('UPDATE jobs SET waiting_since = -1e9 WHERE id = ?', [other])
    down.runner.start()
    later(down, RECONNECT_MS - 1)
    await tick()
    expect(down.job(other).state).toBe('queued')
    later(down, 1)
    await down.runner.idle()
    expect(down.job(other).state).toBe('failed')
  })
  test('its undo is remembered over a restart, and its lock until then', async () => {
    const e = fresh()
    const id = e.start(building, 'a', { holds: 'x' })
    await tick()
    e.node('a', 'away')
    later(e, AWAY_MS)
    await tick()
    e.runner.stop()
    const again = fresh({ db: e.db })
    again.node('a', 'away')
    again.runner.start()
    const next = again.start(stubborn, 'a', { holds: 'x' })
    await tick()
    expect([again.sent, again.job(next).state]).toEqual([[], 'queued'])
    again.answering(() => ({}))
    again.node('a', 'connected')
    await again.runner.idle()
    await tick()
    await again.runner.idle()
    expect(again.sent.map((s) => s.key)).toEqual([`${id}/make/undo`, `${next}/stop`])
    expect(undone).toEqual(['reserve'])
  })
  test('its undo is dropped when the node is removed', async () => {
    const e = fresh()
    const id = e.start(building, 'a')
    await tick()
    e.node('a', 'away')
    later(e, AWAY_MS)
    await tick()
    e.node('a', 'gone')
    await e.runner.idle()
    expect([e.job(id).undoNodeId, keys(e), undone]).toEqual([null, ['make'], ['plan node_unreachable', 'reserve']])
  })
  test('an undo at work when the node goes away ends the job after 15 minutes as well', async () => {
    const e = fresh()
    const id = e.start(building, 'a')
    await tick()
    e.sent[0]!.fail('boom')
    await tick()
    expect(keys(e)).toEqual(['make', 'make/undo'])
    e.node('a', 'away')
    later(e, AWAY_MS)
    await tick()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'boom', undoNodeId: 'a' })
  })
})

describe('a job past its pivot', () => {
  test('waits for its node for ever', async () => {
    const e = fresh()
    e.node('a', 'away')
    const queued = e.start(stubborn, 'a')
    later(e, 1000 * AWAY_MS)
    await tick()
    expect(e.job(queued).state).toBe('queued')
    e.node('a', 'connected')
    await tick()
    e.node('a', 'away')
    later(e, 1000 * AWAY_MS)
    await tick()
    expect(e.job(queued).state).toBe('running')
    e.answering(() => ({}))
    e.node('a', 'connected')
    await e.runner.idle()
    expect(e.job(queued).state).toBe('succeeded')
  })
  test('ends when its node is removed, also when it still waited for a place', async () => {
    const e = fresh()
    e.node('a', 'away')
    const ids = Array.from({ length: 2 * AT_ONCE.interactive }, () => e.start(stubborn, 'a'))
    e.node('a', 'gone')
    await e.runner.idle()
    expect(ids.map((id) => e.job(id).state)).toEqual(ids.map(() => 'succeeded'))
  })
})

describe('a node that is away', () => {
  test('takes no place from the jobs of another that need it', async () => {
    const e = fresh()
    const reaching = Array.from({ length: AT_ONCE.interactive }, () =>
      e.start(building, 'here', { input: { second: 'dead' } }),
    )
    await until(() => e.sent.length === reaching.length)
    e.node('dead', 'away')
    for (const command of [...e.sent]) command.done()
    await until(() => e.sent.filter(({ key }) => key.endsWith('/wait')).length === reaching.length)
    e.runner.sweep()
    const own = e.start(stubborn, 'here')
    await until(() => e.sent.at(-1)?.key === `${own}/stop`)
    expect([reaching.map((id) => e.job(id).state).includes('failed'), e.job(own).state]).toEqual([false, 'running'])
    expect(e.sent.at(-1)!.key).toBe(`${own}/stop`)
  })
})
