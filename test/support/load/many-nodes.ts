// Many nodes without agents, for what judges or lists them.
import type { Nodes } from '../../../src/fleet/placement/placement.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { write } from '../../../src/kernel/db/open.ts'
import type { World } from '../world/panel.ts'

/**
 * Adds as many nodes like that of the world, with its storage pool and address pools: `copy-00001` and so on. Answers
 * their ids.
 */
export function copyNodes(p: World, many: number): string[] {
  const columns = (table: string) =>
    p.db.$client
      .query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
      .all(table)
      .map(({ name }) => name)
  const copied = (table: string, own: readonly string[]) => {
    const rest = columns(table).filter((name) => !own.includes(name))
    return (given: string, where: string) =>
      p.db.$client.prepare(
        `INSERT INTO ${table} (${[...own, ...rest].join(', ')})
         SELECT ${[given, ...rest].join(', ')} FROM ${table} WHERE ${where}`,
      )
  }
  const node = copied('nodes', ['id', 'name', 'machine_id'])('?1, ?2, NULL', 'id = ?3')
  const storage = copied('storage_pools', ['id', 'node_id'])('?1, ?2', 'node_id = ?3')
  const attached = copied('pool_nodes', ['node_id'])('?1', 'node_id = ?2')
  const ids = Array.from({ length: many }, () => newId('nod'))
  write(p.db, () => {
    for (const [i, id] of ids.entries()) {
      node.run(id, `copy-${String(i + 1).padStart(5, '0')}`, p.node.id)
      storage.run(newId('stp'), id, p.node.id)
      attached.run(id, p.node.id)
    }
  })
  return ids
}

/** Nodes as placement sees them: those for which `isThere` holds are connected. */
export const nodesOf = (isThere: (id: string) => boolean): Nodes => ({
  connected: isThere,
  isReconnecting: () => false,
  heartbeat: () => undefined,
})
