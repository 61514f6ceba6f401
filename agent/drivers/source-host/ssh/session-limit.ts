/** Lets so many pieces of work of one name run at a time; the others wait, in the order in which they came. */
export class SessionLimit {
  #running = new Map<string, number>()
  #waiting = new Map<string, (() => void)[]>()

  constructor(private most: number) {}

  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(name) ?? 0
    if (running < this.most) this.#running.set(name, running + 1)
    // Work that ends hands its place over, so that the number stays.
    else await new Promise<void>((start) => this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), start]))
    try {
      return await work()
    } finally {
      this.#handOver(name)
    }
  }

  #handOver(name: string) {
    const [next, ...rest] = this.#waiting.get(name) ?? []
    if (rest.length) this.#waiting.set(name, rest)
    else this.#waiting.delete(name)
    if (next) return next()
    const running = (this.#running.get(name) ?? 1) - 1
    if (running) this.#running.set(name, running)
    else this.#running.delete(name)
  }
}
