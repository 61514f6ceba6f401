// A job of two nodes whose undo is left on the other one: what it works on is free at once for a suspension or any
// other job, and the rest is undone when that node is back, also after a restart.
import { describe, expect, test } from 'bun:test'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { saga } from '../../../src/kernel/jobs/saga.ts'
import { type Engine, engine, tick } from './engine.ts'

const workload = `srv_${'0'.repeat(26)}`
const look = (nodeId: string) => nodeCommand(nodeId, 'vm.look', { workload })

const undone: string[] = []
const moving = saga<{ nodeId: string }>('move', { twoNodes: true })
  .record('plan', 'Planning', { do: () => {}, undo: () => void undone.push('plan'), undoAtOnce: false })
  .record('begin', 'Beginning', { do: () => {}, undo: () => void undone.push('begin'), undoAtOnce: true })
  .command('stop', 'Stopping it', { do: () => look('a'), undo: () => look('a') })
  .command('receive', 'Making its disk', { do: () => look('b'), undo: () => look('b') })
  .command('copy', 'Copying', { do: () => look('a') })
  .record('tell', 'Moved', { do: () => {} })
const suspending = saga<{ nodeId: string }>('suspend').command('off', 'Stopping it', { do: () => look('a') })

const ended = (e: Engine) => e.sent.map(({ key, ended }) => `${key.replace(/^\w+\//, '')}${ended ? '' : ' waits'}`)
/** It copies; the nodes named go away. */
async function copying(...away: string[]) {
  undone.length = 0
  const e = engine([moving, suspending])
  const id = e.start(moving, 'a', { holds: 'x', otherNodeId: 'b' })
  for (let i = 0; i < 2; i++) {
    await tick()
    e.sent[i]!.done()
  }
  await tick()
  expect(ended(e)).toEqual(['stop', 'receive', 'copy waits'])
  for (const node of away) e.node(node, 'away')
  return { e, id }
}
const suspend = (e: Engine) => e.start(suspending, 'a', { holds: 'x', supersedes: true })
/** Every command that waits on this node is done. */
async function answered(e: Engine, nodeId: string) {
  await tick()
  for (const command of e.sent) if (command.nodeId === nodeId && !command.ended) command.done()
  await tick()
}
async function isBack(e: Engine, nodeId: string) {
  e.node(nodeId, 'connected')
  await answered(e, nodeId)
}

describe('while the other node is away', () => {
  test('a job that fails gives its lock back at once, and the rest of its undo follows', async () => {
    const { e, id } = await copying('b')
    e.sent[2]!.fail('transfer_cut')
    await answered(e, 'a')
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'transfer_cut', undoNodeId: 'b', holds: null })
    expect([undone, ended(e)]).toEqual([['begin'], ['stop', 'receive', 'copy', 'stop/undo']])
    const next = suspend(e)
    await answered(e, 'a')
    expect(e.job(next).state).toBe('succeeded')
    await isBack(e, 'b')
    expect([e.job(id).undoNodeId, undone, ended(e).at(-1)]).toEqual([null, ['begin', 'plan'], 'receive/undo'])
  })
  test('a job that supersedes it begins as soon as its own node is as before', async () => {
    const { e, id } = await copying('b')
    const next = suspend(e)
    await tick()
    // A command at work on a node that is there is awaited.
    expect(ended(e)).toEqual(['stop', 'receive', 'copy waits'])
    e.sent[2]!.done()
    await tick()
    expect([e.job(next).state, ended(e).at(-1)]).toEqual(['queued', 'stop/undo waits'])
    await answered(e, 'a')
    expect([e.job(id).state, ended(e).at(-1)]).toEqual(['failed', 'off waits'])
    await answered(e, 'a')
    expect(e.job(next).state).toBe('succeeded')
  })
  test('a restart leaves the lock free, and undoes the rest when the node is back', async () => {
    const { e, id } = await copying('b')
    e.sent[2]!.fail('transfer_cut')
    await answered(e, 'a')
    e.runner.stop()
    const after = engine([moving, suspending], { db: e.reopened() })
    after.node('b', 'away')
    after.runner.start()
    const next = suspend(after)
    await answered(after, 'a')
    expect([after.job(next).state, after.job(id).undoNodeId]).toEqual(['succeeded', 'b'])
    await isBack(after, 'b')
    expect([after.job(id).undoNodeId, undone]).toEqual([null, ['begin', 'plan']])
  })
  test('nothing is left to undo there once it is lost', async () => {
    const { e, id } = await copying('b')
    e.sent[2]!.fail('transfer_cut')
    await answered(e, 'a')
    e.node('b', 'gone')
    await tick()
    expect([e.job(id).undoNodeId, undone]).toEqual([null, ['begin', 'plan']])
  })
})

