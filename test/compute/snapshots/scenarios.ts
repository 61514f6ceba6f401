import { serverById } from '../../../src/compute/server-records/model.ts'
import { rowOnNode, rowsOnNode } from '../../support/crash-matrix/fake-node.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { jobOf, order, running } from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

/** With snapshots of these names, one after another. */
const withSnapshots =
  (...names: string[]) =>
  async (p: World) => {
    const id = await order(p)
    for (const name of names) {
      await p.admin('POST', `/servers/${id}/snapshots`, { name })
      await p.settle()
    }
    return id
  }
const snapshotNamed = async (p: World, id: string, name: string) => {
  const { data } = await p.admin('GET', `/servers/${id}/snapshots`)
  return `/servers/${id}/snapshots/${data.find((snapshot: { name: string }) => snapshot.name === name).id}`
}

/** Numbers of layers; those that nothing uses stand behind a plus. */
function layersOf(p: World, id: string): string {
  const all = rowsOnNode<{ path: string; base: string }>(
    p,
    'select path, base from layers where path like ?',
    `%/${id}-%`,
  )
  const top = rowOnNode<{ disk: string }>(p, 'select disk from vms where workload = ?', id)?.disk
  const numberOf = (path: string) => Number(/\.(\d+)\.qcow2$/.exec(path)?.[1] ?? 0)
  const chain: string[] = []
  for (let at = top; at; at = all.find(({ path }) => path === at)?.base) chain.push(at)
  const others = all.filter(({ path }) => !chain.includes(path)).map(({ path }) => numberOf(path))
  const row = serverById(p.db, id)
  const onNode = [chain.map(numberOf).join('-'), ...others].join('+')
  return `${onNode} on its node, ${row?.diskLayer} on ${row?.diskParent ?? 'none'}`
}
const snapshotsIn = (p: World, id: string): string =>
  p.db.$client
    .query<{ name: string; layer: number | null; parent: number | null }, [string]>(
      'SELECT name, layer, parent FROM snapshots WHERE server_id = ? ORDER BY id',
    )
    .all(id)
    .map(({ name, layer, parent }) => `${name} ${layer} on ${parent ?? 'none'}`)
    .join(', ') || 'none'

export const measures: Measures = {
  /** Layers of the disk in use, the top first: on the node with what they stand on, and by the record. */
  layers: layersOf,
  /** Snapshots of the record, with their layers. */
  snapshots: snapshotsIn,
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'taking a snapshot',
    kind: 'snapshot',
    before: order,
    start: (p, id) => p.admin('POST', `/servers/${id}/snapshots`, { name: 'a' }),
    succeeds: {
      ...running,
      spareDiskGb: 20,
      layers: '1-0 on its node, 1 on 0',
      snapshots: 'a 0 on none',
    },
    fails: { ...running, layers: '0 on its node, 0 on none', snapshots: 'none' },
  },
  {
    name: 'restoring a snapshot',
    kind: 'restore_snapshot',
    before: withSnapshots('a'),
    start: async (p, id) => p.admin('POST', `${await snapshotNamed(p, id, 'a')}/actions/restore`),
    succeeds: {
      ...running,
      spareDiskGb: 20,
      layers: '2-0 on its node, 2 on 0',
      snapshots: 'a 0 on none',
    },
    fails: {
      ...running,
      spareDiskGb: 20,
      layers: '1-0 on its node, 1 on 0',
      snapshots: 'a 0 on none',
    },
  },
  {
    name: 'deleting what was written since a snapshot that was restored',
    kind: 'remove_layer',
    before: withSnapshots('a'),
    start: async (p, id) => {
      await p.admin('POST', `${await snapshotNamed(p, id, 'a')}/actions/restore`)
      await p.settle()
      return { jobId: jobOf(p, 'remove_layer')!, serverId: id }
    },
    succeeds: { ...running, spareDiskGb: 20, layers: '2-0 on its node, 2 on 0', snapshots: 'a 0 on none' },
  },
  {
    name: 'deleting the newest snapshot',
    kind: 'delete_snapshot',
    before: withSnapshots('a'),
    start: async (p, id) => p.admin('DELETE', await snapshotNamed(p, id, 'a')),
    succeeds: { ...running, layers: '0 on its node, 0 on none', snapshots: 'none' },
  },
  {
    name: 'deleting an older snapshot',
    kind: 'delete_snapshot',
    before: withSnapshots('a', 'b'),
    start: async (p, id) => p.admin('DELETE', await snapshotNamed(p, id, 'a')),
    succeeds: { ...running, spareDiskGb: 20, layers: '2-0 on its node, 2 on 0', snapshots: 'b 0 on none' },
  },
]
