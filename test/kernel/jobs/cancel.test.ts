// Cancelling a job, and a job that supersedes another.
import { describe, expect, test } from 'bun:test'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { CommandFailed } from '../../../src/kernel/jobs/failures.ts'
import { forwardSaga, saga } from '../../../src/kernel/jobs/saga.ts'
import { engine, tick } from './engine.ts'

const workload = `srv_${'0'.repeat(26)}`
type Input = { nodeId: string }
const look = (nodeId: string) => nodeCommand(nodeId, 'vm.look', { workload })
const stop = (nodeId: string) => nodeCommand(nodeId, 'vm.stop', { workload, graceSeconds: 0 })

const undone: string[] = []
const building = saga<Input>('build')
  .record('plan', 'Planning', { do: () => {}, undo: (_, { error }) => void undone.push(`plan ${error?.code}`) })
  .command('make', 'Making', { do: ({ input }) => look(input.nodeId), undo: ({ input }) => stop(input.nodeId) })
  .command('wait', 'Waiting', { do: ({ input }) => look(input.nodeId), abandonable: true })
  .record('tell', 'Telling', { do: () => void undone.push('told') })
const stopping = forwardSaga<Input>('stop').command('stop', 'Stopping', {
  do: ({ input }) => stop(input.nodeId),
})
const merging = forwardSaga<Input>('merge', { neverStops: true })
  .command('merge', 'Merging', { do: ({ input }) => look(input.nodeId) })
  .record('tell', 'Telling', { do: () => void undone.push('merged') })
const keysOf = (e: ReturnType<typeof engine>, id: string) =>
  e.sent.filter((s) => s.key.startsWith(id)).map((s) => s.key.slice(id.length + 1))
function fresh() {
  undone.length = 0
  return engine([building, stopping, merging])
}

