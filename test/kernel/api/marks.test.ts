// Text that comes from pages in Hebrew or Arabic carries marks of direction at its ends: they are taken off.
import { expect, test } from 'bun:test'
import { withoutMarks } from '../../../agent/protocol/text.ts'
import { threadMs } from '../../support/load/event-loop.ts'
import { world } from '../../support/world/panel.ts'

test('a name loses invisible marks at its ends, and none may stand inside', async () => {
  using p = await world()
  for (const [given, stored] of [
    ['\u200fעדה', 'עדה'],
    ['\u202bعادل\u202c', 'عادل'],
    [' \u200e Ada \ufeff', 'Ada'],
    ['\u2067\u200fעדה\u2069', 'עדה'],
    ['Ada', 'Ada'],
  ] as const) {
    const { status, body } = await p.call(p.customer, 'PATCH', '/account', { name: given })
    expect([given, status, body.name]).toEqual([given, 200, stored])
  }
  for (const given of ['a\u202eb', '\u200f', '\u200f\u202e', 'a\u200bb'])
    expect([given, (await p.call(p.customer, 'PATCH', '/account', { name: given })).status]).toEqual([given, 422])
})
test('a text of a megabyte of marks is read in no time', () => {
  const began = threadMs()
  for (const text of [
    '\u200f'.repeat(1e6),
    `${'\u200f '.repeat(5e5)}x`,
    `x${' \u200f'.repeat(5e5)}`,
    'a\u200f'.repeat(5e5),
  ])
    withoutMarks(text)
  expect(threadMs() - began).toBeLessThan(1500)
})
test('a time zone by its old name is stored by its present one', async () => {
  using p = await world()
  const { body } = await p.call(p.customer, 'PATCH', '/account', { timeZone: 'Asia/Calcutta' })
  expect(body.timeZone).toBe('Asia/Kolkata')
  expect((await p.call(p.customer, 'PATCH', '/account', { timeZone: null })).body.timeZone).toBeNull()
  expect((await p.call(p.customer, 'PATCH', '/account', { theme: 'dark' })).body.timeZone).toBeNull()
})
