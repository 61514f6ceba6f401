// The field `unstored` of a job's input is in memory alone: no row, log line, failure or line of the journal has it,
// and a restart loses it. The job is undone then and says what to do.
import { describe, expect, test } from 'bun:test'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { system } from '../../../src/kernel/api/actor.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { CommandFailed } from '../../../src/kernel/jobs/failures.ts'
import { forwardSaga, type Saga, saga } from '../../../src/kernel/jobs/saga.ts'
import { startJob } from '../../../src/kernel/jobs/start.ts'
import { scrubbed } from '../../../src/kernel/jobs/unstored.ts'
import { type Engine, engine, tick } from './engine.ts'

const canary = 'Canary-7c1f-password'
const workload = `srv_${'0'.repeat(26)}`
type Input = { nodeId: string; unstored: { password: string } }
const undone: string[] = []
const signing = saga<Input>('sign_in')
  .record('plan', 'Planning', { do: () => {}, undo: () => void undone.push('plan') })
  .command('sign-in', 'Signing in', {
    do: ({ input }) =>
      nodeCommand(input.nodeId, 'guest.set-password', {
        workload,
        user: 'root',
        hash: `$6$${input.unstored.password}`,
      }),
    undo: ({ input }) => nodeCommand(input.nodeId, 'vm.look', { workload }),
  })
  .record('note', 'Noting', { do: () => {} })
const breaking = saga<Input>('break').record('break', 'Breaking', {
  do: (_, { input }) => {
    throw new Error(`cannot use ${input.unstored.password}`)
  },
})

const begin = (s: Saga = signing, options: Parameters<typeof engine>[1] = {}) => {
  undone.length = 0
  const e = engine([s], options)
  return { e, id: e.start(s, 'a', { input: { unstored: { password: canary } } }) }
}
/** The whole database as it is on disk, with everything that was deleted in it, and what the journal was told. */
const stored = (e: Engine) => Buffer.from(e.db.$client.serialize()).toString('latin1') + JSON.stringify(e.described)
const never = (e: Engine) => expect(stored(e).includes(canary)).toBe(false)

describe('an unstored input', () => {
  test('reaches its command and nothing that is stored; it is forgotten at the end', async () => {
    const { e, id } = begin()
    await tick()
    expect(e.sent.map((s) => s.name)).toEqual(['guest.set-password'])
    expect(JSON.stringify(e.inputs)).toContain(canary)
    never(e)
    e.sent[0]!.done({ set: true })
    await e.runner.idle()
    expect(e.job(id)).toMatchObject({ state: 'succeeded', input: { nodeId: 'a', unstored: null } })
    never(e)
    expect(scrubbed(e.db, id, canary)).toBe(canary)
  })
  test('is lost at a restart: the job is undone, and says that it must be entered again', async () => {
    const { e, id } = begin()
    await tick()
    e.runner.stop()
    const next = engine([signing], { db: e.reopened() })
    next.answering(() => ({ power: 'running' }))
    next.runner.start()
    await next.runner.idle()
    expect(next.job(id)).toMatchObject({ state: 'failed', errorCode: 'input_lost' })
    expect(next.job(id).errorMessage).toEndWith('Enter it again.')
    expect([next.sent.map((s) => s.key), undone]).toEqual([[`${id}/sign-in/undo`], ['plan']])
    never(next)
  })
  test('that the node repeats in its words is taken out of the log and of the failure', async () => {
    const { e, id } = begin()
    e.answering((key) => {
      if (key.endsWith('/undo')) return { power: 'running' }
      throw new CommandFailed('tool_failed', `sshpass -p ${canary} failed`)
    })
    e.runner.log.add(id, { at: 0, level: 'command', text: `echo ${canary}` })
    await e.runner.idle()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorMessage: 'sshpass -p *** failed' })
    expect(e.log(id)).toContain('echo ***')
    never(e)
  })
  test('in an error of Berth itself is taken out of the journal', async () => {
    const { e, id } = begin(breaking)
    await e.runner.idle()
    expect(e.job(id)).toMatchObject({ state: 'failed', errorCode: 'internal_error' })
    expect(JSON.stringify(e.described)).toContain('cannot use ***')
    never(e)
  })
  test('of a job whose transaction is rolled back is forgotten', () => {
    const e = engine([signing])
    const input = { nodeId: 'a', unstored: { password: canary } }
    let id = ''
    const failing = () =>
      write(e.db, (tx) => {
        id = startJob(tx, signing, input, { by: system, title: 'Sign in', now: 0, nodeId: 'a' })
        throw new Error('no')
      })
    expect(failing).toThrow('no')
    expect(scrubbed(e.db, id, canary)).toBe('***')
    e.runner.sweep()
    expect(scrubbed(e.db, id, canary)).toBe(canary)
    never(e)
  })
  test('is not in the types of an undo, nor of a step past the pivot', () => {
    saga<Input>('undo').record('a', 'A', {
      do: () => {},
      // @ts-expect-error: after a restart there is none, and an undo must work.
      undo: (_, { input }) => void input.unstored,
    })
    saga<Input>('pivot')
      .pivot('a', 'A', { do: () => {} })
      // @ts-expect-error: after a restart there is none, and the step would be tried for ever.
      .record('b', 'B', { do: (_, { input }) => void input.unstored })
    // @ts-expect-error: as above.
    forwardSaga<Input>('forward').record('a', 'A', { do: (_, { input }) => void input.unstored })
  })
})
