// Lists and background work of a large company never read a large table from its beginning to its end. The
// product gives SQLite no statistics, so a plan is the same with ten rows as with ten million.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { recordStatements } from '../../support/load/statements.ts'
import { type World, world } from '../../support/world/panel.ts'

let p: World
let recorded: ReturnType<typeof recordStatements>
beforeAll(async () => {
  p = await world({ opened: (db) => void (recorded = recordStatements(db.$client, -1)) })
  for (const hostname of ['web0', 'web1']) await p.admin('POST', '/admin/servers', { ...p.order, hostname })
  await p.settle()
})
afterAll(() => p.close())

/** Tables that grow with servers, customers or time. */
const LARGE =
  'workloads|servers|server_guests|workload_stays|accounts|search_texts|addresses|address_history|' +
  'jobs|job_steps|job_log|audit|events|usage_intervals|metrics|deliveries|backups|snapshots'
/** Indexes that hold a few rows of a large table, whatever its size. */
const FEW =
  'jobs_open|jobs_queued|jobs_cancel|jobs_undo|jobs_lock|jobs_holding|servers_pending_seed|accounts_to_tell|[a-z_]+_due'

/** The newest row alone. */
const ONE_ROW = /ORDER BY rowid DESC LIMIT 1\b/
/** These read rows that grow with the number of backups, not of servers. */
const known = ['deleting backups whose time has come', 'starting the restore drill']

/**
 * Statements since the last call that read a whole large table, each with the step of its plan. `pages`: the first rows
 * that fit, in the order of an index, are no whole table.
 */
function scans({ pages }: { pages: boolean }): string[] {
  const aliases = (sql: string) =>
    new Map(
      [...sql.matchAll(new RegExp(`\\b(?:FROM|JOIN) "?(${LARGE})"?(?: (?:AS )?(\\w+))?`, 'g'))].map(([, table, as]) => [
        as && !/^(WHERE|ORDER|GROUP|ON|JOIN|LEFT|CROSS|LIMIT|INDEXED|NATURAL)$/.test(as) ? as : table!,
        table!,
      ]),
    )
  const found = recorded.take().flatMap(({ sql, plan }) => {
    const named = aliases(sql)
    const isPage = pages && /\bLIMIT\b/.test(sql) && !plan.some((step) => /TEMP B-TREE FOR (ORDER|GROUP)/.test(step))
    if (isPage || ONE_ROW.test(sql)) return []
    return plan.flatMap((step) => {
      const [, as, index] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(step) ?? []
      if (!as || !named.has(as) || (index && new RegExp(`^(${FEW})$`).test(index))) return []
      return [`${step}: ${sql.replace(/\s+/g, ' ').slice(0, 200)}`]
    })
  })
  return [...new Set(found)]
}

test('a whole table that is read is noticed', () => {
  recorded.take()
  p.db.$client.query('SELECT count(*) FROM workloads').get()
  p.db.$client.query('SELECT id FROM jobs ORDER BY title LIMIT 5').all()
  expect(scans({ pages: true })).toHaveLength(2)
})

describe('no large table is read whole', () => {
  for (const { words, work } of registry.schedule.filter((scheduled) => !known.includes(scheduled.words)))
    test(`by ${words}`, async () => {
      recorded.take()
      const { hub, runner, deliveries, db, app } = p.controller
      await work({ hub, runner, deliveries, db, app })
      expect(scans({ pages: false })).toEqual([])
    })

  const pages = [
    '/admin/overview',
    '/stock',
    '/jobs',
    '/jobs?state=done',
    '/jobs?state=failed&kind=install',
    '/admin/audit',
    '/admin/audit?result=done',
    '/admin/audit?result=refused',
    '/admin/audit?operation=servers.',
    '/admin/customers?externalId=whmcs:1',
    '/admin/servers',
    '/admin/ip-pools',
    '/admin/packages',
    '/admin/images',
    '/admin/node-groups',
    '/events',
  ]
  for (const path of pages)
    test(`by ${path}`, async () => {
      recorded.take()
      await p.admin('GET', path)
      expect(scans({ pages: true })).toEqual([])
    })
})
