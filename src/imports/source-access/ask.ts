// Questions to nodes about source hypervisors, beside all jobs. They take up to minutes, so they are not those of
// somebody who waits for a page: see `NodeReads`.
import { type CommandName, type Input, nodeCommand, type Output, READ_KEY } from '../../../agent/protocol/wire.ts'
import { second } from '../../kernel/db/clock.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import type { Hub } from '../../kernel/nodes/hub.ts'

export type NodeLink = Pick<Hub, 'connected' | 'isReconnecting' | 'send' | 'drop'>

/** A node that restarts its agent is back by then. */
const AWAY_LIMIT_MS = 60 * second

/**
 * The answer of the node. Throws `CommandFailed`: with the node's own code, `node_away` where it is not connected and
 * does not come back, and `no_answer` after the limit. `signal` breaks it off with `stopping`.
 */
export async function ask<N extends CommandName>(
  hub: NodeLink,
  nodeId: string,
  name: N,
  input: Input<N>,
  { limitMs, signal, awayMs = AWAY_LIMIT_MS }: { limitMs: number; signal: AbortSignal; awayMs?: number },
): Promise<Output<N>> {
  const key = `${READ_KEY}source-${crypto.randomUUID()}`
  const drop = (code: string, words: string) => hub.drop(key, new CommandFailed(code, words))
  const stop = () => drop('stopping', 'The controller is stopping.')
  if (signal.aborted) throw new CommandFailed('stopping', 'The controller is stopping.')
  if (!hub.connected(nodeId) && !hub.isReconnecting(nodeId)) throw away()
  let lastSeen = performance.now()
  const begun = lastSeen
  const watch = setInterval(
    () => {
      const now = performance.now()
      if (hub.connected(nodeId)) lastSeen = now
      if (now - begun > limitMs) drop('no_answer', 'It did not answer.')
      else if (now - lastSeen > awayMs) hub.drop(key, away())
    },
    Math.min(second, limitMs, awayMs),
  )
  signal.addEventListener('abort', stop, { once: true })
  try {
    return (await hub.send(key, nodeCommand(nodeId, name, input))) as Output<N>
  } finally {
    clearInterval(watch)
    signal.removeEventListener('abort', stop)
  }
}

const away = () => new CommandFailed('node_away', 'The node is not connected.')