test('an undo on the other node that goes away meanwhile is waited for no longer', async () => {
  const { e, id } = await copying()
  e.sent[2]!.fail('transfer_cut')
  await tick()
  expect(ended(e).at(-1)).toBe('receive/undo waits')
  e.node('b', 'away')
  await answered(e, 'a')
  expect(e.job(id)).toMatchObject({ state: 'failed', undoNodeId: 'b', holds: null })
  await isBack(e, 'b')
  expect([e.job(id).undoNodeId, undone]).toEqual([null, ['begin', 'plan']])
})

for (const first of ['a', 'b'])
  test(`with both nodes away the lock is held until its own one is back, whichever comes first: ${first}`, async () => {
    const { e, id } = await copying('a', 'b')
    e.cancel(id)
    await tick()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'cancelled', undoNodeId: 'a', holds: 'x' })
    const next = suspend(e)
    await tick()
    expect(e.job(next).state).toBe('queued')
    if (first === 'b') await isBack(e, 'b')
    expect(e.job(next).state).toBe('queued')
    await isBack(e, 'a')
    await answered(e, 'b')
    for (let i = 0; i < 2; i++) await answered(e, 'a')
    expect([e.job(next).state, e.job(id).undoNodeId]).toEqual(['succeeded', first === 'a' ? 'b' : null])
    await isBack(e, 'b')
    expect([e.job(id).undoNodeId, undone]).toEqual([null, ['begin', 'plan']])
  })

test('a job without a node of its own keeps its lock until all is undone', async () => {
  undone.length = 0
  const e = engine([moving, suspending])
  const id = e.start(moving, null, { holds: 'x' })
  for (let i = 0; i < 2; i++) {
    await tick()
    e.sent[i]!.done()
  }
  await tick()
  e.cancel(id)
  e.node('b', 'away')
  await answered(e, 'a')
  await answered(e, 'a')
  expect(e.job(id)).toMatchObject({ state: 'failed', undoNodeId: 'b', holds: 'x' })
})

describe('a saga of two nodes', () => {
  test('says of each undo of its record whether it waits for the other node, or does not load', () => {
    const plan = { do: () => {}, undo: () => {} }
    expect(() => saga('move', { twoNodes: true }).record('plan', 'Planning', plan)).toThrow(
      'move is of two nodes: the undo of plan must say undoAtOnce, true or false',
    )
    for (const undoAtOnce of [true, false])
      expect(saga('move', { twoNodes: true }).record('plan', 'Planning', { ...plan, undoAtOnce }).steps).toHaveLength(1)
  })
  test('says that it is one: no other job has a second node, nor does on another one what it may undo', async () => {
    undone.length = 0
    const silent = saga<{ nodeId: string }>('copy')
      .record('plan', 'Planning', { do: () => {}, undo: () => void undone.push('plan') })
      .command('receive', 'Making its disk', { do: () => look('b'), undo: () => look('b') })
    const e = engine([silent])
    expect(() => e.start(silent, 'a', { otherNodeId: 'b' })).toThrow('copy involves a second node')
    const id = e.start(silent, 'a')
    await answered(e, 'b')
    expect(ended(e)).toEqual(['receive/undo'])
    expect([e.job(id), undone]).toMatchObject([{ state: 'failed', errorCode: 'internal_error' }, ['plan']])
  })
})
