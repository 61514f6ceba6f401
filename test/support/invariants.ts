// What there is, on the node and in the panel, said so that two runs can be compared: the clean slate that a saga must end on.
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

export async function invariants(p: World, serverId: string): Promise<Invariants> {
  const { host } = p.node.agent
  const { ours } = await host.hypervisor.look()
  const number = (sql: string) => (p.db.$client.query(sql).get() as { n: number }).n
  return {
    status: p.server(serverId).status,
    power: ours.find((d) => d.id === serverId)?.power ?? 'absent',
    vms: ours.length,
    volumes: (await host.storage.list()).length,
    seeds: (await host.seeds.path(serverId)) ? 1 : 0,
    rules: host.state.portRules().length,
    addresses: number('SELECT count(workload_id) AS n FROM addresses'),
    held: number('SELECT count(*) AS n FROM workloads WHERE released_at IS NULL'),
    events: p.events(),
    openJobs: number("SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'running', 'undoing')"),
  }
}
