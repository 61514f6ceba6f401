import { newId } from '../../src/kernel/db/ids.ts'
import type { World } from '../support/world/panel.ts'

/** The record of an import whose panel was read, with one server there; answers the ids of both. */
export function addImport(p: Pick<World, 'db' | 'now' | 'controller'>) {
  const id = newId('imp')
  const credentials = p.controller.app.secrets.encrypt(`${id} credentials`, JSON.stringify({ token: 'demo' }))
  p.db.$client.run(
    `INSERT INTO imports (id, kind, name, address, status, encrypted_credentials, reading, read, billing, started_by,
       created_at, discovered_at)
     VALUES (?1, 'demo', 'Old panel', 'https://demo-1.example:443', 'mapping', ?2, 1, 1,
       '{"externalId":"none","billingServiceId":"none","billingProductId":"none"}',
       '{"id":"usr_x","name":"Ada"}', ?3, ?3)`,
    [id, credentials, p.now()],
  )
  const rows = [
    `import_hypervisors (import_id, source_id, read, name, address, addresses, is_panel, bridges, choice)
     VALUES (?1, '3', 1, 'kvm-3', '192.0.2.13', '["192.0.2.13"]', 0, '["br0"]', 'leave_out')`,
    `import_packages (import_id, source_id, read, name, virtualization, vcpus, memory_mb, disk_gb, billing_id)
     VALUES (?1, '7', 1, 'SSD-7', 'kvm', 2, 2048, 20, '7')`,
    `import_ranges (import_id, source_id, read, name, version, first, last, network, is_set, gateway, resolvers, reach,
       hypervisor_ids)
     VALUES (?1, '5', 1, 'fra', 4, '198.51.100.10', '198.51.100.250', '198.51.100.0/24', 0, '198.51.100.1', '[]',
       'public', '[]')`,
    `import_owners (import_id, source_id, read, email, name, kind, is_suspended, billing_id)
     VALUES (?1, '12', 1, 'old@panel.test', 'Old customer', 'customer', 0, '12')`,
  ]
  for (const row of rows) p.db.$client.run(`INSERT INTO ${row}`, [id])
  const server = newId('ims')
  p.db.$client.run(
    `INSERT INTO import_servers (id, import_id, source_id, identity, read, domain, hostname, hypervisor_id, package_id,
       owner_id, virtualization, vcpus, memory_mb, disk_gb, is_windows, is_suspended, is_in_rescue, power, billing_id,
       state)
     VALUES (?1, ?2, '41', ?1, 1, 'v41', 'shop.panel.test', '3', '7', '12', 'kvm', 2, 2048, 20, 0, 0, 0, 'running',
       '41', 'waiting')`,
    [server, id],
  )
  p.db.$client.run("INSERT INTO import_addresses VALUES (?, ?, '198.51.100.41', 4, NULL, 1, '5')", [id, server])
  return { id, serverId: server }
}
