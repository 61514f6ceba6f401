// Secrets in the input of a job are in its rows until it has ended for good, and not longer.
import { describe, expect, test } from 'bun:test'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { AWAY_MS } from '../../../src/kernel/jobs/runner/away.ts'
import { saga } from '../../../src/kernel/jobs/saga.ts'
import { type Engine, engine, tick } from './engine.ts'

const hash = '$6$salt$hash/of.it'
type Input = { nodeId: string; access: { hash: string | null } }
const look = (nodeId: string) => nodeCommand(nodeId, 'vm.look', { workload: `srv_${'0'.repeat(26)}` })
const installing = saga<Input>('install', { secrets: ({ access }: Input) => [access.hash] })
  .record('plan', 'Planning', { do: (_, { input }) => ({ seed: `hash: "${input.access.hash}"` }), undo: () => {} })
  .command('make', 'Making', { do: ({ input }) => look(input.nodeId), undo: ({ input }) => look(input.nodeId) })

const rows = ({ db }: Engine) =>
  JSON.stringify([db.$client.query('SELECT * FROM jobs').all(), db.$client.query('SELECT * FROM job_steps').all()])
async function begin() {
  const e = engine([installing])
  const id = e.start(installing, 'a', { input: { access: { hash } } })
  await tick()
  expect(rows(e).split(hash).length).toBe(3)
  return { e, id }
}
function expectErased(e: Engine, id: string) {
  expect(rows(e)).not.toContain('$6$')
  expect(e.job(id).input).toEqual({ nodeId: 'a', access: { hash: null } })
}

describe('a secret in the input of a job is erased', () => {
  test('when it has succeeded', async () => {
    const { e, id } = await begin()
    e.sent[0]!.done()
    await e.runner.idle()
    expect(e.job(id).state).toBe('succeeded')
    expectErased(e, id)
  })
  test('when it has failed and is undone', async () => {
    const { e, id } = await begin()
    e.sent[0]!.fail('no_space')
    await tick()
    e.answering(() => ({}))
    await e.runner.idle()
    expect(e.job(id).state).toBe('failed')
    expectErased(e, id)
  })
  test('when it ends before it began', async () => {
    const e = engine([installing])
    e.node('a', 'away')
    const id = e.start(installing, 'a', { input: { access: { hash } } })
    e.cancel(id)
    await e.runner.idle()
    expect(e.job(id).state).toBe('failed')
    expectErased(e, id)
  })
  test('when the rest of its undo is done, and not while that waits for its node', async () => {
    const { e, id } = await begin()
    e.node('a', 'away')
    e.turnClock(AWAY_MS)
    e.runner.sweep()
    await tick()
    expect([e.job(id).undoNodeId, rows(e).includes(hash)]).toEqual(['a', true])
    e.answering(() => ({}))
    e.node('a', 'connected')
    await tick()
    expect(e.job(id).undoNodeId).toBe(null)
    expectErased(e, id)
  })
})
