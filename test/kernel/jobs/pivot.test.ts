// A saga with a point of no return and two nodes, as small as a move can be. The controller dies at every moment, every
// step fails early or late, the job is cancelled at every moment, and each of its nodes is lost for good at every
// moment. Until the pivot everything is as before; from then on everything is done. No two nodes ever run the server.
import { describe, expect, test } from 'bun:test'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import type { Db } from '../../../src/kernel/db/open.ts'
import { CommandFailed, InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import { AWAY_MS } from '../../../src/kernel/jobs/runner/away.ts'
import { AT_ONCE, Lanes, type Queued } from '../../../src/kernel/jobs/runner/lanes.ts'
import { forwardSaga, saga } from '../../../src/kernel/jobs/saga.ts'
import { quickly } from '../../support/quick.ts'
import { freshDb } from '../../support/world/fresh-db.ts'
import { type Engine, engine, tick } from './engine.ts'

const workload = `srv_${'0'.repeat(26)}`
type Input = { from: string; to: string }
const look = (nodeId: string) => nodeCommand(nodeId, 'vm.look', { workload })

type Failure = { step: string; late: boolean } | undefined

function makeWorld(failure: Failure, db: Db) {
  const runs = new Set(['a'])
  const disks = new Set(['a'])
  const both: string[] = []
  db.$client.run('CREATE TABLE home (node TEXT, moving INTEGER)')
  db.$client.run("INSERT INTO home VALUES ('a', 0)")
  const journal = new Map<string, unknown>()
  let failed = false
  const fails = (step: string, late: boolean) => {
    if (failed || failure?.step !== step || failure.late !== late) return false
    failed = true
    return true
  }
  const record = (name: string, sql: string) => () => {
    db.$client.run(sql)
    if (fails(name, false)) throw new Error('injected')
  }
  const moving = saga<Input>('move', { lane: 'bulk', neverStops: true, twoNodes: true })
    .record('plan', 'Planning', {
      do: record('plan', 'UPDATE home SET moving = 1'),
      undo: () => void db.$client.run('UPDATE home SET moving = 0'),
      undoAtOnce: false,
    })
    .command('receive', 'Making room', { do: ({ input }) => look(input.to), undo: ({ input }) => look(input.to) })
    .command('stop', 'Stopping it', { do: ({ input }) => look(input.from), undo: ({ input }) => look(input.from) })
    .command('copy', 'Copying what changed', { do: ({ input }) => look(input.to) })
    .pivot('switch', 'Switching over', { do: record('switch', "UPDATE home SET node = 'b'") })
    .command('start', 'Starting it there', { do: ({ input }) => look(input.to) })
    // The copy here is the last one when the other node was lost before it started the server.
    .command('clean', 'Removing it here', { do: ({ input, out }) => (out.start ? look(input.from) : undefined) })
    .record('tell', 'Moved', { do: record('tell', 'UPDATE home SET moving = 0') })
  const deeds: Record<string, () => unknown> = {
    receive: () => disks.add('b'),
    'receive/undo': () => disks.delete('b'),
    stop: () => runs.delete('a'),
    'stop/undo': () => runs.add('a'),
    start: () => runs.add('b'),
    clean: () => disks.delete('a'),
  }
  function answer(key: string): unknown {
    if (!journal.has(key)) journal.set(key, act(key))
    const answered = journal.get(key)
    if (answered instanceof Error) throw answered
    return answered
  }
  function act(key: string) {
    const [, step, undo] = key.split('/') as [string, string, string?]
    if (undo !== 'undo' && fails(step, false)) return new CommandFailed('no_space', 'Full.')
    deeds[undo === 'undo' ? `${step}/undo` : step]?.()
    if (runs.size > 1) both.push(key)
    return undo !== 'undo' && fails(step, true) ? new CommandFailed('late', 'Late.') : { power: 'running' }
  }
  return {
    moving,
    answer,
    /** The place of everything; a node that is lost has nothing that counts. */
    left: (lost?: string) => ({
      ...(db.$client.query('SELECT node, moving FROM home').get() as { node: string; moving: number }),
      runs: [...runs].filter((node) => node !== lost),
      disks: [...disks].filter((node) => node !== lost),
      both,
    }),
  }
}
const before = { node: 'a', moving: 0, runs: ['a'], disks: ['a'], both: [] }
const after = { node: 'b', moving: 0, runs: ['b'], disks: ['b'], both: [] }

type Disturbance = { at: string; does: 'crash' | 'cancel' | 'a' | 'b' } | undefined
async function play(failure: Failure, disturbance: Disturbance) {
  const db = freshDb()
  const world = makeWorld(failure, db)
  const moments: string[] = []
  let id = ''
  let disturbed = false
  let current: Engine
  const failpoints = (moment: string) => {
    moments.push(moment)
    if (disturbed || disturbance?.at !== moment) return
    disturbed = true
    if (disturbance.does === 'crash') throw new InjectedCrash(moment)
    if (disturbance.does === 'cancel') current.cancel(id)
    else current.node(disturbance.does, 'gone')
  }
  const start = () => {
    current = engine([world.moving], { db, failpoints })
    current.answering(world.answer)
    return current
  }
  let e = start()
  id = e.start(world.moving, 'a', { holds: 'x', input: { from: 'a', to: 'b' }, otherNodeId: 'b' })
  for (let i = 0; i < 50; i++) {
    await e.runner.idle()
    await new Promise(setImmediate)
    const { state, undoNodeId } = e.job(id)
    if ((state === 'succeeded' || state === 'failed') && undoNodeId === null) break
    if (disturbance?.does !== 'crash') continue
    e.runner.stop()
    await e.runner.idle()
    e = start()
    e.runner.start()
  }
  return { job: e.job(id), left: world.left(disturbance?.does), moments }
}

const undisturbed = await play(undefined, undefined)
const pivotAt = undisturbed.moments.indexOf('move/switch:noted')
const steps = ['plan', 'receive', 'stop', 'copy', 'switch', 'start', 'clean', 'tell']
const isRecord = (step: string) => ['plan', 'switch', 'tell'].includes(step)
const failures: Failure[] = steps.flatMap((step) =>
  [false, true].filter((late) => !late || !isRecord(step)).map((late) => ({ step, late })),
)

test('undisturbed it is done', () => {
  expect(undisturbed.job).toMatchObject({ state: 'succeeded', nodeId: 'a', otherNodeId: 'b', pivotAt: 1000 })
  expect(undisturbed.left).toEqual(after)
})

for (const failure of [undefined, ...failures]) {
  const { moments, ...plain } = await play(failure, undefined)
  describe(
    failure ? `with "${failure.step}" failing ${failure.late ? 'late' : 'early'}` : 'where nothing fails',
    () => {
      const isForward = !failure || steps.indexOf(failure.step) > steps.indexOf('switch')
      test(isForward ? 'it is done' : 'it is undone', () => {
        expect(plain.job).toMatchObject({ state: isForward ? 'succeeded' : 'failed', tries: 0 })
        expect(plain.job.pivotAt).toBe(isForward ? 1000 : null)
        expect(plain.left).toEqual(isForward ? after : before)
      })
      for (const at of quickly([...new Set(moments)], 4, moments.length))
        test(`crash at ${at}`, async () => {
          const end = await play(failure, { at, does: 'crash' })
          expect([end.job.state, end.left]).toEqual([plain.job.state, plain.left])
        })
    },
  )
}

describe('cancelled', () => {
  for (const [i, at] of undisturbed.moments.entries())
    test(`at ${at}`, async () => {
      const end = await play(undefined, { at, does: 'cancel' })
      const isForward = i >= pivotAt
      expect([end.job.state, end.left]).toEqual(isForward ? ['succeeded', after] : ['failed', before])
    })
})

describe('lost for good', () => {
  for (const at of undisturbed.moments) {
    const i = undisturbed.moments.indexOf(at)
    test(`the node that it leaves, at ${at}`, async () => {
      const end = await play(undefined, { at, does: 'a' })
      expect(end.left).toEqual(end.job.state === 'failed' ? { ...before, runs: [], disks: [] } : after)
      if (i >= pivotAt) expect(end.job.state).toBe('succeeded')
    })
    test(`the node to which it goes, at ${at}`, async () => {
      const end = await play(undefined, { at, does: 'b' })
      expect(end.job.state).toBe(i >= pivotAt ? 'succeeded' : 'failed')
      if (i < pivotAt) return expect(end.left).toEqual(before)
      // Lost before it answered that it runs the server: the disk that stays is the last one.
      const isLast = i < undisturbed.moments.indexOf('move/start:answered')
      expect(end.left).toEqual({ ...after, runs: [], disks: isLast ? ['a'] : [] })
    })
  }
})

describe('a job of two nodes', () => {
  const { moving } = makeWorld(undefined, freshDb())
  const input = { from: 'a', to: 'b' }
  /** The node `b` goes away at this moment. */
  const awayAt = (moment: string) => {
    const db = freshDb()
    const world = makeWorld(undefined, db)
    const failpoints = (at: string) => {
      if (at === moment) e.node('b', 'away')
    }
    const e: Engine = engine([world.moving], { db, failpoints })
    e.answering(world.answer)
    return { e, world, id: e.start(world.moving, 'a', { holds: 'x', input, otherNodeId: 'b' }) }
  }
  const later = (e: Engine, ms: number) => {
    e.turnClock(ms)
    e.runner.sweep()
  }
  for (const node of ['a', 'b'])
    test(`does not begin while ${node} is away, and fails after 15 minutes`, async () => {
      const e = engine([moving])
      e.node(node, 'away')
      const id = e.start(moving, 'a', { input, otherNodeId: 'b' })
      later(e, AWAY_MS - 1)
      await tick()
      expect(e.job(id)).toMatchObject({ state: 'queued', waitingSince: 1000 })
      later(e, 1)
      await e.runner.idle()
      expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'node_unreachable' })
    })
  test('brings the server back where it was, while the rest of the undo waits for the node that is away', async () => {
    const { e, world, id } = awayAt('move/copy:before')
    for (let i = 0; i < 20; i++) await tick()
    expect([e.job(id).state, world.left().runs]).toEqual(['running', []])
    later(e, AWAY_MS)
    await e.runner.idle()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'node_unreachable', undoNodeId: 'b' })
    expect(world.left()).toEqual({ ...before, moving: 1, disks: ['a', 'b'] })
    e.node('b', 'connected')
    await tick()
    expect([e.job(id).undoNodeId, world.left()]).toEqual([null, before])
  })
  test('past its pivot waits for a node that is away, however long', async () => {
    const { e, world, id } = awayAt('move/start:before')
    for (let i = 0; i < 20; i++) await tick()
    later(e, 100 * AWAY_MS)
    await tick()
    expect(e.job(id)).toMatchObject({ state: 'running', waitingSince: 1000 })
    e.node('b', 'connected')
    await e.runner.idle()
    expect([e.job(id).state, world.left()]).toEqual(['succeeded', after])
  })
})

