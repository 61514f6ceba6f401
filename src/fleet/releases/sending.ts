// Bytes for agents, all of them together below a rate, and counted by node.
import { second } from '../../kernel/db/clock.ts'

const PART_BYTES = 64 << 10
const BITS = 8

export class Sending {
  private freeAt = 0
  private sent = new Map<string, number>()

  /** Megabits a second. */
  constructor(private mbps: () => number) {}

  /** The bytes sent since the last call, by node. */
  take(): [nodeId: string, bytes: number][] {
    const all = [...this.sent]
    this.sent.clear()
    return all
  }

  /** The same bytes, no faster than the rate allows. `end` is called once, however it ends. */
  paced(nodeId: string, from: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
    const reader = from.getReader()
    let rest: Uint8Array = new Uint8Array()
    let ended = false
    const over = () => {
      if (!ended) end()
      ended = true
    }
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            if (!rest.length) {
              const { done, value } = await reader.read()
              if (done) {
                over()
                return controller.close()
              }
              rest = value
            }
            const part = rest.subarray(0, PART_BYTES)
            rest = rest.subarray(part.length)
            await this.turn(part.length)
            this.sent.set(nodeId, (this.sent.get(nodeId) ?? 0) + part.length)
            controller.enqueue(part)
          } catch (error) {
            over()
            controller.error(error)
          }
        },
        cancel: async () => {
          await reader.cancel().catch(() => {})
          over()
        },
      },
      { highWaterMark: 0 },
    )
  }

  /** Waits until so many bytes may go out. */
  private async turn(bytes: number) {
    const now = performance.now()
    const start = Math.max(now, this.freeAt)
    this.freeAt = start + (bytes * BITS * second) / (this.mbps() * 1e6)
    if (start > now) await Bun.sleep(start - now)
  }
}
