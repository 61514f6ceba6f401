import { workloadById } from '../../../src/fleet/workloads/queries.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { act, jobOf, order, pair, running } from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

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

export const measures: Measures = {
  /** The servers with their addresses, by the table and by the rules of the node; and what is kept for a change. */
  primaryAddresses(p) {
    const rows = p.db.$client
      .query<{ address: string; id: string | null }, []>(
        `SELECT address, workload_id AS id FROM addresses WHERE workload_id IS NOT NULL AND holder_id IS NULL
         OR reserved_for LIKE 'Next address%' ORDER BY place`,
      )
      .all()
      .map(({ address, id }) => `${address} ${id === null ? 'kept' : hostnameOf(p, id)}`)
    const rules = p.node.agent.host.state
      .portRules()
      .flatMap(({ workload, ipv4 }) => ipv4.map((address) => `${address} ${hostnameOf(p, workload)}`))
      .toSorted()
    return { rows, rules }
  },
}
const has = (...who: string[]) => ({ primaryAddresses: { rows: who, rules: who } })
const changed = 'server.addresses_changed'

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
    succeeds: {
      ...pair,
      seeds: 1,
      events: [...pair.events, changed, changed],
      ...has('203.0.113.10 web02', '203.0.113.11 web01'),
    },
    fails: { ...pair, ...has('203.0.113.10 web01', '203.0.113.11 web02') },
    sampled: true,
  },
  {
    name: 'holding the other server of a swap',
    kind: 'await_swap',
    before: two,
    start: async (p, id) => {
      const { serverId } = await swap(p, id)
      return { jobId: jobOf(p, 'await_swap')!, serverId }
    },
    succeeds: {
      ...pair,
      seeds: 1,
      events: [...pair.events, changed, changed],
      ...has('203.0.113.10 web02', '203.0.113.11 web01'),
    },
    // It does nothing itself: the swap has ended by then.
    fails: {
      ...pair,
      seeds: 1,
      events: [...pair.events, changed, changed],
      ...has('203.0.113.10 web02', '203.0.113.11 web01'),
    },
    sampled: true,
  },
]
