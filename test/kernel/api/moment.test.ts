// Times in queries: as clients write them, with an offset too.
import { describe, expect, test } from 'bun:test'
import { momentFrom } from '../../../src/kernel/api/query.ts'
import { operations } from '../../every/toy-feature/every-feature.ts'
import { callerOf, everyId, everything, targetsOf } from '../../support/world/everything.ts'

const noon = Date.parse('2026-11-21T12:00:00Z')
describe('a moment', () => {
  for (const text of [
    '2026-11-21T12:00',
    '2026-11-21T12:00:00',
    '2026-11-21T12:00:00.000Z',
    '2026-11-21T14:00:00+02:00',
    '2026-11-21T14:00+0200',
    '2026-11-21T14:00:00 02:00', // a + that was not written %2B
    '2026-11-21T06:30:00-05:30',
    '2026-11-20T22:00-14:00',
  ])
    test(`${text} is noon in UTC`, () => expect(momentFrom('from', text)).toBe(noon))
  test('that is a day begins at midnight, or where it is meant to end', () => {
    expect(momentFrom('from', '2026-11-21')).toBe(noon - 12 * 3600_000)
    expect(momentFrom('until', '2026-11-21', 'T23:59:59.999')).toBe(noon + 12 * 3600_000 - 1)
  })
  for (const text of ['2026-02-30', '2026-02-30T12:00+02:00', '2026-04-31T23:00:00-02:00'])
    test(`${text} is no day`, () => expect(() => momentFrom('from', text)).toThrow('there is no such day'))
})

test('every operation that takes one reads an offset, and answers as in UTC', async () => {
  using p = await everything()
  const ids = everyId(p)
  // This year of the panel's clock, so that there is something to list.
  const day = new Date(p.now()).toISOString().slice(0, 10)
  let tried = 0
  for (const op of operations.filter(({ method }) => method === 'GET')) {
    const names = Object.entries((op.query ?? {}) as Record<string, { title?: string }>)
      .filter(([, { title }]) => title?.startsWith('a time like'))
      .map(([name]) => name)
    if (!names.length) continue
    const path = op.path.replace(/\{\w+\}/, targetsOf(p, op, ids)[0] ?? 'none')
    const who = p.people[callerOf(op)]
    for (const name of names) {
      const ask = (text: string) => p.call(who, 'GET', `${path}?${name}=${text}`)
      const [utc, ...others] = await Promise.all([
        ask(`${day}T00:30:00Z`),
        ask(`${day}T02:30:00%2B02:00`),
        ask(`${day}T02:30:00+02:00`),
      ])
      for (const { status, body } of others) {
        expect([op.id, name, status]).toEqual([op.id, name, utc!.status])
        // Times move on between the calls; beginning and number stay.
        const [mine, its] = [body, utc!.body]
        if (status === 200 && !op.produces) expect([mine.total, mine.from]).toEqual([its.total, its.from])
      }
      expect([op.id, (await ask('2026-11-21T02:30:00+25:00')).status]).toEqual([op.id, 400])
      tried++
    }
  }
  expect(tried).toBeGreaterThan(8)
}, 60_000)
