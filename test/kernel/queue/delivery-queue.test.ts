// The delivery queue with a handler of its own: fair between lanes, bounded, keyed, pruned, paused, and repeated after
// a crash.
import { describe, expect, test } from 'bun:test'
import { configFrom } from '../../../src/app/config.ts'
import { registry } from '../../../src/app/features.ts'
import { secretsWith } from '../../../src/kernel/crypto/secrets.ts'
import { day, hour, minute } from '../../../src/kernel/db/clock.ts'
import { afterWrite, write } from '../../../src/kernel/db/open.ts'
import { InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import { quieten } from '../../../src/kernel/log.ts'
import {
  type Delivery,
  type DeliveryContext,
  DeliveryFailed,
  type DeliveryKind,
} from '../../../src/kernel/queue/delivery-kind.ts'
import { DeliveryQueue } from '../../../src/kernel/queue/delivery-queue.ts'
import {
  hasDelivered,
  type NewDelivery,
  pauseLane,
  pruneDeliveries,
  queueDelivery,
  resumeLane,
  undelivered,
  waitingIn,
} from '../../../src/kernel/queue/queries.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { freshDb } from '../../support/world/fresh-db.ts'

quieten(true)

type Note = { words: string }
type Got = Delivery<Note>

function queue(settings: Partial<DeliveryKind<Note>> = {}) {
  const db = freshDb()
  const secrets = secretsWith(Buffer.alloc(32, 7))
  let now = 1_800_000_000_000
  const got: Got[] = []
  const outcomes: string[] = []
  const kind: DeliveryKind<Note> = {
    kind: 'note',
    retryAfterMs: [minute, hour],
    inFlight: { total: 4, perLane: 2 },
    mostWaiting: { total: 100, perLane: 50 },
    keepMs: day,
    timeoutMs: 1000,
    expired: 'too late',
    deliver: async () => {},
    recorded: (_, { subject }, outcome) => void outcomes.push(`${subject} ${outcome.result}`),
    ...settings,
  }
  const deliver = kind.deliver
  kind.deliver = async (context, delivery, signal) => {
    got.push(delivery)
    await deliver(context, delivery, signal)
  }
  const context = { db, secrets, config: configFrom({}), clock: () => now } as DeliveryContext
  const made = {
    db,
    kind,
    got,
    outcomes,
    context,
    queue: new DeliveryQueue(context, [kind], (moment) => made.failpoint(moment)),
    failpoint: (_: string) => {},
    turnClock: (ms: number) => void (now += ms),
    now: () => now,
    add: (subject: string, more: Partial<NewDelivery<Note>> = {}) =>
      write(db, (tx) =>
        queueDelivery(
          tx,
          kind,
          { secrets, now },
          { lane: 'a', recipient: 'r', subject, payload: { words: `about ${subject}` }, ...more },
        ),
      ),
    rows: () =>
      db.$client
        .query<
          { subject: string; state: string; attempts: number; payload: string; error: string | null; nextAt: number },
          []
        >(
          `SELECT subject, state, attempts, encrypted_payload AS payload, error, next_at AS nextAt
           FROM deliveries ORDER BY rowid`,
        )
        .all(),
    states: () => made.rows().map(({ subject, state, attempts }) => `${subject} ${state} ${attempts}`),
  }
  return made
}

describe('a delivery', () => {
  test('gets what was queued, is encrypted while it waits, and is not stored afterwards', async () => {
    const q = queue()
    const id = q.add('one')
    expect(q.rows()[0]!.payload).not.toContain('about')
    await q.queue.settle()
    expect(q.got).toEqual([
      { id, lane: 'a', recipient: 'r', subject: 'one', attempts: 0, maxAttempts: 3, payload: { words: 'about one' } },
    ])
    expect(q.rows()).toMatchObject([{ state: 'delivered', attempts: 1, payload: '', error: null }])
    expect(q.outcomes).toEqual(['one delivered'])
  })

  test('is not queued when the transaction of its change fails', async () => {
    const q = queue()
    expect(() =>
      write(q.db, (tx) => {
        queueDelivery(tx, q.kind, { secrets: q.context.secrets, now: q.now() }, { ...note, key: 'k' })
        throw new Error('no')
      }),
    ).toThrow('no')
    await q.queue.settle()
    expect([q.got, q.rows()]).toEqual([[], []])
  })

  test('with a key is made once, also when it is queued again after its end', async () => {
    const q = queue()
    const first = q.add('one', { key: 'event-1' })
    expect(q.add('one again', { key: 'event-1' })).toBe(first)
    await q.queue.settle()
    expect(q.add('and again', { key: 'event-1' })).toBe(first)
    q.add('two', { key: 'event-2' })
    await q.queue.settle()
    expect(q.got.map(({ subject }) => subject)).toEqual(['one', 'two'])
  })

  test('that is not taken waits for the pauses of its kind, never shorter, and has failed after the last', async () => {
    const q = queue({ deliver: () => Promise.reject(new Error('busy')) })
    q.add('one')
    for (const [i, pause] of [minute, hour].entries()) {
      await q.queue.settle()
      expect(q.rows()).toMatchObject([{ state: 'waiting', attempts: i + 1, error: 'busy', nextAt: q.now() + pause }])
      q.turnClock(pause - 1)
      await q.queue.settle()
      expect(q.got.length).toBe(i + 1)
      q.turnClock(1)
    }
    await q.queue.settle()
    expect(q.rows()).toMatchObject([{ state: 'failed', attempts: 3, payload: '', error: 'busy' }])
    q.turnClock(day)
    await q.queue.settle()
    expect(q.got.map(({ attempts }) => attempts)).toEqual([0, 1, 2])
    expect(q.outcomes).toEqual(['one retried', 'one retried', 'one failed'])
  })

  test('is not tried again when its failure is permanent, or when it was queued for one attempt', async () => {
    const q = queue({
      deliver: async (_, { subject }) => {
        throw new DeliveryFailed('no', { permanent: subject === 'gone' })
      },
    })
    q.add('gone')
    q.add('test', { retries: false })
    await q.queue.settle()
    expect(q.states()).toEqual(['gone failed 1', 'test failed 1'])
  })

  test('that takes too long counts as not taken', async () => {
    let aborted = false
    const q = queue({
      timeoutMs: 20,
      deliver: (_, __, signal) => {
        signal.addEventListener('abort', () => void (aborted = true))
        return new Promise(() => {})
      },
    })
    q.add('one')
    await q.queue.settle()
    expect(aborted).toBe(true)
    expect(q.rows()).toMatchObject([{ state: 'waiting', attempts: 1, error: 'not delivered within 0.02 s' }])
  })

  test('that is useless by now is not attempted, also while its kind is not ready', async () => {
    let ready = true
    const q = queue({ ready: () => ready })
    q.add('first', { until: q.now() + minute })
    q.turnClock(minute)
    await q.queue.settle()
    ready = false
    q.add('second', { until: q.now() + minute })
    q.add('third')
    q.turnClock(minute)
    await q.queue.settle()
    expect(q.rows()).toMatchObject([
      { state: 'failed', error: 'too late', payload: '' },
      { state: 'failed', error: 'too late', payload: '' },
      { state: 'waiting', attempts: 0 },
    ])
    expect(q.got).toEqual([])
    ready = true
    await q.queue.settle()
    expect(q.got.map(({ subject }) => subject)).toEqual(['third'])
  })
})
const note = { lane: 'a', recipient: 'r', subject: 's', payload: { words: 'w' } }

describe('lanes', () => {
  test('take turns: one delivery behind thousands of another lane is next', async () => {
    const q = queue({ inFlight: { total: 1, perLane: 1 }, mostWaiting: { total: 10_000, perLane: 10_000 } })
    write(q.db, (tx) => {
      for (let i = 0; i < 3000; i++)
        queueDelivery(tx, q.kind, { secrets: q.context.secrets, now: q.now() }, { ...note, lane: 'busy' })
    })
    q.turnClock(1)
    for (const lane of ['quiet', 'aaa']) for (const n of [1, 2]) q.add(`${lane}${n}`, { lane })
    await q.queue.settle()
    expect(q.got.length).toBe(3004)
    expect(q.got.slice(0, 6).map(({ lane }) => lane)).toEqual(['aaa', 'busy', 'quiet', 'aaa', 'busy', 'quiet'])
  })

  test('have a limit each of what is under way, and so has the kind', async () => {
    const now = new Map<string, number>()
    const most = new Map<string, number>()
    const count = (lane: string, by: number) => {
      now.set(lane, (now.get(lane) ?? 0) + by)
      most.set(lane, Math.max(most.get(lane) ?? 0, now.get(lane)!))
    }
    const q = queue({
      inFlight: { total: 5, perLane: 2 },
      deliver: async (_, { lane }) => {
        for (const of of [lane, 'all']) count(of, 1)
        await Bun.sleep(1)
        for (const of of [lane, 'all']) count(of, -1)
      },
    })
    for (const lane of ['a', 'b', 'c']) for (let i = 0; i < 10; i++) q.add(`${lane}${i}`, { lane })
    await q.queue.settle()
    expect(q.got.length).toBe(30)
    expect(Object.fromEntries(most)).toEqual({ a: 2, b: 2, c: 2, all: 5 })
  })

  test('are not delayed by a lane whose receiver never answers', async () => {
    const stuck = Promise.withResolvers<void>()
    const q = queue({ deliver: (_, { lane }) => (lane === 'slow' ? stuck.promise : Promise.resolve()) })
    for (let i = 0; i < 5; i++) q.add(`s${i}`, { lane: 'slow' })
    for (let i = 0; i < 20; i++) q.add(`f${i}`, { lane: 'fast' })
    const settled = q.queue.settle()
    q.queue.start()
    await until(() => q.states().filter((s) => s.startsWith('f') && s.includes('delivered')).length === 20)
    expect(q.got.filter(({ lane }) => lane === 'slow').length).toBe(2)
    stuck.resolve()
    await settled
    await q.queue.stop()
  })

  test('that are paused wait, alone, and go on when they are resumed', async () => {
    const q = queue()
    q.queue.start()
    write(q.db, (tx) => pauseLane(tx, 'note', 'a'))
    q.add('one')
    q.add('two', { lane: 'b' })
    await until(() => q.got.length === 1)
    await Bun.sleep(5)
    expect(q.got.map(({ subject }) => subject)).toEqual(['two'])
    write(q.db, (tx) => resumeLane(tx, 'note', 'a'))
    await until(() => q.got.length === 2)
    await q.queue.stop()
  })
})

describe('the queue', () => {
  test('takes up what is queued when it commits, without waiting for a clock', async () => {
    const q = queue()
    q.queue.start()
    await Bun.sleep(5)
    const began = performance.now()
    q.add('one')
    await until(() => q.got.length === 1)
    // The clock looks every five seconds.
    expect(performance.now() - began).toBeLessThan(4000)
    await q.queue.stop()
    q.add('two')
    await Bun.sleep(5)
    expect(q.states()).toEqual(['one delivered 1', 'two waiting 0'])
  })

  test('tries again by itself when the pause is over', async () => {
    let tries = 0
    const db = freshDb()
    const secrets = secretsWith(Buffer.alloc(32, 7))
    const { kind } = queue({ retryAfterMs: [30] })
    const busyOnce = { ...kind, deliver: async () => void (++tries === 1 && fail('busy')) }
    const live = new DeliveryQueue({ db, secrets, clock: Date.now, config: configFrom({}) } as DeliveryContext, [
      busyOnce,
    ])
    live.start()
    write(db, (tx) => queueDelivery(tx, busyOnce, { secrets, now: Date.now() }, note))
    await until(() => hasDelivered(db, 'note'))
    expect(tries).toBe(2)
    await live.stop()
  })

  test('drops the oldest of a full lane for each new one, counts it, and leaves other lanes alone', async () => {
    const q = queue({ mostWaiting: { total: 100, perLane: 3 } })
    q.add('other', { lane: 'b' })
    for (let i = 0; i < 5; i++) q.add(`n${i}`)
    expect(q.states()).toEqual(['other waiting 0', 'n2 waiting 0', 'n3 waiting 0', 'n4 waiting 0'])
    expect(undelivered(q.db, 'note', 0)).toEqual({ failed: 0, late: 0, dropped: 2 })
    expect(q.outcomes).toEqual(['n0 dropped', 'n1 dropped'])
  })

  test('drops the oldest of all lanes when all of it is full', async () => {
    const q = queue({ mostWaiting: { total: 4, perLane: 3 } })
    for (const lane of ['a', 'b', 'c', 'd', 'e', 'f']) q.add(lane, { lane })
    expect(q.states()).toEqual(['c', 'd', 'e', 'f'].map((lane) => `${lane} waiting 0`))
    expect(undelivered(q.db, 'note', 0).dropped).toBe(2)
  })

  test('deletes what ended long ago, but what waits and the newest that was delivered', async () => {
    const q = queue({ deliver: async (_, { subject }) => void (subject === 'bad' && fail('no')), retryAfterMs: [] })
    for (const subject of ['old', 'bad', 'newest']) {
      q.add(subject)
      await q.queue.settle()
      q.turnClock(minute)
    }
    q.turnClock(day - 10 * minute)
    q.queue.prune()
    expect(q.states().length).toBe(3)
    q.add('waits')
    write(q.db, (tx) => pauseLane(tx, 'note', 'a'))
    q.turnClock(10 * minute)
    q.queue.prune()
    expect(q.states()).toEqual(['newest delivered 1', 'waits waiting 0'])
    expect(hasDelivered(q.db, 'note')).toBe(true)
  })

  test('deletes in slices of 500 rows', async () => {
    const q = queue({ mostWaiting: { total: 5000, perLane: 5000 } })
    write(q.db, (tx) => {
      for (let i = 0; i < 1200; i++) queueDelivery(tx, q.kind, { secrets: q.context.secrets, now: q.now() }, note)
    })
    await q.queue.settle()
    q.turnClock(2 * day)
    const slices = [1, 2, 3, 4].map(() => write(q.db, (tx) => pruneDeliveries(tx, q.kind, q.now())))
    expect(slices).toEqual([500, 500, 199, 0])
  })

  test('counts what waits in each lane and in all, whatever becomes of it', async () => {
    const q = queue({ mostWaiting: { total: 100, perLane: 3 }, retryAfterMs: [], deliver: async () => fail('no') })
    const counts = () => ['', 'a', 'b'].map((lane) => waitingIn(q.db, 'note', lane))
    for (let i = 0; i < 4; i++) q.add(`a${i}`)
    q.add('b', { lane: 'b' })
    expect(counts()).toEqual([4, 3, 1])
    await q.queue.settle()
    expect(counts()).toEqual([0, 0, 0])
    q.turnClock(2 * day)
    q.queue.prune()
    q.add('b', { lane: 'b' })
    expect(counts()).toEqual([1, 0, 1])
  })

  test('answers its claims from indexes', () => {
    const q = queue()
    const planOf = (sql: string) =>
      q.db.$client
        .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => detail)
        .join('\n')
    const waiting = "FROM deliveries WHERE kind = 'note' AND state = 'waiting'"
    for (const sql of [
      `SELECT min(lane) ${waiting} AND lane > 'a'`,
      `SELECT min(next_at) ${waiting} AND lane = 'a'`,
      `SELECT id ${waiting} AND lane = 'a' AND next_at <= 5 ORDER BY next_at, rowid LIMIT 3`,
      `SELECT min(next_at) ${waiting} AND next_at > 5`,
      `SELECT lane ${waiting} AND next_at <= 5 ORDER BY next_at LIMIT 9`,
      `SELECT id ${waiting} AND until <= 5 LIMIT 100`,
      `SELECT id ${waiting} AND lane = 'a' ORDER BY rowid LIMIT 1`,
      `SELECT id ${waiting} ORDER BY rowid LIMIT 1`,
    ]) {
      expect(planOf(sql)).toContain('USING')
      expect(planOf(sql)).not.toMatch(/TEMP B-TREE|SCAN deliveries$/m)
    }
  })
})

