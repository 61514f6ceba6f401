// Measures of many features: the workload, its vm and disks, its addresses, jobs and events.
import { addressReport } from '../../../agent/controller-link/address-report.ts'
import { workloadById } from '../../../src/fleet/workloads/queries.ts'
import { statusOf } from '../../../src/fleet/workloads/status.ts'
import { homeOf } from '../../../src/fleet/workloads/stays/queries.ts'
import type { World } from '../world/panel.ts'
import { definitionOnNode, generationOnNode } from './fake-node.ts'
import type { Measures } from './scenario.ts'

const vmsOf = async (p: World) => (await p.node.agent.host.hypervisor.look()).ours
const count = (p: World, sql: string) => p.db.$client.query<{ n: number }, []>(sql).get()!.n

export const commonMeasures: Measures = {
  status: (p, id) => statusOf(workloadById(p.db, id)!),
  power: async (p, id) => (await vmsOf(p)).find((vm) => vm.id === id)?.power ?? 'absent',
  vms: async (p) => (await vmsOf(p)).length,
  volumes: async ({ node }) => (await node.agent.host.storage.list()).length,
  /** Generations: of the disk in the definition on the node, and of the one that the panel says is in use. */
  disk: (p, id) => ({
    onNode: generationOnNode(p, id, 'disk'),
    inUse: workloadById(p.db, id)!.diskGeneration,
  }),
  spareDiskGb: (p, id) => homeOf(p.db, id)?.spareDiskGb ?? 0,
  /** Held by the workload. */
  size(p, id) {
    const { vcpus, memoryMb, diskGb } = workloadById(p.db, id)!
    return `${vcpus} vCPU ${memoryMb} MB ${diskGb} GB`
  },
  /** Of its definition on the node. */
  onNode(p, id) {
    const definition = definitionOnNode(p, id)
    return definition ? `${definition['vcpus']} vCPU ${definition['memoryMb']} MB` : 'none'
  },
  seeds: async ({ node }, id) => ((await node.agent.host.seeds.path(id)) ? 1 : 0),
  rules: ({ node }) => node.agent.host.state.portRules().length,
  /** IPv4 addresses that the node's rules allow its workloads. */
  allowed: ({ node }) => node.agent.host.state.portRules().flatMap(({ ipv4 }) => ipv4).length,
  addresses: (p) => count(p, 'SELECT count(workload_id) AS n FROM addresses'),
  /** Addresses that the agent would name and that the panel does not give to what has them there. */
  async unrecorded(p) {
    const recorded = new Set(
      p.db.$client
        .query<{ one: string }, []>(
          `SELECT workload_id || ' ' || address || iif(version = 6, '/' || prefix_length, '') AS one FROM addresses
           WHERE workload_id IS NOT NULL`,
        )
        .all()
        .map(({ one }) => one),
    )
    const named = (await addressReport(p.node.agent.host, () => true)).flatMap(({ held }) => held)
    return named
      .map(({ workload, address }) => `${workload} ${address}`)
      .filter((one) => !recorded.has(one))
      .join(', ')
  },
  held: (p) => count(p, 'SELECT count(*) AS n FROM workloads WHERE released_at IS NULL'),
  events: (p) => p.events(),
  openJobs: (p) =>
    count(
      p,
      "SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'running', 'undoing') OR undo_node_id IS NOT NULL",
    ),
}
