// The note that a command is answered goes to disk with the next transaction of its job, and is lost to no undo.
import { expect, test } from 'bun:test'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { afterWrite, type openDb } from '../../../src/kernel/db/open.ts'
import { InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import { saga } from '../../../src/kernel/jobs/saga.ts'
import { freshDb } from '../../support/world/fresh-db.ts'
import { engine } from './engine.ts'

const workload = `srv_${'0'.repeat(26)}`
type Input = { nodeId: string }
const look = ({ input }: { input: Input }) => nodeCommand(input.nodeId, 'vm.look', { workload })
const stepsOf = (db: ReturnType<typeof openDb>) =>
  db.$client
    .query<{ name: string; state: string }, []>('SELECT name, state FROM job_steps ORDER BY name')
    .all()
    .map(({ name, state }) => `${name} ${state}`)

test('a job of four commands costs six transactions: one per step and one for its end, beside its order', async () => {
  const four = ['a', 'b', 'c', 'd'].reduce((made, name) => made.command(name, name, { do: look }), saga<Input>('four'))
  const db = freshDb()
  const e = engine([four], { db })
  e.answering(() => ({ power: 'running' }))
  let transactions = 0
  afterWrite(db, () => transactions++)
  e.start(four, 'n')
  await e.runner.idle()
  expect([transactions, stepsOf(db)]).toEqual([6, ['a done', 'b done', 'c done', 'd done']])
})

test('a step that fails behind it leaves the answer to the undo, and on disk', async () => {
  const undone: unknown[] = []
  const failing = saga<Input>('failing')
    .command('make', 'Making', {
      do: look,
      undo: ({ out }) => void undone.push(out.make) as undefined,
    })
    .record('check', 'Checking', {
      do() {
        throw new Error('broken')
      },
    })
  const db = freshDb()
  const atFailure: string[][] = []
  const e = engine([failing], {
    db,
    failpoints: (moment) => void (moment === 'failing:failing' && atFailure.push(stepsOf(db))),
  })
  e.answering(() => ({ power: 'paused' }))
  const id = e.start(failing, 'n')
  await e.runner.idle()
  expect(e.job(id).state).toBe('failed')
  expect(undone).toEqual([{ power: 'paused' }])
  expect(atFailure).toEqual([['check started', 'make done']])
})

test('a crash before that transaction sends the command again under its key, and its answer counts once', async () => {
  const seen: unknown[] = []
  const two = saga<Input>('two')
    .command('make', 'Making', { do: look })
    .record('use', 'Using', { do: (_, { out }) => void seen.push(out.make) })
  const db = freshDb()
  const first = engine([two], {
    db,
    failpoints(moment) {
      if (moment === 'two/make:noted') throw new InjectedCrash()
    },
  })
  first.answering(() => ({ power: 'paused' }))
  const id = first.start(two, 'n')
  await first.runner.idle()
  expect(stepsOf(db)).toEqual(['make started'])
  const second = engine([two], { db })
  second.answering(() => ({ power: 'paused' }))
  second.runner.start()
  await second.runner.idle()
  expect([first, second].map((e) => e.sent.map(({ key }) => key))).toEqual([[`${id}/make`], [`${id}/make`]])
  expect([second.job(id).state, seen, stepsOf(db)]).toEqual([
    'succeeded',
    [{ power: 'paused' }],
    ['make done', 'use done'],
  ])
})
