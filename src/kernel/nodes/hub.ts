// The controller's end of the agents' sockets. A command waits here for its node; when the node comes back it is sent
// again under the same key, and the node's journal makes that harmless.
//
// Frames and bytes of a node are limited before anything is parsed. A node beyond its limit is disconnected: an answer
// that is dropped in silence would leave a job waiting, but after a reconnect its command is sent again.
import type { ServerWebSocket } from 'bun'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { escaped } from '../../../agent/protocol/text.ts'
import {
  type CommandName,
  type Copied,
  closeCodes,
  commands,
  FromAgent,
  type LogLevel,
  type NodeCommand,
  READ_KEY,
  type ToAgent,
} from '../../../agent/protocol/wire.ts'
import { ApiError } from '../api/errors.ts'
import { fits } from '../api/validate.ts'
import { type Clock, hour, minute, second } from '../db/clock.ts'
import { CommandFailed } from '../jobs/failures.ts'
import type { NodeState, Nodes } from '../jobs/runner/execution.ts'
import { isModestJson } from '../modest-json.ts'
import { Budget } from './budget.ts'
import type { Offence } from './offences.ts'

export type Socket = ServerWebSocket<{ nodeId: string }>
type Frame = Static<typeof FromAgent>
/** The frames in which agents describe themselves and their host. */
export type Report = Extract<
  Frame,
  { type: 'facts' | 'heartbeat' | 'addresses' | 'inventory' | 'power' | 'crash' | 'traffic' | 'metrics' }
>
type Waiting = {
  key: string
  nodeCommand: NodeCommand
  resolve(output: unknown): void
  reject(error: Error): void
}

export type HubEvents = {
  log(jobId: string, line: { at: number; level: LogLevel; text: string }): void
  /** `copied`: of a copy between nodes, what it has sent. */
  progress(jobId: string, percent: number, copied?: Copied): void
  report(nodeId: string, report: Report): void
  connected(nodeId: string): void
  disconnected(nodeId: string): void
  /** A node did what no node should: counted, and told to the operator. */
  misconduct(nodeId: string, offence: Offence, details?: object): void
  /** The node was removed or lost: nothing is sent to it any more. */
  isGone(nodeId: string): boolean
}

/**
 * The limits of a node. An agent with 200 vms sends two frames of 30 kB every 10 s, a few a second for each job, and
 * after a connect three frames with everything; one with the 5000 that the protocol knows sends 150 kB a second.
 */
export const rates = {
  frames: { perSecond: 1000, burst: 10_000 },
  bytes: { perSecond: 2_000_000, burst: 16_000_000 },
  /** New connections. */
  connects: { perSecond: 0.5, burst: 30 },
  /** New connections while the old one stands. */
  replacements: { perSecond: 0.05, burst: 5 },
}
/** A frame that is none costs as much as this many others. */
const NONSENSE_COST = 50
/** A node that was cut off waits so long, and twice as long after each further time within an hour. */
const FIRST_WAIT_MS = 10 * second
const LONGEST_WAIT_MS = 10 * minute
/** A time from a node further away than this is replaced by that of its arrival. */
const TIME_WINDOW_MS = minute

type Sender = {
  frames: Budget
  bytes: Budget
  connects: Budget
  replacements: Budget
  cutOff: { times: number; at: number; until: number }
}
/** A node that broke off, or was connected before a restart of the controller, gets this long to connect again. */
const RECONNECT_GRACE_MS = minute

const jobOf = (key: string) => key.split('/', 1)[0]!

export class Hub implements Nodes {
  private sockets = new Map<string, Socket>()
  private waiting = new Map<string, Waiting>()
  private away = new Map<string, number>()
  /** Counts up when a node connects or disconnects. */
  contactVersion = 0
  private senders = new Map<string, Sender>()
  /** The commands that the agent of a node knows, from its facts; none until it sent them, and of an early agent. */
  private capabilities = new Map<string, ReadonlySet<string>>()

  constructor(
    private clock: Clock,
    private on: HubEvents,
    /** For the rates: ms that only advance, also where `clock` stands still. */
    private elapsed: Clock = () => performance.now(),
  ) {}

  /** These nodes were connected before a restart. */
  expect(nodeIds: Iterable<string>) {
    const now = this.clock()
    for (const nodeId of nodeIds) this.away.set(nodeId, now)
  }

  private sender(nodeId: string): Sender {
    let sender = this.senders.get(nodeId)
    if (!sender) {
      const budget = ({ perSecond, burst }: { perSecond: number; burst: number }) =>
        new Budget(perSecond, burst, this.elapsed)
      sender = {
        frames: budget(rates.frames),
        bytes: budget(rates.bytes),
        connects: budget(rates.connects),
        replacements: budget(rates.replacements),
        cutOff: { times: 0, at: 0, until: 0 },
      }
      this.senders.set(nodeId, sender)
    }
    return sender
  }

