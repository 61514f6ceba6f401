/** Lets so many pieces of work run at once; the others wait in the order in which they came. */
export class Sessions {
  private free: number
  private waiting: (() => void)[] = []

  constructor(most: number) {
    this.free = most
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--
    else await new Promise<void>((resolve) => this.waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      if (next) next()
      else this.free++
    }
  }
}
