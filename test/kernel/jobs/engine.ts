// The runner by itself: sagas of the test, and nodes that answer when they are told to, come and go.
import { type Actor, system } from '../../../src/kernel/api/actor.ts'
import { type openDb, write } from '../../../src/kernel/db/open.ts'
import { CommandFailed } from '../../../src/kernel/jobs/failures.ts'
import { linesAfter } from '../../../src/kernel/jobs/log.ts'
import type { Failpoints, NodeState, Nodes } from '../../../src/kernel/jobs/runner/execution.ts'
import { Runner } from '../../../src/kernel/jobs/runner/runner.ts'
import type { Saga } from '../../../src/kernel/jobs/saga.ts'
import { cancelJob, type NewJob, startJob } from '../../../src/kernel/jobs/start.ts'
import { type Job, jobs } from '../../../src/kernel/jobs/tables.ts'
import { freshDb } from '../../support/world/fresh-db.ts'

type Sent = {
  key: string
  nodeId: string
  name: string
  ended: boolean
  done(output?: unknown): void
  fail(code: string): void
}
type Options = { db?: ReturnType<typeof openDb>; pauseMs?: (tries: number) => number; failpoints?: Failpoints }
type Start = { holds?: string; input?: object; otherNodeId?: string; supersedes?: true; title?: string; by?: Actor }

export function engine(sagas: readonly Saga[], options: Options = {}) {
  const { db = freshDb(), pauseMs = () => 1, failpoints } = options
  const sent: Sent[] = []
  const inputs: unknown[] = []
  const rejects = new Map<string, (error: Error) => void>()
  let answer: ((key: string) => unknown) | undefined
  let now = 1000
  const states = new Map<string, NodeState>()
  const awaySince = new Map<string, number>()
  const stateOf = (nodeId: string) => states.get(nodeId) ?? 'connected'
  function settle(command: Sent) {
    if (!answer || command.ended || stateOf(command.nodeId) !== 'connected') return
    try {
      command.done(answer(command.key))
    } catch (error) {
      command.ended = true
      rejects.get(command.key)!(error as Error)
    }
  }
  const nodes: Nodes = {
    state: stateOf,
    awaySince: (nodeId) => awaySince.get(nodeId),
    drop(key, error) {
      const command = sent.findLast((s) => s.key === key)
      if (!command || command.ended) return
      command.ended = true
      rejects.get(key)!(error)
    },
    send: (key, { nodeId, name, input }) =>
      new Promise((resolve, reject) => {
        if (stateOf(nodeId) === 'gone') return reject(new CommandFailed('node_removed', 'The node was removed.'))
        inputs.push(input)
        rejects.set(key, reject)
        const command: Sent = {
          key,
          nodeId,
          name,
          ended: false,
          done(output: unknown = { power: 'running' }) {
            command.ended = true
            resolve(output)
          },
          fail(code: string) {
            command.ended = true
            reject(new CommandFailed(code, `It failed with ${code}.`))
          },
        }
        sent.push(command)
        settle(command)
      }),
  }
  const described: { level: string; message: string; [about: string]: unknown }[] = []
  const runner = new Runner({
    db,
    sagas,
    nodes,
    clock: () => now,
    pauseMs,
    failpoints,
    tell: (level, message, about) => void described.push({ level, message, ...about }),
  })
  return {
    db,
    runner,
    sent,
    /** The inputs of the commands. */
    inputs,
    described,
    /** The database as another process finds it. */
    reopened: () => freshDb(db.$client.serialize()),
    turnClock: (ms: number) => void (now += ms),
    /** The node goes away, comes back, or is removed; commands that wait for it are sent when it is back. */
    node(nodeId: string, state: NodeState) {
      if (state === 'away') awaySince.set(nodeId, now)
      else awaySince.delete(nodeId)
      states.set(nodeId, state)
      for (const command of sent) if (command.nodeId === nodeId) settle(command)
      runner.sweep()
    },
    answering(how: (key: string) => unknown) {
      answer = how
      for (const command of sent) settle(command)
    },
    start: (s: Saga, nodeId: string | null, { input, title = 'Test', by = system, ...more }: Start = {}) =>
      write(db, (tx) => startJob(tx, s, { nodeId, ...input }, { by, title, now, nodeId, ...more } satisfies NewJob)),
    cancel: (id: string, reason = 'not wanted') => write(db, (tx) => cancelJob(tx, id, { by: system, reason, now })),
    job: (id: string) =>
      db
        .select()
        .from(jobs)
        .all()
        .find((j) => j.id === id) as Job,
    jobs: () => db.select().from(jobs).all(),
    log: (id: string) => linesAfter(db, id, 0).map((l) => l.text),
  }
}
export type Engine = ReturnType<typeof engine>

/**
 * The writes of many jobs go to disk together, and wait a few milliseconds for the transaction of another: this is
 * enough for whatever can go on by itself.
 */
export const tick = async () => {
  for (let wait = 0; wait < 3; wait++) {
    for (let turn = 0; turn < 8; turn++) await new Promise(setImmediate)
    await Bun.sleep(6)
  }
}
