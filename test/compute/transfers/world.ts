// A panel with three nodes of one location, each with a fake host, and the state of a server on all of them.

import { ledgerFaults } from '../../support/ledger.ts'
import { stayFaults } from '../../support/nodes/stays.ts'
import { type World, world } from '../../support/world/panel.ts'

/** Nodes `fra-01` (where orders go), `fra-02` and `fra-03`, which share the pools of addresses. */
export async function open(): Promise<World> {
  const p = await world()
  const ids = [p.node.id, p.addNode(p.location, 'fra-02').id, p.addNode(p.location, 'fra-03').id]
  await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: ids })
  return p
}
export const nodeNamed = (p: World, name: string): string =>
  p.db.$client.query<{ id: string }, [string]>('SELECT id FROM nodes WHERE name = ?').get(name)!.id
const namesIn = (p: World) =>
  new Map(
    p.db.$client
      .query<{ id: string; name: string }, []>('SELECT id, name FROM nodes')
      .all()
      .map(({ id, name }) => [id, name]),
  )

/** A server that runs on `fra-01`. */
export async function order(p: World): Promise<string> {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, nodeId: p.node.id })
  await p.settle()
  return serverId
}
export const move = (p: World, id: string, body: object = { nodeId: nodeNamed(p, 'fra-02') }) =>
  p.admin('POST', `/admin/servers/${id}/actions/move`, body)

/** Reads of each node its power, disks, rules, floating addresses and open transfers; and the records. */
export async function where(p: World, id: string) {
  const names = namesIn(p)
  const faults = [...stayFaults(p.db), ...ledgerFaults(p.db)]
  if (faults.length) throw new Error(faults.join('\n'))
  const { $client } = p.db
  const stays = $client
    .query<{ role: string; node: string }, [string]>(
      'SELECT role, node_id AS node FROM workload_stays WHERE workload_id = ? ORDER BY role',
    )
    .all(id)
    .map(({ role, node }) => `${role} on ${names.get(node)}`)
  const onNodes: Record<string, string> = {}
  let running = 0
  for (const [nodeId, { host }] of p.agents) {
    const { ours } = await host.hypervisor.look()
    const own = ours.find((vm) => vm.id === id)
    if (own?.power === 'running') running++
    const { volumes } = await host.storage.volumes()
    const disks = volumes.length
    const rules = host.state.portRules().length
    const floats = host.state.floating(id).length
    const open = host.state.transfers().length
    onNodes[names.get(nodeId)!] =
      own || disks || rules || floats || open
        ? `${own?.power ?? 'absent'}, ${disks} disks, ${rules} rules, ${floats} floating, ${open} transfers`
        : 'nothing'
  }
  const held = $client
    .query<{ node: string; n: number; mb: number; gb: number }, []>(
      'SELECT node_id AS node, workloads AS n, memory_mb AS mb, disk_gb AS gb FROM node_held WHERE workloads > 0',
    )
    .all()
    .map(({ node, n, mb, gb }) => `${names.get(node)} holds ${n} ${mb} ${gb}`)
  const transfers = $client
    .query<{ state: string; mode: string }, []>('SELECT state, mode FROM transfers ORDER BY id')
    .all()
    .map(({ state, mode }) => `${mode} ${state}`)
  const server = p.server(id)
  return {
    status: server.status,
    stays,
    onNodes,
    held,
    running,
    transfers,
    events: p.events().filter((type) => type.startsWith('transfer.')),
    openJobs: $client
      .query<{ kind: string }, []>(
        "SELECT kind FROM jobs WHERE state IN ('queued', 'running', 'undoing') OR undo_node_id IS NOT NULL",
      )
      .all()
      .map(({ kind }) => kind),
  }
}
