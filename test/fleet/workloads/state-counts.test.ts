// The kept counts of workloads by state say what the rows say, whatever happens to the rows.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { serverKind } from '../../../src/compute/server-records/model.ts'
import { countByStatus, everyWorkload } from '../../../src/fleet/workloads/reports.ts'
import { type World, world } from '../../support/world/panel.ts'

let p: World
const servers: string[] = []
beforeAll(async () => {
  p = await world()
  for (let n = 0; n < 3; n++) {
    const made = await p.admin('POST', '/admin/servers', { ...p.order, hostname: `web${n}` })
    servers.push(made.serverId)
  }
})
afterAll(() => p.close())

/** The same counts, read from the rows, because the condition is spelled in another way. */
const ofRows = (nodeIds?: string[]) => countByStatus(p.db, serverKind, { where: '1=1', values: [] }, nodeIds)
const kept = (nodeIds?: string[]) => countByStatus(p.db, serverKind, everyWorkload, nodeIds)
const run = (sql: string, ...values: (string | null)[]) => p.db.$client.run(sql, values)

test('after each change of a state, a move, a rollback and a deletion', () => {
  const { $client } = p.db
  const nodeOf = (id: string) =>
    $client.query<{ node: string }, [string]>('SELECT node_id AS node FROM workloads WHERE id = ?').get(id)!.node
  const [one, two, three] = servers as [string, string, string]
  const node = nodeOf(one)
  const seen = new Set<string>()
  const check = () => {
    expect(kept()).toEqual(ofRows())
    for (const nodes of [[node], ['nod_other'], [node, 'nod_other'], []]) expect(kept(nodes)).toEqual(ofRows(nodes))
    seen.add(JSON.stringify(kept()))
  }
  check()
  for (const id of [one, two])
    for (const set of [
      "lifecycle = 'active', power = 'running'",
      "power = 'paused'",
      "power = 'running'",
      "power = 'running', vcpus = 3",
      "suspended_at = 5, suspend_reason = 'overdue'",
      'suspended_at = 6',
      'suspended_at = NULL, suspend_reason = NULL',
      'power = NULL',
      "lifecycle = 'failed'",
    ]) {
      run(`UPDATE workloads SET ${set} WHERE id = ?`, id)
      check()
    }
  run('PRAGMA foreign_keys = OFF')
  run("UPDATE workloads SET node_id = 'nod_other' WHERE id = ?", two)
  check()
  run('BEGIN')
  run("UPDATE workloads SET lifecycle = 'active', power = 'running'")
  check()
  run('ROLLBACK')
  check()
  run("UPDATE workloads SET lifecycle = 'terminated', terminated_at = 9 WHERE id = ?", three)
  check()
  run('DELETE FROM workloads WHERE id IN (?, ?)', one, two)
  check()
  expect(kept()).toEqual({})
  // It was not all the same.
  expect(seen.size).toBeGreaterThan(6)
})
