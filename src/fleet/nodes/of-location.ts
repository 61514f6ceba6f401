// The sums over the nodes of a location.
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { countFreeIpv4 } from '../../network/ip-pools/queries.ts'
import type { Location, LocationFigures } from '../locations/model.ts'
import { capacityIn } from '../placement/capacity.ts'
import { beyondReserveMb, reserveMbOf } from '../placement/location-reserve.ts'
import { listedOn } from '../workloads/queries.ts'

export function figuresOfNodes(
  { tx, nodes }: Pick<AppContext, 'nodes'> & { tx: Db },
  location: Location,
): LocationFigures {
  const capacity = capacityIn(tx, location.id)
  const sum = (of: (node: (typeof capacity)[number]) => number) => capacity.reduce((all, node) => all + of(node), 0)
  return {
    nodes: capacity.length,
    connectedNodes: capacity.filter((node) => nodes.connected(node.id)).length,
    openNodes: capacity.filter((node) => node.open && nodes.connected(node.id)).length,
    reconnectingNodes: capacity.filter((node) => nodes.isReconnecting(node.id)).length,
    servers: sum(({ id }) => listedOn(tx, id)),
    memoryMb: sum((r) => r.memoryMb),
    heldMemoryMb: sum((r) => r.heldMemoryMb),
    reserveMb: reserveMbOf(location, capacity, nodes),
    orderableMemoryMb: Math.max(
      0,
      Math.min(
        beyondReserveMb(location, capacity, nodes),
        sum((r) => Math.max(0, r.memoryMb - r.heldMemoryMb)),
      ),
    ),
    diskGb: sum((r) => r.diskGb),
    heldDiskGb: sum((r) => r.heldDiskGb),
    freeDiskGb: sum((r) => r.freeDiskGb),
    freeIpv4: countFreeIpv4(
      tx,
      capacity.map((node) => node.id),
    ),
  }
}
