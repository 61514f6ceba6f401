// Servers of a placement group that are to be on one node: they leave their node together, for one that takes them all.
import type { NodeCapacity } from '../../../fleet/placement/capacity.ts'
import { groupOf } from '../../../fleet/placement-group-records/queries.ts'
import type { Planned } from '../../../fleet/workloads/stays/group-rule.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { count } from '../../../kernel/words.ts'
import type { Server } from '../../server-records/model.ts'
import { bytesOf } from '../../transfers/movable.ts'
import { type FitNode, fits, judgeNodes } from '../../transfers/nodes.ts'

type Group = { name: string; hard: boolean; members: Server[] }

/** The groups that are to be together, by each of their servers among these moves that can move. */
export function togetherIn(tx: Db, moves: readonly { server: Server; reason: string | undefined }[]) {
  const groups = new Map<string, Group>()
  const byServer = new Map<string, Group>()
  for (const { server, reason } of moves) {
    const found = reason === undefined ? groupOf(tx, server.id) : undefined
    if (found?.policy !== 'affinity') continue
    const group = groups.get(found.id) ?? { name: found.name, hard: found.hard, members: [] }
    group.members.push(server)
    groups.set(found.id, group)
    byServer.set(server.id, group)
  }
  return byServer
}

type Trial = {
  first: Server
  one: FitNode
  rest: readonly Server[]
  capacities: readonly NodeCapacity[]
  planned: Planned
}
/** Does the node take the rest of a group beside its first server? Nothing is taken by it. */
export function fitTogether(
  { tx, nodes }: { tx: Db; nodes: Parameters<typeof judgeNodes>[1] },
  { first, one, rest, capacities, planned }: Trial,
): boolean {
  if (!rest.length) return true
  const trial = structuredClone(capacities)
  const there = new Map(planned)
  const put = (server: Server, node: FitNode) => {
    take(tx, server, node)
    there.set(server.id, node.nodeId)
  }
  put(first, { ...one, capacity: trial.find(({ id }) => id === one.nodeId) })
  return rest.every((server) => {
    const [fit] = judgeNodes(tx, nodes, server, { only: one.nodeId, capacities: trial, planned: there }).filter(fits)
    if (fit) put(server, fit)
    return fit !== undefined
  })
}

export const tooManyFor = ({ name, members }: Group) =>
  `The group ${name} stays together, and no node takes all ${count(members.length, 'server')} of it.`

/** Counts down what the node has left. */
export function take(tx: Db, server: Server, { capacity, pool, shared, volumes }: FitNode) {
  capacity!.heldMemoryMb += server.memoryMb
  for (const disk of [{ pool, shared, diskGb: server.diskGb }, ...volumes]) {
    const found = capacity!.pools.find((one) => one.name === disk.pool)
    if (found && disk.shared === undefined) found.freeDiskGb -= disk.diskGb
  }
  capacity!.heldDiskGb += bytesOf(tx, server) / 1024 ** 3
}