describe('a pivot command', () => {
  const growing = saga<{ nodeId: string }>('grow', { neverStops: true })
    .record('plan', 'Planning', { do: () => {}, undo: () => void undone.push('plan') })
    .pivotCommand('grow', 'Growing', { do: ({ input }) => look(input.nodeId) })
    .record('note', 'Recording', { do: () => void undone.push('noted') })
  const undone: string[] = []
  /** Its node is away from the moment at which its last step before the pivot is done. */
  const leaving = () => {
    undone.length = 0
    let isBack = false
    const failpoints = (at: string) => {
      if (at !== 'grow/plan:noted' || isBack) return
      isBack = true
      e.node('a', 'away')
    }
    const e: Engine = engine([growing], { failpoints })
    return { e, id: e.start(growing, 'a', { holds: 'x' }) }
  }
  const back = async (e: Engine) => {
    e.answering(() => ({}))
    e.node('a', 'connected')
    await e.runner.idle()
  }
  /** It waits, nothing was sent, and its pivot is not noted. */
  const waits = async (e: Engine, id: string) => {
    await tick()
    expect([e.job(id), e.sent]).toMatchObject([
      { state: 'running', stepName: 'Growing', waitingSince: 1000, pivotAt: null },
      [],
    ])
  }
  const minutesLater = async (e: Engine, ms = AWAY_MS) => {
    e.turnClock(ms)
    e.runner.sweep()
    await tick()
  }
  const begin = async () => {
    undone.length = 0
    const e = engine([growing])
    const id = e.start(growing, 'a', { holds: 'x' })
    await tick()
    expect(e.sent.length).toBe(1)
    return { e, id }
  }
  test('that the node refuses leads back', async () => {
    const { e, id } = await begin()
    expect(e.job(id).pivotAt).toBe(1000)
    e.sent[0]!.fail('pool_full')
    await e.runner.idle()
    expect([e.job(id).state, e.job(id).pivotAt, undone]).toEqual(['failed', null, ['plan']])
  })
  test('waits for its node that is away by then, and leads back after 15 minutes', async () => {
    const { e, id } = leaving()
    await waits(e, id)
    await minutesLater(e, AWAY_MS - 1)
    await waits(e, id)
    await minutesLater(e, 1)
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'node_unreachable', pivotAt: null })
    expect([e.sent, undone]).toEqual([[], ['plan']])
  })
  test('is sent when its node is back in time', async () => {
    const { e, id } = leaving()
    await waits(e, id)
    await minutesLater(e, AWAY_MS - 1)
    await back(e)
    expect(e.job(id)).toMatchObject({ state: 'succeeded', waitingSince: null })
    expect([e.sent.map((s) => s.key), undone]).toEqual([[`${id}/grow`], ['noted']])
  })
  test('that has not been sent is cancelled, and leads back', async () => {
    const { e, id } = leaving()
    await waits(e, id)
    e.cancel(id)
    await tick()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'cancelled', pivotAt: null })
    expect([e.sent, undone]).toEqual([[], ['plan']])
  })
  test('that has not been sent leads back when its node is lost', async () => {
    const { e, id } = leaving()
    await waits(e, id)
    e.node('a', 'gone')
    await tick()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'node_removed', pivotAt: null })
    expect([e.sent, undone]).toEqual([[], ['plan']])
  })
  for (const end of ['back in time', 'away for 15 minutes', 'cancelled'] as const)
    for (const killed of ['while it waits', 'between its last step and the pivot'] as const)
      test(`of a controller that was killed ${killed} waits on: ${end}`, async () => {
        undone.length = 0
        const failpoints = (at: string) => {
          if (at === 'grow/plan:noted') e.node('a', 'away')
          if (at === 'grow/grow:before' && killed !== 'while it waits') throw new InjectedCrash(at)
        }
        const e: Engine = engine([growing], { failpoints })
        const id = e.start(growing, 'a', { holds: 'x' })
        await tick()
        const next = engine([growing], { db: e.reopened() })
        e.runner.stop()
        next.node('a', 'away')
        next.runner.start()
        await waits(next, id)
        if (end === 'back in time') {
          await back(next)
          expect(next.job(id).state).toBe('succeeded')
          return expect([next.sent.map((s) => s.key), undone]).toEqual([[`${id}/grow`], ['noted']])
        }
        if (end === 'cancelled') next.cancel(id)
        else await minutesLater(next)
        await tick()
        const errorCode = end === 'cancelled' ? 'cancelled' : 'node_unreachable'
        expect(next.job(id)).toMatchObject({ state: 'failed', errorCode, pivotAt: null })
        expect([next.sent, undone]).toEqual([[], ['plan']])
      })
  test('gives its place to others while it waits, and takes it again', async () => {
    const { e, id } = leaving()
    await waits(e, id)
    e.node('a', 'connected')
    await tick()
    for (let i = 0; i < AT_ONCE.interactive; i++) e.start(growing, 'a')
    await tick()
    // One of them waits for the place that the first has again.
    expect([e.job(id).state, e.sent.length]).toEqual(['running', AT_ONCE.interactive])
  })
  test('that is out is waited for: neither a cancellation nor 15 minutes without the node end it', async () => {
    const { e, id } = await begin()
    e.cancel(id)
    e.node('a', 'away')
    e.turnClock(10 * AWAY_MS)
    e.runner.sweep()
    await tick()
    expect([e.job(id).state, undone]).toEqual(['running', []])
    e.answering(() => ({}))
    e.node('a', 'connected')
    await e.runner.idle()
    expect([e.job(id).state, undone]).toEqual(['succeeded', ['noted']])
  })
  test('that is out at a crash is sent again, also when somebody has asked to cancel the job', async () => {
    const { e, id } = await begin()
    e.cancel(id)
    e.runner.stop()
    const next = engine([growing], { db: e.db })
    next.answering(() => ({}))
    next.runner.start()
    await next.runner.idle()
    expect([next.job(id).state, next.sent.map((s) => s.key), undone]).toEqual(['succeeded', [`${id}/grow`], ['noted']])
  })
})

