// How long each operation holds the event loop with its largest allowed body and query. One thread serves everybody, so
// that is how long everybody else waits.

import { registry } from '../../../src/app/features.ts'
import { accountKinds } from '../../../src/identity/account-records/kinds.ts'
import type { AccountKind } from '../../../src/kernel/api/access.ts'
import { Limit } from '../../../src/kernel/api/limits.ts'
import { type Operation, queryOf } from '../../../src/kernel/api/operation.ts'
import { check } from '../../../src/kernel/api/validate.ts'
import { csrfToken } from '../../../src/kernel/crypto/csrf-token.ts'
import { callerOf, type Everything, everyId, exampleOf, targetsOf } from '../world/everything.ts'
import { panel, type Who } from '../world/panel.ts'
import { longestHold, threadMs } from './event-loop.ts'

/** The most that a call may hold it. */
export const MOST_HOLD_MS = 50
const MOST_BODY_BYTES = 990_000
const USUAL_VALUES = 5000

/** A hosting company in rows, with somebody of each kind who may call what there is. */
export async function companyOf(servers: number) {
  const customers = Math.max(10, Math.floor(servers / 3))
  const nodes = Math.max(2, Math.floor(servers / 300))
  return peopled({ seeded: { servers, customers, nodes, tokens: 1, freeAddresses: 100 } })
}
/** The company of a panel that begins with one. */
export async function peopled(options: Parameters<typeof panel>[0]) {
  const p = await panel(options)
  const sql = (text: string, ...values: (string | number)[]) => p.db.$client.run(text, values)
  const reseller = p.account('reseller', 'Rex')
  const resold = p.account('customer', 'Rita', reseller.id)
  const customer = p.signIn(p.seeded!.customers[0]!.id)
  // A tenth of the servers is the reseller's, and another one customer's.
  for (const [place, owner, provider] of [
    [0, resold.id, reseller.id],
    [1, customer.id, ''],
  ] as const)
    sql("UPDATE workloads SET owner_id = ?, reseller_id = nullif(?, '') WHERE number % 10 = ?", owner, provider, place)
  const people: Record<AccountKind, { id: string } & Who> = { staff: p.staff(), reseller, customer }
  // The ledger takes all of them in with the first change.
  await p.admin('POST', '/admin/roles', { name: 'Nobody', permissions: ['servers.power'] })
  return Object.assign(p, { people, customer, resold }) as unknown as Everything
}

export type Held = { id: string; variant: string; ms: number; status: number }
type Variant = { name: string; path: string; body?: string }

/** Each operation of the product with each of its largest calls, one after another. */
export async function* heldBy(p: Everything, operations: readonly Operation[]): AsyncGenerator<Held> {
  const ids = everyId(p)
  p.controller.app.signIns = new Limit(1e9, p.now)
  for (const op of operations) {
    // Schemas are compiled at their first use, once in the life of a controller.
    if (op.body)
      try {
        check(registry.complete(op.body), {})
      } catch {}
    for (const { name, path, body } of variantsOf(p, op, ids)) {
      // Some calls end the session of their caller.
      for (const kind of accountKinds) Object.assign(p.people[kind], p.signIn(p.people[kind].id))
      let held = await oneCall(p, op, path, body)
      // Asked again where it did the same: the first call also compiled its statements and loaded its libraries.
      if (held.ms > MOST_HOLD_MS / 5) {
        const again = await oneCall(p, op, path, body)
        if (again.status === held.status && again.ms < held.ms) held = again
      }
      yield { id: op.id, variant: name, ...held }
    }
  }
}

