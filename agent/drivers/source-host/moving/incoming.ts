// The bytes of a stream, as many at a time as are wanted.

/** Bytes that have come and that nobody wanted yet. */
export class Incoming {
  #reader: ReadableStreamDefaultReader<Uint8Array>
  #parts: Uint8Array[] = []
  #bytes = 0
  #isOver = false

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader() as ReadableStreamDefaultReader<Uint8Array>
  }

  /** Undefined where the stream ends before. The buffer is the caller's. */
  async take(count: number): Promise<Buffer | undefined> {
    while (this.#bytes < count && !this.#isOver) await this.#more()
    if (this.#bytes < count) return undefined
    const taken = Buffer.allocUnsafe(count)
    for (let at = 0; at < count; ) {
      const [first] = this.#parts as [Uint8Array]
      const part = Math.min(first.length, count - at)
      taken.set(part === first.length ? first : first.subarray(0, part), at)
      if (part === first.length) this.#parts.shift()
      else this.#parts[0] = first.subarray(part)
      at += part
    }
    this.#bytes -= count
    return taken
  }

  /** One line of at most so many bytes, without its end. Undefined where the stream ends, or the line does not. */
  async line(mostBytes: number): Promise<string | undefined> {
    for (let at = 0, seen = 0; ; ) {
      for (; at < this.#parts.length; at++) {
        const end = this.#parts[at]!.indexOf(10)
        if (end !== -1) return (await this.take(seen + end + 1))?.subarray(0, -1).toString()
        seen += this.#parts[at]!.length
      }
      if (seen > mostBytes || this.#isOver) return undefined
      await this.#more()
    }
  }

  async #more() {
    const { value, done } = await this.#reader.read()
    if (done) this.#isOver = true
    else if (value.length) {
      this.#parts.push(value)
      this.#bytes += value.length
    }
  }
}
