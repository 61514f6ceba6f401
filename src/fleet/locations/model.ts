// A location is a group of nodes with a rule for where a new server goes.

import { Type as t } from 'typebox'
import type { Actor } from '../../kernel/api/actor.ts'
import type { AppContext, Resource } from '../../kernel/api/operation.ts'
import { described, namedSchema } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { countFreeIpv4 } from '../../network/ip-pools/queries.ts'
import { capacityIn } from '../nodes/queries.ts'
import { listedOn } from '../workloads/queries.ts'
import { allLocations, locationById } from './queries.ts'
import { type Location, placements } from './tables.ts'

export type { Location }

/** Staff and resellers see every location; an order checks the locations in which a reseller may place servers. */
export const location: Resource<Location> = {
  name: 'location',
  notFound: 'location_not_found',
  find: (tx, actor, id) => (actor.kind === 'customer' ? undefined : locationById(tx, id)),
}

export const locationAnswer = namedSchema('Location', {
  id: t.String(),
  name: t.String(),
  placement: described(
    t.Enum([...placements]),
    'Where a new server goes: to the node with the most free memory, or the least that is enough.',
  ),
  open: described(t.Boolean(), 'It takes new servers.'),
  nodes: t.Integer(),
  connectedNodes: t.Integer(),
  reconnectingNodes: described(t.Integer(), 'Connected until a moment ago; expected back within a minute.'),
  servers: t.Integer(),
  memoryMb: t.Integer(),
  heldMemoryMb: described(t.Integer(), 'By servers, whether they run or not.'),
  diskGb: t.Integer(),
  heldDiskGb: t.Integer(),
  freeDiskGb: described(t.Integer(), 'As on its nodes; what one server can take may be less.'),
  freeIpv4: t.Integer(),
})

type LocationContext = Pick<AppContext, 'nodes'> & { tx: Db; actor: Actor }

export function showLocation({ tx, nodes }: LocationContext, { createdAt: _, ...shown }: Location) {
  const capacity = capacityIn(tx, shown.id)
  const sum = (of: (node: (typeof capacity)[number]) => number) => capacity.reduce((all, node) => all + of(node), 0)
  return {
    ...shown,
    nodes: capacity.length,
    connectedNodes: capacity.filter((node) => nodes.connected(node.id)).length,
    reconnectingNodes: capacity.filter((node) => nodes.isReconnecting(node.id)).length,
    servers: sum(({ id }) => listedOn(tx, id)),
    memoryMb: sum((r) => r.memoryMb),
    heldMemoryMb: sum((r) => r.heldMemoryMb),
    diskGb: sum((r) => r.diskGb),
    heldDiskGb: sum((r) => r.heldDiskGb),
    freeDiskGb: sum((r) => r.freeDiskGb),
    freeIpv4: countFreeIpv4(
      tx,
      capacity.map((node) => node.id),
    ),
  }
}

/** Every location as the API shows it, by name. */
export const listedLocations = (call: LocationContext) => allLocations(call.tx).map((l) => showLocation(call, l))
