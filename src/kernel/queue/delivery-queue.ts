// Delivers what the table `deliveries` holds: read, send, record. A crash between sending and recording repeats the
// delivery under the same id; nothing is lost. Lanes take turns, so a lane with thousands waiting delays another by one
// delivery at most.
import { second } from '../db/clock.ts'
import { isDatabaseError } from '../db/health.ts'
import { afterWrite, type Tx, troubleOf, whenHealed, write } from '../db/open.ts'
import { InjectedCrash } from '../jobs/failures.ts'
import type { Failpoints } from '../jobs/runner/execution.ts'
import { log } from '../log.ts'
import {
  type Delivery,
  type DeliveryContext,
  DeliveryFailed,
  type DeliveryKind,
  type Outcome,
} from './delivery-kind.ts'
import { type Claimed, encryptedDeliveries, pruneDeliveries, statements, waitingIn, withoutPayload } from './queries.ts'

/** A kind that is not ready, or whose outcome could not be written, is looked at again after this time. */
const RECHECK_MS = 5 * second
/** An outcome that the database cannot take now is tried again after this time. */
const RECORD_AGAIN_MS = second
const LONGEST_TIMER_MS = 3600 * second
/** That many due deliveries are looked through for their lanes. Where there are more, the lanes are stepped through. */
const SAMPLE = 200
const LANES_AT_ONCE = 16
const LONGEST_ERROR = 300

type Active = { lane: string; done: Promise<void> }

export class DeliveryQueue {
  private active = new Map<string, Map<string, Active>>()
  /** By kind: the lane that was served last. */
  private served = new Map<string, string>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private running = false
  private crashed = false
  private stalledUntil = 0
  private seen = ''

  constructor(
    private context: DeliveryContext,
    private kinds: readonly DeliveryKind[],
    private failpoints: Failpoints = () => {},
  ) {
    for (const { kind } of kinds) this.active.set(kind, new Map())
    afterWrite(context.db, () => this.afterCommit())
    whenHealed(context.db, () => this.wake())
  }

  /** Takes up what waits, also from before a crash, and from then on what is queued. */
  start() {
    this.running = true
    this.wake()
  }

  /** Begins nothing more; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.running = false
    clearTimeout(this.timer)
    await this.idle()
  }

  /** Delivers everything that is due, without `start` too; resolves when nothing is under way. */
  async settle(): Promise<void> {
    do {
      this.begin()
      await this.idle()
    } while (this.begin() > 0)
  }

  /** Deletes what is kept no longer. */
  prune() {
    const { db, clock } = this.context
    for (const kind of this.kinds) while (write(db, (tx) => pruneDeliveries(tx, kind, clock())) > 0);
  }

  private idle = async () => {
    const all = () => [...this.active.values()].flatMap((of) => [...of.values()].map(({ done }) => done))
    while (all().length) await Promise.all(all())
  }

  private afterCommit() {
    if (!this.running) return
    const { id, changes } = statements(this.context.db).newest.get()!
    const seen = `${id} ${changes}`
    if (seen === this.seen) return
    this.seen = seen
    this.wake()
  }

  /** In a turn of its own: whoever committed is answered first. */
  private wake(inMs = 0) {
    clearTimeout(this.timer)
    if (this.running) this.timer = setTimeout(() => this.round(), inMs)
  }

  private round() {
    try {
      this.begin()
      this.wake(this.pauseMs())
    } catch (error) {
      if (!isDatabaseError(error)) log.error('the delivery queue could not go on and tries again', { error })
      this.wake(RECHECK_MS)
    }
  }

  private pauseMs(): number {
    const { db, clock } = this.context
    const now = clock()
    if (this.mustWait()) return RECHECK_MS
    if (this.stalledUntil > now) return this.stalledUntil - now
    const pauses = this.kinds.map((kind) => {
      if (!this.isReady(kind)) return waitingIn(db, kind.kind) ? RECHECK_MS : LONGEST_TIMER_MS
      const { at } = statements(db).nextAt.get(kind.kind, now)!
      return at === null ? LONGEST_TIMER_MS : at - now
    })
    return Math.min(LONGEST_TIMER_MS, ...pauses)
  }

  /** A delivery whose outcome cannot be written would be sent again and again. */
  private mustWait = () => troubleOf(this.context.db) !== undefined

  private isReady = (kind: DeliveryKind) => kind.ready?.(this.context) ?? true

  /** Begins what may begin now; answers how many. */
  private begin(): number {
    let begun = 0
    if (this.crashed || this.mustWait() || this.stalledUntil > this.context.clock()) return begun
    for (const kind of this.kinds) {
      const active = this.active.get(kind.kind)!
      this.expire(kind)
      if (!waitingIn(this.context.db, kind.kind) || !this.isReady(kind)) continue
      while (active.size < kind.inFlight.total) {
        const next = this.next(kind, active)
        if (!next) break
        begun++
        const done = this.attempt(kind, next).finally(() => {
          active.delete(next.id)
          if (this.running) this.wake()
        })
        active.set(next.id, { lane: next.lane, done })
      }
    }
    return begun
  }