  /**
   * May this node, which has proved its identity, open a connection now? It replaces an older one, whose TCP may be
   * dead; but two agents with one key do not replace each other without end. Throws `rate_limited`.
   */
  admit(nodeId: string) {
    const { connects, replacements, cutOff } = this.sender(nodeId)
    const waitMs = cutOff.until - this.elapsed()
    if (waitMs > 0) throw tooMany('This node sent more than a node may.', waitMs)
    if (this.sockets.has(nodeId) && !replacements.take(1)) {
      this.on.misconduct(nodeId, 'two_agents')
      throw tooMany('Two agents use the key of this node.', minute)
    }
    if (!connects.take(1)) throw tooMany('This node connects too often.', minute)
  }

  private cutOff(socket: Socket, nodeId: string, details: object) {
    const { cutOff } = this.sender(nodeId)
    const now = this.elapsed()
    cutOff.times = now - cutOff.at < hour ? cutOff.times + 1 : 1
    cutOff.at = now
    cutOff.until = now + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(cutOff.times - 1, 20))
    this.on.misconduct(nodeId, 'too_much', details)
    socket.close(closeCodes.tooMuch, 'too much')
    this.closed(socket)
  }

  connected = (nodeId: string) => this.sockets.has(nodeId)
  /** Nodes connected now. */
  count = () => this.sockets.size

  state = (nodeId: string): NodeState =>
    this.sockets.has(nodeId) ? 'connected' : this.on.isGone(nodeId) ? 'gone' : 'away'
  awaySince = (nodeId: string): number | undefined => this.away.get(nodeId)
  /** It was connected until a moment ago, so nothing is known to be wrong with it. */
  isReconnecting = (nodeId: string): boolean => {
    const since = this.away.get(nodeId)
    return since !== undefined && this.clock() - since < RECONNECT_GRACE_MS && this.state(nodeId) === 'away'
  }

  send = (key: string, nodeCommand: NodeCommand) =>
    new Promise<unknown>((resolve, reject) => {
      if (this.on.isGone(nodeCommand.nodeId))
        return reject(new CommandFailed('node_removed', 'The node was removed from Berth.'))
      if (!this.can(nodeCommand.nodeId, nodeCommand.name)) return reject(outdated(nodeCommand.name))
      const waiting = { key, nodeCommand, resolve, reject }
      this.waiting.set(key, waiting)
      const socket = this.sockets.get(nodeCommand.nodeId)
      if (socket) this.tell(socket, waiting)
    })

  /** False where the node's agent said what it can, and this is not of it. An agent that said nothing is asked. */
  can = (nodeId: string, name: CommandName): boolean => this.capabilities.get(nodeId)?.has(name) ?? true

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

  /** Tells the node that its report of traffic is in the database; one that is away sends it again. */
  trafficStored(nodeId: string, seq: number) {
    this.sockets.get(nodeId)?.send(JSON.stringify({ type: 'traffic-stored', seq } satisfies ToAgent))
  }

  /** Tells the node that a viewer waits for a console; false where it is not connected. */
  openConsole(nodeId: string, console: Omit<Extract<ToAgent, { type: 'console' }>, 'type'>): boolean {
    return this.tellNow(nodeId, { type: 'console', ...console })
  }
  /** Tells the node that somebody asks for files of a backup; false where it is not connected. */
  openFiles = (nodeId: string, session: string): boolean => this.tellNow(nodeId, { type: 'files', session })

  /** Tells the node to ask for a release now; false where it is not connected. */
  lookForRelease = (nodeId: string): boolean => this.tellNow(nodeId, { type: 'lookForRelease' })
  /** Tells the node that the version which it runs on trial stays; false where it is not connected. */
  acceptRelease = (nodeId: string, version: string): boolean => this.tellNow(nodeId, { type: 'acceptRelease', version })

  private tellNow(nodeId: string, frame: ToAgent): boolean {
    const socket = this.sockets.get(nodeId)
    socket?.send(JSON.stringify(frame))
    return socket !== undefined
  }

  /** A function that closes the socket that the node has now, and no later one: its credential was revoked. */
  closerOf(nodeId: string): () => void {
    const socket = this.sockets.get(nodeId)
    return () => socket?.close(closeCodes.removed, 'removed')
  }
  /** For an orderly stop: agents reconnect by themselves. */
  disconnectAll() {
    for (const socket of this.sockets.values()) socket.close(closeCodes.restarting, 'restarting')
  }

  opened(socket: Socket, welcome: ToAgent) {
    const { nodeId } = socket.data
    const before = this.sockets.get(nodeId)
    this.sockets.set(nodeId, socket)
    // It may be another release than the one before.
    this.capabilities.delete(nodeId)
    this.away.delete(nodeId)
    this.contactVersion++
    before?.close(closeCodes.replaced, 'connected again')
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
    this.capabilities.delete(nodeId)
    this.away.set(nodeId, this.clock())
    this.contactVersion++
    this.on.disconnected(nodeId)
  }

  message(socket: Socket, data: string | Buffer) {
    const { nodeId } = socket.data
    if (this.sockets.get(nodeId) !== socket) return
    const { frames, bytes } = this.sender(nodeId)
    if (!frames.take(1)) return this.cutOff(socket, nodeId, { beyond: 'frames' })
    if (!bytes.take(data.length)) return this.cutOff(socket, nodeId, { beyond: 'bytes' })
    const given = typeof data === 'string' ? parsed(data) : undefined
    if (fits(FromAgent, given)) return this.hear(nodeId, given as Frame)
    this.on.misconduct(nodeId, 'nonsense')
    this.answeredWrongly(nodeId, given)
    if (!frames.take(NONSENSE_COST)) this.cutOff(socket, nodeId, { beyond: 'frames that are none' })
  }

  private hear(nodeId: string, frame: Frame) {
    switch (frame.type) {
      case 'done':
      case 'failed':
        return this.answered(nodeId, frame)
      case 'log':
        return void (
          this.ofJob(nodeId, frame.key) &&
          this.on.log(jobOf(frame.key), { at: this.timeOf(frame.at), level: frame.level, text: frame.text })
        )
      case 'progress':
        return void (this.ofJob(nodeId, frame.key) && this.on.progress(jobOf(frame.key), frame.percent, frame.copied))
      case 'facts':
        if (frame.capabilities) this.capabilities.set(nodeId, new Set(frame.capabilities))
        else this.capabilities.delete(nodeId)
        return this.on.report(nodeId, frame)
      default:
        return this.on.report(nodeId, frame)
    }
  }

  private timeOf(at: number): number {
    const now = this.clock()
    return Math.abs(at - now) <= TIME_WINDOW_MS ? at : now
  }

  /** A node speaks only about commands that were sent to it. */
  private mine(nodeId: string, key: string) {
    const w = this.waiting.get(key)
    return w?.nodeCommand.nodeId === nodeId ? w : undefined
  }

  /** A question outside of jobs has no log. */
  private ofJob = (nodeId: string, key: string) => !key.startsWith(READ_KEY) && this.mine(nodeId, key)

  private answered(nodeId: string, frame: Extract<Frame, { type: 'done' | 'failed' }>) {
    const w = this.mine(nodeId, frame.key)
    if (!w) return // answered before, or from a life before the last restart
    this.waiting.delete(frame.key)
    if (frame.type === 'failed') return w.reject(new CommandFailed(frame.error.code, escaped(frame.error.message)))
    const output = commands[w.nodeCommand.name].output as TSchema
    // Fields that the command does not have would be stored with the job.
    if (fits(output, frame.output)) w.resolve(Value.Clean(output, frame.output))
    else w.reject(badAnswer(w))
  }

  /** An answer in a wrong frame ends its command too: the node sends no other. */
  private answeredWrongly(nodeId: string, given: unknown) {
    const { type, key } = (given ?? {}) as { type?: unknown; key?: unknown }
    const w = (type === 'done' || type === 'failed') && typeof key === 'string' ? this.mine(nodeId, key) : undefined
    if (w) this.end(w, badAnswer(w))
  }
}

const badAnswer = ({ nodeCommand }: Waiting) =>
  new CommandFailed(
    'bad_answer',
    `The node answered ${nodeCommand.name} with something that is no answer to it. Update its agent.`,
  )

const outdated = (name: CommandName) =>
  new CommandFailed(
    'agent_outdated',
    `This node's agent is older than the controller and does not know ${name}: update it first.`,
  )

const tooMany = (words: string, waitMs: number) => {
  const seconds = Math.ceil(waitMs / second)
  return new ApiError('rate_limited', `${words} Try again in ${seconds} s.`, { retryAfterSeconds: seconds })
}

/** The values of a heartbeat with all workloads that the protocol allows, twice. */
const MOST_VALUES = 60_000
const MOST_NESTED = 16

function parsed(text: string): unknown {
  if (!isModestJson(text, MOST_NESTED, MOST_VALUES)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
