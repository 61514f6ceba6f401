// Figures about nodes for a monitoring system.

import { silentParts } from '../../../agent/protocol/wire.ts'
import { agentVersions, nodeFigureRows } from '../../fleet/node-records/queries.ts'
import { metadataPercent } from '../../fleet/storage-pools/full.ts'
import { poolHealthByNode } from '../../fleet/storage-pools/queries.ts'
import type { Figure, FigureParts, Sample } from '../../kernel/monitoring.ts'

const BYTES_PER_MB = 1024 * 1024

/** Nodes by state, and the figures of each by its name. */
export function nodeFigures({ db, app }: FigureParts): readonly Figure[] {
  const states = { connected: 0, away: 0, lost: 0 }
  const pools = poolHealthByNode(db)
  const versions = agentVersions(db)
  const names = new Map<string, string>()
  const [up, seen, cpu, free, storage, storageFree, metadata, workloads, silent, silentPools] = Array.from(
    { length: 10 },
    (): Sample[] => [],
  )
  for (const node of nodeFigureRows(db)) {
    const labels = { node: node.name }
    names.set(node.id, node.name)
    const isConnected = app.nodes.connected(node.id)
    states[node.lostAt !== null ? 'lost' : isConnected ? 'connected' : 'away']++
    const beat = isConnected ? app.nodes.heartbeat(node.id) : undefined
    up!.push({ labels, value: Number(isConnected) })
    seen!.push({ labels, value: Math.round((isConnected ? app.clock() : node.seenAt) / 1000) })
    workloads!.push({ labels, value: node.workloads })
    for (const pool of pools.get(node.id) ?? []) {
      const ofPool = { ...labels, pool: pool.name, ...(pool.class !== null && { class: pool.class }) }
      storage!.push({ labels: ofPool, value: pool.totalBytes })
      if (pool.freeBytes !== null) storageFree!.push({ labels: ofPool, value: pool.freeBytes })
      silentPools!.push({ labels: ofPool, value: Number(pool.silentSince !== null) })
      const used = metadataPercent(pool)
      if (used !== null) metadata!.push({ labels: ofPool, value: used / 100 })
    }
    if (!beat) continue
    for (const part of silentParts)
      silent!.push({
        labels: { ...labels, part },
        value: Number(beat.silent?.some((one) => one.part === part) ?? false),
      })
    cpu!.push({ labels, value: beat.cpuPercent / 100 })
    free!.push({ labels, value: beat.memoryFreeMb * BYTES_PER_MB })
  }
  const agents = versions.map(({ id, version }) => ({ labels: { node: names.get(id)!, version }, value: 1 }))
  const of = (name: Figure['name'], help: string, samples: Sample[]): Figure => ({ name, help, type: 'gauge', samples })
  const counted = Object.entries(states).map(([state, value]) => ({ labels: { state }, value }))
  return [
    of('berth_nodes', 'Nodes by state.', counted),
    of('berth_node_up', '1 while the node is connected.', up!),
    of('berth_node_last_seen_timestamp_seconds', 'When the node was last connected.', seen!),
    of('berth_agent_version_info', 'The version of each node’s agent, by its label.', agents),
    of('berth_node_workloads', 'Servers and others for which the node holds something.', workloads!),
    of('berth_node_cpu_ratio', 'Share of its processors in use.', cpu!),
    of('berth_node_memory_free_bytes', 'Memory that the host has left.', free!),
    of('berth_node_silent', '1 while this part of a connected node does not answer: hypervisor, containers.', silent!),
    of('berth_node_storage_silent', '1 while the pool does not answer its node.', silentPools!),
    of('berth_node_storage_bytes', 'Size of each of its storage pools.', storage!),
    of('berth_node_storage_free_bytes', 'Space left in each of its storage pools.', storageFree!),
    of(
      'berth_node_storage_metadata_ratio',
      'Share of the space for metadata in use, of pools that have it.',
      metadata!,
    ),
  ]
}
