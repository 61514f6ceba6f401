// Lists and background work of a large company never read a large table from its beginning to its end. The
// product gives SQLite no statistics, so a plan is the same with ten rows as with ten million.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { queryOf } from '../../../src/kernel/api/operation.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { recordStatements, type SlowStatement } from '../../support/load/statements.ts'
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
  'jobs_queued|jobs_cancel|jobs_undo|jobs_lock|jobs_holding|servers_pending_seed|accounts_to_tell|[a-z_]+_due|' +
  // The ledger as it goes on now, without what is kept of earlier times.
  'usage_intervals_now'

const enumOf = (schema: unknown) => (schema as { enum?: readonly string[] } | undefined)?.enum
/** The values that a filter is asked for: each of its words, or a well-formed one. */
function valuesOf(name: string, schema: unknown): readonly string[] {
  const today = new Date(p.now()).toISOString().slice(0, 10)
  const known: Readonly<Record<string, string>> = {
    ownerId: p.customer.id,
    nodeId: p.node.id,
    locationId: p.location,
    packageId: p.pack,
    month: today.slice(0, 7),
    to: today,
    after: p.db.$client.query<{ id: string }, []>('SELECT id FROM events LIMIT 1').get()!.id,
    type: 'server.created',
    result: 'done',
  }
  const { pattern = '', type } = schema as { pattern?: string; type?: string }
  const prefix = /^\^(\w+)_\[/.exec(pattern)?.[1]
  const other = prefix ? newId(prefix as 'srv') : pattern.startsWith('^\\d{4}') ? today : undefined
  return enumOf(schema) ?? [known[name] ?? other ?? (type === 'integer' ? '1' : 'web1')]
}

/** The newest row alone, or the newest jobs. */
const NEWEST = /ORDER BY (rowid DESC LIMIT 1|newest\.id DESC LIMIT 2000)\b/
/** These read rows that grow with the number of backups, not of servers. */
const known = ['deleting backups whose time has come', 'starting the restore drill']

/**
 * Statements since the last call that read a whole large table, each with the step of its plan. `pages`: the first rows
 * that fit, in the order of an index, are no whole table.
 */
function scans({ pages, statements = recorded.take() }: { pages: boolean; statements?: SlowStatement[] }): string[] {
  const aliases = (sql: string) =>
    new Map(
      [...sql.matchAll(new RegExp(`\\b(?:FROM|JOIN) "?(${LARGE})"?(?: (?:AS )?(\\w+))?`, 'g'))].map(([, table, as]) => [
        as && !/^(WHERE|ORDER|GROUP|ON|JOIN|LEFT|CROSS|LIMIT|INDEXED|NATURAL)$/.test(as) ? as : table!,
        table!,
      ]),
    )
  const found = statements.flatMap(({ sql, plan }) => {
    const named = aliases(sql)
    const isPage = pages && /\bLIMIT\b/.test(sql) && !plan.some((step) => /TEMP B-TREE FOR (ORDER|GROUP)/.test(step))
    if (isPage || NEWEST.test(sql) || /WHERE (\(1\) AND )?\(?0\b/.test(sql)) return []
    return plan.flatMap((step) => {
      const [, as, index] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(step) ?? []
      if (!as || !named.has(as) || (index && new RegExp(`^(${FEW})$`).test(index))) return []
      return [`${step}: ${sql.replace(/\s+/g, ' ').slice(0, 200)}`]
    })
  })
  return [...new Set(found)]
}

/** These have the few rows of one thing, or of few. */
const OF_ONE = 'workloads_billing_service|usage_intervals_line|workload_labels_label|jobs_state'
/**
 * Pages among the statements for which all that fits is sorted. `+` says that few fit. What is sorted for its last term
 * alone is sorted within one name.
 */
const sortings = (statements: readonly SlowStatement[]): string[] =>
  statements
    .filter(
      ({ sql, plan }) =>
        plan.includes('USE TEMP B-TREE FOR ORDER BY') &&
        /\bLIMIT\b/.test(sql) &&
        !/ORDER BY \+/.test(sql) &&
        new RegExp(`\\b(?:FROM|JOIN) "?(${LARGE})\\b`).test(sql) &&
        !plan.some((step) => new RegExp(`^SEARCH \\w+ USING (COVERING )?INDEX (${OF_ONE}) \\(`).test(step)),
    )
    .map(({ sql, plan }) => `sorted: ${plan.slice(0, 2).join('; ')}: ${sql.replace(/\s+/g, ' ').slice(0, 200)}`)

test('a whole table that is read is noticed', () => {
  recorded.take()
  p.db.$client.query('SELECT count(*) FROM workloads').get()
  p.db.$client.query('SELECT id FROM jobs ORDER BY title LIMIT 5').all()
  const statements = recorded.take()
  expect(scans({ pages: true, statements })).toHaveLength(2)
  expect(sortings(statements)).toHaveLength(1)
})

describe('no large table is read whole', () => {
  for (const { words, work } of registry.schedule.filter((scheduled) => !known.includes(scheduled.words)))
    test(`by ${words}`, async () => {
      recorded.take()
      const { hub, runner, deliveries, db, app } = p.controller
      await work({ hub, runner, deliveries, db, app })
      expect(scans({ pages: false })).toEqual([])
    })

  for (const path of ['/admin/overview', '/stock', '/admin/audit?operation=servers.'])
    test(`by ${path}`, async () => {
      recorded.take()
      await p.admin('GET', path)
      expect(scans({ pages: true })).toEqual([])
    })
})

/** Queries of lists that sort all that they find, each with the bound of that. */
const few: readonly [query: RegExp, bound: string][] = [
  [/^\/(admin\/)?gpu-instances\?/, 'as many as there are cards'],
  [/^\/(admin\/)?servers\?resellerId=/, 'the servers of one reseller and of its customers'],
  [
    /^\/(admin\/)?servers\?state=unreachable/,
    'those on nodes that are away, where these are a quarter of all or fewer',
  ],
  [/^\/jobs\?nodeId=/, 'the jobs of one node'],
  [/^\/jobs\?q=/, 'the 2000 newest jobs, and those of 100 workloads'],
  [/^\/reports\/usage\/intervals\?(owner|reseller)Id=/, 'what is kept of one customer or reseller'],
]

describe('no list reads or sorts a large table', () => {
  const lists = registry.operations.filter(
    (op) => op.method === 'GET' && op.pages && !op.path.includes('{') && op.access !== 'anyone' && op.access.staff,
  )
  for (const op of lists) {
    const { sort, cursor: _, limit: __, ...filters } = queryOf(op)
    const orders = ['', ...(enumOf(sort) ?? []).map((one) => `sort=${one}`)]
    for (const [name, schema] of [['', {}] as const, ...Object.entries(filters)])
      test(`${op.id} ${name ? `by ${name}` : 'as a whole'}, in every order`, async () => {
        for (const value of name ? valuesOf(name, schema) : [''])
          for (const order of orders) {
            const path = `${op.path}?${[name && `${name}=${value}`, order].filter(Boolean).join('&')}`
            recorded.take()
            const { status } = await p.call(p.owner, 'GET', path)
            const statements = recorded.take()
            const found = few.some(([query]) => query.test(path)) ? [] : sortings(statements)
            expect([path, status, ...scans({ pages: true, statements }), ...found]).toEqual([path, 200])
          }
      })
  }
})
