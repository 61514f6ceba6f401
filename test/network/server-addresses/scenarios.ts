import { workloadById } from '../../../src/fleet/workloads/queries.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { act, jobOf, order, pair, running } from '../../support/crash-matrix/servers.ts'
import { type World, world } from '../../support/world/panel.ts'

/** Another server of the customer beside it. */
async function two(p: World) {
  const first = await order(p)
  await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02' })
  await p.settle()
  return first
}
async function swap(p: World, id: string) {
  const { data } = await p.admin('GET', '/servers')
  const serverId = data.find((other: { id: string }) => other.id !== id).id
  return act('swap-primary-addresses', { serverId, version: 4 })(p, id)
}
const hostnameOf = (p: World, id: string) => workloadById(p.db, id)!.hostname

const addressRows = (p: World) =>
  p.db.$client
    .query<{ address: string; id: string | null }, []>(
      `SELECT address, workload_id AS id FROM addresses WHERE workload_id IS NOT NULL AND holder_id IS NULL
       OR reserved_for LIKE 'Next address%' ORDER BY place`,
    )
    .all()
    .map(({ address, id }) => `${address} ${id === null ? 'kept' : hostnameOf(p, id)}`)

export const measures: Measures = {
  /** The servers with their addresses, by the table and by the rules of the node; and what is kept for a change. */
  primaryAddresses(p) {
    const rules = p.node.agent.host.state
      .portRules()
      .flatMap(({ workload, ipv4 }) => ipv4.map((address) => `${address} ${hostnameOf(p, workload)}`))
      .toSorted()
    return { rows: addressRows(p), rules }
  },
}
const has = (...who: string[]) => ({ primaryAddresses: { rows: who, rules: who } })
const changed = 'server.addresses_changed'

const swapped = {
  ...pair,
  seeds: 1,
  events: [...pair.events, changed, changed],
  ...has('203.0.113.10 web02', '203.0.113.11 web01'),
}
/** Starts a swap; answers its job of this kind when there is one. */
const startOf = (kind: string) => async (p: World, id: string) => {
  const { serverId } = await swap(p, id)
  for (let i = 0; i < 1000 && !jobOf(p, kind); i++) await Bun.sleep(1)
  return { jobId: jobOf(p, kind)!, serverId }
}

const formerRows = ['203.0.113.10 web01', '203.0.113.11 web02']
const swappedRows = ['203.0.113.10 web02', '203.0.113.11 web01']
const isPast = (past: boolean) => ({ rows: past ? swappedRows : formerRows, open: [] })
/** A second node that routes the same pools. */
async function twoNodes() {
  const p = await world()
  const far = p.addNode(p.location, 'fra-02')
  const { data: pools } = await p.admin('GET', '/admin/ip-pools')
  for (const { id } of pools) await p.admin('PUT', `/admin/ip-pools/${id}/nodes`, { nodeIds: [p.node.id, far.id] })
  return p
}
async function onBoth(p: World) {
  const ids: string[] = []
  for (const [i, nodeId] of [...p.agents.keys()].entries()) {
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: `web0${i + 1}`, nodeId })
    await p.settle()
    ids.push(serverId)
  }
  return ids[0]!
}
const openJobs = (p: World) =>
  p.db.$client
    .query("SELECT kind FROM jobs WHERE state NOT IN ('succeeded', 'failed') OR undo_node_id IS NOT NULL")
    .all()

export const scenarios: readonly Scenario[] = [
  {
    name: 'changing the primary address of a server',
    kind: 'primary_address',
    before: order,
    start: act('change-primary-address', { version: 4 }),
    succeeds: { ...running, seeds: 1, events: [...running.events, changed], ...has('203.0.113.11 web01') },
    fails: { ...running, ...has('203.0.113.10 web01') },
  },
  {
    name: 'swapping the primary addresses of two servers',
    kind: 'primary_address',
    before: two,
    start: swap,
    succeeds: swapped,
    fails: { ...pair, ...has('203.0.113.10 web01', '203.0.113.11 web02') },
    sampled: true,
  },
  {
    name: 'holding the other server of a swap',
    kind: 'await_swap',
    before: two,
    start: startOf('await_swap'),
    succeeds: swapped,
    // It does nothing itself: the swap has ended by then.
    fails: swapped,
    sampled: true,
  },
  {
    name: 'the other server of a swap, from the record on',
    kind: 'take_address',
    before: two,
    start: startOf('take_address'),
    succeeds: swapped,
    sampled: true,
  },
  {
    name: 'swapping the primary addresses of servers on two nodes',
    kind: 'primary_address',
    open: twoNodes,
    before: onBoth,
    start: swap,
    measure: async (p) => ({ rows: addressRows(p), open: openJobs(p) }),
    succeeds: { rows: swappedRows, open: [] },
    fails: { rows: formerRows, open: [] },
    lost: { nodeId: isPast, otherNodeId: isPast },
    sampled: true,
  },
]