describe('a job that is cancelled', () => {
  test('awaits the command at work, begins no other step, undoes what it did and says why', async () => {
    const e = fresh()
    const id = e.start(building, 'a')
    await tick()
    expect(e.cancel(id, 'wrong image')).toBe(true)
    await tick()
    expect([e.job(id).state, keysOf(e, id)]).toEqual(['running', ['make']])
    e.sent[0]!.done()
    await tick()
    expect([e.job(id).state, keysOf(e, id)]).toEqual(['undoing', ['make', 'make/undo']])
    e.sent[1]!.done()
    await e.runner.idle()
    expect(e.job(id)).toMatchObject({
      state: 'failed',
      errorCode: 'cancelled',
      errorMessage: 'It was cancelled before its end: wrong image.',
      cancelByName: 'System',
      cancelRequestedAt: 1000,
    })
    expect(undone).toEqual(['plan cancelled'])
    expect(e.log(id).slice(-3)).toEqual([
      'It was cancelled before its end: wrong image.',
      'Rolling back: Making',
      'Failed. Everything it had changed was rolled back.',
    ])
    expect(e.described).toEqual([])
  })
  test('does not wait for a command that only waits', async () => {
    const e = fresh()
    const id = e.start(building, 'a')
    await tick()
    e.sent[0]!.done()
    await tick()
    expect(keysOf(e, id)).toEqual(['make', 'wait'])
    e.cancel(id)
    await tick()
    expect(keysOf(e, id)).toEqual(['make', 'wait', 'make/undo'])
    e.sent[2]!.done()
    await e.runner.idle()
    expect([e.job(id).state, undone]).toEqual(['failed', ['plan cancelled']])
  })
  test('before it began sends nothing to its node, and its first undo says that the whole has failed', async () => {
    const e = fresh()
    e.node('a', 'away')
    const id = e.start(building, 'a')
    await tick()
    expect(e.job(id).state).toBe('queued')
    e.cancel(id)
    await e.runner.idle()
    expect([e.job(id).state, e.job(id).errorCode, undone, e.sent]).toEqual([
      'failed',
      'cancelled',
      ['plan cancelled'],
      [],
    ])
    e.node('a', 'connected')
    await tick()
    expect(e.sent).toEqual([])
  })
  test('in the transaction that queued it never begins', async () => {
    const e = fresh()
    const { startJob, cancelJob } = await import('../../../src/kernel/jobs/start.ts')
    const { write } = await import('../../../src/kernel/db/open.ts')
    const { system } = await import('../../../src/kernel/api/actor.ts')
    const id = write(e.db, (tx) => {
      const made = startJob(tx, building, { nodeId: 'a' }, { by: system, title: 'T', nodeId: 'a', holds: 'x', now: 1 })
      cancelJob(tx, made, { by: system, reason: '', now: 1 })
      return made
    })
    await e.runner.idle()
    expect([e.job(id).state, e.job(id).errorMessage, e.sent]).toEqual([
      'failed',
      'It was cancelled before its end.',
      [],
    ])
    const next = e.start(building, 'a', { holds: 'x' })
    await tick()
    expect(e.job(next).state).toBe('running')
  })
  test('between two tries of a step does not wait for the next', async () => {
    const patient = saga<Input>('patient').external('call', 'Calling', {
      do: () => Promise.reject(new Error('down')),
      undo: async () => void undone.push('call'),
    })
    undone.length = 0
    const e = engine([patient], { pauseMs: () => 1e6 })
    const id = e.start(patient, null)
    await tick()
    e.cancel(id)
    await e.runner.idle()
    expect([e.job(id).errorCode, undone]).toEqual(['cancelled', ['call']])
  })
  test('while its node is away fails at once; its undo waits for the node and comes before the next job', async () => {
    const e = fresh()
    const id = e.start(building, 'a', { holds: 'x' })
    await tick()
    e.node('a', 'away')
    e.cancel(id)
    await tick()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'cancelled', undoNodeId: 'a' })
    const next = e.start(building, 'a', { holds: 'x' })
    const other = e.start(building, 'a', { holds: 'y' })
    e.node('a', 'connected')
    await tick()
    expect([keysOf(e, id), keysOf(e, next), keysOf(e, other)]).toEqual([['make', 'make/undo'], [], ['make']])
    e.sent.find((s) => s.key.endsWith('make/undo'))!.done()
    await tick()
    expect([undone, e.job(id).undoNodeId, keysOf(e, next)]).toEqual([['plan cancelled'], null, ['make']])
  })
  test('stays cancelled over a restart', async () => {
    const e = fresh()
    const id = e.start(building, 'a')
    await tick()
    e.runner.stop()
    e.sent[0]!.fail('stopping')
    await e.runner.idle()
    e.cancel(id)
    const again = engine([building], { db: e.db })
    again.answering(() => ({}))
    again.runner.start()
    await again.runner.idle()
    expect([again.job(id).state, again.job(id).errorCode, keysOf(again, id)]).toEqual([
      'failed',
      'cancelled',
      ['make/undo'],
    ])
  })
  test('at its last step has succeeded, and one that has ended is not asked', async () => {
    const e = fresh()
    e.answering(() => ({}))
    const id = e.start(building, 'a')
    await e.runner.idle()
    expect([e.cancel(id), e.job(id).state, e.job(id).cancelRequestedAt]).toEqual([false, 'succeeded', null])
  })
  test('is asked once: who came first is named', async () => {
    const e = fresh()
    const id = e.start(building, 'a')
    await tick()
    expect([e.cancel(id, 'first'), e.cancel(id, 'second'), e.job(id).cancelReason]).toEqual([true, false, 'first'])
  })
})

