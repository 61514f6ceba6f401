// How long restarts wait on a node that is busy with copies: 1,000 restarts, ordered at once or at a pace, beside 8
// copies that never end. Waiting is the time from the order until the job begins. `.tools/bun test/bench/lanes.ts`
// prints the figures.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { nodeCommand } from '../../agent/protocol/wire.ts'
import { system } from '../../src/kernel/api/actor.ts'
import { openDb, write } from '../../src/kernel/db/open.ts'
import type { Nodes } from '../../src/kernel/jobs/runner/execution.ts'
import { Runner } from '../../src/kernel/jobs/runner/runner.ts'
import { saga } from '../../src/kernel/jobs/saga.ts'
import { startJob } from '../../src/kernel/jobs/start.ts'

const workload = `srv_${'0'.repeat(26)}`
const NODE = 'node'
/** The steps of a restart as servers have them. */
const restart = saga<object>('restart')
  .command('look', 'Looking', { do: () => nodeCommand(NODE, 'vm.look', { workload }) })
  .command('stop', 'Stopping', { do: () => nodeCommand(NODE, 'vm.stop', { workload, graceSeconds: 90 }) })
  .command('start', 'Starting', { do: () => nodeCommand(NODE, 'vm.start', { workload }) })
  .record('note', 'Noting', { do: () => {} })
const copy = saga<object>('copy', { lane: 'bulk' }).command('copy', 'Copying', {
  do: () => nodeCommand(NODE, 'vm.look', { workload }),
})

export type LaneFigures = {
  restarts: number
  copiesAtWork: number
  p50Ms: number
  p99Ms: number
  mostMs: number
  allMs: number
}

/**
 * `path`: the database, on disk or in memory. `perSecond`: how many restarts are ordered a second. The node answers
 * each command of a restart after `answerMs`, and no copy.
 */
export async function lanes({
  restarts = 1000,
  copies = 8,
  answerMs = 1,
  perSecond = Number.POSITIVE_INFINITY,
  path = ':memory:',
} = {}): Promise<LaneFigures> {
  const db = openDb(path)
  const nodes: Nodes = {
    state: () => 'connected',
    awaySince: () => undefined,
    drop() {},
    send: async (key) => {
      if (key.endsWith('/copy')) return new Promise(() => {})
      await Bun.sleep(answerMs)
      return { power: 'running' }
    },
  }
  const runner = new Runner({ db, sagas: [restart, copy], nodes, clock: Date.now })
  const order = (kind: typeof copy | typeof restart, title: string, holds: string) =>
    write(db, (tx) => startJob(tx, kind, {}, { by: system, title, holds, nodeId: NODE, now: Date.now() }))
  for (let i = 0; i < copies; i++) order(copy, 'Copy', `copy${i}`)
  const began = performance.now()
  for (let i = 0; i < restarts; i++) {
    order(restart, 'Restart', `server${i}`)
    // Orders come by calls: between two of them the loop turns.
    if (i % 10 === 9) await new Promise(setImmediate)
    const early = ((i + 1) / perSecond) * 1000 - (performance.now() - began)
    if (early > 5) await Bun.sleep(early)
  }
  const left = db.$client.prepare<{ n: number }, []>(
    "SELECT count(*) AS n FROM jobs WHERE kind = 'restart' AND state <> 'succeeded'",
  )
  while (left.get()!.n) await Bun.sleep(5)
  const allMs = performance.now() - began
  const waits = db.$client
    .query<{ ms: number }, []>("SELECT started_at - created_at AS ms FROM jobs WHERE kind = 'restart' ORDER BY ms")
    .all()
    .map(({ ms }) => ms)
  const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]!
  const atWork = db.$client.query<{ n: number }, []>(
    "SELECT count(*) AS n FROM jobs WHERE kind = 'copy' AND state = 'running'",
  )
  const copiesAtWork = atWork.get()!.n
  runner.stop()
  db.$client.close()
  return {
    restarts: waits.length,
    copiesAtWork,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    mostMs: at(1),
    allMs: Math.round(allMs),
  }
}

if (import.meta.main) {
  const dir = mkdtempSync(`${tmpdir()}/berth-lanes-`)
  for (const perSecond of [200, 500, Number.POSITIVE_INFINITY])
    for (const answerMs of [1, 20]) {
      const figures = await lanes({ answerMs, perSecond, path: `${dir}/${perSecond}-${answerMs}.db` })
      console.log(`${perSecond} a second, commands of ${answerMs} ms: ${JSON.stringify(figures)}`)
    }
  rmSync(dir, { recursive: true })
}