describe('after a crash', () => {
  for (const [moment, sent] of [
    ['delivery/note:before', 0],
    ['delivery/note:answered', 1],
  ] as const)
    test(`at ${moment} nothing is lost, and a second delivery has the id of the first`, async () => {
      const q = queue()
      const id = q.add('one')
      q.failpoint = (at) => {
        if (at === moment) throw new InjectedCrash(at)
      }
      await q.queue.settle()
      expect(q.got.map((delivery) => delivery.id)).toEqual(Array(sent).fill(id))
      expect(q.states()).toEqual(['one waiting 0'])
      q.failpoint = () => {}
      await new DeliveryQueue(q.context, [q.kind]).settle()
      expect(q.got.map((delivery) => delivery.id)).toEqual(Array(sent + 1).fill(id))
      expect(q.states()).toEqual(['one delivered 1'])
    })

  test('of the disk while an outcome is written, the delivery is made again later', async () => {
    const q = queue()
    q.add('one')
    q.db.$client.run(
      "CREATE TRIGGER full BEFORE UPDATE ON deliveries BEGIN SELECT raise(ABORT, 'database or disk is full'); END",
    )
    await q.queue.settle()
    expect([q.got.length, q.states()]).toEqual([1, ['one waiting 0']])
    q.db.$client.run('DROP TRIGGER full')
    await q.queue.settle()
    expect(q.got.length).toBe(1)
    q.turnClock(5000)
    await q.queue.settle()
    expect([q.got.length, q.states()]).toEqual([2, ['one delivered 1']])
  })
})

