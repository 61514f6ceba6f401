// A refused value is not told back: not in the answer of the API, whose errors end in logs and tickets. Every text of
// every body is replaced by a value that can be recognised, in the forms that pass the first checks of a field.
import { expect, test } from 'bun:test'
import { operations } from '../../src/app/features.ts'
import { callerOf, everyId, everything, targetsOf } from '../support/world/everything.ts'
import { makeRight, markedBody, refresh } from '../support/world/right-call.ts'

/** Another for each call: what an earlier call stored may be named. */
const canaryOf = (n: number) => `zq7x9canary${n}x`
const formsOf = (canary: string) => [
  canary,
  `${canary} with spaces and 'quotes'`,
  `${canary}.example`,
  `https://${canary}:99999/x`,
  `http://user:${canary}@127.0.0.1/`,
  `${canary}@nowhere`,
  `${canary}=\u0001`,
  `${canary}/33`,
  `srv_${canary}`,
  `2001:db8::${canary}/129`,
  `ssh-ed25519 ${canary}`,
  `../${canary}`,
  `-${canary}\r\nX: y`,
  canary.repeat(2000),
]

const FORMS = formsOf('').length

type Path = readonly (string | number)[]
/** The paths of the texts that a body may have: those of its example, and the fields that the example leaves out. */
function textsIn(schema: any, value: any, path: Path = []): Path[] {
  const kinds = schema.anyOf ?? [schema]
  return kinds.flatMap((kind: any) => {
    if (kind.type === 'string') return [path]
    if (kind.type === 'array') {
      const isText = (kind.items.anyOf ?? [kind.items]).some(({ type }: any) => type === 'string')
      return isText || value?.[0] !== undefined ? textsIn(kind.items, value?.[0], [...path, 0]) : []
    }
    if (kind.type !== 'object' || (value === undefined && path.length)) return []
    return Object.entries(kind.properties ?? {}).flatMap(([name, inner]) =>
      textsIn(inner, value?.[name], [...path, name]),
    )
  })
}
function put(body: object, path: Path, text: string): object {
  const copy = structuredClone(body)
  let at: any = copy
  for (const [i, key] of path.slice(0, -1).entries()) at = at[key] ??= typeof path[i + 1] === 'number' ? [] : {}
  at[path.at(-1)!] = text
  return copy
}

/** Operations that tell a value back on purpose. */
const allowed: Readonly<Record<string, string>> = {}

test('S30: no refusal of any operation has the value that it refuses', async () => {
  using p = await everything()
  const ids = everyId(p)
  const found = new Set<string>()
  let refused = 0
  let n = 0
  for (const op of operations) {
    if (!op.body || op.localOnly) continue
    const body = markedBody(p, op, ids)
    if (!body) continue
    const [target = ''] = targetsOf(p, op, ids)
    for (const path of textsIn(op.body, body))
      for (let form = 0; form < FORMS; form++) {
        const canary = canaryOf(++n)
        if (op.refuses?.includes('rate_limited')) p.turnClock(3_600_000)
        refresh(p, op)
        const kind = callerOf(op)
        const sent = makeRight(p, op, JSON.stringify(put(body, path, formsOf(canary)[form]!)), kind, n)
        const who = op.access === 'anyone' ? undefined : p.people[kind]
        const reply = await p.call(who, op.method, op.path.replace(/\{\w+\}/, target), sent)
        if (reply.status < 400) continue
        refused++
        if (JSON.stringify(reply.body).includes(canary))
          found.add(`${op.id} ${path.join('.')}: ${reply.body.error?.message}`)
      }
  }
  expect([...found].filter((one) => !(one.split(' ')[0]! in allowed))).toEqual([])
  expect(refused).toBeGreaterThan(2000)
}, 600_000)
