import { describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { VERSION } from '../../../src/kernel/version.ts'
import { BEFORE, byState, fleet } from './lab.ts'

const code = ({ status, body }: { status: number; body: any }) => [status, body.error?.code]
const named = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `n${String(from + i).padStart(2, '0')}`)

test('the first failure stops it: others are not touched, staff are told, and it goes on without it', async () => {
  using p = await fleet(12)
  p.scripts.set('n06', 'goes_back')
  const { id, members } = await p.start({ waveSizes: [3, 5] })
  expect(members.map(({ name, wave }: any) => [name, wave])).toEqual(
    named(1, 12).map((name, place) => [name, place === 0 ? 0 : place < 4 ? 1 : place < 9 ? 2 : 3]),
  )
  await p.turn()
  expect(byState(await p.shown(id))).toEqual({ updating: ['n01'], waiting: named(2, 12) })
  await p.until(id, ({ watchUntil }) => watchUntil !== null)
  // It is watched for a minute before the next begin.
  for (let i = 0; i < 4; i++) await p.turn()
  expect(byState(await p.shown(id))).toEqual({ done: ['n01'], waiting: named(2, 12) })
  const stopped = await p.until(id, ({ state, members: all }) => {
    return state === 'paused' && all.every((one: any) => one.state !== 'updating')
  })
  expect(stopped).toMatchObject({
    pausedBy: 'failure',
    failedNode: { name: 'n06' },
    reason: 'It saw 37 of 38 servers.',
  })
  expect(byState(stopped)).toEqual({
    done: [...named(1, 5), 'n07', 'n08', 'n09'],
    went_back: ['n06'],
    waiting: named(10, 12),
  })
  for (let i = 0; i < 20; i++) await p.turn()
  expect((await p.shown(id)).members.filter(({ startedAt }: any) => startedAt === null)).toHaveLength(3)
  const { attention } = await p.admin('GET', '/admin/overview')
  const what = `n06 went back to ${BEFORE} by itself: the roll-out of ${VERSION} has stopped.`
  expect(attention.map((one: any) => one.what)).toContain(what)
  expect(p.events().filter((type) => type === 'roll_out.stopped')).toHaveLength(1)
  const audited = p.auditLines().filter(({ operation }) => operation === 'roll-outs.node-failed')
  expect(audited.map(({ target }) => target)).toEqual([p.idOf('n06')])
  expect(p.mailed().map(({ subject }) => subject)).toEqual([`The roll-out of ${VERSION} stopped at n06`])
  expect((await p.act(id, 'continue')).status).toBe(200)
  const done = await p.until(id, ({ finishedAt }) => finishedAt !== null)
  expect([done.state, byState(done)]).toEqual(['done', { done: [...named(1, 5), ...named(7, 12)], went_back: ['n06'] }])
  expect((await p.admin('GET', '/admin/overview')).attention.map((one: any) => one.what)).not.toContain(what)
})

test('a node that failed is tried again, and when it succeeds the roll-out goes on by itself', async () => {
  using p = await fleet(3)
  p.scripts.set('n01', 'refuses')
  const { id } = await p.start()
  const stopped = await p.until(id, ({ state }) => state === 'paused')
  expect(stopped.members[0]).toMatchObject({
    state: 'refused',
    code: 'release_too_old',
    headline: 'n01 refused the release',
  })
  // The answer to the first try is not taken for one to the next.
  p.scripts.set('n01', 'good')
  expect((await p.act(id, 'retry', { nodeId: p.idOf('n01') })).status).toBe(200)
  const again = await p.until(id, ({ state }) => state !== 'paused')
  expect([again.state, byState(again)]).toEqual(['running', { done: ['n01'], waiting: ['n02', 'n03'] }])
  expect(byState(await p.until(id, ({ finishedAt }) => finishedAt !== null))).toEqual({ done: named(1, 3) })
})

