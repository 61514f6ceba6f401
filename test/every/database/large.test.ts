// Among 20,000 servers no page and no call that reads holds the event loop for long, and no statement of one takes
// long: one thread serves everybody. Times are of the processor, and larger where the machine is slower now. What a
// reader makes has a thread of its own.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { inWorker } from '../../../src/app/wiring/reader.ts'
import { API_ROOT } from '../../../src/kernel/api/http.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import type { Page } from '../../../src/kernel/web/page.ts'
import { fillScale, sizeFor } from '../../bench/data/scale/rows.ts'
import { longestHold, threadMs } from '../../support/load/event-loop.ts'
import { peopled, slowness } from '../../support/load/holds.ts'
import { recordStatements } from '../../support/load/statements.ts'
import { quickCount } from '../../support/quick.ts'
import { callerOf, type Everything, everyId, targetsOf } from '../../support/world/everything.ts'

const SERVERS = quickCount(20_000, 4)
const MOST_MS = 25

/** Those that take longer, by the id of the operation or the path of the page: how long at most, and why. */
const known: Readonly<Record<string, { mostMs: number; why: string }>> = {
  '/': { mostMs: 60, why: 'It counts the jobs of a customer with 2,000 servers, those of each of them.' },
  '/jobs': { mostMs: 60, why: 'It counts the jobs of a customer with 2,000 servers, those of each of them.' },
  '/admin': { mostMs: 50, why: 'It reads every node for what needs attention, once in two seconds for all who look.' },
  '/admin/backup-targets': {
    mostMs: 45,
    why: 'Its dialogs of every kind of target are a large page, whatever the company.',
  },
  '/admin/nodes/{id}/drain': { mostMs: 60, why: 'It plans all moves, and judges each node of the location for them.' },
}

let p: Everything
let ids: string[]
let recorded: ReturnType<typeof recordStatements>
beforeAll(async () => {
  p = await peopled({
    startReader: () => inWorker,
    seeded: (dir) => fillScale(dir, sizeFor(SERVERS, SERVERS)),
    opened: (db) => void (recorded ??= recordStatements(db.$client, MOST_MS / 2, threadMs)),
  })
  ids = everyId(p)
}, 180_000)
afterAll(() => p.close())

/** Asks twice, because the first call compiles its statements; answers what was slow both times, with plans. */
async function slowIn(
  name: string,
  who: { cookie?: string },
  path: string,
): Promise<{ status: number; slow: string[] }> {
  let status = 0
  const ask = () =>
    longestHold(async () => {
      const headers = { Cookie: `__Host-panel=${who.cookie}` }
      const response = await p.controller.router.fetch(new Request(`http://localhost${path}`, { headers }))
      status = response.status
      await response.text()
    })
  const usual = known[name]?.mostMs ?? MOST_MS
  let held = await ask()
  recorded.take()
  // Some more times where it is not short: the collection of garbage falls into any call.
  if (held <= (usual * slow) / 2) return { status, slow: [] }
  for (let n = 0; n < 4 && held > usual * slow; n++) {
    held = Math.min(held, await ask())
    slow = Math.max(slow, slowness())
  }
  const said = recorded
    .take()
    .map(
      ({ sql, worstMs, plan }) => `${worstMs.toFixed(0)} ms: ${sql.replace(/\s+/g, ' ')}\n    ${plan.join('\n    ')}`,
    )
  return { status, slow: held > usual * slow ? [`${path} holds the loop for ${held.toFixed(0)} ms`, ...said] : [] }
}
let slow = 1

const targetOf = (ops: readonly Operation[]) => {
  const op = ops.find(({ on }) => on)
  return op && targetsOf(p, op, ids)[0]
}
const withTarget = (path: string, target: string | undefined) => path.replace(/\{\w+\}/, target ?? 'x')

test('a call that is slow is noticed, with its statements', async () => {
  const db = p.db.$client
  const sql = 'SELECT count(*) AS n FROM audit a JOIN audit b ON b.seq < a.seq WHERE a.seq < 3000'
  recorded.take()
  expect(await longestHold(async () => db.query(sql).get())).toBeGreaterThan(MOST_MS)
  expect(recorded.take()).toMatchObject([{ sql, plan: expect.arrayContaining([expect.stringMatching(/^SCAN b/)]) }])
})

describe('nobody is held up', () => {
  test('by a call that reads', async () => {
    slow = slowness()
    const found: string[] = []
    let answered = 0
    for (const op of registry.operations.filter(({ method }) => method === 'GET')) {
      const { status, slow } = await slowIn(
        op.id,
        p.people[callerOf(op)],
        API_ROOT + withTarget(op.path, targetOf([op])),
      )
      if (status === 200) answered++
      found.push(...slow)
    }
    expect(answered).toBeGreaterThan(130)
    expect(found).toEqual([])
  }, 240_000)

  test('by a page', async () => {
    slow = slowness()
    const found: string[] = []
    let answered = 0
    const readsOf = ({ reads }: Page): Operation[] =>
      Object.values(reads).map((read: any) => ('op' in read ? read.op : read))
    for (const page of registry.pages.filter(({ open }) => !open)) {
      const path = withTarget(page.path, targetOf(readsOf(page)))
      const who = /^\/admin/.test(path) ? 'staff' : /^\/reseller/.test(path) ? 'reseller' : 'customer'
      const { status, slow } = await slowIn(page.path, p.people[who], path)
      if (status === 200) answered++
      found.push(...slow)
    }
    expect(answered).toBeGreaterThan(80)
    expect(found).toEqual([])
  }, 240_000)
})

test('what is known to take longer has a reason, and is still there', () => {
  const names = new Set([
    ...registry.operations.map(({ id }) => id as string),
    ...registry.pages.map(({ path }) => path),
  ])
  for (const [name, { why, mostMs }] of Object.entries(known))
    expect([name, names.has(name), why.length > 20, mostMs > MOST_MS]).toEqual([name, true, true, true])
})
