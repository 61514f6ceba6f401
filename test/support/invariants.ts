// What there is, on the node and in the panel, said so that two runs can be compared: the clean slate that a saga must end on.
import { workloadById } from '../../src/compute/workloads/queries.ts'
import { statusOf } from '../../src/compute/workloads/status.ts'
import type { World } from './panel.ts'

export type Invariants = {
  status: string
  power: string
  vms: number
  volumes: number
  seeds: number
  rules: number
  addresses: number
  held: number
  events: string[]
  openJobs: number
}

/** `id` is the workload that the job was about. */
export async function invariants(p: World, id: string): Promise<Invariants> {
  const { host } = p.node.agent
  const { ours } = await host.hypervisor.look()
  const number = (sql: string) => (p.db.$client.query(sql).get() as { n: number }).n
  return {
    status: statusOf(workloadById(p.db, id)!),
    power: ours.find((d) => d.id === id)?.power ?? 'absent',
    vms: ours.length,
    volumes: (await host.storage.list()).length,
    seeds: (await host.seeds.path(id)) ? 1 : 0,
    rules: host.state.portRules().length,
    addresses: number('SELECT count(workload_id) AS n FROM addresses'),
    held: number('SELECT count(*) AS n FROM workloads WHERE released_at IS NULL'),
    events: p.events(),
    openJobs: number(
      "SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'running', 'undoing') OR undo_node_id IS NOT NULL",
    ),
  }
}
