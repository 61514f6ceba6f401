import { workloadById } from '../../../src/fleet/workloads/queries.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { order, pair } from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

/** A second server of the customer, and a floating address that points to the first. */
async function floating(p: World) {
  const first = await order(p)
  await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02' })
  await p.settle()
  const { id } = await p.admin('POST', `/customers/${p.customer.id}/floating-ips`, { locationId: p.location })
  await p.admin('POST', `/floating-ips/${id}/actions/assign`, { serverId: first })
  await p.settle()
  return first
}
const floatingId = async (p: World) => (await p.admin('GET', '/floating-ips')).data[0].id as string
/** Both servers, and the address that was made. */
const both = { ...pair, addresses: 3, events: [...pair.events, 'floating_ip.created'] }

const floatsTo = (p: World): string =>
  p.db.$client
    .query<{ hostname: string }, []>(
      'SELECT w.hostname FROM addresses a JOIN workloads w ON w.id = a.workload_id WHERE a.holder_id IS NOT NULL',
    )
    .get()?.hostname ?? 'none'

export const measures: Measures = {
  /** The server that the floating address points to: by the table, and by the rules of the node. */
  floating(p) {
    const { state } = p.node.agent.host
    const onNode = state
      .portRules()
      .filter(({ workload }) => state.floating(workload).length)
      .map(({ workload }) => workloadById(p.db, workload)!.hostname)
    return `${floatsTo(p)}, ${onNode.join(' and ') || 'none'} on its node`
  },
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'moving a floating address to another server',
    kind: 'floating_ip',
    before: floating,
    start: async (p, id) => {
      const { data } = await p.admin('GET', '/servers')
      const serverId = data.find((other: { id: string }) => other.id !== id).id
      const { jobId } = await p.admin('POST', `/floating-ips/${await floatingId(p)}/actions/assign`, { serverId })
      return { jobId, serverId: id }
    },
    succeeds: { ...both, floating: 'web02, web02 on its node', seeds: 1 },
    fails: { ...both, floating: 'web01, web01 on its node', seeds: 1 },
  },
  {
    name: 'pointing a floating address to no server',
    kind: 'floating_ip',
    before: floating,
    start: async (p, id) => {
      const { jobId } = await p.admin('POST', `/floating-ips/${await floatingId(p)}/actions/unassign`)
      return { jobId, serverId: id }
    },
    succeeds: { ...both, addresses: 2, floating: 'none, none on its node', seeds: 1 },
    fails: { ...both, floating: 'web01, web01 on its node', seeds: 1 },
  },
]
