// Consoles of the fake host: unix sockets behind which a small screen and a serial line answer, so that the whole way
// from a browser to a vm can be tried without one.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Socket, UnixSocketListener } from 'bun'
import { Failure } from '../../failure.ts'
import type { ConsoleKind } from '../../protocol/console.ts'
import type { Power } from '../../protocol/wire.ts'
import type { Consoles } from './consoles.ts'
import { FakeScreen } from './fake-screen.ts'

const GREETING = '\r\nFake Linux ttyS0\r\n\r\nfake login: '

type Guest = { write(bytes: Uint8Array | string): void; flush(): void }
type Connected = { guest: Guest; take(bytes: Buffer): void; left?(): void }
type Listening = UnixSocketListener<Connected>

export class FakeConsoles implements Consoles {
  private listening = new Map<string, Listening>()
  /** Connections to serial lines, for `says`. */
  private lines = new Map<string, Set<Guest>>()
  /** Everything that was typed, by workload: on a screen the places of the keys, e.g. `KeyA` as its scan code. */
  readonly typed = new Map<string, string>()

  constructor(
    private dir: string,
    private power: (workload: string) => Promise<Power>,
  ) {}

  async socket(workload: string, kind: ConsoleKind): Promise<string> {
    if ((await this.power(workload)) !== 'running') throw new Failure('not_running', `${workload} is not running`)
    const path = join(this.dir, `${kind[0]}${workload.slice(-12)}`)
    if (!this.listening.has(path)) {
      mkdirSync(this.dir, { recursive: true, mode: 0o700 })
      this.listening.set(path, kind === 'vnc' ? this.screen(path, workload) : this.line(path, workload))
    }
    return path
  }

  tail = async () => Buffer.alloc(0)

  async forget(workload: string) {
    for (const [path, listener] of this.listening) {
      if (!path.endsWith(workload.slice(-12))) continue
      listener.stop(true)
      this.listening.delete(path)
    }
  }

  /** The guest writes to its serial line. */
  says(workload: string, text: string | Uint8Array) {
    for (const line of this.lines.get(workload) ?? []) line.write(text)
  }

  close() {
    for (const listener of this.listening.values()) listener.stop(true)
    this.listening.clear()
  }

  private note(workload: string, text: string) {
    this.typed.set(workload, (this.typed.get(workload) ?? '') + text)
  }

  private screen = (path: string, workload: string): Listening =>
    listen(path, (guest) => {
      const screen = new FakeScreen(guest.write, (key) => this.note(workload, `${key} `))
      return { guest, take: (bytes) => screen.take(bytes) }
    })

  private line(path: string, workload: string): Listening {
    const lines = this.lines.get(workload) ?? new Set<Guest>()
    this.lines.set(workload, lines)
    return listen(path, (guest) => {
      lines.add(guest)
      guest.write(GREETING)
      return {
        guest,
        take: (bytes) => {
          const text = bytes.toString('utf8')
          this.note(workload, text)
          guest.write(text.replaceAll('\r', '\r\nfake login: '))
        },
        left: () => void lines.delete(guest),
      }
    })
  }
}

const listen = (path: string, connected: (guest: Guest) => Connected): Listening =>
  Bun.listen<Connected>({
    unix: path,
    socket: {
      open: (socket) => void (socket.data = connected(writer(socket))),
      data: (socket, bytes) => socket.data.take(bytes),
      drain: (socket) => socket.data.guest.flush(),
      close: (socket) => socket.data.left?.(),
    },
  })

/** Writes all of it: what the other end does not take yet follows when it does. */
function writer(socket: Socket<Connected>): Guest {
  const waiting: Buffer[] = []
  const flush = () => {
    while (waiting.length) {
      const first = waiting[0]!
      const taken = Math.max(0, socket.write(first))
      if (taken < first.length) {
        waiting[0] = first.subarray(taken)
        return
      }
      waiting.shift()
    }
  }
  return {
    write(bytes) {
      waiting.push(Buffer.from(bytes as Uint8Array))
      if (waiting.length === 1) flush()
    },
    flush,
  }
}