test('a version stays only after the time of its trial, with nothing found by agent or controller', async () => {
  using p = await fleet(1)
  p.scripts.set('n01', 'finds')
  const { id } = await p.start()
  for (let i = 0; i < 12; i++) await p.turn()
  expect((await p.shown(id)).members[0]).toMatchObject({ state: 'updating', findings: ['web01 is not there.'] })
  // The agent finds nothing; a server that the controller knows is missing.
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, nodeId: p.idOf('n01') })
  await p.settle()
  p.agentOf('n01').say({ type: 'inventory', vms: [], volumes: [], foreign: [], containers: [], workspaces: [] })
  const update = { state: 'trial' as const, at: p.now(), version: VERSION, from: BEFORE, findings: [] }
  const { facts } = await p.admin('GET', `/admin/nodes/${p.idOf('n01')}`)
  p.agentOf('n01').say({ type: 'facts', facts: { ...facts, update } })
  await p.reported()
  for (let i = 0; i < 10; i++) await p.turn()
  const { state, findings } = (await p.shown(id)).members[0]
  expect([state, findings]).toEqual(['updating', expect.arrayContaining(['web01 is not defined on this node.'])])
  expect(p.server(serverId).id).toBe(serverId)
  await p.says('n01', BEFORE, { state: 'went_back', version: VERSION, code: 'not_accepted', reason: 'Not accepted.' })
  await p.reported()
  expect((await p.until(id, (one) => one.state === 'paused')).reason).toBe('The disk of web01 is not on this node.')
})

test('a node that does not come back after its switch stops the roll-out', async () => {
  using p = await fleet(2)
  p.scripts.set('n01', 'silent')
  const { id } = await p.start()
  expect(await p.until(id, ({ state }) => state === 'paused')).toMatchObject({
    failedNode: { name: 'n01' },
    reason: 'It has not connected for 5 minutes.',
  })
  expect((await p.shown(id)).members[1]).toMatchObject({ state: 'waiting', startedAt: null })
})

test('a node that was updated and stops answering while it is watched stops the roll-out', async () => {
  using p = await fleet(2)
  const { id } = await p.start({ watchSeconds: 600 })
  await p.until(id, ({ watchUntil }) => watchUntil !== null)
  p.agentOf('n01').disconnect()
  expect(await p.until(id, ({ state }) => state === 'paused')).toMatchObject({ failedNode: { name: 'n01' } })
  expect((await p.shown(id)).members[0]).toMatchObject({ state: 'not_back', code: 'silent' })
})

test('a node that is away is updated when it is back, and holds no other up', async () => {
  using p = await fleet(4)
  p.agentOf('n03').disconnect()
  await p.reported()
  const { id } = await p.start({ waveSizes: [1] })
  const waits = await p.until(id, ({ updated, watchUntil }) => updated === 3 && watchUntil === null)
  for (let i = 0; i < 10; i++) await p.turn()
  expect(await p.shown(id)).toMatchObject({ state: 'running', finishedAt: null })
  expect(waits.members.find(({ name }: any) => name === 'n03')).toMatchObject({ state: 'waiting', waitsFor: 'away' })
  p.agentOf('n03').connect()
  await p.says('n03', BEFORE)
  expect(byState(await p.until(id, ({ finishedAt }) => finishedAt !== null))).toEqual({ done: named(1, 4) })
})

test('nodes of a location begin within its window', async () => {
  using p = await fleet(2)
  const day = 86_400_000
  const at = (hours: number) => p.turnClock(day - ((p.now() % day) - hours * 3_600_000))
  at(12)
  for (const name of ['n01', 'n02']) await p.says(name, BEFORE)
  await p.reported()
  const windows = [{ locationIds: [p.location], from: '22:00', to: '04:00', timeZone: 'UTC' }]
  const { id } = await p.start({ windows })
  for (let i = 0; i < 5; i++) await p.turn()
  expect((await p.shown(id)).members.map(({ state, waitsFor }: any) => [state, waitsFor])).toEqual([
    ['waiting', 'window'],
    ['waiting', 'window'],
  ])
  at(23)
  await p.turn()
  expect(byState(await p.shown(id))).toMatchObject({ updating: ['n01'] })
})

