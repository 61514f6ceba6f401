/** A stream that is read byte by byte or in pieces; no more than one chunk and one piece are in memory. */
export class Incoming {
  private reader: ReadableStreamDefaultReader<Uint8Array>
  private chunk: Uint8Array = new Uint8Array()
  private at = 0

  constructor(stream: ReadableStream<Uint8Array>) {
    this.reader = stream.getReader()
  }

  /** Throws what the stream throws. */
  async isAtEnd(): Promise<boolean> {
    while (this.at === this.chunk.length) {
      const { done, value } = await this.reader.read()
      if (done) return true
      this.chunk = value
      this.at = 0
    }
    return false
  }

  /** Throws an Error when the stream ends before. */
  async byte(): Promise<number> {
    if (this.at === this.chunk.length && (await this.isAtEnd())) throw endsTooEarly()
    return this.chunk[this.at++]!
  }

  /** Exactly so many bytes. Throws an Error when the stream ends before. */
  async take(length: number): Promise<Uint8Array> {
    const piece = new Uint8Array(length)
    for (let filled = 0; filled < length; ) {
      if (await this.isAtEnd()) throw endsTooEarly()
      const part = this.chunk.subarray(this.at, this.at + length - filled)
      piece.set(part, filled)
      filled += part.length
      this.at += part.length
    }
    return piece
  }

  /** All that was not taken yet. */
  rest(): ReadableStream<Uint8Array> {
    return new ReadableStream({
      pull: async (controller) => {
        if (await this.isAtEnd()) return controller.close()
        controller.enqueue(this.chunk.subarray(this.at))
        this.at = this.chunk.length
      },
      cancel: (reason) => this.reader.cancel(reason),
    })
  }
}

const endsTooEarly = () => new Error('it ends too early')
