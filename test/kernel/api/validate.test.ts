import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type TSchema, Type as t } from 'typebox'
import { operations } from '../../../src/app/features.ts'
import type { ApiError, FieldError } from '../../../src/kernel/api/errors.ts'
import { fields, line, nullable } from '../../../src/kernel/api/operation.ts'
import { check } from '../../../src/kernel/api/validate.ts'

function refusal(schema: TSchema, value: unknown): ApiError | undefined {
  try {
    check(schema, value)
  } catch (error) {
    expect((error as ApiError).code).toBe('validation_failed')
    return error as ApiError
  }
  return undefined
}
const wrong = (schema: TSchema, value: unknown) => (refusal(schema, value)?.details['fields'] ?? []) as FieldError[]
const said = (schema: TSchema, value: unknown) =>
  wrong(fields({ x: schema }), { x: value }).map((f) => `${f.field}: ${f.message}`)

describe('what is wrong with a field is said in words', () => {
  for (const [what, schema, value, words] of [
    ['a type', t.String(), 1, 'x: must be a string.'],
    ['a type with a vowel', t.Integer(), 'a', 'x: must be an integer.'],
    ['a fraction', t.Integer(), 1.5, 'x: must be an integer.'],
    ['nothing for something', t.Boolean(), null, 'x: must be a boolean.'],
    ['too short by one', t.String({ minLength: 1 }), '', 'x: must not be empty.'],
    ['too short', t.String({ minLength: 12 }), 'abc', 'x: must have at least 12 characters.'],
    ['too long', t.String({ maxLength: 3 }), 'abcd', 'x: must have at most 3 characters.'],
    ['too small', t.Integer({ minimum: 64 }), 63, 'x: must be 64 or more.'],
    ['too large', t.Integer({ maximum: 64 }), 65, 'x: must be 64 or less.'],
    ['none of a list', t.Enum(['spread', 'fill']), 'x', 'x: must be one of spread, fill.'],
    ['no date', t.String({ format: 'date-time' }), 'yesterday', 'x: must be a date-time.'],
  ] as const)
    test(what, () => expect(said(schema, value)).toEqual([words]))

  test('of very many that are no fields of the call, each once, up to fifty', () => {
    const sent = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k/~${i}`, 1]))
    for (const n of [1, 7, 8, 9, 50, 51, 2000])
      expect(wrong(fields({}), sent(n))).toEqual(
        Array.from({ length: Math.min(n, 50) }, (_, i) => ({
          field: `k/~${i}`,
          message: 'is not a field of this call.',
        })),
      )
  })
  test('of several, each once', () => {
    const schema = fields({ name: line(5), size: t.Integer({ minimum: 1 }), where: t.Object({ city: t.String() }) })
    expect(wrong(schema, { size: 0, where: {}, surprise: 1, other: 2 })).toEqual(
      expect.arrayContaining([
        { field: 'name', message: 'is required.' },
        { field: 'size', message: 'must be 1 or more.' },
        { field: 'where.city', message: 'is required.' },
        { field: 'surprise', message: 'is not a field of this call.' },
        { field: 'other', message: 'is not a field of this call.' },
      ]),
    )
    expect(refusal(schema, { size: 1, where: { city: 'B' } })!.message).toBe('name: is required.')
    expect(refusal(schema, {})!.message).toBe('Some fields are wrong.')
  })
  test('in a list by its place', () =>
    expect(said(t.Array(t.Integer()), [1, 'a'])).toEqual(['x.1: must be an integer.']))
  test('of a field that may be null, as if it might not', () =>
    expect(said(nullable(t.Integer({ minimum: 1 })), 0)).toEqual(['x: must be 1 or more.']))
  test('without a body every field that is needed is missing', () =>
    expect(wrong(fields({ x: t.String() }), undefined)).toEqual([{ field: 'x', message: 'is required.' }]))
  test('the name of a field that is not listed is cut', () =>
    expect(wrong(fields({}), { ['n'.repeat(5000)]: 1 })[0]!.field.length).toBe(100))

  test('a pattern says what it wants by its title', () => {
    // Once: schemaPath names the schema itself, and titleAt drops its last part.
    expect(said(line(10), 'a\nb')).toEqual(['x: must be one line of visible text.'])
    expect(said(nullable(line(10)), 'a\nb')).toEqual(['x: must be one line of visible text.'])
    expect(said(t.String({ pattern: '^a$', title: 'the letter a' }), 'b')).toEqual(['x: must be the letter a.'])
  })
})

describe('one line of text', () => {
  test('counts characters, and takes exactly as many as it says', () => {
    expect(said(line(3), 'abc')).toEqual([])
    expect(said(line(3), 'abcd').length).toBe(1)
    expect(said(line(3), '').length).toBe(1)
    expect(said(line(3, 0), '')).toEqual([])
  })
  test('never holds a control character, whatever stands around it', () =>
    fc.assert(
      fc.property(
        fc.string(),
        fc.oneof(fc.integer({ min: 0, max: 31 }), fc.integer({ min: 127, max: 159 })),
        fc.string(),
        (a, control, b) => {
          expect(said(line(1000), a.slice(0, 100) + String.fromCharCode(control) + b.slice(0, 100)).length).toBe(1)
        },
      ),
    ))
})

describe('what was sent is never echoed', () => {
  const canary = 'c4n4ry\u0000-9d1f'
  const values = [canary, [canary], { a: canary }, canary.repeat(100_000), 9.25e30, [[[canary]]], `${canary}\n`]
  for (const op of operations.filter((o) => o.body))
    test(op.id, () => {
      for (const name of Object.keys((op.body as { properties: object }).properties))
        for (const value of values) {
          const given = JSON.stringify(refusal(op.body, { ...(op.example as object), [name]: value })?.details ?? '')
          expect(given).not.toContain('c4n4ry')
          expect(given).not.toContain('9.25')
        }
      expect(JSON.stringify(refusal(op.body, { ...(op.example as object), surprise: canary })!.details)).not.toContain(
        'c4n4ry',
      )
    })
})
