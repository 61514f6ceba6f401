// The engine by itself, with sagas of its own and nodes that answer when they are told to. What a crash does to it is
// in test/every/saga.
import { describe, expect, test } from 'bun:test'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { ApiError } from '../../../src/kernel/api/errors.ts'
import type { Db } from '../../../src/kernel/db/open.ts'
import { CommandFailed } from '../../../src/kernel/jobs/failures.ts'
import type { Nodes } from '../../../src/kernel/jobs/runner/execution.ts'
import { AT_ONCE } from '../../../src/kernel/jobs/runner/lanes.ts'
import { Runner } from '../../../src/kernel/jobs/runner/runner.ts'
import { forwardSaga, saga } from '../../../src/kernel/jobs/saga.ts'
import { freshDb } from '../../support/world/fresh-db.ts'
import { engine, tick } from './engine.ts'

const workload = `srv_${'0'.repeat(26)}`
type Input = { nodeId: string; fails?: boolean }
const look = (nodeId: string) => nodeCommand(nodeId, 'vm.look', { workload })
const stop = (nodeId: string) => nodeCommand(nodeId, 'vm.stop', { workload, graceSeconds: 0 })

const looking = saga<Input>('ask', { lane: 'build' }).command('look', 'Looking', {
  do: ({ input }) => look(input.nodeId),
})
const stubborn = forwardSaga<Input>('stubborn').command('look', 'Looking', {
  do: ({ input }) => look(input.nodeId),
})
const nothing = saga<Input>('nothing').record('a', 'Doing nothing', { do: () => {} })

