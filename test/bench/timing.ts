// Can a stranger tell by the time of an answer what there is? Ids of others against ids that never were, per operation
// and kind of account, and at the sign-in accounts that exist against such that do not. In one process, without a
// network in between: whoever is farther away sees less. Calls take turns; beside every difference stands the one
// between two ids that both never were, which is what this machine makes of nothing.
//
// Ends with 1 when something tells by far, or when there was nothing to compare an operation with.
//
//   bun test/bench/timing.ts [--calls 200] [--signIns 30]

import { operations } from '../../src/app/features.ts'
import { accountKinds } from '../../src/identity/account-records/kinds.ts'
import { hashPassword } from '../../src/identity/auth/passwords/hash.ts'
import type { AccountKind } from '../../src/kernel/api/access.ts'
import type { Operation } from '../../src/kernel/api/operation.ts'
import { hour } from '../../src/kernel/db/clock.ts'
import { type IdPrefix, newId } from '../../src/kernel/db/ids.ts'
import { type Everything, everyId, everything, exampleOf, targetsOf } from '../support/world/everything.ts'
import type { Who } from '../support/world/panel.ts'
import { flags, median, percentile, round, say, table } from './words.ts'

const { calls, signIns } = flags('Compares the times of refusals that must not tell what there is.', {
  calls: 200,
  signIns: 30,
})

/** Below this nothing can be told: a network's own scatter is far more, however many calls are averaged. */
const ENOUGH_US = 15
/**
 * From here on it is a failure: beside scatter of 30 to 100 µs in one process, somebody near by could tell after many
 * calls.
 */
const TOO_MUCH_US = 50
const WARM_CALLS = 100

const p = await everything()
const strangers: Record<AccountKind, { id: string } & Who> = {
  staff: p.owner,
  reseller: p.account('reseller', 'Eve'),
  customer: p.account('customer', 'Mallory'),
}

/** An id of the same kind that never was, made like a real one. */
function neverWas(id: string): string {
  const prefix = id.slice(0, id.indexOf('_'))
  return newId(prefix as IdPrefix)
}

async function timeOf(work: () => Promise<{ status: number }>, status: number): Promise<number> {
  const began = performance.now()
  const reply = await work()
  const us = (performance.now() - began) * 1000
  if (reply.status !== status) throw new Error(`answered ${reply.status}, not ${status}`)
  return us
}

/** Medians in µs of several things done in turn, in an order that changes. */
async function compare<N extends string>(
  ways: Record<N, () => Promise<{ status: number }>>,
  times: number,
  warm: number,
  status: number,
) {
  const took = Object.fromEntries(Object.keys(ways).map((name) => [name, []])) as unknown as Record<N, number[]>
  const names = Object.keys(ways) as N[]
  for (let i = -warm; i < times; i++)
    for (const [at, _] of names.entries()) {
      const name = names[(at + i + warm) % names.length]!
      const us = await timeOf(ways[name], status)
      if (i >= 0) took[name].push(us)
    }
  return took
}

const rows: (string | number)[][] = []
let described = 0
let failed = 0
function judge(what: string, took: Record<'there' | 'never' | 'neverToo', number[]>) {
  const [there, never, neverToo] = [median(took.there), median(took.never), median(took.neverToo)]
  const noise = Math.abs(never - neverToo)
  const difference = there - (never + neverToo) / 2
  const leaks = Math.abs(difference) > Math.max(ENOUGH_US, 3 * noise)
  if (leaks) described++
  if (leaks && Math.abs(difference) > Math.max(TOO_MUCH_US, 0.1 * never)) failed++
  rows.push([
    what,
    round(there),
    round(never),
    `${round(difference, 1)} (${round(noise, 1)})`,
    round(there / ((never + neverToo) / 2), 3),
    round(percentile(took.never, 90) - percentile(took.never, 10)),
    leaks ? 'TELLS' : 'tells nothing',
  ])
}

const skipped: string[] = []
const idsThere = everyId(p)
for (const op of operations)
  for (const kind of accountKinds) {
    if (!op.on || op.access === 'anyone' || !op.access[kind] || kind === 'staff') continue
    const [id] = targetsOf(p, op, idsThere).filter((target) => !op.on!.find(p.db, actor(p, kind), target))
    if (!id) {
      skipped.push(`${op.id} as ${kind}`)
      continue
    }
    const body = op.method === 'GET' ? undefined : op.body ? exampleOf(p, op, idsThere) : undefined
    const ask = (to: string) => () => p.call(strangers[kind], op.method, at(op, to), body)
    judge(
      `${op.id} as ${kind}`,
      await compare({ there: ask(id), never: ask(neverWas(id)), neverToo: ask(neverWas(id)) }, calls, WARM_CALLS, 404),
    )
  }

const known = 'known@customer.test'
p.db.$client.run('UPDATE accounts SET email = ?, password_hash = ? WHERE id = ?', [
  known,
  await hashPassword('seven green bicycles'),
  p.customer.id,
])
const signIn = (email: string) => () => {
  p.turnClock(hour) // 20 a minute from one address; and an account that was tried in vain waits
  return p.call(undefined, 'POST', '/sessions', { email, password: 'wrong but long enough' })
}
const took = await compare(
  { there: signIn(known), never: signIn('nobody@customer.test'), neverToo: signIn('noone@customer.test') },
  signIns,
  3,
  401,
)
judge('sessions.create, account known', took)

table(['call', 'there, µs', 'never was, µs', 'difference (noise)', 'ratio', 'scatter p10…p90', 'verdict'], rows)
say(
  described
    ? `${described} of ${rows.length} tell by their time what there is.`
    : `None of ${rows.length} tells by its time what there is.`,
)
if (skipped.length) say(`Not compared, since nobody else has anything of the kind: ${skipped.join(', ')}.`)
p.close()
process.exit(failed || skipped.length ? 1 : 0)

function at(op: Operation, id: string) {
  return op.path.replace(/\{\w+\}/, id)
}
function actor(on: Everything, kind: AccountKind) {
  return {
    accountId: strangers[kind].id,
    kind,
    name: '',
    scopes: new Set<never>(),
    permissions: new Set<never>(),
    via: { type: 'session', sessionId: '', confirmedAt: on.now() } as const,
  }
}
