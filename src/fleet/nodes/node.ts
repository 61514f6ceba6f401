import { Type as t } from 'typebox'
import { Facts, PoolRoom } from '../../../agent/protocol/wire.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { nullable, type Resource, type Surroundings, shape, time, told } from '../../kernel/api/operation.ts'
import { iso, isoOrNull, second } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { locationById } from '../locations/location.ts'
import { roomOn } from '../placement/placement.ts'
import { VERSION } from '../../app/version.ts'
import { type Node, nodes } from './tables.ts'

/** Beyond this the times in logs and signatures mislead; it is shown. */
export const SKEW_SHOWN_MS = 30 * second
/** A node that comes back at once is nothing to tell. */
export const AWAY_SHOWN_MS = 30 * second

export const nodeById = rowBy(nodes, nodes.id)

export const node: Resource<Node> = {
  name: 'node',
  notFound: 'node_not_found',
  find: (tx, actor, id) => {
    if (actor.kind !== 'staff') return undefined
    const it = nodeById(tx, id)
    return it?.removedAt === null ? it : undefined
  },
}

export const nodeAnswer = shape('Node', {
  id: t.String(),
  name: t.String(),
  location: t.Object({ id: t.String(), name: t.String() }),
  connected: t.Boolean(),
  connectedAt: nullable(time),
  seenAt: time,
  skewMs: told(t.Integer(), "How far its clock is from the controller's."),
  open: told(t.Boolean(), 'It takes new servers.'),
  bridge: t.String(),
  agentVersion: t.String(),
  agentOutdated: t.Boolean(),
  fake: told(t.Boolean(), 'A pretended host, for development.'),
  virtualisation: Facts.properties.virtualisation,
  servers: t.Integer(),
  threads: t.Integer(),
  memoryMb: t.Integer(),
  reservedMemoryMb: told(t.Integer(), 'Kept for the host itself.'),
  heldMemoryMb: t.Integer(),
  pool: told(t.String(), 'The storage in which new disks are made.'),
  diskGb: t.Integer(),
  heldDiskGb: t.Integer(),
  differences: told(t.Integer(), 'Between what should be on it and what is.'),
  load: told(
    nullable(t.Object({ at: time, cpuPercent: t.Number(), load1: t.Number(), memoryFreeMb: t.Integer(), pools: t.Array(PoolRoom) })),
    'Measured now; null while the node is away.',
  ),
})

export function showNode({ tx, nodes }: Pick<Surroundings, 'nodes'> & { tx: Db; actor: Actor }, it: Node) {
  const room = roomOn(tx, it.id)
  const connected = nodes.connected(it.id)
  const beat = connected ? nodes.heartbeat(it.id) : undefined
  const { facts } = it
  return {
    id: it.id,
    name: it.name,
    location: { id: it.locationId, name: locationById(tx, it.locationId)?.name ?? '' },
    connected,
    connectedAt: isoOrNull(it.connectedAt),
    seenAt: iso(beat?.at ?? it.seenAt),
    skewMs: it.skewMs,
    open: it.open,
    bridge: it.bridge,
    agentVersion: facts.agentVersion,
    agentOutdated: facts.agentVersion !== VERSION,
    fake: facts.fake,
    virtualisation: facts.virtualisation,
    servers: room.servers,
    threads: it.threads,
    memoryMb: it.memoryMb,
    reservedMemoryMb: it.reservedMemoryMb,
    heldMemoryMb: room.heldMemoryMb,
    pool: it.pool,
    diskGb: room.diskGb,
    heldDiskGb: room.heldDiskGb,
    differences: it.differences.length,
    load: beat
      ? { at: iso(beat.at), cpuPercent: beat.cpuPercent, load1: beat.load1, memoryFreeMb: beat.memoryFreeMb, pools: beat.pools }
      : null,
  }
}
