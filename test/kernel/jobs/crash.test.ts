// Crash injection for every kind of step: the controller dies at every moment, every step fails early (nothing done) or
// late (all done, then an error), the job is cancelled at every moment, its node is removed at every moment. The end is
// the same each time: everything is there once, or nothing is left over. The moments are read from a run that nothing
// disturbs.
import { describe, expect, test } from 'bun:test'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import type { Db } from '../../../src/kernel/db/open.ts'
import { CommandFailed, ExternalFailed, InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import { childJob, saga } from '../../../src/kernel/jobs/saga.ts'
import { quickly } from '../../support/quick.ts'
import { freshDb } from '../../support/world/fresh-db.ts'
import { type Engine, engine } from './engine.ts'

type Failure = { step: string; late: boolean } | undefined
type Input = { nodeId: string; n?: number }
const workload = `srv_${'0'.repeat(26)}`
const look = (nodeId: string) => nodeCommand(nodeId, 'vm.look', { workload })

/** Everything that the sagas below leave: bookings at another company, things on the node, rows of ours. */
function makeWorld(failure: Failure, db: Db) {
  const bookings = new Set<string>()
  const things = new Set<string>()
  db.$client.run('CREATE TABLE rows (name TEXT PRIMARY KEY)')
  const journal = new Map<string, unknown>()
  let failed = false
  const fails = (step: string, late: boolean) => {
    if (failed || failure?.step !== step || failure.late !== late) return false
    failed = true
    return true
  }
  const copying = saga<Input>('copy', { lane: 'bulk' })
    .command('make', 'Making', { do: ({ input }) => look(input.nodeId), undo: ({ input }) => look(input.nodeId) })
    .record('check', 'Checking', {
      do() {
        if (fails('check', false)) throw new Error('injected')
      },
    })
  const building = saga<Input>('build')
    .record('plan', 'Planning', {
      do() {
        db.$client.run("INSERT INTO rows VALUES ('plan')")
        if (fails('plan', false)) throw new Error('injected')
      },
      undo: () => void db.$client.run("DELETE FROM rows WHERE name = 'plan'"),
    })
    .external('book', 'Booking', {
      async do(_, { key }) {
        if (fails('book', false)) throw new ExternalFailed('refused', 'Refused.', true)
        bookings.add(key)
        if (fails('book', true)) throw new ExternalFailed('refused', 'Refused.', true)
        return { booking: key }
      },
      async undo(_, { key }) {
        bookings.delete(key.replace(/\/undo$/, ''))
      },
    })
    // The work of the copies is undone here: a child that succeeded is not undone by its parent's step.
    .command('prepare', 'Preparing', {
      do: ({ input }) => look(input.nodeId),
      undo: ({ input }) => look(input.nodeId),
    })
    .jobs('copies', 'Copying', {
      start: (_, { input }) =>
        [1, 2].map((n) =>
          childJob(
            copying,
            { nodeId: input.nodeId, n },
            { title: `Copy ${n}`, nodeId: input.nodeId, holds: `disk${n}` },
          ),
        ),
    })
    .command('define', 'Defining', { do: ({ input }) => look(input.nodeId), undo: ({ input }) => look(input.nodeId) })
    .record('tell', 'Telling', {
      do() {
        db.$client.run("INSERT INTO rows VALUES ('told')")
        if (fails('tell', false)) throw new Error('injected')
      },
    })
  /** The node: it acts once per key, and its undo works on what never happened. */
  function answer(key: string): unknown {
    if (journal.has(key)) return answered(journal.get(key))
    const [jobId, step, undo] = key.split('/') as [string, string, string?]
    if (undo === 'undo') {
      if (step === 'prepare') for (const thing of [...things]) if (!thing.includes('/define')) things.delete(thing)
      things.delete(`${jobId}/${step}`)
    } else {
      if (fails(step, false)) return answered(keep(key, new CommandFailed('no_space', 'Full.')))
      things.add(`${jobId}/${step}`)
      if (fails(step, true)) return answered(keep(key, new CommandFailed('late', 'Late.')))
    }
    return keep(key, { power: 'running' })
  }
  const keep = <T>(key: string, value: T): T => {
    journal.set(key, value)
    return value
  }
  const answered = (value: unknown) => {
    if (value instanceof Error) throw value
    return value
  }
  return {
    sagas: [building, copying],
    building,
    answer,
    left: () => ({
      bookings: bookings.size,
      things: things.size,
      rows: db.$client.query('SELECT 1 FROM rows').all().length,
    }),
  }
}
const whole = { bookings: 1, things: 4, rows: 2 }
const nothing = { bookings: 0, things: 0, rows: 0 }

type Disturbance = { at: string; does: 'crash' | 'cancel' | 'node removed' } | undefined
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
    else current.node('a', 'gone')
  }
  const start = () => {
    current = engine(world.sagas, { db, failpoints })
    current.answering(world.answer)
    return current
  }
  let e = start()
  id = e.start(world.building, 'a', { holds: 'x' })
  for (let i = 0; i < 50; i++) {
    await e.runner.idle()
    await new Promise(setImmediate)
    const open = e.jobs().filter((j) => j.state !== 'succeeded' && j.state !== 'failed')
    if (!open.length && e.jobs().every((j) => j.undoNodeId === null)) break
    if (disturbance?.does !== 'crash') continue
    e.runner.stop()
    await e.runner.idle()
    e = start()
    e.runner.start()
  }
  return { job: e.job(id), jobs: e.jobs(), left: world.left(), moments }
}