describe('S57: while the database cannot be written', () => {
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  const heal = ({ db }: ReturnType<typeof queue>) => {
    const { health } = db.$client
    health.trouble = undefined
    for (const healed of health.whenHealed) healed()
  }
  test('nothing is sent, and what waits is sent by itself afterwards', async () => {
    const q = queue()
    q.queue.start()
    q.db.$client.health.met(full)
    await Bun.sleep(5)
    expect(() => q.add('one')).toThrow('The disk of the database is full.')
    await q.queue.settle()
    expect(q.got).toHaveLength(0)
    heal(q)
    q.add('one')
    await eventually(() => q.states()[0] === 'one delivered 1')
    expect(q.states()).toEqual(['one delivered 1'])
    await q.queue.stop()
  })
  test('outcomes are flushed while others go on; stopping waits for it, and so does who is far ahead', async () => {
    const q = queue({ inFlight: { total: 1000, perLane: 1000 }, mostWaiting: { total: 2000, perLane: 2000 } })
    const disk = Promise.withResolvers<void>()
    let flushes = 0
    q.db.$client.flush = () => {
      flushes++
      return disk.promise
    }
    let flushed = 0
    afterWrite(q.db, () => void flushed++)
    q.add('one')
    q.queue.start()
    await until(() => q.states()[0] === 'one delivered 1')
    expect([flushes, flushed]).toEqual([1, 1])
    for (let i = 0; i < 600; i++) q.add(`${i}`)
    await until(() => waitingIn(q.db, 'note') === 0)
    q.add('after 500')
    const before = flushed
    await until(() => waitingIn(q.db, 'note') === 0)
    // Its outcome was written by a transaction that is flushed before it is answered.
    expect([flushes, flushed]).toEqual([1, before + 1])
    let stopped = false
    const stop = q.queue.stop().then(() => void (stopped = true))
    await Bun.sleep(5)
    expect(stopped).toBe(false)
    disk.resolve()
    await stop
  })
  test('what was sent and could not be recorded is not sent again, however long it lasts', async () => {
    const q = queue({
      deliver: async () => {
        q.db.$client.health.met(full)
      },
    })
    q.queue.start()
    q.add('one')
    await Bun.sleep(1200)
    expect([q.got.length, q.states()]).toEqual([1, ['one waiting 0']])
    heal(q)
    await eventually(() => q.states()[0] === 'one delivered 1')
    expect([q.got.length, q.states()]).toEqual([1, ['one delivered 1']])
    await q.queue.stop()
  })
})

test('every kind has a name of its own', () => {
  const names = registry.deliveries.map(({ kind }) => kind)
  expect(names.length).toBeGreaterThan(0)
  expect(new Set(names).size).toBe(names.length)
})

function fail(words: string): never {
  throw new Error(words)
}

async function until(is: () => boolean) {
  for (let i = 0; !is(); i++) {
    if (i > 2000) throw new Error('it never came true')
    await Bun.sleep(1)
  }
}
