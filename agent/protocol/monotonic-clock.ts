// The time of both processes. The clock of the host can be set while the controller runs; a limit, a pause, a session
// or a retry must not notice. So time starts as the host's clock says, advances with the monotonic clock, and
// approaches a host clock that was set by one second in a hundred: no duration is ever wrong by more than one percent,
// and none is negative.

const second = 1000
type Clock = () => number

/** The host's clocks: `wall` in ms since 1970, which people and time servers set; `monotonic` in ms from anywhere. */
export type TimeSource = { wall: Clock; monotonic: Clock }
export const hostTime: TimeSource = { wall: Date.now, monotonic: () => performance.now() }

/** The host's clock is compared so often. */
export const OBSERVED_EVERY_MS = 5 * second
/** Smaller steps are corrections of a time server, or a leap second. */
const JUMP_MS = 2 * second
/** A clock that is further off than this is reported: that of a node, and that of the controller. */
export const SKEW_SHOWN_MS = 30 * second
const APPROACH = 0.01
const LONGEST_CONTINUED_MS = 24 * 3600 * second

/** The clock of the host was set by `byMs` (negative: back), noticed at `at` in the product's time. */
export type ClockJump = { at: number; byMs: number }

export class MonotonicClock {
  /** The product's time was `at` when the monotonic clock showed `mark`, and runs at `rate` since. */
  private at: number
  private mark: number
  private rate = 1
  private last = 0
  private seen: { wall: number; monotonic: number }
  private jump: ClockJump | undefined

  /**
   * `last` is the time that a process before this one noted, if there was one: a host clock that was set back
   * meanwhile, by a day at most, does not set this one back. Deadlines that are stored stay as far away as they are.
   */
  constructor(
    private source: TimeSource,
    last = 0,
  ) {
    const wall = source.wall()
    const monotonic = source.monotonic === source.wall ? wall : source.monotonic()
    this.seen = { wall, monotonic }
    const behindMs = last - wall
    this.at = behindMs > 0 && behindMs <= LONGEST_CONTINUED_MS ? last : wall
    this.mark = monotonic
    if (this.at - wall > SKEW_SHOWN_MS) this.jump = { at: this.at, byMs: wall - this.at }
    this.approach(wall)
  }

  private approach(wall: number) {
    const off = wall - this.at
    this.rate = 1 + Math.max(-APPROACH, Math.min(APPROACH, off / OBSERVED_EVERY_MS))
  }

  /** Milliseconds since 1970; never less than before, and untouched by a host clock that is set. */
  now: Clock = () => {
    const now = Math.floor(this.exactly(this.source.monotonic()))
    if (now > this.last) this.last = now
    return this.last
  }

  /** The time of the host's clock: for the outside world only, such as codes of an authenticator app. */
  wall: Clock = () => this.source.wall()

  private exactly(monotonic: number): number {
    const elapsed = monotonic - this.mark
    return this.at + (elapsed > 0 ? elapsed * this.rate : 0)
  }

  /** Compares the host's clock with the monotonic one. Returns the jump when it was set since the last call. */
  observe(): ClockJump | undefined {
    const [wall, monotonic] = [this.source.wall(), this.source.monotonic()]
    const byMs = Math.round(wall - this.seen.wall - (monotonic - this.seen.monotonic))
    this.seen = { wall, monotonic }
    this.at = this.exactly(monotonic)
    this.mark = monotonic
    this.approach(wall)
    const jump = Math.abs(byMs) > JUMP_MS ? { at: this.now(), byMs } : undefined
    if (Math.abs(wall - this.at) <= SKEW_SHOWN_MS) this.jump = undefined
    else if (jump) this.jump = jump
    return jump
  }

  /**
   * The jump after which the host's clock is still more than 30 s away from the product's time, by how much, and how
   * long the product's time needs to reach it.
   */
  unsettled(): (ClockJump & { offMs: number; settledInMs: number }) | undefined {
    const offMs = Math.round(this.source.wall() - this.exactly(this.source.monotonic()))
    const settledInMs = Math.abs(offMs) / APPROACH
    return this.jump && Math.abs(offMs) > SKEW_SHOWN_MS ? { ...this.jump, offMs, settledInMs } : undefined
  }
}