  /** The first due delivery of the next lane in turn that is below its limit in flight. */
  private next(kind: DeliveryKind, active: Map<string, Active>): Claimed | undefined {
    const { db, clock } = this.context
    const now = clock()
    for (const { lane, paused } of this.dueLanes(kind.kind, now)) {
      const inLane = [...active.values()].filter((other) => other.lane === lane).length
      if (paused || inLane >= kind.inFlight.perLane) continue
      const due = statements(db)
        .dueIn.all(kind.kind, lane, now, inLane + 1)
        .find(({ id }) => !active.has(id))
      if (!due) continue
      this.served.set(kind.kind, lane)
      return due
    }
    return undefined
  }

  /** Every due lane once, beginning behind the lane that was served last. */
  private *dueLanes(kind: string, now: number) {
    const { dueSample, dueLanes } = statements(this.context.db)
    const last = this.served.get(kind) ?? ''
    const few = dueSample.all({ kind, after: last, now, most: SAMPLE })
    // Fewer than asked for: these are all. Otherwise most of them are of the longest lanes.
    if (few.reduce((sum, { n }) => sum + n, 0) < SAMPLE) return yield* few
    for (const [first, end] of [
      [last, undefined],
      ['', last],
    ] as const)
      for (let after: string | undefined = first; after !== undefined; ) {
        const lanes = dueLanes.all({ kind, after, now, most: LANES_AT_ONCE })
        yield* end === undefined ? lanes : lanes.filter(({ lane }) => lane <= end)
        after = lanes.length < LANES_AT_ONCE ? undefined : lanes.at(-1)!.lane
        if (after !== undefined && end !== undefined && after > end) after = undefined
      }
  }

  private expire(kind: DeliveryKind) {
    const { db, clock } = this.context
    const active = this.active.get(kind.kind)!
    const over = statements(db)
      .expired.all(kind.kind, clock())
      .filter(({ id }) => !active.has(id))
    if (!over.length) return
    write(db, (tx) => {
      for (const delivery of over)
        this.end(tx, kind, delivery, delivery.attempts, { result: 'failed', error: kind.expired })
    })
  }

  /** Never rejects. */
  private async attempt(kind: DeliveryKind, claimed: Claimed): Promise<void> {
    const { secrets } = this.context
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), kind.timeoutMs)
    let failure: DeliveryFailed | undefined
    try {
      this.failpoints(`delivery/${kind.kind}:before`)
      const payload = JSON.parse(secrets.open(encryptedDeliveries.about(claimed), claimed.encryptedPayload))
      const delivery: Delivery = { ...withoutPayload(claimed), payload }
      const work = kind.deliver(this.context, delivery, late.signal)
      const timedOut = Promise.withResolvers<never>()
      late.signal.addEventListener('abort', () =>
        timedOut.reject(new Error(`not delivered within ${kind.timeoutMs / second} s`)),
      )
      await Promise.race([work, timedOut.promise])
      this.failpoints(`delivery/${kind.kind}:answered`)
    } catch (error) {
      if (error instanceof InjectedCrash) return void (this.crashed = true)
      failure = error instanceof DeliveryFailed ? error : new DeliveryFailed((error as Error).message, { cause: error })
    } finally {
      clearTimeout(timer)
    }
    await this.recordWhenPossible(kind, claimed, failure)
  }

  /** While the database cannot be written, the delivery stays under way: it is not sent a second time. */
  private async recordWhenPossible(kind: DeliveryKind, claimed: Claimed, failure: DeliveryFailed | undefined) {
    const { db, clock } = this.context
    for (;;)
      try {
        return write(db, (tx) => this.record(tx, kind, claimed, failure))
      } catch (error) {
        if (isDatabaseError(error) && this.running) {
          await Bun.sleep(RECORD_AGAIN_MS)
          continue
        }
        log.error('the outcome of a delivery could not be recorded, and it will be delivered again', {
          deliveryId: claimed.id,
          kind: kind.kind,
          error,
        })
        this.stalledUntil = clock() + RECHECK_MS
        return
      }
  }

  private record(tx: Tx, kind: DeliveryKind, claimed: Claimed, failure: DeliveryFailed | undefined) {
    const attempts = claimed.attempts + 1
    if (!failure) return this.end(tx, kind, claimed, attempts, { result: 'delivered' })
    const error = failure.message.slice(0, LONGEST_ERROR)
    const about = { deliveryId: claimed.id, kind: kind.kind, ...failure.about, error }
    const pause = kind.retryAfterMs[claimed.attempts]
    if (pause === undefined || failure.permanent || attempts >= claimed.maxAttempts) {
      log.error('a delivery was not taken, and is given up', about)
      return this.end(tx, kind, claimed, attempts, { result: 'failed', error })
    }
    log.warning('a delivery was not taken and is tried again', { ...about, againInSeconds: pause / second })
    const now = this.context.clock()
    const nextAt = now + pause
    if (statements(tx).retry.run({ id: claimed.id, attempts, nextAt, error }).changes)
      kind.recorded?.(tx, { ...withoutPayload(claimed), attempts }, { result: 'retried', error, nextAt }, now)
  }

  private end(
    tx: Tx,
    kind: DeliveryKind,
    claimed: Claimed,
    attempts: number,
    outcome: Extract<Outcome, { result: 'delivered' | 'failed' }>,
  ) {
    const now = this.context.clock()
    const { result: state } = outcome
    const error = state === 'failed' ? outcome.error : null
    const { changes } = statements(tx).ended.run({ id: claimed.id, state, attempts, error, now })
    if (changes) kind.recorded?.(tx, { ...withoutPayload(claimed), attempts }, outcome, now)
  }
}
