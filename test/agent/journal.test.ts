import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openJournal } from '../../agent/controller-link/journal.ts'
import { Failure } from '../../agent/failure.ts'
import { dataDir } from './run.ts'

const command = { key: 'job_1/start', name: 'vm.start', kind: 'act' } as const
const journalIn = (dir = dataDir(), now = Date.now) => ({
  dir,
  journal: openJournal(join(dir, 'journal.db'), undefined, now),
})

/** Work that counts its runs and ends on demand. */
function work() {
  const gate = Promise.withResolvers<unknown>()
  let times = 0
  return {
    times: () => times,
    end: gate.resolve,
    do: () => {
      times++
      return gate.promise
    },
  }
}

test('a command that still runs is joined and not started again', async () => {
  const { journal } = journalIn()
  const { end, times, ...running } = work()
  const both = [journal.obey(command, running.do), journal.obey(command, running.do)]
  end({ power: 'running' })
  expect(await Promise.all(both)).toEqual([{ output: { power: 'running' } }, { output: { power: 'running' } }])
  expect(times()).toBe(1)
})
test('a command that has ended is answered from disk, also after a restart of the agent', async () => {
  const { dir, journal } = journalIn()
  await journal.obey(command, async () => ({ power: 'running' }))
  journal.close()
  const again = journalIn(dir).journal
  const neverDone = work()
  expect(await again.obey(command, neverDone.do)).toEqual({ output: { power: 'running' } })
  expect(neverDone.times()).toBe(0)
})
test('a failure is stored and answered like a success', async () => {
  const { journal } = journalIn()
  const failing = async () => {
    throw new Failure('no_bridge', 'this node has no bridge br9')
  }
  const answer = { error: { code: 'no_bridge', message: 'this node has no bridge br9' } }
  expect(await journal.obey(command, failing)).toEqual(answer)
  expect(await journal.obey(command, async () => ({}))).toEqual(answer)
})
test('a defect has another code than a refusal', async () => {
  const broken = async () => (undefined as unknown as { x: { y: 1 } }).x.y
  expect(await journalIn().journal.obey(command, broken)).toMatchObject({ error: { code: 'agent_error' } })
})
test('a command that a crash interrupted runs again', async () => {
  const { dir, journal } = journalIn()
  void journal.obey(command, () => new Promise(() => {}))
  const again = journalIn(dir).journal
  expect(await again.obey(command, async () => ({ done: true }))).toEqual({ output: { done: true } })
})
test('commands that change one workload run one after another, also after a failure; others do not wait', async () => {
  const { journal } = journalIn()
  const [create, remove, look, other] = [work(), work(), work(), work()]
  const of = (key: string, name: string, turn?: string) => ({ key, name, kind: 'act' as const, turn })
  const created = journal.obey(of('job_1/disk', 'volume.create', 'srv_1'), create.do)
  const removed = journal.obey(of('job_1/disk/undo', 'volume.remove', 'srv_1'), remove.do)
  void journal.obey(of('job_1/look', 'vm.look'), look.do)
  void journal.obey(of('job_2/disk', 'volume.create', 'srv_2'), other.do)
  await Bun.sleep(5)
  expect([create.times(), remove.times(), look.times(), other.times()]).toEqual([1, 0, 1, 1])
  create.end(Promise.reject(new Failure('pool_full', 'no space')))
  expect(await created).toHaveProperty('error')
  await Bun.sleep(5)
  expect(remove.times()).toBe(1)
  remove.end({})
  expect(await removed).toEqual({ output: {} })
})
test('another key is another command', async () => {
  const { journal } = journalIn()
  await journal.obey(command, async () => ({ n: 1 }))
  expect(await journal.obey({ ...command, key: 'job_1/start/undo' }, async () => ({ n: 2 }))).toEqual({
    output: { n: 2 },
  })
})
test('answers are deleted after two weeks', async () => {
  const { dir, journal } = journalIn()
  await journal.obey(command, async () => ({ n: 1 }))
  journal.close()
  const inDays = (days: number) => () => Date.now() + days * 86_400_000
  expect(await journalIn(dir, inDays(13)).journal.obey(command, async () => ({ n: 2 }))).toEqual({ output: { n: 1 } })
  expect(await journalIn(dir, inDays(15)).journal.obey(command, async () => ({ n: 3 }))).toEqual({ output: { n: 3 } })
})
test('inputs are not stored', async () => {
  const { dir, journal } = journalIn()
  await journal.obey({ ...command, ...{ input: { userData: { passwd: 'a-hash' } } } }, async () => ({}))
  journal.close()
  expect(await Bun.file(join(dir, 'journal.db')).text()).not.toContain('a-hash')
})
test('the answer of a command that looks is not stored', async () => {
  const { journal } = journalIn()
  const asked = { key: 'job_1/look', name: 'vm.look', kind: 'look' } as const
  let times = 0
  for (let i = 0; i < 2; i++) await journal.obey(asked, async () => ({ power: ++times }))
  expect(times).toBe(2)
})