async function oneCall(p: Everything, op: Operation, path: string, body: string | undefined) {
  const { cookie, csrf } = p.people[callerOf(op)]
  const request = new Request(`http://localhost/api/v1${path}`, {
    method: op.method,
    headers: {
      ...(op.access !== 'anyone' && { Cookie: `__Host-panel=${cookie}` }),
      ...(op.method !== 'GET' && { Origin: 'https://panel.test', 'X-CSRF-Token': csrfToken(csrf!) }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  })
  let status = 0
  const ms = await longestHold(async () => {
    const response = await p.controller.router.fetch(request)
    status = response.status
    const reader = response.body?.getReader()
    // Some parts of a spreadsheet say how long each takes.
    for (let parts = 0; reader && parts < 20; parts++) if ((await reader.read()).done) break
    await reader?.cancel()
  })
  return { ms, status }
}

/** The time of a fixed piece of work on the machine where the limit was set, in ms. */
const NOMINAL_MS = 20
const sample = JSON.stringify(Array.from({ length: 40_000 }, (_, i) => ({ id: `srv_${i}`, state: 'active', i })))
/** How many times slower than that this machine is now; at least 1. */
export function slowness(): number {
  const took = Array.from({ length: 5 }, () => {
    const at = threadMs()
    JSON.parse(sample)
    return threadMs() - at
  })
  return Math.max(1, took.toSorted((a, b) => a - b)[2]! / NOMINAL_MS)
}

// ---------------------------------------------------------------- the largest calls
type Schema = {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  pattern?: string
  maxLength?: number
  maxItems?: number
  minimum?: number
}

function variantsOf(p: Everything, op: Operation, ids: readonly string[]): Variant[] {
  const target = op.on ? targetsOf(p, op, ids)[0] : undefined
  const path = op.path.replace(/\{\w+\}/, target ?? 'x')
  if (op.method === 'GET') return queriesOf(op).map(([name, query]) => ({ name, path: path + query }))
  if (!op.body) return [{ name: 'plain', path }]
  const example = exampleOf(p, op, ids) ?? {}
  const schema = registry.complete(op.body) as Schema
  const bodies: [name: string, body: object][] = [['example', example]]
  for (const [field, of] of Object.entries(schema.properties ?? {})) {
    const large = largest(of, (example as Record<string, unknown>)[field], op.mostValues ?? USUAL_VALUES, ids)
    const needed = Object.entries(example).filter(([name]) => schema.required?.includes(name))
    if (large !== undefined) bodies.push([`${field} at its largest`, { ...Object.fromEntries(needed), [field]: large }])
  }
  const values = Array.from({ length: (op.mostValues ?? USUAL_VALUES) - 10 }, (_, i) => i)
  bodies.push(['as many values as may be', { ...example, values }])
  return bodies
    .map(([name, body]) => ({ name, path, body: JSON.stringify(body) }))
    .filter(({ body }) => body.length < MOST_BODY_BYTES)
}

function queriesOf(op: Operation): [name: string, query: string][] {
  const known = queryOf(op)
  const most = op.pages ? `limit=${op.pages.most}` : ''
  const queries: [string, string][] = [['plain', most && `?${most}`]]
  if ('q' in known) queries.push(['q', `?q=web1%20nothing${most && `&${most}`}`])
  return queries
}

/** A list or a text as long as it may be; undefined where the field is neither, or always short. */
function largest(schema: Schema, example: unknown, mostValues: number, ids: readonly string[]): unknown {
  if (schema.anyOf) {
    for (const one of schema.anyOf) {
      const large = largest(one, example, mostValues, ids)
      if (large !== undefined) return large
    }
    return undefined
  }
  if (schema.type === 'string') {
    const length = Math.min(schema.maxLength ?? 0, 900_000)
    return length >= 5000 && !schema.enum ? linesOf(length) : undefined
  }
  if (schema.type !== 'array' || !schema.items) return undefined
  const first = Array.isArray(example) && example.length ? example[0] : sampleOf(schema.items)
  const width = typeof first === 'object' && first !== null ? Object.keys(first).length + 1 : 1
  const bytes = JSON.stringify(first).length + 1
  const length = Math.min(
    schema.maxItems ?? mostValues,
    Math.floor((mostValues - 20) / width),
    Math.floor(MOST_BODY_BYTES / (bytes + 8)),
  )
  return length > 20 ? Array.from({ length }, (_, i) => varied(first, schema.items!, i, ids)) : undefined
}

/** A text of short lines with cells: a script, a list of addresses or a spreadsheet is read line by line. */
const linesOf = (length: number) => {
  const head = 'billingServiceId,billingProductId,state\n'
  const line = (i: number) => `service-${i},shop:1,active\n`
  let text = head
  for (let i = 0; text.length < length - 40; i++) text += line(i)
  return text.split('\n').slice(0, 20_000).join('\n')
}

function sampleOf({ enum: values, anyOf, type, properties, minimum = 1, ...schema }: Schema): unknown {
  if (values) return values[0]
  if ('const' in schema) return schema.const
  if (anyOf) return sampleOf(anyOf[0]!)
  if (type === 'object')
    return Object.fromEntries(Object.entries(properties ?? {}).map(([name, each]) => [name, sampleOf(each)]))
  return type === 'string' ? 'a' : type === 'boolean' ? true : type === 'array' ? [] : minimum
}

/** Another one of the same: an id is that of another thing, and a name has another number. */
function varied(
  value: unknown,
  { enum: values, anyOf, properties }: Schema,
  i: number,
  ids: readonly string[],
): unknown {
  if (values || anyOf?.some((one) => one.enum)) return value
  if (typeof value === 'string') {
    const prefix = /^[a-z]{2,8}_(?=[0-9a-z]{26}$)/.exec(value)?.[0]
    if (!prefix) return /[a-z0-9]$/i.test(value) ? `${value}${i}` : value
    const same = ids.filter((id) => id.startsWith(prefix))
    return same[i % Math.max(1, same.length)] ?? value
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, varied(each, properties?.[name] ?? {}, i, ids)]),
  )
}
