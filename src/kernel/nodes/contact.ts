// Which nodes are in contact at one moment, as a plain value for another thread.
import type { Heartbeat } from '../../../agent/protocol/wire.ts'

type Silent = Heartbeat['silent']
/** The live side of the same. */
type Nodes = {
  connected(nodeId: string): boolean
  isReconnecting(nodeId: string): boolean
  lastSeen(nodeId: string): number | undefined
  contactVersion(): number
  heartbeat(nodeId: string): { silent?: Silent | undefined } | undefined
}
export type NodeContact = {
  version: number
  connected: readonly string[]
  /** Of those that are not connected: when they last were, in ms. */
  away: readonly (readonly [nodeId: string, seenAt: number | undefined])[]
  reconnecting: readonly string[]
  /** The parts that do not answer, of nodes that have such. */
  silent: readonly (readonly [nodeId: string, Silent])[]
}

/** The contact with these nodes now. */
export function contactWithAll(nodes: Nodes, ids: readonly string[]): NodeContact {
  const [connected, others] = [ids.filter(nodes.connected), ids.filter((id) => !nodes.connected(id))]
  return {
    version: nodes.contactVersion(),
    connected,
    away: others.map((id) => [id, nodes.lastSeen(id)] as const),
    reconnecting: others.filter(nodes.isReconnecting),
    silent: connected.flatMap((id) => {
      const silent = nodes.heartbeat(id)?.silent
      return silent?.length ? [[id, silent] as const] : []
    }),
  }
}

/** The nodes as they were at that moment, for reads. */
export function nodesAt(contact: NodeContact) {
  const connected = new Set(contact.connected)
  const reconnecting = new Set(contact.reconnecting)
  const [away, silent] = [new Map(contact.away), new Map(contact.silent)]
  return {
    connected: (nodeId: string) => connected.has(nodeId),
    isReconnecting: (nodeId: string) => reconnecting.has(nodeId),
    lastSeen: (nodeId: string) => away.get(nodeId),
    contactVersion: () => contact.version,
    heartbeat: (nodeId: string) => (silent.has(nodeId) ? { silent: silent.get(nodeId) } : undefined),
  }
}
