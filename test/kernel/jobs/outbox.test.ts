// The table of events, as a reader such as webhooks takes it.
import { describe, expect, test } from 'bun:test'
import { write } from '../../../src/kernel/db/open.ts'
import { EVENTS_KEPT_MS, emit, eventsAfter, expiredEvents, lastEvent } from '../../../src/kernel/jobs/outbox.ts'
import { freshDb } from '../../support/world/fresh-db.ts'
import { world } from '../../support/world/panel.ts'

const quota = { resource: 'servers', used: 9, limit: 10, reseller: { id: 'usr_1', name: 'Rita' } } as const
function some(n: number, at = (i: number) => i) {
  const db = freshDb()
  const more = (count: number) =>
    write(db, (tx) => {
      for (let i = 0; i < count; i++)
        emit(
          tx,
          at(i),
          'quota.near_limit',
          { subject: { type: 'reseller', id: `r${i}` }, customerId: null, resellerId: `r${i}` },
          quota,
        )
    })
  more(n)
  return { db, more }
}

describe('events', () => {
  test('are read in the order they happened, in portions, and none twice', () => {
    const { db } = some(10)
    const first = eventsAfter(db, 0, 4)
    const rest = eventsAfter(db, first.at(-1)!.seq, 100)
    expect([...first, ...rest].map((e) => e.subjectId)).toEqual(Array.from({ length: 10 }, (_, i) => `r${i}`))
    expect([first.length, rest.length, lastEvent(db)]).toEqual([4, 6, rest.at(-1)!.seq])
    expect(first[0]).toMatchObject({
      type: 'quota.near_limit',
      createdAt: 0,
      subjectType: 'reseller',
      data: JSON.stringify(quota),
    })
  })
  test('keep their numbers when a clock is set back, and no number comes again after old ones are deleted', () => {
    const { db, more } = some(3, (i) => -i)
    const before = lastEvent(db)
    expect(write(db, (tx) => expiredEvents.deleteExpired(tx, EVENTS_KEPT_MS + 1, 100))).toBe(3)
    expect([eventsAfter(db, 0, 10), lastEvent(db)]).toEqual([[], 0])
    more(1)
    expect(lastEvent(db)).toBe(before + 1)
  })
  test('are deleted after 90 days, a portion at a time, the oldest first, and no younger one', () => {
    const { db } = some(10)
    const now = EVENTS_KEPT_MS + 6
    const left = () => eventsAfter(db, 0, 100).map((e) => e.createdAt)
    expect([write(db, (tx) => expiredEvents.deleteExpired(tx, now, 4)), left()]).toEqual([4, [4, 5, 6, 7, 8, 9]])
    expect([write(db, (tx) => expiredEvents.deleteExpired(tx, now, 4)), left()]).toEqual([2, [6, 7, 8, 9]])
    expect(write(db, (tx) => expiredEvents.deleteExpired(tx, now, 4))).toBe(0)
  })
  test('of a server name it and its owner', async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    expect(eventsAfter(p.db, 0, 10).map((e) => [e.type, e.subjectType, e.subjectId, e.customerId])).toEqual([
      ['server.created', 'server', serverId, p.customer.id],
      ['server.provisioned', 'server', serverId, p.customer.id],
    ])
  })
})