describe('a child past its pivot', () => {
  const clearing = forwardSaga<{ nodeId: string }>('clear').command('clear', 'Clearing', {
    do: ({ input }) => look(input.nodeId),
  })
  const parent = saga<{ nodeId: string }>('parent').jobs('children', 'Clearing first', {
    start: (_, { input }) => [{ saga: clearing, input, title: 'Clear', nodeId: input.nodeId }],
  })
  test('comes to its end when its parent is cancelled, which waits for it', async () => {
    const e = engine([parent, clearing])
    const id = e.start(parent, 'a')
    await tick()
    e.cancel(id)
    await tick()
    expect(e.jobs().map((j) => [j.kind, j.state])).toEqual([
      ['parent', 'undoing'],
      ['clear', 'running'],
    ])
    e.sent[0]!.done()
    await tick()
    expect(e.jobs().map((j) => [j.kind, j.state])).toEqual([
      ['parent', 'failed'],
      ['clear', 'succeeded'],
    ])
  })
  const inTwoSteps = forwardSaga<{ nodeId: string }>('clear')
    .command('stop', 'Stopping', { do: ({ input }) => look(input.nodeId) })
    .command('clear', 'Clearing', { do: ({ input }) => look(input.nodeId) })
  const parentOfTwo = saga<{ nodeId: string }>('parent').jobs('children', 'Clearing first', {
    start: (_, { input }) => [{ saga: inTwoSteps, input, title: 'Clear', nodeId: input.nodeId }],
  })
  for (const when of ['between its steps', 'while its node is away'])
    test(`does all of its steps when its parent is cancelled ${when}`, async () => {
      const e = engine([parentOfTwo, inTwoSteps])
      const id = e.start(parentOfTwo, 'a')
      await tick()
      if (when === 'while its node is away') e.node('a', 'away')
      e.cancel(id)
      await tick()
      e.node('a', 'connected')
      await tick()
      for (const n of [0, 1]) {
        expect(e.sent.length).toBe(n + 1)
        e.sent[n]!.done()
        await tick()
      }
      expect(e.jobs().map((j) => [j.kind, j.state])).toEqual([
        ['parent', 'failed'],
        ['clear', 'succeeded'],
      ])
    })
})

