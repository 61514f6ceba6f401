// The sums over the nodes of a location.
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { countFreeIpv4 } from '../../network/ip-pools/queries.ts'
import type { LocationFigures } from '../locations/model.ts'
import { capacityIn } from '../placement/capacity.ts'
import { listedOn } from '../workloads/queries.ts'

export function figuresOfNodes(
  { tx, nodes }: Pick<AppContext, 'nodes'> & { tx: Db },
  locationId: string,
): LocationFigures {
  const capacity = capacityIn(tx, locationId)
  const sum = (of: (node: (typeof capacity)[number]) => number) => capacity.reduce((all, node) => all + of(node), 0)
  return {
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