describe('a job that supersedes another', () => {
  test('waits until the other has stopped and is undone, then begins', async () => {
    const e = fresh()
    const first = e.start(building, 'a', { holds: 'x' })
    await tick()
    const second = e.start(stopping, 'a', { holds: 'x', supersedes: true, title: 'Suspend web01' })
    await tick()
    expect([e.job(first).state, e.job(second).state]).toEqual(['running', 'queued'])
    e.sent[0]!.done()
    await tick()
    expect([e.job(first).state, keysOf(e, second)]).toEqual(['undoing', []])
    e.sent[1]!.done()
    await tick()
    expect(e.job(first)).toMatchObject({
      state: 'failed',
      errorCode: 'cancelled',
      errorMessage: 'It was cancelled before its end: replaced by “Suspend web01”.',
    })
    expect(keysOf(e, second)).toEqual(['stop'])
    e.sent[2]!.done()
    await e.runner.idle()
    expect(e.job(second).state).toBe('succeeded')
  })
  test('is refused nothing, while any other job is', async () => {
    const e = fresh()
    e.start(building, 'a', { holds: 'x' })
    await tick()
    e.start(stopping, 'a', { holds: 'x', supersedes: true })
    expect(() => e.start(building, 'a', { holds: 'x' })).toThrow('Another job is working')
    expect(e.jobs().length).toBe(2)
  })
  test('stops one past its pivot where it is, and takes its place', async () => {
    const e = fresh()
    let broken = true
    e.answering(() => {
      if (broken) throw new CommandFailed('stuck', 'Stuck.')
      return {}
    })
    const first = e.start(stopping, 'a', { holds: 'x' })
    await tick()
    broken = false
    const second = e.start(stopping, 'a', { holds: 'x', supersedes: true })
    await e.runner.idle()
    expect(e.job(second).state).toBe('succeeded')
    expect(['succeeded', 'failed']).toContain(e.job(first).state)
  })
  test('begins after one that never stops, also where that has to try again, and is away', async () => {
    const e = fresh()
    let broken = true
    e.answering((key) => {
      if (broken && key.includes('/merge')) throw new CommandFailed('stuck', 'Stuck.')
      return {}
    })
    const first = e.start(merging, 'a', { holds: 'x' })
    await tick()
    e.node('a', 'away')
    const second = e.start(stopping, 'a', { holds: 'x', supersedes: true })
    await tick()
    expect([e.job(first).state, e.job(second).state]).toEqual(['running', 'queued'])
    broken = false
    e.node('a', 'connected')
    await e.runner.idle()
    expect([e.job(first).state, e.job(second).state]).toEqual(['succeeded', 'succeeded'])
    expect(undone).toEqual(['merged'])
  })
  test('ends one that never stops where it has not begun', async () => {
    const e = fresh()
    e.answering(() => ({}))
    e.node('a', 'away')
    const first = e.start(merging, 'a', { holds: 'x' })
    const second = e.start(stopping, 'a', { holds: 'x', supersedes: true })
    await tick()
    e.node('a', 'connected')
    await e.runner.idle()
    expect([e.job(first).state, e.job(second).state, undone]).toEqual(['failed', 'succeeded', []])
  })
  test('while the node is away waits for it; all that were superseded have ended at once', async () => {
    const e = fresh()
    e.answering(() => ({}))
    e.node('a', 'away')
    const restart = e.start(building, 'a', { holds: 'x' })
    const suspend = e.start(stopping, 'a', { holds: 'x', supersedes: true })
    const terminate = e.start(stopping, 'a', { holds: 'x', supersedes: true })
    await tick()
    expect([restart, suspend, terminate].map((id) => e.job(id).state)).toEqual(['failed', 'failed', 'queued'])
    e.node('a', 'connected')
    await e.runner.idle()
    expect([e.job(terminate).state, e.sent.map((s) => s.key)]).toEqual(['succeeded', [`${terminate}/stop`]])
  })
  test('keeps its place over a restart', async () => {
    const e = fresh()
    const first = e.start(building, 'a', { holds: 'x' })
    await tick()
    const second = e.start(stopping, 'a', { holds: 'x', supersedes: true })
    e.runner.stop()
    e.sent[0]!.fail('stopping')
    await e.runner.idle()
    const again = engine([building, stopping], { db: e.db })
    const order: string[] = []
    again.answering((key) => {
      order.push(key)
      return {}
    })
    again.runner.start()
    await again.runner.idle()
    expect(order).toEqual([`${first}/make/undo`, `${second}/stop`])
    expect([again.job(first).errorCode, again.job(second).state]).toEqual(['cancelled', 'succeeded'])
  })
})
