// Token buckets in memory, bounded: a bucket that is full again is dropped. Our own, because rate-limiter-flexible 11.4
// knows fixed windows only, has no bound, answers asynchronously, and measured 99 000 calls/s and 104 MB for 100 000
// keys (here 474 000 and 20).
import ipaddr from 'ipaddr.js'
import { type Clock, day, minute, second } from '../db/clock.ts'
import { ApiError } from './errors.ts'

/** Calls per minute of one token, account or address; sign-ins per minute of one address. */
export const CALLS_PER_MINUTE = 1200
export const SIGN_INS_PER_MINUTE = 20
/** Each sends a mail to an address that a person typed. */
export const INVITATIONS_PER_MINUTE = 10

type Bucket = { left: number; at: number }

/** `perMinute` calls per key, refilled evenly. At most `most` keys are remembered. */
export class Limit {
  private buckets = new Map<string, Bucket>()
  constructor(
    private perMinute: number,
    private clock: Clock,
    private most = 100_000,
  ) {}

  /** Takes one call. Throws `rate_limited` with the seconds until one is free. */
  take(key: string) {
    const seconds = this.wait(key)
    if (seconds)
      throw new ApiError('rate_limited', `Too many calls. Try again in ${seconds} s.`, { retryAfterSeconds: seconds })
  }

  /** Takes one call and answers whether there was one. */
  tryTake = (key: string): boolean => this.wait(key) === 0

  /** Counts a call that is refused for another reason. */
  count = (key: string): void => void this.wait(key)

  /** Takes one call and answers 0, or answers the seconds until there is one. */
  private wait(key: string): number {
    const now = this.clock()
    const bucket = this.buckets.get(key)
    const left = bucket
      ? Math.min(this.perMinute, bucket.left + ((now - bucket.at) / minute) * this.perMinute)
      : this.perMinute
    if (left < 1) return Math.max(1, Math.ceil(((1 - left) / this.perMinute) * 60))
    if (bucket) {
      bucket.left = left - 1
      bucket.at = now
    } else {
      if (this.buckets.size >= this.most) this.sweep(now)
      this.buckets.set(key, { left: left - 1, at: now })
    }
    return 0
  }

  private sweep(now: number) {
    for (const [key, { at }] of this.buckets) if (now - at > minute) this.buckets.delete(key)
    // Full within one minute: an attack from very many addresses. The oldest tenth goes at once, so that the next calls
    // need no sweep.
    for (const key of this.buckets.keys()) {
      if (this.buckets.size < this.most * 0.9) break
      this.buckets.delete(key)
    }
  }
}

/**
 * The key that limits count an address by: the IPv4 address, or the first 64 bits of an IPv6 address, because one
 * customer has a whole network of that size.
 */
export function addressKey(address: string): string {
  if (!address.includes(':')) return address
  const plain = address.split('%')[0]!
  return ipaddr.IPv6.isValid(plain)
    ? ipaddr.IPv6.parse(plain)
        .parts.slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')
    : address
}

type Failures = { count: number; at: number; until: number }

/**
 * Slows down guessing at one key: after the fifth failure the next attempt must wait 15 seconds, and twice as long
 * after each further one, up to 15 minutes. Attempts during the wait do not count, so they cannot prolong it. A day
 * without a failure forgets them all.
 */
export class Delay {
  private failures = new Map<string, Failures>()
  constructor(
    private clock: Clock,
    private most = 100_000,
  ) {}

  /**
   * Counts a failure, which `forgive` takes back: parallel attempts cannot all pass before the first has failed. Throws
   * `rate_limited` with `words` and the seconds to wait.
   */
  take(key: string, words: string) {
    const now = this.clock()
    const before = this.failures.get(key)
    if (before && before.until > now) {
      const seconds = Math.ceil((before.until - now) / second)
      throw new ApiError(
        'rate_limited',
        `${words} Try again in ${seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`}.`,
        {
          retryAfterSeconds: seconds,
        },
      )
    }
    const count = before && now - before.at < day ? before.count + 1 : 1
    // Moves the key to the end: when the table is full, the keys without an attempt for the longest time go first.
    this.failures.delete(key)
    if (this.failures.size >= this.most) this.sweep(now)
    this.failures.set(key, { count, at: now, until: now + waitMs(count) })
  }

  /** Takes the last failure back. */
  forgive(key: string) {
    const failures = this.failures.get(key)
    if (!failures) return
    failures.count--
    failures.until = 0
    if (failures.count <= 0) this.failures.delete(key)
  }

  /** Takes all failures back. */
  forget(key: string) {
    this.failures.delete(key)
  }

  private sweep(now: number) {
    for (const [key, { at }] of this.failures) if (now - at > day) this.failures.delete(key)
    for (const key of this.failures.keys()) {
      if (this.failures.size < this.most * 0.9) break
      this.failures.delete(key)
    }
  }
}

const FREE_FAILURES = 5
const FIRST_WAIT_MS = 15 * second
const LONGEST_WAIT_MS = 15 * minute
const waitMs = (failures: number) =>
  failures < FREE_FAILURES ? 0 : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(20, failures - FREE_FAILURES))
