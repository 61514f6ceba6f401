// Floods a TCP connection, or counts what arrives, to measure a limit. `bun flow.ts ADDRESS PORT` is the guest's side:
// it floods on PORT and counts on PORT + 1, and prints the megabit per second of each count.
const CHUNK = new Uint8Array(256 << 10)
/** The burst of the limit goes through in the first moments. */
const SKIPPED_MS = 400
const COUNTED_MS = 900
/** Many times what arrives at once: at a low speed one chunk more or less would count for a tenth. */
const COUNTED_BYTES = 4_000_000

type Sink = { write(bytes: Uint8Array): number }
const flooding = {
  open: (socket: Sink) => void fill(socket),
  drain: (socket: Sink) => void fill(socket),
  data() {},
  error() {},
}
function fill(socket: Sink) {
  while (socket.write(CHUNK) === CHUNK.length);
}

/** A handler that counts, and hands over the megabit per second of the payload once. */
function counting(done: (mbps: number) => void) {
  let bytes = 0
  let since = 0
  const began = performance.now()
  return {
    open() {},
    data(_: unknown, chunk: Uint8Array) {
      const now = performance.now()
      if (now - began < SKIPPED_MS) return
      if (since === 0) since = now
      else bytes += chunk.length
      if (now - since < COUNTED_MS || bytes < COUNTED_BYTES) return
      done((bytes * 8) / 1000 / (now - since))
      bytes = 0
      since = Number.POSITIVE_INFINITY
    },
    error() {},
  }
}

/** Megabit per second that arrive from the guest's side at `hostname`. */
export async function mbpsFrom(hostname: string, port: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const socket = await Bun.connect({ hostname, port, socket: counting(resolve) })
  const mbps = await promise
  socket.terminate()
  return mbps
}

/** Megabit per second that arrive at the guest's side, which prints them as the next of `lines`. */
export async function mbpsTo(hostname: string, port: number, lines: AsyncIterator<string>): Promise<number> {
  const socket = await Bun.connect({ hostname, port: port + 1, socket: flooding })
  const { value } = await lines.next()
  socket.terminate()
  return Number(value)
}

if (import.meta.main) {
  const [hostname = '', port = ''] = process.argv.slice(2)
  Bun.listen({ hostname, port: Number(port), socket: flooding })
  Bun.listen<ReturnType<typeof counting>>({
    hostname,
    port: Number(port) + 1,
    socket: {
      open(socket) {
        socket.data = counting((mbps) => process.stdout.write(`${mbps}\n`))
      },
      data: (socket, chunk) => socket.data.data(socket, chunk),
      error() {},
    },
  })
  process.stdout.write('ready\n')
}
