// Delivers what the table `deliveries` holds: read, send, record. A crash between sending and recording repeats the
// delivery under the same id; nothing is lost. Lanes take turns, so a lane with thousands waiting delays another by one
// delivery at most.
import { second } from '../db/clock.ts'
import { isDatabaseError } from '../db/health.ts'
import { afterWrite, type Tx, troubleOf, whenHealed, write, writeUnflushed } from '../db/open.ts'
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
import { type Attempt, InFlight } from './in-flight.ts'
import {
  type Claimed,
  type DueLane,
  encryptedDeliveries,
  pruneDeliveries,
  statements,
  waitingIn,
  withoutPayload,
} from './queries.ts'

/** A kind that is not ready, or whose outcome could not be written, is looked at again after this time. */
const RECHECK_MS = 5 * second
/** An outcome that the database cannot take now is tried again after this time. */
const RECORD_AGAIN_MS = second
const LONGEST_TIMER_MS = 3600 * second
/** That many due deliveries are looked through for their lanes. Where there are more, the lanes are stepped through. */
const SAMPLE = 200
const LANES_AT_ONCE = 16
const LANES_KNOWN_MS = 1000
const MOST_LANES_KNOWN = 64
const LONGEST_ERROR = 300
/** A delivery is under way for so much longer, so that its outcome is recorded with others. */
const GATHERED_MS = 3
/** A disk that is so far behind is waited for. */
const MOST_UNFLUSHED = 500
const FEW_IN_FLIGHT = 4
/** Groups whose ended deliveries are counted at a time. */
const MOST_COUNTED = 10_000

/** In a lane whose deliveries leave in order, so many due ones are looked through for one that may leave now. */
const LOOKED_THROUGH = 2000

type Recorded = { kind: DeliveryKind; claimed: Claimed; attempt: Attempt; done: PromiseWithResolvers<void> }

