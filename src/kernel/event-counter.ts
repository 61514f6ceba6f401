// Events that somebody else can cause without end, told to the operator by count.

type Row = { count: number; timer: Timer }

/**
 * Calls `tell` for the first event of a key at once, and for those that follow with their number, once at the end of
 * each `everyMs` until one passes without any.
 */
export class Repeated<About> {
  private rows = new Map<string, Row>()
  constructor(
    private everyMs: number,
    private tell: (key: string, count: number, about: About) => void,
  ) {}

  note(key: string, about: About) {
    const row = this.rows.get(key)
    if (row) return void row.count++
    this.begin(key, about)
    this.tell(key, 1, about)
  }

  private begin(key: string, about: About) {
    const timer = setTimeout(() => {
      const { count } = this.rows.get(key)!
      this.rows.delete(key)
      if (!count) return
      this.begin(key, about)
      this.tell(key, count, about)
    }, this.everyMs)
    timer.unref()
    this.rows.set(key, { count: 0, timer })
  }

  /** Nothing is told from here on. */
  stop() {
    for (const { timer } of this.rows.values()) clearTimeout(timer)
    this.rows.clear()
  }
}