test('a pause lets those at work end and no other begin; a stop ends it', async () => {
  using p = await fleet(3)
  const { id } = await p.start()
  await p.turn()
  expect((await p.act(id, 'pause')).body).toMatchObject({ state: 'paused', pausedBy: 'person' })
  expect(code(await p.act(id, 'pause'))).toEqual([409, 'roll_out_state'])
  for (let i = 0; i < 20; i++) await p.turn()
  expect(byState(await p.shown(id))).toEqual({ done: ['n01'], waiting: ['n02', 'n03'] })
  await p.act(id, 'continue')
  await p.until(id, ({ members }) => members.some(({ name, state }: any) => name === 'n02' && state === 'updating'))
  expect(code(await p.act(id, 'leave-out', { nodeId: p.idOf('n02') }))).toEqual([409, 'roll_out_state'])
  expect((await p.act(id, 'stop')).body.state).toBe('stopping')
  const stopped = await p.until(id, ({ finishedAt }) => finishedAt !== null)
  expect([stopped.state, byState(stopped)]).toEqual(['stopped', { done: ['n01', 'n02', 'n03'] }])
  for (const action of ['pause', 'continue', 'stop'])
    expect(code(await p.act(id, action))).toEqual([409, 'roll_out_ended'])
})

test('there is one at a time, with a release that is good, for nodes that update themselves', async () => {
  using p = await fleet(3)
  await p.says('n02', BEFORE, undefined, 'package')
  await p.says('n03', VERSION)
  await p.reported()
  const { id, members } = await p.start()
  expect(byState({ members })).toEqual({ waiting: ['n01'], by_package: ['n02'], already: ['n03'] })
  const start = () => p.call(p.owner, 'POST', '/admin/roll-outs', {})
  expect(code(await start())).toEqual([409, 'roll_out_at_work'])
  await p.act(id, 'stop')
  await p.says('n01', VERSION)
  await p.reported()
  expect(code(await start())).toEqual([409, 'roll_out_empty'])
  await p.says('n01', BEFORE)
  rmSync(p.release)
  expect(code(await start())).toEqual([409, 'roll_out_release'])
  expect((await p.admin('GET', '/admin/roll-outs')).total).toBe(1)
})

describe('a controller that is killed goes on where it was', () => {
  const usual = {
    good: { done: named(1, 4) },
    goes_back: { done: ['n01', 'n03', 'n04'], went_back: ['n02'] },
  }
  for (const [script, states] of Object.entries(usual) as [keyof typeof usual, object][]) {
    /** Plays it to its end, or to where it stops. Answers how many turns it took. */
    const played = async (killedAt: number, sends: boolean): Promise<number> => {
      using p = await fleet(4)
      p.scripts.set('n02', script)
      const { id } = await p.start({ waveSizes: [3], watchSeconds: 20 })
      const isOver = ({ finishedAt, state, members }: any) =>
        finishedAt !== null || (state === 'paused' && members.every((one: any) => one.state !== 'updating'))
      for (let turn = 0; turn < 100; turn++) {
        const rollOut = await p.shown(id)
        if (isOver(rollOut)) {
          expect([killedAt, sends, byState(rollOut)]).toEqual([killedAt, sends, states as never])
          return turn
        }
        if (turn !== killedAt) {
          await p.turn()
          continue
        }
        if (sends) await p.turn()
        else p.turnUnsent()
        await p.crash()
        await p.saysAgain()
      }
      throw new Error(`killed at turn ${killedAt}, it does not come to its end`)
    }
    for (const sends of [true, false])
      test(`${sends ? 'behind' : 'before'} what it sends, at each turn, where n02 is ${script}`, async () => {
        const turns = await played(-1, true)
        expect(turns).toBeGreaterThan(4)
        const step = process.env['BERTH_LONG'] === '1' ? 1 : 3
        for (let turn = 0; turn < turns; turn += step) await played(turn, sends)
      }, 60_000)
  }
})
