// Totals that triggers keep say what the rows say, whatever happens to the rows.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type World, world } from '../../support/world/panel.ts'

let p: World
const servers: string[] = []
beforeAll(async () => {
  p = await world()
  for (let n = 0; n < 3; n++) {
    const made = await p.admin('POST', '/admin/servers', { ...p.order, hostname: `web${n}` })
    servers.push(made.serverId)
  }
  await p.settle()
  p.db.$client.run('PRAGMA foreign_keys = OFF')
  p.db.$client.run('PRAGMA ignore_check_constraints = ON')
})
afterAll(() => p.close())

const kept: Record<string, string> = {
  account_holdings: 'servers + abs(vcpus) + abs(memory_mb) + abs(disk_gb) + abs(gpus) + abs(ipv4) <> 0',
  server_counts: 'servers <> 0',
  job_counts: 'jobs <> 0',
  audit_counts: 'lines <> 0',
  address_counts: 'total <> 0',
}
/** Rows that differ; a total of nothing may be left as a row of zeros. */
const wrong = () =>
  Object.entries(kept).flatMap(([table, some]) =>
    p.db.$client
      .query(
        `SELECT * FROM (SELECT * FROM ${table} WHERE ${some} EXCEPT SELECT * FROM ${table}_counted)
         UNION ALL SELECT * FROM (SELECT * FROM ${table}_counted WHERE ${some} EXCEPT SELECT * FROM ${table})`,
      )
      .all(),
  )
const run = (sql: string, ...values: (string | number | null)[]) => p.db.$client.run(sql, values)

describe('the totals of accounts, packages, images, jobs, the audit log and address pools', () => {
  test('count what was ordered', () => {
    expect(wrong()).toEqual([])
    const { $client } = p.db
    expect($client.query('SELECT servers, ipv4 FROM account_holdings').all()).toEqual([{ servers: 3, ipv4: 3 }])
    expect($client.query('SELECT sum(servers) AS n FROM server_counts').all()).toEqual([{ n: 3 }])
  })

  test('follow a change of any column', () => {
    const tables = { workloads: 'id', servers: 'id', addresses: 'workload_id', jobs: 'subject_id' }
    let changes = 0
    for (const [table, key] of Object.entries(tables)) {
      const columns = p.db.$client.query<{ name: string; type: string }, []>(`PRAGMA table_info(${table})`).all()
      for (const { name, type } of columns) {
        // No id ever changes, and the scope is that of the pool.
        if (name === 'scope' || name === 'id') continue
        const value = type === 'INTEGER' ? 4321 : `other ${name}`
        const where = `rowid = (SELECT rowid FROM ${table} WHERE ${key} = '${servers[1]}')`
        const { before } = p.db.$client
          .query<{ before: string }, []>(`SELECT "${name}" AS before FROM ${table} WHERE ${where}`)
          .get()!
        const at = p.db.$client.query<{ at: number }, []>(`SELECT rowid AS at FROM ${table} WHERE ${where}`).get()!.at
        for (const each of [value, null, before]) {
          try {
            run(`UPDATE ${table} SET "${name}" = ? WHERE rowid = ?`, each, at)
          } catch (error) {
            expect((error as Error).message).toMatch(/NOT NULL|datatype|UNIQUE/)
          }
          expect([table, name, each, wrong()]).toEqual([table, name, each, []])
          changes++
        }
      }
    }
    expect(changes).toBeGreaterThan(250)
  })

  test('follow an owner with a reseller, a rollback, the end and the deletion of a server', () => {
    const [one, two, three] = servers as [string, string, string]
    run("UPDATE workloads SET reseller_id = 'usr_r' WHERE id IN (?, ?)", one, two)
    expect(wrong()).toEqual([])
    run("UPDATE workloads SET owner_id = 'usr_o', reseller_id = 'usr_s', vcpus = 9 WHERE id = ?", one)
    expect(wrong()).toEqual([])
    run("UPDATE workloads SET owner_id = 'usr_s' WHERE id = ?", one)
    expect(wrong()).toEqual([])
    run('BEGIN')
    run('UPDATE workloads SET terminated_at = 5')
    expect(wrong()).toEqual([])
    run('ROLLBACK')
    expect(wrong()).toEqual([])
    run('UPDATE workloads SET terminated_at = 5 WHERE id = ?', two)
    expect(wrong()).toEqual([])
    run('UPDATE addresses SET workload_id = NULL WHERE workload_id = ?', two)
    run('UPDATE workloads SET terminated_at = NULL WHERE id = ?', two)
    expect(wrong()).toEqual([])
    run('DELETE FROM servers WHERE id = ?', three)
    run('DELETE FROM workloads WHERE id = ?', three)
    run('UPDATE addresses SET rests_until = 5 WHERE id IN (SELECT id FROM addresses LIMIT 2)')
    run("UPDATE addresses SET reserved_for = 'a router' WHERE id IN (SELECT id FROM addresses LIMIT 1)")
    expect(wrong()).toEqual([])
    run('DELETE FROM addresses')
    run('DELETE FROM jobs')
    expect(wrong()).toEqual([])
  })
})
