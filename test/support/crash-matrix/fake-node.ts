// Reads the state of the fake host of the world’s node.
import { Database } from 'bun:sqlite'
import type { World } from '../world/panel.ts'

/** The rows that `sql` finds in the state of the fake host. */
export function rowsOnNode<R>(p: World, sql: string, ...values: string[]): R[] {
  const db = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
  const rows = db.query<R, string[]>(sql).all(...values)
  db.close()
  return rows
}

/** The first of them. */
export const rowOnNode = <R>(p: World, sql: string, ...values: string[]): R | undefined =>
  rowsOnNode<R>(p, sql, ...values)[0]

/** The definition of the vm on the node; undefined without one. */
export function definitionOnNode(p: World, id: string): Record<string, unknown> | undefined {
  const row = rowOnNode<{ definition: string }>(p, 'select definition from vms where workload = ?', id)
  return row && JSON.parse(row.definition)
}

/** The generation of a disk in the vm's definition on the node; null without a definition. */
export function generationOnNode(p: World, id: string, column: 'disk' | 'rescue'): number | null {
  const row = rowOnNode<{ disk: string | null }>(p, `select ${column} as disk from vms where workload = ?`, id)
  return row?.disk ? Number(/-(\d+)(?:\.\d+)?\.\w+$/.exec(row.disk)![1]) : null
}
