// The sums over the nodes of a location.
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { countFreeIpv4 } from '../../network/ip-pools/queries.ts'
import type { Location, LocationFigures } from '../locations/model.ts'
import { sizesIn } from '../node-records/queries.ts'
import { MANY_NODES, shared } from '../node-records/shared.ts'
import { beyondReserveMb, reserveMbOf } from '../placement/location-reserve.ts'
import { poolSumsOn } from '../storage-pools/queries.ts'
import { listedOnAll } from '../workloads/queries.ts'

type Call = Pick<AppContext, 'nodes'> & { tx: Db }

const sharedFigures = shared<LocationFigures>(({ nodes }) => nodes > MANY_NODES)

/** Of more than a thousand nodes the sums are up to two seconds old. */
export const figuresOfNodes = (call: Call, location: Location): LocationFigures =>
  sharedFigures(call.tx, { place: location.id, key: `${location.reserve} ${location.reserveUnit}` }, () =>
    read(call, location),
  )

function read({ tx, nodes }: Call, location: Location): LocationFigures {
  const all = sizesIn(tx, location.id)
  const ids = all.map(({ id }) => id)
  const sum = (of: (node: (typeof all)[number]) => number) => all.reduce((sum, node) => sum + of(node), 0)
  const many = (fits: (node: (typeof all)[number]) => boolean) => sum((node) => (fits(node) ? 1 : 0))
  return {
    nodes: all.length,
    connectedNodes: many(({ id }) => nodes.connected(id)),
    openNodes: many(({ id, open }) => open && nodes.connected(id)),
    reconnectingNodes: many(({ id }) => nodes.isReconnecting(id)),
    servers: listedOnAll(tx, ids),
    memoryMb: sum((r) => r.memoryMb),
    heldMemoryMb: sum((r) => r.heldMemoryMb),
    reserveMb: reserveMbOf(location, all, nodes),
    orderableMemoryMb: Math.max(
      0,
      Math.min(
        beyondReserveMb(location, all, nodes),
        sum((r) => Math.max(0, r.memoryMb - r.heldMemoryMb)),
      ),
    ),
    heldDiskGb: sum((r) => r.heldDiskGb),
    ...poolSumsOn(tx, ids),
    freeIpv4: countFreeIpv4(tx, ids),
  }
}
