// A panel with nodes that are emptied, and servers on them that no job had to install.
import type { World } from '../../support/world/panel.ts'
import { open as openThree, order } from '../transfers/world.ts'

/** Nodes `fra-01` (which is emptied), `fra-02` and `fra-03`. */
export const open = openThree

/** So many more servers like this one, as rows alone. */
export function copies(p: World, id: string, n: number): string[] {
  const { $client } = p.db
  const columnsOf = (table: string) =>
    $client
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => name)
  const insert = (table: string, key: string, values: Record<string, string>) => {
    const columns = columnsOf(table)
    const picked = columns.map((name) => values[name] ?? `"${name}"`)
    return $client.prepare(
      `INSERT INTO ${table} (${columns.map((name) => `"${name}"`)}) SELECT ${picked} FROM ${table} WHERE ${key} = ?1`,
    )
  }
  const number = '(SELECT max(number) + 1 FROM workloads)'
  const statements = [
    insert('workloads', 'id', {
      id: '?2',
      number,
      hostname: '?2',
      name: '?2',
      mac: '?2',
      held_mac: '?2',
      billing_service_id: 'NULL',
    }),
    insert('servers', 'id', { id: '?2' }),
    insert('workload_stays', 'workload_id', { workload_id: '?2' }),
  ]
  const ids = Array.from({ length: n }, (_, i) => `${id.slice(0, -4)}${String(i).padStart(4, '0')}`)
  $client.transaction(() => {
    for (const copy of ids) for (const statement of statements) statement.run(id, copy)
  })()
  return ids
}

/** A server that was ordered and is installed on `fra-01`. */
export async function ordered(p: World, hostname: string): Promise<string> {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId: p.node.id })
  await p.settle()
  return serverId
}
export { order }
