import { Failure } from '../failure.ts'

/** The most bytes for a vm that wait because it does not read them; more end the stream. */
const MOST_WAITING_BYTES = 256 << 10
const LIMIT_MS = 5000

export type Stream = {
  /** False: more waits than a stream may hold, and the bytes were not taken. */
  write(bytes: Uint8Array): boolean
  /** Nothing is read from the vm until `resume`. */
  pause(): void
  resume(): void
  end(): void
}
export type Listener = { data(bytes: Buffer): void; closed(): void }

/** Connects to a unix socket. Throws `not_running` when nobody listens there. `closed` is called once. */
export async function connectStream(path: string, on: Listener): Promise<Stream> {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let isOver = false
  const over = () => {
    if (isOver) return
    isOver = true
    waiting = []
    on.closed()
  }
  const opening = Bun.connect({
    unix: path,
    socket: {
      data: (_, bytes) => on.data(bytes),
      drain: () => flush(),
      close: over,
      end: over,
      error: over,
      connectError: () => {},
    },
  })
  const socket = await Promise.race([
    opening.catch((cause) => {
      throw new Failure('not_running', 'the vm does not take a console connection', { cause })
    }),
    Bun.sleep(LIMIT_MS).then(() => undefined),
  ])
  if (!socket) {
    void opening.then(
      (late) => late.end(),
      () => {},
    )
    throw new Failure('not_running', 'the vm does not take a console connection')
  }

  /** A write may take a part only; the rest follows at `drain`. */
  function flush() {
    while (waiting.length && !isOver) {
      const [first] = waiting as [Buffer]
      const taken = Math.max(0, socket!.write(first))
      waitingBytes -= taken
      if (taken < first.length) {
        waiting[0] = first.subarray(taken)
        return
      }
      waiting.shift()
    }
  }

  return {
    write(bytes) {
      if (waitingBytes + bytes.length > MOST_WAITING_BYTES) return false
      waiting.push(Buffer.from(bytes))
      waitingBytes += bytes.length
      flush()
      return true
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
  }
}
