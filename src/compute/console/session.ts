// One open console: the socket of a viewer and the socket that the node opened for it. Bytes pass through unread; what
// the viewer has not taken yet is counted, and the node is told only what has left.
import { Type as t } from 'typebox'
import {
  CONSOLE_ACK_BYTES,
  CONSOLE_WINDOW_BYTES,
  consoleCloseCodes,
  FromConsole,
  MOST_VIEWER_FRAME_BYTES,
  type ToConsole,
} from '../../../agent/protocol/console.ts'
import { MOST_FRAME_BYTES } from '../../../agent/protocol/wire.ts'
import { fits } from '../../kernel/api/validate.ts'
import { minute, second } from '../../kernel/db/clock.ts'
import { log } from '../../kernel/log.ts'
import type { ServerSocket, SocketHandler } from '../../kernel/net/socket-endpoint.ts'
import { Budget } from '../../kernel/nodes/budget.ts'
import { type CloseReason, closes } from './closes.ts'

/** The node has this long to open its socket. */
const JOIN_MS = 10 * second
const CHECK_MS = second
const IDLE_MS = 30 * minute
const ACK_MS = 20
/** A text frame is a ping or its answer. */
const MOST_TEXT = 200
/** Input that waits for the node; more ends the console. */
const MOST_WAITING_BYTES = 1 << 20
/** Keys and the mouse are a few kB a second; a pasted text of 1 MB passes at once. */
const rates = { frames: { perSecond: 2000, burst: 4000 }, bytes: { perSecond: 256 << 10, burst: 2 << 20 } }

const Ping = t.Object({ type: t.Literal('ping'), n: t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) })

/** The rest of the controller, as a session needs it. `isActive`: somebody typed since the last time. */
export type SessionParts = {
  /** Why the viewer must leave now; undefined: it may stay. */
  check(isActive: boolean): CloseReason | undefined
  /** Whether the server is on its way to another node, on which its vm goes on. */
  isMoving(): boolean
  /** Asks the node for its socket; false where it is not connected. */
  callNode(): boolean
  /** Called once. `sentBytes` went to the viewer. */
  ended(end: { reason: CloseReason | 'closed'; seconds: number; sentBytes: number; receivedBytes: number }): void
  idleMs?: number
}

export class ConsoleSession {
  private viewerSocket: ServerSocket | undefined
  private nodeSocket: ServerSocket | undefined
  private fromNode = 0
  private fromViewer = 0
  private acked = 0
  private ackTimer: Timer | undefined
  private joinTimer: Timer | undefined
  private checkTimer: Timer | undefined
  private isOver = false
  private hasJoined = false
  private openedAt = performance.now()
  private typedAt = performance.now()
  private checkedAt = performance.now()
  private frames = new Budget(rates.frames.perSecond, rates.frames.burst, () => performance.now())
  private bytes = new Budget(rates.bytes.perSecond, rates.bytes.burst, () => performance.now())

  constructor(private parts: SessionParts) {}

  /** The viewer's socket. */
  readonly viewer: SocketHandler = {
    opened: (socket) => {
      this.viewerSocket = socket
      this.checkTimer = setInterval(() => this.check(), CHECK_MS)
      this.joinTimer = setTimeout(() => this.end('unreachable'), JOIN_MS)
      if (!this.parts.callNode()) this.end('unreachable')
    },
    message: (_, data) => this.hearViewer(data),
    drained: () => this.acknowledge(),
    closed: () => this.end('closed'),
  }

  /** The node's socket; undefined once there is one. */
  join(): SocketHandler | undefined {
    if (this.hasJoined || this.isOver) return undefined
    this.hasJoined = true
    return {
      opened: (socket) => {
        clearTimeout(this.joinTimer)
        this.nodeSocket = socket
        if (this.isOver) socket.close(1000, 'over')
      },
      message: (_, data) => this.hearNode(data),
      closed: (_, code) => {
        if (code === consoleCloseCodes.refused) return this.end('refused')
        // A server that is terminated or suspended ends on the node first.
        this.end(this.reasonToLeave(false) ?? (code === consoleCloseCodes.ended ? this.reasonOfEnd() : 'unreachable'))
      },
    }
  }

