// A serial line takes one connection, so the agent has it and hands the bytes to every viewer. It always reads: a guest
// whose line is not read blocks in its write. A viewer who is too slow misses bytes and gets the last ones again.
import type { Consoles } from '../drivers/console/consoles.ts'
import { connectStream, type Stream } from './unix-stream.ts'

/** So many bytes a viewer gets again who comes, or was too slow. */
export const RING_BYTES = 64 << 10
/** Resets a terminal: the bytes that follow begin anew. */
const RESET = Buffer.from('\x1bc')

export type Viewer = {
  data(bytes: Uint8Array): void
  /** The line ended: the vm was switched off. */
  closed(): void
}
export type Attached = {
  /** False: the guest does not read, and the bytes were dropped. */
  write(bytes: Uint8Array): boolean
  /** A reset of the terminal and the last bytes of the line. */
  replay(): Buffer
  detach(): void
}

/** The last bytes of a line. */
class Ring {
  private bytes = Buffer.alloc(RING_BYTES)
  private at = 0
  private length = 0

  add(given: Uint8Array) {
    const last = given.subarray(-RING_BYTES)
    const first = Math.min(last.length, RING_BYTES - this.at)
    this.bytes.set(last.subarray(0, first), this.at)
    this.bytes.set(last.subarray(first), 0)
    this.at = (this.at + last.length) % RING_BYTES
    this.length = Math.min(RING_BYTES, this.length + last.length)
  }

  /** Oldest first. Where older bytes are gone it begins after the end of a line, not within a sequence. */
  snapshot(): Buffer {
    if (this.length < RING_BYTES) return Buffer.from(this.bytes.subarray(0, this.length))
    const whole = Buffer.concat([this.bytes.subarray(this.at), this.bytes.subarray(0, this.at)])
    return whole.subarray(whole.indexOf(10) + 1)
  }
}

type Line = { ring: Ring; viewers: Set<Viewer>; stream: Stream }

/** The serial lines that somebody looks at. Without a viewer none is open: QEMU then drops what the guest writes. */
export class SerialLines {
  private lines = new Map<string, Promise<Line>>()

  constructor(private consoles: Consoles) {}

  /** Throws what `Consoles.socket` throws. */
  async attach(workload: string, viewer: Viewer): Promise<Attached> {
    let opening = this.lines.get(workload)
    if (!opening) {
      opening = this.open(workload)
      this.lines.set(workload, opening)
      opening.catch(() => this.forget(workload, opening))
    }
    const line = await opening
    line.viewers.add(viewer)
    return {
      write: (bytes) => line.stream.write(bytes),
      replay: () => Buffer.concat([RESET, line.ring.snapshot()]),
      detach: () => {
        line.viewers.delete(viewer)
        if (line.viewers.size > 0) return
        this.forget(workload, opening)
        line.stream.end()
      },
    }
  }

  private async open(workload: string): Promise<Line> {
    const path = await this.consoles.socket(workload, 'serial')
    const ring = new Ring()
    ring.add(await this.consoles.tail(workload, RING_BYTES))
    const viewers = new Set<Viewer>()
    const opening = this.lines.get(workload)
    const stream = await connectStream(path, {
      data(bytes) {
        ring.add(bytes)
        for (const viewer of viewers) viewer.data(bytes)
      },
      closed: () => {
        this.forget(workload, opening)
        for (const viewer of viewers) viewer.closed()
      },
    })
    return { ring, viewers, stream }
  }

  private forget(workload: string, line: Promise<Line> | undefined) {
    if (this.lines.get(workload) === line) this.lines.delete(workload)
  }
}
