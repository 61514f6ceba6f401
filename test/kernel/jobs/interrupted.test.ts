// S57: a job that an error of the database, or of Berth itself outside the steps, stopped where it stood.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { openDb } from '../../../src/kernel/db/open.ts'
import { childJob, saga } from '../../../src/kernel/jobs/saga.ts'
import { quieten } from '../../../src/kernel/log.ts'
import { emptyDatabase } from '../../support/world/fresh-db.ts'
import { engine, tick } from './engine.ts'

quieten(true)
const workload = `srv_${'0'.repeat(26)}`
type Input = { nodeId: string }
const look = (nodeId: string) => nodeCommand(nodeId, 'vm.look', { workload })

describe('S57: a job that an error interrupted', () => {
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  const two = saga<Input>('two')
    .command('a', 'A', { do: ({ input }) => look(input.nodeId) })
    .record('b', 'B', { do: () => undefined })
  const dirs: string[] = []
  afterAll(() => dirs.forEach((dir) => void rmSync(dir, { recursive: true, force: true })))
  const fileDb = () => {
    const dir = mkdtempSync(`${tmpdir()}/berth-jobs-`)
    dirs.push(dir)
    writeFileSync(`${dir}/berth.db`, emptyDatabase())
    return openDb(`${dir}/berth.db`)
  }

  test('of the database waits, is known to wait, and goes on where it was when writing works again', async () => {
    const e = engine([two], { db: fileDb() })
    const id = e.start(two, 'a')
    await tick()
    e.db.$client.health.met(full)
    e.sent[0]!.done()
    await e.runner.idle()
    expect(e.job(id).state).toBe('running')
    expect(e.runner.interrupted()).toMatchObject([{ jobId: id, byDatabase: true, tries: 1 }])
    // Nothing begins before the database is writable, whatever wakes the runner.
    for (const wake of [() => e.runner.recover('at once'), () => e.runner.kick(), () => e.runner.pickUpOrphans()])
      wake()
    await tick()
    expect(e.sent).toHaveLength(1)
    e.answering(() => ({ power: 'running' }))
    e.db.$client.health.check()
    await tick()
    await e.runner.idle()
    expect([e.job(id).state, e.runner.interrupted()]).toEqual(['succeeded', []])
    expect(new Set(e.sent.map(({ key }) => key)).size).toBe(1)
    expect(e.described).toEqual([])
  })
  test('of Berth itself outside the steps is begun again with growing pauses', async () => {
    const pauses: number[] = []
    const e = engine([two], { pauseMs: (tries) => (pauses.push(tries) > 2 ? 60_000 : 1) })
    e.answering(() => ({ power: 'running' }))
    e.db.$client.run(
      "CREATE TRIGGER outside BEFORE UPDATE OF started_at ON jobs BEGIN SELECT raise(ABORT, 'outside'); END",
    )
    const id = e.start(two, 'a')
    for (let i = 0; i < 200 && pauses.length < 3; i++) await Bun.sleep(2)
    expect(pauses).toEqual([1, 2, 3])
    expect(e.job(id).state).toBe('queued')
    expect(e.runner.interrupted()).toMatchObject([{ jobId: id, reason: 'outside', byDatabase: false, tries: 3 }])
    expect(e.described).toHaveLength(3)
    expect(e.described[0]).toMatchObject({ level: 'error', message: 'a job stopped by an error in Berth itself' })
    e.db.$client.run('DROP TRIGGER outside')
    e.runner.recover('at once')
    await tick()
    await e.runner.idle()
    expect([e.job(id).state, e.runner.interrupted()]).toEqual(['succeeded', []])
  })
  test('is picked up where nothing in memory looks after it: running, queued, waiting for its children', async () => {
    const e = engine([two])
    e.answering(() => ({ power: 'running' }))
    const ids = ['queued', 'running', 'undoing'].map((state) => {
      const id = e.start(two, 'a')
      return [id, state] as const
    })
    await e.runner.idle()
    await tick()
    for (const [id, state] of ids) {
      e.db.$client.run('UPDATE jobs SET state = ?, finished_at = NULL WHERE id = ?', [state, id])
      e.db.$client.run('DELETE FROM job_steps WHERE job_id = ?', [id])
    }
    expect(e.runner.pickUpOrphans()).toBe(3)
    expect(e.runner.pickUpOrphans()).toBe(0)
    await tick()
    await e.runner.idle()
    expect(ids.map(([id]) => e.job(id).state)).toEqual(['succeeded', 'succeeded', 'failed'])
    expect(e.runner.pickUpOrphans()).toBe(0)
  })
  test('is none while it runs, waits for its node, for its lock or for its children', async () => {
    const child = saga<Input>('child').command('a', 'A', { do: ({ input }) => look(input.nodeId) })
    const parent = saga<Input>('parent').jobs('children', 'Children', {
      start: (_, { input }) => [childJob(child, input, { title: 'Child', nodeId: input.nodeId })],
    })
    const e = engine([two, child, parent])
    e.node('away', 'away')
    e.start(two, 'away')
    e.start(two, 'a', { holds: 'lock' })
    e.start(two, 'a', { holds: 'lock', supersedes: true })
    e.start(parent, 'a')
    await tick()
    expect(e.runner.pickUpOrphans()).toBe(0)
  })
})
