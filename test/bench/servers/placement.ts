// The time of an order beside the number of nodes in its location: the whole call in one process, and the choice of the
// node alone. The ratio is to the fewest nodes.
//
//   bun test/bench/servers/placement.ts [--orders 300] [--most 10000]
import { locationById } from '../../../src/fleet/locations/queries.ts'
import { placeIn } from '../../../src/fleet/placement/placement.ts'
import { copyNodes, nodesOf } from '../../support/load/many-nodes.ts'
import { world } from '../../support/world/panel.ts'
import { flags, goal, median, round, say, table } from '../words.ts'

const { orders, most } = flags('Measures orders in locations of 10, 200, 2,000 and 10,000 nodes.', {
  orders: 300,
  most: 10_000,
})
const need = { memoryMb: 2048, diskGb: 20, storageClass: null, ipv4: 1, ipv6Prefix: null }
const live = nodesOf(() => true)

async function measured(nodes: number) {
  using p = await world({ callsPerMinute: 1e6 })
  const pool = { name: 'many', network: '10.64.0.0/16', gateway: '10.64.0.1', quarantineHours: 0 }
  await p.admin('POST', '/admin/ip-pools', { ...pool, nodeIds: [p.node.id] })
  copyNodes(p, nodes - 1)
  // Nodes without an agent count as connected: only the choice is measured.
  Object.assign(p.controller.app.nodes, live)
  const { ownerId, packageId, nodeGroupId } = p.order
  const location = locationById(p.db, p.location)!
  const [calls, choices]: [number[], number[]] = [[], []]
  for (let i = 0; i < orders; i++) {
    const began = performance.now()
    const { status, body } = await p.call(p.owner, 'POST', '/admin/servers', { ownerId, packageId, nodeGroupId })
    calls.push(performance.now() - began)
    if (status !== 201) throw new Error(JSON.stringify(body))
    const chosen = performance.now()
    placeIn(p.db, location, need, { nodes: live, namesNodes: true })
    choices.push(performance.now() - chosen)
  }
  // The first ones pay for statements that are prepared.
  const warm = (times: number[]) => median(times.slice(Math.floor(orders / 10)))
  return { call: warm(calls), choice: warm(choices) }
}

const counts = [10, 200, 2000, 10_000].filter((many) => many <= most)
const rows: (string | number)[][] = []
let first: Awaited<ReturnType<typeof measured>> | undefined
for (const many of counts) {
  say(`${many} nodes …`)
  const now = await measured(many)
  first ??= now
  const ratio = now.call / first.call
  rows.push([
    ...[many, `${round(now.call, 2)} ms`, `${round(now.choice, 3)} ms`],
    ...[`${round(ratio, 2)} ×`, goal(ratio <= 1.2, '1.2 ×')],
  ])
}
table(['nodes', 'an order', 'the choice of its node', 'beside the fewest', 'goal'], rows)
process.exit(0)
