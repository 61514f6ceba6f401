// A panel with nodes that are emptied, and servers on them that no job had to install.

import { advanceDrains } from '../../../src/compute/drains/advance.ts'
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

/** One turn of every drain, and all that it started. */
export async function turn(p: World) {
  advanceDrains(p.db, p.controller.app)
  await p.settle()
}
/** Turns until the drain has ended, or nothing changes any more; answers it with its servers. */
export async function played(p: World, id: string) {
  for (let i = 0; i < 100; i++) {
    await turn(p)
    const drain = await p.admin('GET', `/admin/drains/${id}`)
    if (drain.finishedAt !== null || drain.state === 'paused') return drain
  }
  throw new Error('the drain does not end')
}
export const drainOf = (p: World, body: object = {}, nodeId = p.node.id) =>
  p.admin('POST', `/admin/nodes/${nodeId}/actions/drain`, body)
/** How many servers of a drain are in which state. */
export const states = (drain: { servers: { state: string }[] }) =>
  Object.fromEntries(
    [...Map.groupBy(drain.servers, ({ state }) => state)].map(([state, of]) => [state, of.length]).toSorted(),
  )
/** The nodes on which servers are at home, with how many run where. */
export async function homes(p: World) {
  const found: Record<string, number> = {}
  for (const [nodeId, { host }] of p.agents) {
    const { name } = p.db.$client.query('SELECT name FROM nodes WHERE id = ?').get(nodeId) as { name: string }
    found[name] = (await host.hypervisor.look()).ours.filter(({ power }) => power === 'running').length
  }
  return found
}
