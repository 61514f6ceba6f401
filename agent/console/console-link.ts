// The node's end of consoles: for each viewer a WebSocket to the controller, and behind it the vm's screen or serial
// line. The controller acknowledges what has left for the viewer; beyond the window a screen is not read, and a viewer
// of a serial line misses bytes.
import { Compile } from 'typebox/compile'
import type { Identity } from '../controller-link/identity.ts'
import { openSession } from '../controller-link/session-socket.ts'
import type { Consoles } from '../drivers/console/consoles.ts'
import { Failure, wordsOf } from '../failure.ts'
import { log } from '../log.ts'
import {
  CONSOLE_WINDOW_BYTES,
  consoleCloseCodes,
  consoleFailures,
  type FromConsole,
  ToConsole,
} from '../protocol/console.ts'
import { agentHeaders, agentPaths, type ToAgent } from '../protocol/wire.ts'
import { RfbFilter } from './rfb-filter.ts'
import { SerialLines } from './serial-lines.ts'
import { connectStream, type Stream } from './unix-stream.ts'

/** Viewers of one node at once: each may hold a window of bytes. */
const MOST_VIEWERS = 100
/** The window of a serial line is smaller: what does not fit is replayed from the last 64 kB anyway. */
const SERIAL_WINDOW_BYTES = 256 << 10

const isToConsole = Compile(ToConsole)

type Frame = Extract<ToAgent, { type: 'console' }>
/** The vm's end: takes bytes of the viewer, acknowledgements, and the end. */
type Source = { input(bytes: Uint8Array): void; acked(): void; end(): void }

export class ConsoleLink {
  private viewers = new Set<WebSocket>()
  private lines: SerialLines

  constructor(private consoles: Consoles) {
    this.lines = new SerialLines(consoles)
  }

  /** Opens the viewer's stream. Never throws: a failure is told to the controller, or logged where that is away. */
  async open(frame: Frame, identity: Identity): Promise<void> {
    try {
      const socket = await openSession(identity, agentPaths.console, agentHeaders.console, frame.session)
      this.viewers.add(socket)
      socket.addEventListener('close', () => this.viewers.delete(socket))
      new Viewing(socket, frame, this.consoles, this.lines, this.viewers.size > MOST_VIEWERS)
    } catch (error) {
      log('warning', 'a console could not be opened to the controller', { error: wordsOf(error) })
    }
  }

  /** The agent stops; the viewers' pages connect again. */
  closeAll() {
    for (const socket of this.viewers) socket.close(1001, 'agent stops')
  }
}

/** One viewer of one vm. */
class Viewing {
  private sent = 0
  private acked = 0
  private source: Source | undefined
  private isOver = false

  constructor(
    private socket: WebSocket,
    private frame: Frame,
    consoles: Consoles,
    lines: SerialLines,
    tooMany: boolean,
  ) {
    socket.addEventListener('message', ({ data }) => (typeof data === 'string' ? this.hear(data) : this.input(data)))
    socket.addEventListener('close', () => this.over())
    const opening = tooMany
      ? Promise.reject(new Failure('too_many', 'this node has too many open consoles'))
      : frame.kind === 'vnc'
        ? this.screen(consoles)
        : this.serial(lines)
    void opening.then(
      (source) => {
        this.source = source
        if (this.isOver) source.end()
      },
      (error) => this.failed(error),
    )
  }

  private async screen(consoles: Consoles): Promise<Source> {
    const filter = new RfbFilter()
    let isPaused = false
    let opened: Stream | undefined
    const stream = await connectStream(await consoles.socket(this.frame.workload, 'vnc'), {
      data: (bytes) => {
        this.send(bytes)
        if (this.unacknowledged() < CONSOLE_WINDOW_BYTES) return
        isPaused = true
        opened?.pause()
      },
      closed: () => this.socket.close(consoleCloseCodes.ended, 'ended'),
    })
    opened = stream
    this.tell({ type: 'open' })
    return {
      input: (bytes) => {
        if (!stream.write(filter.take(bytes))) throw new Failure('not_rfb', 'the screen does not read its input')
      },
      acked: () => {
        if (!isPaused || this.unacknowledged() > CONSOLE_WINDOW_BYTES / 2) return
        isPaused = false
        stream.resume()
      },
      end: () => stream.end(),
    }
  }

  private async serial(lines: SerialLines): Promise<Source> {
    let isBehind = false
    const line = await lines.attach(this.frame.workload, {
      data: (bytes) => {
        isBehind ||= this.unacknowledged() + bytes.length > SERIAL_WINDOW_BYTES
        if (!isBehind) this.send(bytes)
      },
      closed: () => this.socket.close(consoleCloseCodes.ended, 'ended'),
    })
    this.tell({ type: 'open' })
    this.send(line.replay())
    return {
      // Input that the guest does not read is dropped, as on a real line.
      input: (bytes) => void line.write(bytes),
      acked: () => {
        if (!isBehind || this.unacknowledged() > 0) return
        isBehind = false
        this.send(line.replay())
      },
      end: () => line.detach(),
    }
  }

  private unacknowledged = () => this.sent - this.acked

  private send(bytes: Uint8Array) {
    if (this.isOver) return
    this.sent += bytes.length
    this.socket.send(bytes as Uint8Array<ArrayBuffer>)
  }

  private tell(frame: FromConsole) {
    if (!this.isOver) this.socket.send(JSON.stringify(frame))
  }

  private input(data: ArrayBuffer) {
    try {
      this.source?.input(new Uint8Array(data))
    } catch (error) {
      log('warning', 'a viewer of a console was cut off', { workload: this.frame.workload, error: wordsOf(error) })
      this.socket.close(consoleCloseCodes.refused, 'refused')
    }
  }

  private hear(text: string) {
    const frame = parsed(text)
    if (!frame) return
    if (frame.type === 'ping') return this.tell({ type: 'pong', n: frame.n })
    this.acked = Math.min(this.sent, Math.max(this.acked, frame.bytes))
    this.source?.acked()
  }

  private failed(error: unknown) {
    const code = consoleFailures.find((known) => error instanceof Failure && error.code === known) ?? 'failed'
    if (code === 'failed')
      log('warning', 'a console cannot be opened', { workload: this.frame.workload, error: wordsOf(error) })
    this.tell({ type: 'failed', code })
    this.socket.close(1000, 'failed')
  }

  private over() {
    this.isOver = true
    this.source?.end()
    this.source = undefined
  }
}

function parsed(text: string): ToConsole | undefined {
  try {
    const frame: unknown = JSON.parse(text)
    return isToConsole.Check(frame) ? frame : undefined
  } catch {
    return undefined
  }
}