/** Jobs that ended long ago. */
const ended = (db: Db, n: number) =>
  db.$client.run(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${n - 1})
     INSERT INTO jobs (id, kind, title, input, state, lane, started_by_type, started_by_id, started_by_name, created_at,
       progress, step_n, step_of, tries)
     SELECT printf('job_0%025d', i), 'nothing', 'Old', '{}', iif(i % 2, 'failed', 'succeeded'), 'interactive',
       'system', 's', 's', i, 100, 1, 1, 0 FROM n`,
  )
const count = (db: Db, where: string) =>
  (db.$client.query(`SELECT count(*) AS n FROM jobs WHERE ${where}`).get() as { n: number }).n

describe('a job', () => {
  test('goes forward step by step, each with what the ones before gave', async () => {
    const seen: unknown[] = []
    const chain = saga<Input>('chain')
      .record('first', 'One', { do: () => ({ n: 1 }) })
      .command('look', 'Two', {
        do: ({ input, out }) => {
          seen.push({ ...out })
          return look(input.nodeId)
        },
      })
      .command('none', 'Nothing to send', { do: () => undefined })
      .record('last', 'Three', {
        do: (_, { out, log }) => {
          seen.push({ ...out })
          log('a word of its own', 'warning')
        },
      })
    const e = engine([chain])
    e.answering(() => ({ power: 'stopped' }))
    const id = e.start(chain, 'a')
    await e.runner.idle()
    expect(seen).toEqual([{ first: { n: 1 } }, { first: { n: 1 }, look: { power: 'stopped' } }])
    expect(e.job(id)).toMatchObject({
      state: 'succeeded',
      progress: 100,
      startedAt: 1000,
      finishedAt: 1000,
      errorCode: null,
      startedByType: 'system',
      startedByName: 'System',
    })
    expect(e.log(id)).toEqual(['One', 'Two', 'Three', 'a word of its own', 'Done.'])
    expect(e.sent.map((s) => s.key)).toEqual([`${id}/look`])
  })
  test('that fails takes back what was started, backwards, also the step that failed, and says why', async () => {
    const undone: string[] = []
    const building = saga<Input>('build')
      .record('a', 'A', { do: () => {}, undo: (_, { error }) => void undone.push(`a ${error?.code}`) })
      .command('b', 'B', { do: ({ input }) => look(input.nodeId), undo: ({ input }) => stop(input.nodeId) })
      .record('c', 'C', {
        do: () => {
          throw new ApiError('no_capacity', 'No room.')
        },
        undo: () => void undone.push('c'),
      })
      .record('never', 'Never', { do: () => {}, undo: () => void undone.push('never') })
    const e = engine([building])
    e.answering((key) => {
      undone.push(key.split('/').slice(1).join('/'))
      return { power: 'running' }
    })
    const id = e.start(building, 'a')
    await e.runner.idle()
    expect(undone).toEqual(['b', 'c', 'b/undo', 'a no_capacity'])
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'no_capacity', errorMessage: 'No room.' })
    expect(e.log(id).slice(-2)).toEqual(['Rolling back: B', 'Failed. Everything it had changed was rolled back.'])
  })
  test('that breaks by an error of ours shows none of it, and tells the journal all', async () => {
    const broken = saga<Input>('broken').record('a', 'Working', {
      do: () => {
        throw new Error('undefined is not a function')
      },
    })
    const e = engine([broken])
    const id = e.start(broken, 'a')
    await e.runner.idle()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'internal_error' })
    expect(e.job(id).errorMessage).toContain(id)
    expect(JSON.stringify([e.job(id), e.log(id)])).not.toContain('undefined is not a function')
    expect(e.described).toMatchObject([
      { level: 'error', message: 'a step of a job broke', jobId: id, kind: 'broken', step: 'a' },
      { level: 'error', message: 'a job failed', jobId: id, code: 'internal_error' },
    ])
    expect(e.described[0]!['error']).toMatchObject({ message: 'undefined is not a function' })
  })
  test('holds what it works on until its very end: a second is refused, and nothing of it is kept', async () => {
    const e = engine([looking])
    const first = e.start(looking, 'a', { holds: workload })
    expect(() => e.start(looking, 'a', { holds: workload })).toThrow('Another job is working on this')
    expect(count(e.db, '1')).toBe(1)
    await tick()
    e.sent[0]!.done()
    await e.runner.idle()
    expect(e.job(first).state).toBe('succeeded')
    expect(e.start(looking, 'a', { holds: workload })).toStartWith('job_')
  })
  test('shows how far a long command is, never backwards, never 100 before the end', async () => {
    const two = saga<Input>('two')
      .command('a', 'A', { do: ({ input }) => look(input.nodeId) })
      .command('b', 'B', { do: ({ input }) => look(input.nodeId) })
    const e = engine([two])
    const id = e.start(two, 'a')
    await tick()
    const progress = (percent: number) => {
      e.runner.log.progress(id, percent)
      e.runner.log.flush()
      return e.job(id).progress
    }
    expect([progress(0), progress(50), progress(20), progress(100)]).toEqual([0, 25, 25, 50])
    e.sent[0]!.done()
    await tick()
    expect([progress(0), progress(50), progress(100)]).toEqual([50, 75, 99])
    e.sent[1]!.done()
    await e.runner.idle()
    expect(progress(10)).toBe(100)
  })
})

describe('what may not fail', () => {
  test('is tried again with growing pauses, as new commands, and says so', async () => {
    const pauses: number[] = []
    const e = engine([stubborn], { pauseMs: (tries) => pauses.push(tries) && 1 })
    let failures = 4
    e.answering(() => {
      if (failures-- > 0) throw new CommandFailed('no_space', 'The pool is full.')
      return { power: 'running' }
    })
    const id = e.start(stubborn, 'a')
    await e.runner.idle()
    expect(pauses).toEqual([1, 2, 3, 4])
    expect(e.sent.map((s) => s.key)).toEqual(['', '/2', '/3', '/4', '/5'].map((again) => `${id}/look${again}`))
    expect(e.job(id)).toMatchObject({ state: 'succeeded', tries: 0, errorCode: null })
    expect(e.log(id).filter((l) => l.startsWith('The pool is full.')).length).toBe(4)
  })
  test('waits 5, 10, 20 seconds and at the longest ten minutes', () => {
    const nodes: Nodes = {
      send: () => Promise.reject(),
      drop() {},
      state: () => 'connected',
      awaySince: () => undefined,
    }
    const pause = new Runner({ db: freshDb(), sagas: [], nodes, clock: () => 0 }).pauseMs
    expect([1, 2, 3, 4, 7, 8, 9, 1000].map((n) => pause(n) / 1000)).toEqual([5, 10, 20, 40, 320, 600, 600, 600])
  })
  test('shows meanwhile what is wrong, and goes on where it was after a restart, under the next key', async () => {
    const e = engine([stubborn], { pauseMs: () => 1e6 })
    e.answering(() => {
      throw new CommandFailed('no_space', 'The pool is full.')
    })
    const id = e.start(stubborn, 'a')
    await tick()
    expect(e.job(id)).toMatchObject({
      state: 'running',
      errorCode: 'no_space',
      errorMessage: 'The pool is full.',
      tries: 1,
    })
    e.runner.stop()
    await e.runner.idle()
    const again = engine([stubborn], { db: e.db })
    again.answering(() => ({ power: 'running' }))
    again.runner.start()
    await again.runner.idle()
    expect(again.sent.map((s) => s.key)).toEqual([`${id}/look/2`])
    expect(again.job(id)).toMatchObject({ state: 'succeeded', errorCode: null, tries: 0 })
  })
  test('ends when its node is removed for good: nothing is left there to do', async () => {
    const e = engine([stubborn])
    const id = e.start(stubborn, 'a')
    await tick()
    e.sent[0]!.fail('node_removed')
    await e.runner.idle()
    expect(e.job(id).state).toBe('succeeded')
    expect(e.log(id)).toContain('The node was removed, so nothing is done there.')
  })
  test('a job that may fail does so when its node is removed', async () => {
    const e = engine([looking])
    const id = e.start(looking, 'a')
    await tick()
    e.sent[0]!.fail('node_removed')
    await e.runner.idle()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'node_removed' })
  })
  test('an undo is tried until it is done, and only then the job has failed', async () => {
    const building = saga<Input>('build').command('b', 'B', {
      do: ({ input }) => look(input.nodeId),
      undo: ({ input }) => stop(input.nodeId),
    })
    const e = engine([building])
    let left = 3
    e.answering((key) => {
      expect(e.job(key.split('/')[0]!).state).not.toBe('failed')
      if (!key.includes('undo')) throw new CommandFailed('boom', 'Boom.')
      if (left-- > 0) throw new CommandFailed('stuck', 'Stuck.')
      return {}
    })
    const id = e.start(building, 'a')
    await e.runner.idle()
    expect(e.sent.map((s) => s.key.slice(id.length + 1))).toEqual(['b', 'b/undo', 'b/undo/2', 'b/undo/3', 'b/undo/4'])
    expect(e.job(id).state).toBe('failed')
    // At three in the morning only the journal is at hand.
    const about = { jobId: id, kind: 'build', nodeId: 'a', subjectId: null }
    const again = {
      ...about,
      level: 'warning',
      message: 'a step of a job could not be undone and is tried again',
      step: 'b',
    }
    expect(e.described).toEqual([
      ...[1, 2, 3].map((tries) => ({ ...again, code: 'stuck', reason: 'Stuck.', tries, againInSeconds: 1 })),
      { ...about, level: 'error', message: 'a job failed', code: 'boom', reason: 'Boom.' },
    ])
  })
  test('a job past its pivot says each time that it tries again; one that succeeds is no failure', async () => {
    const e = engine([stubborn, nothing])
    let left = 2
    e.answering(() => {
      if (left-- > 0) throw new CommandFailed('busy', 'Busy.')
      return {}
    })
    e.start(stubborn, 'a')
    e.start(nothing, null)
    await e.runner.idle()
    expect(e.described.map(({ level, message, tries }) => [level, message, tries])).toEqual(
      [1, 2].map((tries) => ['warning', 'a step of a job failed and is tried again', tries]),
    )
  })
  test('a job that failed and was hard to take back still says why it failed', async () => {
    const building = saga<Input>('build').command('b', 'B', {
      do: ({ input }) => look(input.nodeId),
      undo: ({ input }) => stop(input.nodeId),
    })
    const e = engine([building])
    let left = 1
    e.answering((key) => {
      if (!key.includes('undo')) throw new CommandFailed('boom', 'Boom.')
      if (left-- > 0) throw new CommandFailed('stuck', 'Stuck.')
      return {}
    })
    const id = e.start(building, 'a')
    await e.runner.idle()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'boom', errorMessage: 'Boom.' })
  })
})

describe('on one node', () => {
  test(`${AT_ONCE.build} jobs go at once and the others wait in the order they came`, async () => {
    const e = engine([looking])
    const ids = Array.from({ length: 7 }, () => e.start(looking, 'a'))
    await tick()
    expect(e.sent.map((s) => s.key)).toEqual(ids.slice(0, 4).map((id) => `${id}/look`))
    expect(count(e.db, "state = 'queued'")).toBe(3)
    e.sent[2]!.done()
    await tick()
    expect(e.sent.map((s) => s.key)).toEqual(ids.slice(0, 5).map((id) => `${id}/look`))
    for (let i = 0; i < 7; i++) {
      e.sent[i]!.done()
      await tick()
    }
    await e.runner.idle()
    expect(ids.map((id) => e.job(id).state)).toEqual(ids.map(() => 'succeeded'))
  })
  test('a hundred jobs that wait delay nobody on another', async () => {
    const e = engine([looking, nothing])
    for (let i = 0; i < 100; i++) e.start(looking, 'away')
    const other = e.start(looking, 'here')
    const none = e.start(nothing, null)
    await tick()
    expect(e.sent.filter((s) => s.nodeId === 'away').length).toBe(AT_ONCE.build)
    expect(e.sent.filter((s) => s.nodeId === 'here').map((s) => s.key)).toEqual([`${other}/look`])
    expect(e.job(none).state).toBe('succeeded')
  })
  test('a job that failed makes room as one that succeeded does', async () => {
    const e = engine([looking])
    const ids = Array.from({ length: 9 }, () => e.start(looking, 'a'))
    for (let i = 0; i < 9; i++) {
      await tick()
      e.sent[i]!.fail('boom')
    }
    await e.runner.idle()
    expect(ids.map((id) => e.job(id).state)).toEqual(ids.map(() => 'failed'))
  })
})

describe('stopping', () => {
  test('begins no new step, and the next start goes on with the one at hand under its key', async () => {
    const two = saga<Input>('two', { lane: 'build' })
      .command('a', 'A', { do: ({ input }) => look(input.nodeId) })
      .command('b', 'B', { do: ({ input }) => look(input.nodeId) })
    const e = engine([two])
    const id = e.start(two, 'a')
    const queued = Array.from({ length: 5 }, () => e.start(two, 'a'))
    await tick()
    e.runner.stop()
    for (const s of e.sent) s.done()
    await e.runner.idle()
    e.start(two, 'b')
    await tick()
    expect(e.sent.length).toBe(AT_ONCE.build)
    expect(e.job(id).state).toBe('running')
    const again = engine([two], { db: e.db })
    again.answering(() => ({ power: 'running' }))
    again.runner.start()
    await again.runner.idle()
    expect(again.sent.filter((s) => s.key.startsWith(id)).map((s) => s.key)).toEqual([`${id}/a`, `${id}/b`])
    expect([id, ...queued].map((j) => again.job(j).state)).toEqual([id, ...queued].map(() => 'succeeded'))
    expect(count(e.db, "state <> 'succeeded'")).toBe(0)
  })
})

describe('of old jobs', () => {
  test('the newest 1000 that ended are kept with their logs, and no other line or step', async () => {
    const e = engine([nothing])
    ended(e.db, 995)
    e.db.$client.run("INSERT INTO job_log SELECT id, 1, 1, 'info', 'Done.' FROM jobs")
    e.db.$client.run("INSERT INTO job_steps SELECT id, 'a', 'done', NULL FROM jobs")
    const made = Array.from({ length: 30 }, (_, i) => e.start(nothing, String(i % 10)))
    await e.runner.idle()
    e.runner.log.flush()
    const kept = e.db.$client
      .query<{ id: string }, []>('SELECT id FROM jobs ORDER BY id')
      .all()
      .map((j) => j.id)
    expect(kept.length).toBe(1000)
    expect(kept.slice(-30)).toEqual(made.toSorted())
    expect(kept[0]).toBe(`job_0${'25'.padStart(25, '0')}`)
    for (const table of ['job_log', 'job_steps'])
      expect(
        e.db.$client
          .query(
            `SELECT count(DISTINCT job_id) AS n,
               count(*) FILTER (WHERE job_id NOT IN (SELECT id FROM jobs)) AS lost FROM ${table}`,
          )
          .get(),
      ).toEqual({ n: 1000, lost: 0 })
  })
  test('one that is not at its end is never deleted, however old it is and however many ended since', async () => {
    const e = engine([looking, nothing])
    const running = Array.from({ length: 6 }, () => e.start(looking, 'slow')) // two of them queued
    await tick()
    ended(e.db, 1100)
    // Younger than the jobs that run.
    e.db.$client.run("UPDATE jobs SET id = 'job_z' || substr(id, 6) WHERE kind = 'nothing'")
    for (let i = 0; i < 5; i++) e.start(nothing, 'other')
    for (let i = 0; i < 10; i++) await tick()
    expect(running.map((id) => e.job(id)?.state)).toEqual([
      'running',
      'running',
      'running',
      'running',
      'queued',
      'queued',
    ])
    expect(count(e.db, "kind = 'nothing'")).toBe(1000)
    for (let i = 0; i < 6; i++) {
      e.sent[i]!.done()
      await tick()
    }
    await e.runner.idle()
    expect(count(e.db, "kind = 'ask'")).toBe(0) // they were the oldest of those that ended
  })
})
