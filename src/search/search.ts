// One field that leads anywhere: to a server by name, address or id, to a customer, a node, a job, a page. What somebody may not see
// is not found.

import { Type as t } from 'typebox'
import { seen } from '../jobs/job.ts'
import { areas, everybody } from '../kernel/api/access.ts'
import { type Call, nullable, operation } from '../kernel/api/operation.ts'
import { LIKE, partOf } from '../kernel/db/rows.ts'
import { visible } from '../servers/server.ts'

/** As many as are seen at a glance. */
const MOST = 12
/** Of jobs, only the newest so many are looked through by title; each has an id to be found by. */
const JOBS_LOOKED_THROUGH = 2000

type Found = {
  type: 'page' | 'server' | 'customer' | 'node' | 'job'
  id: string | null
  title: string
  detail: string | null
  href: string
}
type Row = { id: string; title: string; detail: string | null }

type Source = {
  type: Found['type']
  /** Where the row's id goes; undefined for who has no such page. */
  place(call: Call): string | undefined
  /** Rows whose name has `part` in it, or whose id is `id`. */
  sql(call: Call, part: string, id: string): [string, (string | number)[]]
}

const sources: readonly Source[] = [
  {
    type: 'server',
    place: ({ actor }) => (actor.scopes.has('servers:read') ? `${areas[actor.kind]}/servers/` : undefined),
    sql({ tx, actor }, part, id) {
      const { where, values } = visible(tx, actor)
      return [
        `SELECT s.id, s.hostname AS title, (SELECT group_concat(address, ' ') FROM addresses WHERE server_id = s.id) AS detail FROM servers s
         WHERE ${where} AND s.terminated_at IS NULL AND (s.hostname ${LIKE} OR s.name ${LIKE} OR s.id = ?
           OR EXISTS (SELECT 1 FROM addresses a WHERE a.server_id = s.id AND a.address ${LIKE})) ORDER BY s.id DESC`,
        [...values, part, part, id, part],
      ]
    },
  },
  {
    type: 'customer',
    place: ({ actor }) =>
      actor.scopes.has(actor.kind === 'staff' ? 'customers:read' : 'reseller:customers') ? `${areas[actor.kind]}/customers/` : undefined,
    sql: ({ actor }, part, id) => [
      `SELECT id, name AS title, email AS detail FROM accounts WHERE kind <> 'staff' AND ${actor.kind === 'staff' ? '? IS NOT NULL' : 'reseller_id = ?'}
       AND (name ${LIKE} OR email ${LIKE} OR organization ${LIKE} OR id = ?) ORDER BY id DESC`,
      [actor.accountId, part, part, part, id],
    ],
  },
  {
    type: 'node',
    place: ({ actor }) => (actor.kind === 'staff' && actor.scopes.has('nodes:read') ? '/admin/nodes/' : undefined),
    sql: (_, part, id) => [
      `SELECT n.id, n.name AS title, l.name AS detail FROM nodes n JOIN locations l ON l.id = n.location_id WHERE n.removed_at IS NULL AND (n.name ${LIKE} OR n.id = ?) ORDER BY n.name`,
      [part, id],
    ],
  },
  {
    type: 'job',
    place: ({ actor }) =>
      actor.scopes.has('servers:read') || (actor.kind === 'staff' && actor.scopes.has('nodes:read'))
        ? `${areas[actor.kind]}/jobs/`
        : undefined,
    sql({ tx, actor }, part, id) {
      const { where, values } = seen(tx, actor)
      return [
        `SELECT j.id, j.title, j.state AS detail FROM (SELECT * FROM jobs WHERE id = ? UNION SELECT * FROM (SELECT * FROM jobs ORDER BY id DESC LIMIT ?)) j
         LEFT JOIN servers s ON s.id = j.server_id WHERE (${where}) AND (j.title ${LIKE} OR j.id = ?) ORDER BY j.id DESC`,
        [id, JOBS_LOOKED_THROUGH, ...values, part, id],
      ]
    },
  },
]

function found(call: Call, text: string): Found[] {
  const part = partOf(text)
  const pages = call
    .places(call.actor)
    .filter(({ title }) => title.toLowerCase().includes(text.toLowerCase()))
    .map(({ title, href }): Found => ({ type: 'page', id: null, title, detail: null, href }))
  const rows = sources.map((source) => {
    const place = source.place(call)
    if (!place) return []
    const [sql, values] = source.sql(call, part, text)
    return call.tx.$client
      .query<Row, any[]>(`${sql} LIMIT ${MOST}`)
      .all(...values)
      .map((row): Found => ({ type: source.type, ...row, href: `${place}${row.id}` }))
  })
  return share([pages, ...rows])
}

/** Each kind in turn gives one, until there are enough: many servers of a name do not hide the customer. Kinds stay together. */
function share(kinds: Found[][]): Found[] {
  const taken = kinds.map(() => 0)
  for (let n = 0; n < MOST; ) {
    const before = n
    for (const [i, kind] of kinds.entries())
      if (n < MOST && taken[i]! < kind.length) {
        taken[i]!++
        n++
      }
    if (n === before) break
  }
  return kinds.flatMap((kind, i) => kind.slice(0, taken[i]))
}

export const search = operation({
  id: 'search.find',
  method: 'GET',
  path: '/search',
  summary: `Find servers, customers, nodes, jobs and pages by name, address or id; at most ${MOST}`,
  access: everybody('account:read'),
  query: { q: t.String({ maxLength: 200, description: 'Part of a name or address, or an id. Nothing is found by nothing.' }) },
  answer: t.Object({
    data: t.Array(
      t.Object({
        type: t.Enum(['page', 'server', 'customer', 'node', 'job']),
        id: nullable(t.String()),
        title: t.String(),
        detail: nullable(t.String()),
        href: t.String(),
      }),
    ),
  }),
  run(call) {
    const text = (call.query['q'] ?? '').trim().slice(0, 100)
    return { data: text ? found(call as Call, text) : [] }
  },
})
