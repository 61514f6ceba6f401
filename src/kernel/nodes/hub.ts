// The controller's end of the agents' sockets. A command waits here for its node; when the node comes back it is sent
// again under the same key, and the node's journal makes that harmless.
import type { ServerWebSocket } from 'bun'
import type { Static, TSchema } from 'typebox'
import { commands, FromAgent, type LogLevel, type NodeCommand, type ToAgent } from '../../../agent/protocol/wire.ts'
import { fits } from '../api/validate.ts'
import type { Clock } from '../db/clock.ts'
import type { NodeState, Nodes } from '../jobs/execution.ts'
import { CommandFailed } from '../jobs/failures.ts'

export type Socket = ServerWebSocket<{ nodeId: string }>
type Frame = Static<typeof FromAgent>
/** The frames in which agents describe themselves and their host. */
export type Report = Extract<Frame, { type: 'facts' | 'heartbeat' | 'inventory' | 'power' }>
type Waiting = {
  key: string
  nodeCommand: NodeCommand
  resolve(output: unknown): void
  reject(error: Error): void
}

export type HubEvents = {
  log(jobId: string, line: { at: number; level: LogLevel; text: string }): void
  progress(jobId: string, percent: number): void
  report(nodeId: string, report: Report): void
  connected(nodeId: string): void
  disconnected(nodeId: string): void
  /** A frame that is none: dropped, counted, told to the operator. */
  nonsense(nodeId: string): void
  /** The node was removed or lost: nothing is sent to it any more. */
  isGone(nodeId: string): boolean
}

const jobOf = (key: string) => key.split('/', 1)[0]!

export class Hub implements Nodes {
  private sockets = new Map<string, Socket>()
  private waiting = new Map<string, Waiting>()
  private away = new Map<string, number>()

  constructor(
    private clock: Clock,
    private on: HubEvents,
  ) {}

  connected = (nodeId: string) => this.sockets.has(nodeId)
  /** Nodes connected now. */
  count = () => this.sockets.size

  state = (nodeId: string): NodeState =>
    this.sockets.has(nodeId) ? 'connected' : this.on.isGone(nodeId) ? 'gone' : 'away'
  awaySince = (nodeId: string): number | undefined => this.away.get(nodeId)

  send = (key: string, nodeCommand: NodeCommand) =>
    new Promise<unknown>((resolve, reject) => {
      if (this.on.isGone(nodeCommand.nodeId))
        return reject(new CommandFailed('node_removed', 'The node was removed from Berth.'))
      const waiting = { key, nodeCommand, resolve, reject }
      this.waiting.set(key, waiting)
      const socket = this.sockets.get(nodeCommand.nodeId)
      if (socket) this.tell(socket, waiting)
    })

  drop(key: string, error: CommandFailed) {
    const waiting = this.waiting.get(key)
    if (waiting) this.end(waiting, error)
  }

  private tell(socket: Socket, { key, nodeCommand }: Waiting) {
    const frame: ToAgent = { type: 'command', key, name: nodeCommand.name, input: nodeCommand.input }
    socket.send(JSON.stringify(frame))
  }

  /**
   * For an orderly stop: nobody waits here any more. The nodes' work goes on, and the answers are asked for again at
   * the next start.
   */
  abandon() {
    for (const w of this.waiting.values()) this.end(w, new CommandFailed('stopping', 'The controller is stopping.'))
  }

  private end(w: Waiting, error: Error) {
    this.waiting.delete(w.key)
    w.reject(error)
  }

  /** Closes the node's socket, at once: its credential was revoked. */
  disconnect = (nodeId: string) => void this.sockets.get(nodeId)?.close(4401, 'removed')
  /** For an orderly stop: agents reconnect by themselves. */
  disconnectAll() {
    for (const socket of this.sockets.values()) socket.close(1012, 'restarting')
  }

  opened(socket: Socket, welcome: ToAgent) {
    const { nodeId } = socket.data
    const before = this.sockets.get(nodeId)
    this.sockets.set(nodeId, socket)
    this.away.delete(nodeId)
    before?.close(4409, 'connected again')
    socket.send(JSON.stringify(welcome))
    for (const w of this.waiting.values()) {
      if (w.nodeCommand.nodeId === nodeId) this.tell(socket, w)
    }
    this.on.connected(nodeId)
  }

  closed(socket: Socket) {
    const { nodeId } = socket.data
    if (this.sockets.get(nodeId) !== socket) return
    this.sockets.delete(nodeId)
    this.away.set(nodeId, this.clock())
    this.on.disconnected(nodeId)
  }

  message(socket: Socket, text: string | Buffer) {
    const { nodeId } = socket.data
    if (this.sockets.get(nodeId) !== socket) return
    const frame = parse(text)
    if (!frame) return this.on.nonsense(nodeId)
    switch (frame.type) {
      case 'done':
      case 'failed':
        return this.answered(nodeId, frame)
      case 'log':
        return void (
          this.mine(nodeId, frame.key) &&
          this.on.log(jobOf(frame.key), { at: frame.at, level: frame.level, text: frame.text })
        )
      case 'progress':
        return void (this.mine(nodeId, frame.key) && this.on.progress(jobOf(frame.key), frame.percent))
      default:
        return this.on.report(nodeId, frame)
    }
  }

  /** A node speaks only about commands that were sent to it. */
  private mine(nodeId: string, key: string) {
    const w = this.waiting.get(key)
    return w?.nodeCommand.nodeId === nodeId ? w : undefined
  }

  private answered(nodeId: string, frame: Extract<Frame, { type: 'done' | 'failed' }>) {
    const w = this.mine(nodeId, frame.key)
    if (!w) return // answered before, or from a life before the last restart
    this.waiting.delete(frame.key)
    if (frame.type === 'failed') return w.reject(new CommandFailed(frame.error.code, frame.error.message))
    if (!fits(commands[w.nodeCommand.name].output as TSchema, frame.output))
      return w.reject(
        new CommandFailed(
          'bad_answer',
          `The node answered ${w.nodeCommand.name} with something that is no answer to it. Update its agent.`,
        ),
      )
    w.resolve(frame.output)
  }
}

function parse(text: string | Buffer): Frame | undefined {
  try {
    const frame = JSON.parse(String(text))
    return fits(FromAgent, frame) ? (frame as Frame) : undefined
  } catch {
    return undefined
  }
}