const undisturbed = await play(undefined, undefined)
const steps = ['plan', 'book', 'prepare', 'make', 'check', 'define', 'tell']
const failures: Failure[] = steps.flatMap((step) =>
  [false, true].filter((late) => !late || !['plan', 'check', 'tell'].includes(step)).map((late) => ({ step, late })),
)
const words = (failure: Failure) =>
  failure ? `with "${failure.step}" failing ${failure.late ? 'late' : 'early'}` : 'where nothing fails'

function mustBeWholeOrNothing({ job, jobs, left }: Awaited<ReturnType<typeof play>>) {
  expect(jobs.filter((j) => j.state !== 'succeeded' && j.state !== 'failed' && j.undoNodeId !== null)).toEqual([])
  expect(['succeeded', 'failed']).toContain(job.state)
  expect(left).toEqual(job.state === 'succeeded' ? whole : nothing)
}

test('undisturbed, the job and its children succeed and everything is there once', () => {
  expect(undisturbed.jobs.map((j) => [j.kind, j.state, j.progress])).toEqual([
    ['build', 'succeeded', 100],
    ['copy', 'succeeded', 100],
    ['copy', 'succeeded', 100],
  ])
  expect(undisturbed.left).toEqual(whole)
})

for (const failure of [undefined, ...failures]) {
  const { moments, ...plain } = await play(failure, undefined)
  describe(words(failure), () => {
    if (failure)
      test('everything that was begun is undone', () => {
        expect(plain.job.state).toBe('failed')
        expect(plain.left).toEqual(nothing)
      })
    for (const at of quickly([...new Set(moments)], 4, moments.length)) {
      test(`crash at ${at}`, async () => {
        const end = await play(failure, { at, does: 'crash' })
        expect(end.job.state).toBe(plain.job.state)
        mustBeWholeOrNothing(end)
      })
      if (!failure)
        test(`cancelled at ${at}`, async () => mustBeWholeOrNothing(await play(failure, { at, does: 'cancel' })))
      if (!failure)
        test(`node removed at ${at}`, async () => {
          const end = await play(failure, { at, does: 'node removed' })
          expect(['succeeded', 'failed']).toContain(end.job.state)
          expect(end.jobs.every((j) => j.undoNodeId === null)).toBe(true)
          // The node took its things with it; the rest is undone.
          if (end.job.state === 'failed') expect(end.left).toMatchObject({ bookings: 0, rows: 0 })
        })
    }
  })
}

