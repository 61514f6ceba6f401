// A host in a network namespace of a test: a process that reads tasks, a line of JSON each, works on several at once,
// and answers in lines.
import type { Socket } from 'bun'

export type Task =
  | { do: 'listen'; tcp: number[]; udp: number[] }
  | { do: 'connect'; host: string; port: number; ms: number }
  | { do: 'hold'; host: string; port: number; ms: number }
  | { do: 'speak'; ms: number }
  | { do: 'burst'; host: string; port: number; count: number; ms: number }
  | { do: 'ask'; host: string; port: number; bytes: number; ms: number }
  | { do: 'ping'; host: string }

export type Answer = 'open' | 'silent' | 'refused' | number

/** The host with this name of namespace; without one, in the namespace of this process. */
export async function peer(namespace?: string) {
  const inside = namespace === undefined ? [] : ['ip', 'netns', 'exec', namespace]
  const child = Bun.spawn([...inside, process.execPath, import.meta.path], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    env: { ...process.env, BERTH_PEER: '1' },
  })
  const waiting = new Map<number, (answer: Answer) => void>()
  void (async () => {
    for await (const line of linesOf(child.stdout)) {
      const { id, answer } = JSON.parse(line) as { id: number; answer: Answer }
      waiting.get(id)?.(answer)
    }
  })()
  const tell = (task: Task): Promise<Answer> => {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const id = waiting.size
    waiting.set(id, resolve)
    child.stdin.write(`${JSON.stringify({ id, task })}\n`)
    return promise
  }
  return { tell, close: () => child.kill() }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop()!
    yield* parts
  }
}

// ---------------------------------------------------------------- inside the namespace
const within = <T>(work: Promise<T>, ms: number): Promise<T | 'silent'> =>
  Promise.race([work, Bun.sleep(ms).then(() => 'silent' as const)])

let held: Socket<{ heard?: () => void }> | undefined

async function open(host: string, port: number) {
  const { promise, resolve } = Promise.withResolvers<'open' | 'refused'>()
  const data: { heard?: () => void } = { heard: () => resolve('open') }
  const socket = await Bun.connect({
    hostname: host,
    port,
    data,
    socket: {
      open: (one) => void one.write('hello'),
      data: (one) => one.data.heard?.(),
      error: () => resolve('refused'),
    },
  }).catch(() => undefined)
  return { socket, answer: socket ? await promise : ('refused' as const) }
}

const tasks: { [K in Task['do']]: (task: Extract<Task, { do: K }>) => Promise<Answer> } = {
  async listen({ tcp, udp }) {
    // Both versions: a socket of IPv6 takes connections of IPv4 too.
    const hostname = '::'
    for (const port of tcp)
      Bun.listen({ hostname, port, socket: { data: (socket, bytes) => void socket.write(bytes) } })
    for (const port of udp)
      await Bun.udpSocket({
        hostname,
        port,
        socket: { data: (socket, bytes, from, address) => void socket.send(bytes, from, address) },
      })
    return 'open'
  },
  async connect({ host, port, ms }) {
    const work = open(host, port)
    work.then(({ socket }) => socket?.terminate()).catch(() => {})
    const found = await within(work, ms)
    return found === 'silent' ? found : found.answer
  },
  async hold({ host, port, ms }) {
    const found = await within(open(host, port), ms)
    if (found === 'silent') return found
    held = found.socket
    return found.answer
  },
  async speak({ ms }) {
    const { promise, resolve } = Promise.withResolvers<'open'>()
    held!.data.heard = () => resolve('open')
    held!.write('more')
    return within(promise, ms)
  },
  async burst({ host, port, count, ms }) {
    const all = Array.from({ length: count }, () => within(open(host, port), ms))
    const found = await Promise.all(all)
    return found.filter((one) => one !== 'silent' && one.answer === 'open').length
  },
  async ask({ host, port, bytes, ms }) {
    const { promise, resolve } = Promise.withResolvers<'open'>()
    const hostname = host.includes(':') ? '::' : '0.0.0.0'
    const socket = await Bun.udpSocket({ hostname, socket: { data: () => resolve('open') } })
    socket.send(Buffer.alloc(bytes, 'x'), port, host)
    const found = await within(promise, ms)
    socket.close()
    return found
  },
  async ping({ host }) {
    const ping = Bun.spawn(['ping', '-c', '1', '-W', '0.6', host], { stdout: 'ignore', stderr: 'ignore' })
    return (await ping.exited) === 0 ? 'open' : 'silent'
  },
}

if (process.env['BERTH_PEER'] && import.meta.main)
  for await (const line of linesOf(Bun.stdin.stream())) {
    const { id, task } = JSON.parse(line) as { id: number; task: Task }
    // Several at once: most of them wait for something that does not come.
    void tasks[task.do](task as never).then((answer) => process.stdout.write(`${JSON.stringify({ id, answer })}\n`))
  }
