import type { AppContext } from '../api/operation.ts'
import type { Db, Tx } from '../db/open.ts'

/** The controller as a handler sees it. */
export type DeliveryContext = AppContext & { db: Db }

export type Delivery<P = unknown> = {
  /** Stays the same in every attempt: the receiver recognises a second delivery of the same thing by it. */
  id: string
  lane: string
  recipient: string
  subject: string
  payload: P
  /** Attempts before this one. */
  attempts: number
  /** 1: it is never tried again. */
  maxAttempts: number
}

/** `retried`: waits for its next attempt. `dropped`: the queue was full, and this one was the oldest. */
export type Outcome =
  | { result: 'delivered' }
  | { result: 'retried'; error: string; nextAt: number; record?: object | undefined }
  | { result: 'failed'; error: string; record?: object | undefined }
  | { result: 'dropped' }

/** One kind of delivery, for example mail. A feature lists it under `deliveries`. */
export type DeliveryKind<P = any> = {
  kind: string
  /** Pauses between the attempts, milliseconds; one attempt more than pauses, then the delivery has failed. */
  retryAfterMs: readonly number[]
  /** Deliveries under way at the same time, in all lanes together and in one. */
  inFlight: { total: number; perLane: number | ((db: Db, group: string) => number) }
  /** Most waiting deliveries; for each one more, the oldest of the lane (or of the kind) is dropped. */
  mostWaiting: { total: number; perLane: number }
  /** The limits of a group of lanes: under way at the same time, waiting, and in its log. Without it there are none. */
  groups?(group: string): { inFlight: number; mostWaiting: number; logged: number }
  /**
   * Payloads and the records of attempts stay until `keepMs` is over or the log of the group is full. A delivery that
   * makes way for a newer one has failed with these words.
   */
  log?: { dropped: string }
  /** How long delivered and failed ones are kept, milliseconds. */
  keepMs: number
  timeoutMs: number
  /** The error of a delivery that was not made before its `until`. */
  expired: string
  /** False: nothing is attempted now, and no attempt is counted. */
  ready?(context: DeliveryContext): boolean
  /**
   * Makes one attempt. Throws when the receiver did not take it; `DeliveryFailed` says more. An attempt may be repeated
   * after a crash although the receiver took it: the id is what tells the receiver. Answers the record of the attempt,
   * an object that is stored where the kind has a log.
   */
  deliver(context: DeliveryContext, delivery: Delivery<P>, signal: AbortSignal): Promise<unknown>
  /**
   * In the transaction that records the outcome. Without a context it was dropped. What it writes about a delivered one
   * is flushed to the disk a moment later.
   */
  recorded?(
    tx: Tx,
    delivery: Omit<Delivery<P>, 'payload'>,
    outcome: Outcome,
    now: number,
    context: DeliveryContext | undefined,
  ): void
}

type Failure = {
  permanent?: boolean
  about?: Readonly<Record<string, unknown>>
  record?: object
  notBeforeMs?: number
  cause?: unknown
}
/**
 * A failed attempt. `permanent`: another attempt would be useless. `about` goes into the journal, `record` into the log
 * of the delivery. `notBeforeMs`: the receiver asks for a longer pause; it is never shorter than that of the kind, and
 * never longer than the longest of the kind.
 */
export class DeliveryFailed extends Error {
  readonly permanent: boolean
  readonly about: Readonly<Record<string, unknown>>
  readonly record: object | undefined
  readonly notBeforeMs: number
  constructor(message: string, { permanent = false, about = {}, record, notBeforeMs = 0, cause }: Failure = {}) {
    super(message, { cause })
    this.permanent = permanent
    this.about = about
    this.record = record
    this.notBeforeMs = notBeforeMs
  }
}