describe('an external step', () => {
  const calls: string[] = []
  const calling = (answers: (n: number) => unknown, tries?: number) =>
    saga<object>('call').external('call', 'Calling', {
      ...(tries ? { tries } : {}),
      async do(_, { key }) {
        calls.push(key)
        const answer = answers(calls.length)
        if (answer instanceof Error) throw answer
        return answer
      },
      async undo(_, { key }) {
        calls.push(key)
      },
    })
  test('that fails is tried again under the same key with growing pauses, and then goes on', async () => {
    calls.length = 0
    const pauses: number[] = []
    const made = calling((n) => (n < 4 ? new Error('down') : { id: 7 }))
    const e = engine([made], { pauseMs: (tries) => pauses.push(tries) && 1 })
    const id = e.start(made, null)
    await e.runner.idle()
    expect(e.job(id)).toMatchObject({ state: 'succeeded', errorCode: null, tries: 0 })
    expect([calls, pauses]).toEqual([Array.from({ length: 4 }, () => `${id}/call`), [1, 2, 3]])
  })
  test('gives up after its tries and is undone, because it may have been done', async () => {
    calls.length = 0
    const made = calling(() => new ExternalFailed('timeout', 'No answer.'), 3)
    const e = engine([made])
    const id = e.start(made, null)
    await e.runner.idle()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'timeout', errorMessage: 'No answer.' })
    expect(calls).toEqual([`${id}/call`, `${id}/call`, `${id}/call`, `${id}/call/undo`])
  })
  test('that is refused for good is not tried again', async () => {
    calls.length = 0
    const made = calling(() => new ExternalFailed('no_such_bucket', 'There is no such bucket.', true))
    const e = engine([made])
    const id = e.start(made, null)
    await e.runner.idle()
    expect([e.job(id).errorCode, calls.length]).toEqual(['no_such_bucket', 2])
  })
  test('goes on counting its tries after a restart', async () => {
    calls.length = 0
    const made = calling(() => new ExternalFailed('timeout', 'No answer.'), 3)
    const e = engine([made], { pauseMs: () => 1e6 })
    const id = e.start(made, null)
    for (let i = 0; i < 20 && e.job(id).tries < 1; i++) await Bun.sleep(1)
    e.runner.stop()
    await e.runner.idle()
    const again = engine([made], { db: e.db })
    again.runner.start()
    await again.runner.idle()
    expect([again.job(id).state, calls.length]).toEqual(['failed', 4])
  })
})

describe('child jobs', () => {
  const child = saga<Input>('child').command('look', 'Looking', { do: ({ input }) => look(input.nodeId) })
  const parent = saga<Input>('parent').jobs('children', 'Starting', {
    start: (_, { input }) =>
      [1, 2, 3].map((n) => childJob(child, input, { title: `Child ${n}`, nodeId: input.nodeId, holds: 'x' })),
  })
  const settled = async () => {
    for (let i = 0; i < 10; i++) await new Promise(setImmediate)
    await Bun.sleep(2)
  }
  test('of one lock go one after another, and their parent shows how far they are', async () => {
    const e = engine([parent, child])
    const id = e.start(parent, 'a')
    await settled()
    const seen = []
    for (let n = 0; n < 3; n++) {
      expect(e.sent.length).toBe(n + 1)
      e.sent[n]!.done()
      await settled()
      seen.push(e.job(id).progress)
    }
    await e.runner.idle()
    expect([e.job(id).state, seen]).toEqual(['succeeded', [33, 67, 100]])
    expect(e.jobs().filter((j) => j.parentId === id).length).toBe(3)
  })
  test('work under the lock that their parent holds', async () => {
    const e = engine([parent, child])
    const id = e.start(parent, 'a', { holds: 'x' })
    await settled()
    expect(e.sent.length).toBe(3)
    for (const command of [...e.sent]) command.done()
    await e.runner.idle()
    await settled()
    expect(e.job(id).state).toBe('succeeded')
  })
  test('one that fails fails its parent, which says which and why', async () => {
    const e = engine([parent, child])
    const id = e.start(parent, 'a')
    await settled()
    e.sent[0]!.fail('no_space')
    for (let n = 1; n < 3; n++) {
      await settled()
      e.sent[n]!.done()
    }
    await settled()
    expect(e.job(id)).toMatchObject({
      state: 'failed',
      errorCode: 'child_failed',
      errorMessage: '“Child 1” failed: It failed with no_space.',
    })
  })
  test('are cancelled with their parent', async () => {
    const e = engine([parent, child])
    const id = e.start(parent, 'a')
    await settled()
    e.cancel(id, 'not wanted')
    await settled()
    expect(e.jobs().map((j) => [j.kind, j.state])).toEqual([
      ['parent', 'undoing'],
      ['child', 'running'],
      ['child', 'failed'],
      ['child', 'failed'],
    ])
    e.sent[0]!.done()
    await settled()
    expect(e.jobs().map((j) => [j.state, j.errorCode])).toEqual([
      ['failed', 'cancelled'],
      ['succeeded', null],
      ['failed', 'cancelled'],
      ['failed', 'cancelled'],
    ])
  })
})
