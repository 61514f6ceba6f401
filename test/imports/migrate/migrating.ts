// The record of an import that moves one server, without the other panel and the dry run that led to it.
import type { World } from '../../support/world/panel.ts'
import { addImport } from '../record.ts'

export const ADDRESS = '192.0.2.13'
export const DOMAIN = 'v41'
export const MAC = '52:54:00:00:00:41'
const DISK_BYTES = 20 * 1024 ** 3

/** Its hypervisor is copied from, or is the node itself; answers the ids of the import and of its server. */
export function addMigrating(p: World, way: 'copy' | 'adopt') {
  const { id, serverId } = addImport(p)
  const run = (sql: string, ...values: (string | number | null)[]) => p.db.$client.run(sql, values)
  run("UPDATE imports SET status = 'migrating', started_at = ? WHERE id = ?", p.now(), id)
  run("UPDATE import_servers SET state = 'ready' WHERE id = ?", serverId)
  run("UPDATE import_packages SET choice = 'like', ipv4 = 1 WHERE import_id = ?", id)
  run("UPDATE import_ranges SET choice = 'keep' WHERE import_id = ?", id)
  run("UPDATE import_owners SET choice = 'create' WHERE import_id = ?", id)
  run(
    'UPDATE import_hypervisors SET choice = ?, location_id = ? WHERE import_id = ?',
    ...[way, way === 'copy' ? p.location : null, id],
  )
  if (way === 'adopt')
    run(
      "UPDATE nodes SET facts = json_set(facts, '$.addresses', json(?)) WHERE id = ?",
      ...[JSON.stringify([ADDRESS]), p.node.id],
    )
  run(
    `INSERT INTO import_checks (server_id, import_id, hypervisor_id, result, way, node_id, is_running, disk_path,
       disk_format, disk_bus, disk_holder, disk_bytes, machine, mac, nic_model, at)
     VALUES (?, ?, '3', 'ready', ?, ?, 1, '/var/lib/panel/v41.disk', 'qcow2', 'virtio', 'file', ?, 'pc-i440fx-2.11', ?,
       'virtio', ?)`,
    ...[serverId, id, way, p.node.id, DISK_BYTES, MAC, p.now()],
  )
  run(
    `INSERT INTO import_moves (server_id, import_id, hypervisor_id, position, state, way, method)
     VALUES (?, ?, '3', 0, 'waiting', ?, 'short_stop')`,
    ...[serverId, id, way],
  )
  sourcesOf(p).describe(way === 'copy' ? ADDRESS : 'own', {
    lets: 'everyone',
    servers: {
      [DOMAIN]: {
        isPersistent: true,
        moving: { content: 'its disk', writtenSince: 'its disk, written since' },
        definition: { drives: [drive], nics: [{ mac: MAC, model: 'virtio', bridge: 'br0' }] },
      },
    },
  })
  return { id, serverId }
}

const drive = {
  ...{ target: 'vda', device: 'disk' as const, bus: 'virtio', holder: 'file' as const, format: 'qcow2' },
  ...{ path: '/var/lib/panel/v41.disk', isReadOnly: false, isSeed: false, virtualBytes: DISK_BYTES },
  ...{ allocatedBytes: DISK_BYTES, pool: null, backing: null, snapshots: 0, trouble: null },
}

/** The source hypervisors, as the node of the panel sees them. */
export const sourcesOf = (p: World) => p.node.agent.host.sourceHosts as unknown as FakeSources
type FakeSources = import('../../../agent/drivers/source-host/fake.ts').FakeSourceHosts

/** The power of the server at its source. */
export async function powerAtSource(p: World, way: 'copy' | 'adopt'): Promise<string> {
  const asked = [{ domain: DOMAIN }]
  const sources = sourcesOf(p)
  const found =
    way === 'adopt'
      ? await sources.ownServers(asked)
      : (await sources.servers({ address: ADDRESS, port: 22, hostKey: null }, asked)).servers
  return found[0]!.state
}
