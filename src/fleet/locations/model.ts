// A location is a group of nodes with a rule for where a new server goes.

import { type Static, Type as t } from 'typebox'
import type { Actor } from '../../kernel/api/actor.ts'
import type { AppContext, Resource } from '../../kernel/api/operation.ts'
import { described, namedSchema, nullable } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { allLocations, locationById, movesFrom, movesInto, offeredFrom } from './queries.ts'
import { type Location, placements, reserveUnits } from './tables.ts'

export type { Location }

/** Staff and resellers see every location; an order checks the locations in which a reseller may place servers. */
export const location: Resource<Location> = {
  name: 'location',
  notFound: 'location_not_found',
  find: (tx, actor, id) => (actor.kind === 'customer' ? undefined : locationById(tx, id)),
}

export const locationResponse = namedSchema('Location', {
  id: t.String(),
  name: t.String(),
  placement: described(
    t.Enum([...placements]),
    'Where a new server goes: to the node with the most free memory, or the least that is enough.',
  ),
  open: described(t.Boolean(), 'It takes new servers.'),
  reserve: described(
    t.Integer(),
    'The memory that orders leave free for the loss of a node, in `reserveUnit`; 0: none. Moves may use it.',
  ),
  reserveUnit: described(
    t.Enum([...reserveUnits]),
    'nodes: as much as the largest nodes have. percent: of the memory of its nodes. gb: GiB.',
  ),
  cpuModel: described(nullable(t.String()), 'The CPU model of new servers; null: all that their node has.'),
  movesTo: described(t.Array(t.String()), 'The ids of the locations to which its servers may move.'),
  movesOffered: described(t.Array(t.String()), 'Those of them that owners of servers may choose themselves.'),
  movesFrom: described(t.Array(t.String()), 'The ids of the locations whose servers may move here.'),
  nodes: t.Integer(),
  connectedNodes: t.Integer(),
  openNodes: described(t.Integer(), 'Connected, and taking new servers.'),
  reconnectingNodes: described(t.Integer(), 'Connected until a moment ago; expected back within a minute.'),
  servers: t.Integer(),
  memoryMb: t.Integer(),
  heldMemoryMb: described(t.Integer(), 'By servers, whether they run or not.'),
  reserveMb: described(t.Integer(), 'The reserve in MiB, over its nodes that are open and connected.'),
  orderableMemoryMb: described(t.Integer(), 'What orders may take in all until the reserve begins; 0: nothing.'),
  diskGb: t.Integer(),
  heldDiskGb: t.Integer(),
  freeDiskGb: described(t.Integer(), 'As on its nodes; what one server can take may be less.'),
  freeIpv4: t.Integer(),
})

/** The sums over the nodes of a location, as `locationResponse` has them. */
export type LocationFigures = Omit<
  Static<typeof locationResponse>,
  | 'id'
  | 'name'
  | 'placement'
  | 'open'
  | 'reserve'
  | 'reserveUnit'
  | 'cpuModel'
  | 'movesTo'
  | 'movesOffered'
  | 'movesFrom'
>
type LocationContext = Pick<AppContext, 'nodes' | 'registry'> & { tx: Db; actor: Actor }

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** The sums over the nodes of a location. */
    locationFigures?(call: Pick<AppContext, 'nodes'> & { tx: Db }, location: Location): LocationFigures
  }
}

const none: LocationFigures = {
  nodes: 0,
  connectedNodes: 0,
  openNodes: 0,
  reconnectingNodes: 0,
  servers: 0,
  memoryMb: 0,
  heldMemoryMb: 0,
  reserveMb: 0,
  orderableMemoryMb: 0,
  diskGb: 0,
  heldDiskGb: 0,
  freeDiskGb: 0,
  freeIpv4: 0,
}

export function showLocation(call: LocationContext, location: Location) {
  const { createdAt: _, ...shown } = location
  const [figures] = call.registry.features.flatMap(({ locationFigures }) => locationFigures?.(call, location) ?? [])
  const moves = {
    movesTo: movesFrom(call.tx, shown.id),
    movesOffered: offeredFrom(call.tx, shown.id),
    movesFrom: movesInto(call.tx, shown.id),
  }
  return { ...shown, ...moves, ...(figures ?? none) }
}

/** Every location as the API shows it, by name. */
export const listedLocations = (call: LocationContext) => allLocations(call.tx).map((l) => showLocation(call, l))
