// A location is a group of nodes with a rule for where a new server goes.

import { asc } from 'drizzle-orm'
import { Type as t } from 'typebox'
import type { Actor } from '../../kernel/api/actor.ts'
import type { AppContext, Resource } from '../../kernel/api/operation.ts'
import { described, namedSchema } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { roomIn } from '../placement/placement.ts'
import { type Location, locations, placements } from './tables.ts'

/** Staff see every location. So do resellers, who may place servers only in some: the order says so. */
export const location: Resource<Location> = {
  name: 'location',
  notFound: 'location_not_found',
  find: (tx, actor, id) => (actor.kind === 'customer' ? undefined : locationById(tx, id)),
}
export const locationById = rowBy(locations, locations.id)

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
  servers: t.Integer(),
  memoryMb: t.Integer(),
  heldMemoryMb: described(t.Integer(), 'By servers, whether they run or not.'),
  diskGb: t.Integer(),
  heldDiskGb: t.Integer(),
  freeIpv4: t.Integer(),
})

type RequestContext = Pick<AppContext, 'nodes'> & { tx: Db; actor: Actor }

export function showLocation({ tx, nodes }: RequestContext, { createdAt: _, ...it }: Location) {
  const room = roomIn(tx, it.id)
  const sum = (of: (r: (typeof room)[number]) => number) => room.reduce((all, r) => all + of(r), 0)
  return {
    ...it,
    nodes: room.length,
    connectedNodes: room.filter((r) => nodes.connected(r.id)).length,
    servers: sum((r) => r.servers),
    memoryMb: sum((r) => r.memoryMb),
    heldMemoryMb: sum((r) => r.heldMemoryMb),
    diskGb: sum((r) => r.diskGb),
    heldDiskGb: sum((r) => r.heldDiskGb),
    freeIpv4: freeIpv4In(tx, it.id),
  }
}

/** Counted over pools, not nodes: a pool on three nodes has its free addresses once. */
const freeIpv4In = (tx: Db, locationId: string) =>
  tx.$client
    .query<{ n: number }, [string]>(
      `SELECT count(*) AS n FROM addresses WHERE server_id IS NULL AND reserved_for IS NULL AND pool_id IN
       (SELECT pn.pool_id FROM pool_nodes pn JOIN pools p ON p.id = pn.pool_id JOIN nodes n ON n.id = pn.node_id
        WHERE p.version = 4 AND n.location_id = ? AND n.removed_at IS NULL)`,
    )
    .get(locationId)!.n

export const listedLocations = (asking: RequestContext) =>
  asking.tx
    .select()
    .from(locations)
    .orderBy(asc(locations.name))
    .all()
    .map((l) => showLocation(asking, l))