export class DeliveryQueue {
  private active = new Map<string, InFlight>()
  private outcomes: Recorded[] = []
  private gathering: ReturnType<typeof setTimeout> | undefined
  /** Outcomes that a power cut would take back, and the flush that is under way. */
  private unflushed = 0
  private flushing: Promise<void> | undefined
  /** By kind and group: deliveries that ended since its log was trimmed. */
  private ended = new Map<string, number>()
  /** By kind: the lane that was served last. */
  private served = new Map<string, string>()
  /** By kind: the lanes that are due until a time in ms. */
  private lanes = new Map<string, { from: number; until: number; list: readonly DueLane[] }>()
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
    for (const kind of kinds) this.active.set(kind.kind, new InFlight(kind))
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
    const all = () => [...this.active.values()].flatMap((active) => active.all())
    while (all().length) await Promise.all(all())
    while (this.flushing) await this.flushing
  }

  private afterCommit() {
    const { id, changes } = statements(this.context.db).newest.get()!
    const seen = `${id} ${changes}`
    if (seen === this.seen) return
    this.seen = seen
    this.lanes.clear()
    if (this.running) this.wake()
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
      this.expire(kind)
      if (!waitingIn(this.context.db, kind.kind) || !this.isReady(kind)) continue
      begun += this.beginOf(kind)
    }
    return begun
  }

  /** Begins one delivery of each due lane in turn, and again of those that may begin another. */
  private beginOf(kind: DeliveryKind): number {
    const { db, clock } = this.context
    const active = this.active.get(kind.kind)!
    const now = clock()
    let begun = 0
    const mayBegin = ({ lane, group }: DueLane) =>
      active.size < kind.inFlight.total && active.hasFreePlace(db, lane, group)
    type Turn = { due: DueLane; free: Iterator<Claimed> }
    const beginOne = ({ due, free }: Turn): boolean => {
      const { value: next } = free.next()
      if (!next) return false
      this.served.set(kind.kind, due.lane)
      begun++
      const done = this.attempt(kind, next).finally(() => {
        active.delete(next.id)
        if (this.running) this.wake()
      })
      active.add(next, done)
      return mayBegin(due)
    }
    let left: Turn[] = []
    for (const due of this.lanesInTurn(kind.kind, now)) {
      if (active.size >= kind.inFlight.total) return begun
      if (due.paused || !mayBegin(due)) continue
      const turn = { due, free: this.freeIn(kind.kind, active, due, now) }
      if (beginOne(turn)) left.push(turn)
    }
    while (left.length) left = left.filter((turn) => mayBegin(turn.due) && beginOne(turn))
    return begun
  }

  /** The due deliveries of the lane that wait for none of those under way. */
  private *freeIn(kind: string, active: InFlight, { lane, group }: DueLane, now: number) {
    const { dueIn, byId } = statements(this.context.db)
    const first = Math.min(2 * active.mostInLane(this.context.db, group), LOOKED_THROUGH / 4)
    let seen = 0
    for (let limit = first; limit < LOOKED_THROUGH; limit *= 4) {
      const due = dueIn.all(kind, lane, now, limit)
      for (const one of due.slice(seen)) if (!active.blocks(lane, one)) yield byId.get(one.id)!
      if (due.length < limit) return
      seen = due.length
    }
  }

  /**
   * The due lanes as `dueLanes` finds them. Where they are few they are remembered for a moment, unless something is
   * queued, paused or due meanwhile: looking for them takes longer than everything else about a delivery.
   */
  private *lanesInTurn(kind: string, now: number): Generator<DueLane> {
    const known = this.lanes.get(kind)
    if (known && now >= known.from && now < known.until) {
      const behind = known.list.findIndex(({ lane }) => lane === this.served.get(kind)) + 1
      yield* known.list.slice(behind)
      return yield* known.list.slice(0, behind)
    }
    const list: DueLane[] = []
    for (const due of this.dueLanes(kind, now)) {
      list.push(due)
      yield due
    }
    if (list.length > MOST_LANES_KNOWN) return
    const { at } = statements(this.context.db).nextAt.get(kind, now)!
    this.lanes.set(kind, { from: now, until: Math.min(now + LANES_KNOWN_MS, at ?? Infinity), list })
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
    const { secrets, clock } = this.context
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), kind.timeoutMs)
    const made: Attempt = { at: clock() }
    try {
      this.failpoints(`delivery/${kind.kind}:before`)
      const payload = JSON.parse(secrets.open(encryptedDeliveries.about(claimed), claimed.encryptedPayload))
      const delivery: Delivery = { ...withoutPayload(claimed), payload }
      const work = kind.deliver(this.context, delivery, late.signal)
      const timedOut = Promise.withResolvers<never>()
      late.signal.addEventListener('abort', () =>
        timedOut.reject(new Error(`not delivered within ${kind.timeoutMs / second} s`)),
      )
      const record = await Promise.race([work, timedOut.promise])
      if (typeof record === 'object' && record !== null) made.record = record
      this.failpoints(`delivery/${kind.kind}:answered`)
    } catch (error) {
      if (error instanceof InjectedCrash) return void (this.crashed = true)
      made.failure =
        error instanceof DeliveryFailed ? error : new DeliveryFailed((error as Error).message, { cause: error })
      made.record = made.failure.record
    } finally {
      clearTimeout(timer)
    }
    await this.recordWhenPossible(kind, claimed, made)
  }

  /** While the database cannot be written, the delivery stays under way: it is not sent a second time. */
  private async recordWhenPossible(kind: DeliveryKind, claimed: Claimed, attempt: Attempt) {
    for (;;)
      try {
        return await this.recordSoon(kind, claimed, attempt)
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
        this.stalledUntil = this.context.clock() + RECHECK_MS
        return
      }
  }

  /**
   * Outcomes go into one transaction: they are gathered for a moment, or until nothing else is under way; not where few
   * are.
   */
  private recordSoon(kind: DeliveryKind, claimed: Claimed, attempt: Attempt): Promise<void> {
    const done = Promise.withResolvers<void>()
    this.outcomes.push({ kind, claimed, attempt, done })
    let inFlight = 0
    for (const active of this.active.values()) inFlight += active.size
    if (inFlight > FEW_IN_FLIGHT && this.outcomes.length < inFlight)
      this.gathering ??= setTimeout(() => this.recordGathered(), GATHERED_MS)
    else if (this.outcomes.length === 1 || this.gathering !== undefined) {
      clearTimeout(this.gathering)
      this.gathering = undefined
      setImmediate(() => this.recordGathered())
    }
    return done.promise
  }

  private recordGathered() {
    clearTimeout(this.gathering)
    this.gathering = undefined
    const outcomes = this.outcomes.splice(0)
    const failed = outcomes.filter(({ attempt }) => attempt.failure)
    const taken = outcomes.filter(({ attempt }) => !attempt.failure)
    this.recordAll(failed, write)
    if (this.unflushed >= MOST_UNFLUSHED) return this.recordAll(taken, write)
    this.recordAll(taken, writeUnflushed)
    this.unflushed += taken.length
    if (taken.length) this.flush()
  }

  /**
   * Of a delivery that was taken a power cut loses at most the outcome, and it is made again: nobody waits for the
   * flush. What is on disk is always the beginning of what happened, so that no later outcome is there without it.
   */
  private flush() {
    const flushed = this.unflushed
    this.flushing ??= this.context.db.$client
      .flush()
      .catch(() => {}) // Changes are refused from now on, until everything was written anew.
      .then(() => {
        this.flushing = undefined
        this.unflushed -= flushed
        if (this.unflushed) this.flush()
      })
  }

  private recordAll(outcomes: readonly Recorded[], how: typeof writeUnflushed) {
    if (!outcomes.length) return
    try {
      how(this.context.db, (tx) => {
        for (const { kind, claimed, attempt } of outcomes) this.record(tx, kind, claimed, attempt)
      })
      for (const { done } of outcomes) done.resolve()
    } catch (error) {
      // One outcome that cannot be recorded does not keep the others from it.
      if (outcomes.length > 1 && !isDatabaseError(error)) for (const one of outcomes) this.recordAll([one], how)
      else for (const { done } of outcomes) done.reject(error)
    }
  }

  private record(tx: Tx, kind: DeliveryKind, claimed: Claimed, attempt: Attempt) {
    const { failure, record, at } = attempt
    const attempts = claimed.attempts + 1
    const isKept = this.outcome(tx, kind, claimed, attempts, failure)
    if (!isKept || !kind.log) return
    if (record) statements(tx).addAttempt.run(claimed.id, attempts, at, JSON.stringify(record))
    if (claimed.group !== null) this.trim(tx, kind, claimed.group)
  }

  /** False when the delivery was dropped or deleted meanwhile. */
  private outcome(
    tx: Tx,
    kind: DeliveryKind,
    claimed: Claimed,
    attempts: number,
    failure: DeliveryFailed | undefined,
  ): boolean {
    if (!failure) return this.end(tx, kind, claimed, attempts, { result: 'delivered' })
    const error = failure.message.slice(0, LONGEST_ERROR)
    const about = { deliveryId: claimed.id, kind: kind.kind, ...failure.about, error }
    const pause = kind.retryAfterMs[claimed.attempts]
    if (pause === undefined || failure.permanent || attempts >= claimed.maxAttempts) {
      log.error('a delivery was not taken, and is given up', about)
      return this.end(tx, kind, claimed, attempts, { result: 'failed', error, record: failure.record })
    }
    const againMs = Math.max(pause, Math.min(failure.notBeforeMs, Math.max(...kind.retryAfterMs)))
    log.warning('a delivery was not taken and is tried again', { ...about, againInSeconds: againMs / second })
    const now = this.context.clock()
    const nextAt = now + againMs
    const { changes } = statements(tx).retry.run({ id: claimed.id, attempts, nextAt, error })
    this.lanes.delete(kind.kind)
    if (changes) {
      const outcome = { result: 'retried', error, nextAt, record: failure.record } as const
      kind.recorded?.(tx, { ...withoutPayload(claimed), attempts }, outcome, now, this.context)
    }
    return changes > 0
  }

  private end(
    tx: Tx,
    kind: DeliveryKind,
    claimed: Claimed,
    attempts: number,
    outcome: Extract<Outcome, { result: 'delivered' | 'failed' }>,
  ): boolean {
    const now = this.context.clock()
    const { result: state } = outcome
    const error = state === 'failed' ? outcome.error : null
    const logged = kind.log ? 1 : 0
    const { changes } = statements(tx).ended.run({ id: claimed.id, state, attempts, error, now, logged })
    if (changes) kind.recorded?.(tx, { ...withoutPayload(claimed), attempts }, outcome, now, this.context)
    return changes > 0
  }

  /** Finding the end of a long log takes longer than recording an outcome: it is done for some of them only. */
  private trim(tx: Tx, kind: DeliveryKind, group: string) {
    const { logged } = kind.groups?.(group) ?? { logged: Infinity }
    const key = `${kind.kind} ${group}`
    const ended = (this.ended.get(key) ?? logged) + 1
    if (ended < logged / 20) return void this.ended.set(key, ended)
    statements(tx).trim.run({ kind: kind.kind, group, logged })
    if (this.ended.size >= MOST_COUNTED) this.ended.clear()
    this.ended.set(key, 0)
  }
}
