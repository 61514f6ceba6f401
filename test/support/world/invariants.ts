// The state of node and panel in a form that two runs can be compared by: a job must end in the same state after every
// crash.
import { Database } from 'bun:sqlite'
import { workloadById } from '../../../src/fleet/workloads/queries.ts'
import { statusOf } from '../../../src/fleet/workloads/status.ts'
import type { World } from './panel.ts'

export type Invariants = {
  status: string
  power: string
  /** The restart policy of the panel's record, and of a vm that should run on the node. */
  restart: string
  vms: number
  volumes: number
  /** Generations: of the disk in the definition on the node, and of the one that the panel says is in use. */
  disk: { onNode: number | null; inUse: number | null }
  spareDiskGb: number
  /** Held by the workload, and of its definition on the node. */
  size: string
  onNode: string
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
  const workload = workloadById(p.db, id)!
  return {
    status: statusOf(workload),
    disk: { onNode: definedDisk(p.node.agent.home, id), inUse: workload.diskGeneration },
    spareDiskGb: workload.spareDiskGb,
    size: `${workload.vcpus} vCPU ${workload.memoryMb} MB ${workload.diskGb} GB`,
    onNode: definedSize(p.node.agent.home, id),
    power: ours.find((d) => d.id === id)?.power ?? 'absent',
    vms: ours.length,
    volumes: (await host.storage.list()).length,
    restart: `${workload.restartPolicy} ${host.state.wantedOne(id)?.restart}`,
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

function definedSize(home: string, id: string): string {
  const db = new Database(`${home}/fake.db`, { readonly: true })
  const row = db.query<{ definition: string }, [string]>('select definition from vms where workload = ?').get(id)
  db.close()
  if (!row) return 'none'
  const { vcpus, memoryMb } = JSON.parse(row.definition)
  return `${vcpus} vCPU ${memoryMb} MB`
}

/** The generation of the disk in the vm's definition on the fake host; null without a definition. */
function definedDisk(home: string, id: string): number | null {
  const db = new Database(`${home}/fake.db`, { readonly: true })
  const row = db.query<{ disk: string }, [string]>('select disk from vms where workload = ?').get(id)
  db.close()
  return row && Number(/-(\d+)\.\w+$/.exec(row.disk)![1])
}
