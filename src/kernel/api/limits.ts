// Token buckets in memory. A bucket that is full again says nothing and is dropped, so the table stays bounded.

import { type Clock, minute } from '../db/clock.ts'
import { Refusal } from './errors.ts'

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
    const now = this.clock()
    const bucket = this.buckets.get(key)
    const left = bucket ? Math.min(this.perMinute, bucket.left + ((now - bucket.at) / minute) * this.perMinute) : this.perMinute
    if (left < 1) {
      const seconds = Math.max(1, Math.ceil(((1 - left) / this.perMinute) * 60))
      throw new Refusal('rate_limited', `Too many calls. Try again in ${seconds} s.`, { retryAfterSeconds: seconds })
    }
    if (bucket) {
      bucket.left = left - 1
      bucket.at = now
    } else {
      if (this.buckets.size >= this.most) this.sweep(now)
      this.buckets.set(key, { left: left - 1, at: now })
    }
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
export const addressKey = (address: string) => (address.includes(':') ? expandIpv6(address).slice(0, 4).join(':') : address)

function expandIpv6(address: string): string[] {
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  return [...left, ...Array<string>(zeros).fill('0'), ...right]
}
