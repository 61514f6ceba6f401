// Token buckets in memory. A bucket that is full again says nothing and is dropped, so the table stays bounded.

import { type Clock, day, minute, second } from '../db/clock.ts'
import { ApiError } from './errors.ts'

/** So many calls a minute of one token, account or address, and so many sign-ins of one address. */
export const CALLS_PER_MINUTE = 1200
export const SIGN_INS_PER_MINUTE = 20
/** Each is a mail to an address that somebody typed. */
export const INVITATIONS_PER_MINUTE = 10

type Bucket = { left: number; at: number }

/** `perMinute` calls, refilled evenly. Throws `rate_limited` with the seconds until one is free. */
export class Limit {
  private buckets = new Map<string, Bucket>()
  constructor(
    private perMinute: number,
    private clock: Clock,
    private most = 100_000,
  ) {}

  take(key: string) {
    const seconds = this.wait(key)
    if (seconds)
      throw new ApiError('rate_limited', `Too many calls. Try again in ${seconds} s.`, { retryAfterSeconds: seconds })
  }

  /** Was there one to take? */
  tryTake = (key: string): boolean => this.wait(key) === 0

  /** For what is refused already, for a reason that is told before this one: it counts all the same. */
  count = (key: string): void => void this.wait(key)

  /** Takes one, or answers the seconds until there is one. */
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
    // Still full within one minute: an attack from very many addresses. A tenth goes at once, those that were made first, so that
    // not every call that follows has to sweep again.
    for (const key of this.buckets.keys()) {
      if (this.buckets.size < this.most * 0.9) break
      this.buckets.delete(key)
    }
  }
}

/** One IPv6 customer has a whole /64, so that is what counts as an address. */
export const addressKey = (address: string) =>
  address.includes(':') ? expandIpv6(address).slice(0, 4).join(':') : address

function expandIpv6(address: string): string[] {
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  return [...left, ...Array<string>(zeros).fill('0'), ...right]
}

type Failures = { count: number; at: number; until: number }

/**
 * Slows down guessing at one key: after the fifth failure the next try must wait 15 seconds, and twice as long after each further
 * one, up to 15 minutes. Tries that are refused while waiting do not count, so nobody can prolong it
 * by knocking. A day without a failure forgets them all.
 */
export class Delay {
  private failures = new Map<string, Failures>()
  constructor(
    private clock: Clock,
    private most = 100_000,
  ) {}

  /**
   * Counts as a failure until `forgive` says that it was none: parallel tries cannot all slip through before the first has failed.
   * Throws `rate_limited` with `words` and the seconds to wait.
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
    // Again at the end: when the table is full, those that nobody has tried for longest go first.
    this.failures.delete(key)
    if (this.failures.size >= this.most) this.sweep(now)
    this.failures.set(key, { count, at: now, until: now + waitMs(count) })
  }

  forgive(key: string) {
    const it = this.failures.get(key)
    if (!it) return
    it.count--
    it.until = 0
    if (it.count <= 0) this.failures.delete(key)
  }

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
