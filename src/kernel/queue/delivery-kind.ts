import type { Secrets } from '../crypto/secrets.ts'
import type { Clock } from '../db/clock.ts'
import type { Db, Tx } from '../db/open.ts'
import type { AppConfig } from '../register.ts'

/** The parts of the controller that a handler uses. */
export type DeliveryContext = { db: Db; secrets: Secrets; clock: Clock; config: AppConfig }

export type Delivery<P = unknown> = {
  /** Stays the same in every attempt: the receiver recognises a second delivery of the same thing by it. */
  id: string
  lane: string
  recipient: string
  subject: string
  payload: P
  /** Attempts before this one. */
  attempts: number
}

/** `retried`: waits for its next attempt. `dropped`: the queue was full, and this one was the oldest. */
export type Outcome =
  | { result: 'delivered' }
  | { result: 'retried'; error: string; nextAt: number }
  | { result: 'failed'; error: string }
  | { result: 'dropped' }

/** One kind of delivery, for example mail. A feature lists it under `deliveries`. */
export type DeliveryKind<P = any> = {
  kind: string
  /** Pauses between the attempts, milliseconds; one attempt more than pauses, then the delivery has failed. */
  retryAfterMs: readonly number[]
  /** Deliveries under way at the same time, in all lanes together and in one. */
  inFlight: { total: number; perLane: number }
  /** Most waiting deliveries; for each one more, the oldest of the lane (or of the kind) is dropped. */
  mostWaiting: { total: number; perLane: number }
  /** How long delivered and failed ones are kept, milliseconds. */
  keepMs: number
  timeoutMs: number
  /** The error of a delivery that was not made before its `until`. */
  expired: string
  /** False: nothing is attempted now, and no attempt is counted. */
  ready?(context: DeliveryContext): boolean
  /**
   * Makes one attempt. Throws when the receiver did not take it; `DeliveryFailed` says more. An attempt may be repeated
   * after a crash although the receiver took it: the id is what tells the receiver.
   */
  deliver(context: DeliveryContext, delivery: Delivery<P>, signal: AbortSignal): Promise<void>
  /** In the transaction that records the outcome. */
  recorded?(tx: Tx, delivery: Omit<Delivery<P>, 'payload'>, outcome: Outcome, now: number): void
}

/** A failed attempt. `permanent`: another attempt would be useless. `about` goes into the journal. */
export class DeliveryFailed extends Error {
  readonly permanent: boolean
  readonly about: Readonly<Record<string, unknown>>
  constructor(
    message: string,
    {
      permanent = false,
      about = {},
      cause,
    }: { permanent?: boolean; about?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.permanent = permanent
    this.about = about
  }
}