describe('an undo', () => {
  const causes: unknown[] = []
  const telling = saga<{ nodeId: string }>('telling')
    .record('note', 'Noting', {
      do: () => {},
      undo: (_, { error }) => void causes.push(error?.cause),
      undoAtOnce: true,
    })
    .command('work', 'Working', { do: ({ input }) => look(input.nodeId), undo: ({ input }) => look(input.nodeId) })
  test('hears the cause of a job that was cancelled before it began', async () => {
    const e = engine([telling])
    e.node('a', 'away')
    e.cancel(e.start(telling, 'a'))
    await tick()
    expect([causes.splice(0), e.jobs()[0]!.state]).toEqual([[expect.stringContaining('not wanted')], 'failed'])
  })
  test('hears it while the undo of a later step waits for its node', async () => {
    const e = engine([telling])
    e.start(telling, 'a')
    await tick()
    e.sent[0]!.fail('no_space')
    await tick()
    e.node('a', 'away')
    e.sent[1]!.fail('node_unreachable')
    await tick()
    expect(e.jobs()[0]).toMatchObject({ state: 'failed', undoNodeId: 'a' })
    expect(causes.splice(0)).toEqual([expect.stringMatching(/./)])
  })
})

describe('lanes of two nodes', () => {
  const job = (id: string, nodeId: string, otherNodeId: string | null = null): Queued => ({
    id,
    nodeId,
    otherNodeId,
    lane: 'bulk',
    holds: null,
  })
  const next = (lanes: Lanes, away = '') => [...lanes.next((nodeId) => nodeId !== away)]
  const fill = (lanes: Lanes, nodeId: string) => {
    const filling = Array.from({ length: AT_ONCE.bulk }, (_, i) => job(`${nodeId}${i}`, nodeId))
    for (const each of filling) lanes.add(each)
    expect(next(lanes)).toEqual(filling.map(({ id }) => id))
    return filling
  }
  for (const [from, to] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const)
    test(`a job from ${from} to ${to} begins when both have a place for it, and has one in both`, () => {
      const lanes = new Lanes()
      const filling = fill(lanes, 'b')
      lanes.add(job('move', from, to))
      expect(next(lanes)).toEqual([])
      lanes.give(filling[0]!)
      expect(next(lanes)).toEqual(['move'])
      for (let i = 0; i < AT_ONCE.bulk; i++) lanes.add(job(`n${i}`, 'a'))
      expect(next(lanes).length).toBe(AT_ONCE.bulk - 1)
      lanes.give(job('move', from, to))
      expect(next(lanes).length).toBe(1)
    })
  test('jobs that come later do not keep it waiting for ever', () => {
    const lanes = new Lanes()
    const filling = fill(lanes, 'b')
    lanes.add(job('move', 'a', 'b'))
    expect(next(lanes)).toEqual([])
    lanes.add(job('late', 'b'))
    lanes.give(filling[0]!)
    expect(next(lanes)).toEqual(['move'])
  })
  test('jobs in both directions never wait for each other', () => {
    const lanes = new Lanes()
    const ids = Array.from({ length: 40 }, (_, i) => `m${i}`)
    const jobs = new Map(ids.map((id, i) => [id, i % 2 ? job(id, 'a', 'b') : job(id, 'b', 'a')]))
    for (const each of jobs.values()) lanes.add(each)
    const begun: string[] = []
    for (let i = 0; i < 40; i++) {
      const some = next(lanes)
      begun.push(...some)
      for (const id of some) lanes.give(jobs.get(id)!)
    }
    expect(begun.toSorted()).toEqual(ids.toSorted())
  })
  test('while one node is away, others have its place on the other; dropped, it leaves none', () => {
    for (const away of ['a', 'b']) {
      const lanes = new Lanes()
      const there = away === 'a' ? 'b' : 'a'
      const filling = fill(lanes, 'b')
      for (let i = 0; i < AT_ONCE.bulk; i++) lanes.add(job(`move${i}`, 'a', 'b'))
      expect(next(lanes)).toEqual([])
      for (const each of filling) lanes.give(each)
      for (let i = 0; i < AT_ONCE.bulk; i++) lanes.add(job(`t${i}`, there))
      expect(next(lanes, away).filter((id) => id.startsWith('t')).length).toBe(AT_ONCE.bulk)
      for (let i = 0; i < AT_ONCE.bulk; i++) {
        lanes.give(job(`t${i}`, there))
        lanes.drop(`move${i}`)
      }
      for (const node of ['a', 'b']) for (let i = 0; i < AT_ONCE.bulk; i++) lanes.add(job(`${node}x${i}`, node))
      expect(next(lanes).length).toBe(2 * AT_ONCE.bulk)
    }
  })
})
