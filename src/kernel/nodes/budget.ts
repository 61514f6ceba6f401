import type { Clock } from '../db/clock.ts'

/** An allowance that refills evenly: `perSecond` units a second, `burst` of them at once. */
export class Budget {
  private left: number
  private at: number
  constructor(
    private perSecond: number,
    private burst: number,
    private clock: Clock,
  ) {
    this.left = burst
    this.at = clock()
  }

  /** Takes `amount` units. Answers false and takes nothing when fewer are left. */
  take(amount: number): boolean {
    const now = this.clock()
    this.left = Math.min(this.burst, this.left + (Math.max(0, now - this.at) / 1000) * this.perSecond)
    this.at = now
    if (this.left < amount) return false
    this.left -= amount
    return true
  }
}
