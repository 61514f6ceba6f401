// The turns of backups read what is due, however many servers have plans.
import { expect, test } from 'bun:test'
import { dueRepositories } from '../../../src/compute/backups/maintenance/queries.ts'
import { serversToRetain } from '../../../src/compute/backups/plans/queries.ts'
import { world } from '../../support/world/panel.ts'

test('no turn sorts or looks at servers and repositories of which nothing is due', async () => {
  using p = await world()
  const { $client } = p.db
  const prepare = $client.prepare.bind($client)
  const asked: string[] = []
  $client.prepare = ((sql: string, ...more: []) => {
    asked.push(sql)
    return prepare(sql, ...more)
  }) as typeof prepare
  expect(serversToRetain(p.db)).toEqual([])
  expect(dueRepositories(p.db, p.now())).toEqual([])
  const planOf = (table: string) =>
    asked
      .filter((sql) => new RegExp(`FROM ${table} [a-z] INDEXED BY`).test(sql))
      .flatMap((sql) => $client.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all())
      .map(({ detail }) => detail)
      .join('\n')
  const [retaining, repositories] = [planOf('server_backup_plans'), planOf('backup_repositories')]
  expect(retaining).toContain('s USING INDEX server_backup_plans_to_retain')
  expect(repositories).toContain('r USING COVERING INDEX backup_repositories_by_due (<expr><?)')
  expect(retaining + repositories).not.toContain('TEMP B-TREE')
})
