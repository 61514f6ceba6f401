import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { type IdPrefix, looksLikeId, newId } from '../../../src/kernel/db/ids.ts'

const prefixes = Object.values(registry.ids).map(({ prefix }) => prefix as IdPrefix)

describe('an id', () => {
  test('is its prefix and 26 lower-case base-32 characters, without the look-alikes i, l, o and u', () => {
    for (const prefix of prefixes) {
      const id = newId(prefix)
      expect(id.startsWith(`${prefix}_`)).toBe(true)
      expect(id.slice(prefix.length + 1)).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/)
      expect(looksLikeId(id)).toBe(true)
    }
  })
  test('has a prefix that no other kind has', () => expect(new Set(prefixes).size).toBe(prefixes.length))

  test('carries the time it was made in its first characters', () => {
    const before = Date.now()
    const id = newId('srv').slice(4)
    const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
    const n = [...id].reduce((all, c) => all * 32n + BigInt(alphabet.indexOf(c)), 0n)
    const madeAt = Number(n >> 80n)
    expect(n >> 128n).toBe(0n)
    expect(madeAt).toBeGreaterThanOrEqual(before)
    expect(madeAt).toBeLessThanOrEqual(Date.now() + 1)
  })
  test('sorts behind all that were made before it', () => {
    const made = Array.from({ length: 20_000 }, () => newId('job'))
    expect(made).toEqual(made.toSorted())
  })
  test('is never made twice', () =>
    expect(new Set(Array.from({ length: 50_000 }, () => newId('srv'))).size).toBe(50_000))

  test('S7: cannot be mistaken for a path, a wildcard or another form', () => {
    const id = newId('srv')
    for (const text of [
      '',
      'srv_',
      id.toUpperCase(),
      `${id}0`,
      id.slice(0, -1),
      `${id}\n`,
      ` ${id}`,
      id.replace('_', '-'),
      `../${id}`,
      '%',
      `srv_${'é'.repeat(26)}`,
    ])
      expect(looksLikeId(text)).toBe(false)
  })
})
