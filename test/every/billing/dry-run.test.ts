// A call that is only checked does nothing: over every operation that promises a dry run.
import { describe, expect, test } from 'bun:test'
import { callerOf, everyId, everything, exampleOf } from '../../support/world/everything.ts'
import { operations } from '../toy-feature/every-feature.ts'

describe('an operation with a dry run', () => {
  // One on a thing, such as a move, needs that thing in a state for it: its own test has a dry run.
  const promised = operations.filter(({ dryRun, on }) => dryRun && !on)
  test('is an order', () => expect(promised.map((op) => op.id)).toContain('servers.create'))

  for (const op of promised)
    test(`${op.id}: takes null for every field that may be left out, and means the same`, async () => {
      using p = await everything()
      const who = p.people[callerOf(op)]
      const { properties, required: always = [] } = op.body as { properties: object; required?: string[] }
      // Of the two ways to choose many, one must be given.
      const required = 'filter' in properties ? [...always, 'filter'] : always
      const optional = Object.keys(properties).filter((name) => !required.includes(name))
      expect(optional.length).toBeGreaterThan(1)
      const example = exampleOf(p, op, everyId(p)) as Record<string, unknown>
      const least = Object.fromEntries(required.map((name) => [name, example[name]]))
      const check = (body: object) => p.call(who, op.method, `${op.path}?dryRun=true`, body)
      const without = await check(least)
      expect(without.status).toBe(200)
      for (const names of [optional, ...optional.map((name) => [name])]) {
        const { status, body } = await check({ ...least, ...Object.fromEntries(names.map((name) => [name, null])) })
        expect([names, status, body]).toEqual([names, 200, without.body])
      }
      const real = await p.call(who, op.method, op.path, {
        ...example,
        ...Object.fromEntries(['billingServiceId', 'name'].filter((name) => name in properties).map((n) => [n, null])),
      })
      expect(real.status).toBe(op.status ?? 200)
    })

  for (const op of promised)
    test(`${op.id}: is answered with 200 without ids, and changes, tells and remembers nothing`, async () => {
      using p = await everything()
      const body = exampleOf(p, op, everyId(p))
      const who = p.people[callerOf(op)]
      const untouched = p.fingerprint()
      const key = { 'Idempotency-Key': 'rehearsed' }
      const checked = await p.call(who, op.method, `${op.path}?dryRun=true`, body, key)
      await p.settle()
      expect([checked.status, p.fingerprint()]).toEqual([200, untouched])
      const ids = Object.entries(checked.body).filter(([name, value]) => /Id$|Password$/.test(name) && value !== null)
      expect(ids).toEqual([])
      const real = await p.call(who, op.method, op.path, body, key)
      expect([real.status, real.headers.get('Idempotency-Replayed')]).toEqual([op.status ?? 200, null])
      expect(Object.keys(checked.body).every((name) => name in real.body)).toBe(true)
      const refused = await p.call(who, op.method, op.path, body)
      await p.settle()
      const before = p.fingerprint()
      const again = await p.call(who, op.method, `${op.path}?dryRun=true`, body)
      if (refused.status >= 400) expect([again.status, again.body]).toEqual([refused.status, refused.body])
      expect(p.fingerprint()).toBe(before)
    })
})