  private hearViewer(data: string | Buffer) {
    if (this.isOver) return
    if (!this.frames.take(1) || !this.bytes.take(data.length)) return this.end('too_much')
    if (data.length > MOST_VIEWER_FRAME_BYTES) return this.end('too_much')
    if (typeof data === 'string') return this.ping(data)
    this.typedAt = performance.now()
    this.fromViewer += data.length
    const node = this.nodeSocket
    // Before the node is there nothing has been shown that could be answered.
    if (!node) return
    if (node.getBufferedAmount() > MOST_WAITING_BYTES) return this.end('too_much')
    node.send(data)
  }

  private ping(text: string) {
    const frame = text.length <= MOST_TEXT ? parsed(text) : undefined
    if (!fits(Ping, frame)) return this.end('refused')
    this.tell(frame as ToConsole)
  }

  private hearNode(data: string | Buffer) {
    const viewer = this.viewerSocket
    if (this.isOver || !viewer) return
    if (typeof data === 'string') return this.hearNodeText(data, viewer)
    this.fromNode += data.length
    // A node that does not keep the window would fill our memory.
    if (this.fromNode - this.acked > CONSOLE_WINDOW_BYTES + 2 * MOST_FRAME_BYTES) {
      log.warning('a node sent more of a console than its window allows')
      return this.end('failed')
    }
    viewer.send(data)
    this.acknowledge()
  }

  private hearNodeText(text: string, viewer: ServerSocket) {
    const frame = text.length <= MOST_TEXT ? parsed(text) : undefined
    if (!fits(FromConsole, frame)) {
      log.warning('a node sent a frame of a console that is none')
      return this.end('failed')
    }
    const known = frame as FromConsole
    if (known.type === 'failed') return this.end(known.code === 'not_running' ? this.reasonOfEnd() : known.code)
    viewer.send(JSON.stringify(known))
  }

  /** Tells the node what has left for the viewer: at once when it is much, else in a moment. */
  private acknowledge() {
    const left = Math.max(this.acked, this.fromNode - (this.viewerSocket?.getBufferedAmount() ?? 0))
    if (left - this.acked >= CONSOLE_ACK_BYTES) return this.ack(left)
    if (left > this.acked && !this.ackTimer)
      this.ackTimer = setTimeout(() => {
        this.ackTimer = undefined
        this.ack(Math.max(this.acked, this.fromNode - (this.viewerSocket?.getBufferedAmount() ?? 0)))
      }, ACK_MS)
  }

  private ack(bytes: number) {
    this.acked = bytes
    this.tell({ type: 'ack', bytes })
  }

  private tell(frame: ToConsole) {
    if (!this.isOver) this.nodeSocket?.send(JSON.stringify(frame))
  }

  private check() {
    if (performance.now() - this.typedAt > (this.parts.idleMs ?? IDLE_MS)) return this.end('idle')
    const isActive = this.typedAt > this.checkedAt
    this.checkedAt = performance.now()
    const reason = this.reasonToLeave(isActive)
    if (reason) this.end(reason)
  }

  /** A check that fails ends the console: nobody stays because a database is gone. */
  private reasonToLeave(isActive: boolean): CloseReason | undefined {
    if (this.isOver) return undefined
    try {
      return this.parts.check(isActive)
    } catch (error) {
      log.warning('the rights of a console could not be looked at', { error })
      return 'failed'
    }
  }

  /** The vm has left its node, or is off. */
  private reasonOfEnd(): CloseReason {
    try {
      return this.parts.isMoving() ? 'moved' : 'not_running'
    } catch (error) {
      log.warning('where the server of a console is could not be looked up', { error })
      return 'not_running'
    }
  }

  /** Closes both sockets and tells the viewer why. The first reason counts. */
  end(reason: CloseReason | 'closed') {
    if (this.isOver) return
    this.isOver = true
    clearInterval(this.checkTimer)
    clearTimeout(this.joinTimer)
    clearTimeout(this.ackTimer)
    if (reason !== 'closed') {
      const { code, words } = closes[reason]
      this.viewerSocket?.close(code, words)
    }
    this.nodeSocket?.close(1000, 'over')
    try {
      this.parts.ended({
        reason,
        seconds: Math.round((performance.now() - this.openedAt) / second),
        sentBytes: this.fromNode,
        receivedBytes: this.fromViewer,
      })
    } catch (error) {
      log.error('the end of a console is not in the audit log', { error })
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
