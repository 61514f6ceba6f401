// Questions to a node that somebody waits for, beside all jobs: a command that looks, asked once and stored nowhere.
//
// A node answers one at a time, and pauses after a long answer: readers who ask without end take a part of what a node
// may send (hub.ts, `rates`) and never bring it to its limit, at which it would be cut off.
import { type LookName, type NodeCommand, type Output, READ_KEY } from '../../../agent/protocol/wire.ts'
import { ApiError } from '../api/errors.ts'
import { second } from '../db/clock.ts'
import { CommandFailed } from '../jobs/failures.ts'
import type { Hub } from './hub.ts'

const LIMIT_MS = 10 * second
/** A quarter of what a node may send. */
const BYTES_PER_SECOND = 500_000
const MOST_WAITING = 8

type Line = { last: Promise<unknown>; waiting: number; freeAt: number }

export class NodeReads {
  private lines = new Map<string, Line>()
  /** Answers on their way, by the question: several readers of the same share one. */
  private going = new Map<string, Promise<unknown>>()
  private n = 0

  constructor(
    private hub: Pick<Hub, 'connected' | 'send' | 'drop'>,
    private elapsed: () => number = () => performance.now(),
  ) {}

  /**
   * The answer of the node; undefined where it is not connected or does not answer within ten seconds. Throws
   * `CommandFailed` with the node's own code, and `rate_limited` while too many wait for this node.
   */
  read<N extends LookName>(command: NodeCommand<N>): Promise<Output<N> | undefined> {
    const question = JSON.stringify(command)
    const running = this.going.get(question)
    if (running) return running as Promise<Output<N> | undefined>
    const answer = this.inTurn(command).finally(() => this.going.delete(question))
    this.going.set(question, answer)
    return answer as Promise<Output<N> | undefined>
  }

  private async inTurn(command: NodeCommand): Promise<unknown> {
    const { nodeId } = command
    if (!this.hub.connected(nodeId)) return undefined
    const line = this.lines.get(nodeId) ?? { last: Promise.resolve(), waiting: 0, freeAt: 0 }
    this.lines.set(nodeId, line)
    if (line.waiting >= MOST_WAITING)
      throw new ApiError('rate_limited', 'Too many are reading from this node. Try again in 5 s.', {
        retryAfterSeconds: 5,
      })
    line.waiting++
    const answer = line.last.then(() => this.ask(command, line))
    line.last = answer.catch(() => {})
    try {
      return await answer
    } finally {
      line.waiting--
    }
  }

  private async ask(command: NodeCommand, line: Line): Promise<unknown> {
    await Bun.sleep(Math.max(0, line.freeAt - this.elapsed()))
    if (!this.hub.connected(command.nodeId)) return undefined
    const key = `${READ_KEY}${++this.n}-${crypto.randomUUID()}`
    const timer = setTimeout(() => this.hub.drop(key, new CommandFailed(NO_ANSWER, 'It did not answer.')), LIMIT_MS)
    try {
      const output = await this.hub.send(key, command)
      line.freeAt = this.elapsed() + (JSON.stringify(output).length / BYTES_PER_SECOND) * second
      return output
    } catch (error) {
      if (error instanceof CommandFailed && silent.has(error.failure)) return undefined
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}

const NO_ANSWER = 'no_answer'
/** The controller's own codes: the node said nothing. */
const silent: ReadonlySet<string> = new Set([NO_ANSWER, 'stopping', 'node_removed'])
