// One field that leads anywhere: to a server by name, address or id, to a customer, a node, a job, a page, and to what can be done. What
// somebody may not see or do is not found.

import { Type as t } from 'typebox'
import { visible } from '../../compute/servers/server.ts'
import { areas, everybody } from '../../kernel/api/access.ts'
import { nullable, operation, type ReadContext } from '../../kernel/api/operation.ts'
import { LIKE, partOf } from '../../kernel/db/rows.ts'
import { seen } from '../jobs/model.ts'

/** As many as are seen at a glance. */
export const MOST = 12
/** Of jobs, only the newest so many are looked through by title; each has an id to be found by. */
const JOBS_LOOKED_THROUGH = 2000

/** What can be found. */
const types = ['page', 'action', 'server', 'customer', 'node', 'job'] as const
type Found = {
  type: (typeof types)[number]
  id: string | null
  title: string
  detail: string | null
  href: string
}
type Row = { id: string; title: string; detail: string | null }

type Source = {
  type: Found['type']
  /** Where the row's id goes; undefined for who has no such page. */
  place(call: ReadContext): string | undefined
  /** Rows whose name has `part` in it, or whose id is `id`. */
  sql(call: ReadContext, part: string, id: string): [string, (string | number)[]]
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
      actor.scopes.has(actor.kind === 'staff' ? 'customers:read' : 'reseller:customers')
        ? `${areas[actor.kind]}/customers/`
        : undefined,
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
         LEFT JOIN servers s ON s.id = j.subject_id WHERE (${where}) AND (j.title ${LIKE} OR j.id = ?) ORDER BY j.id DESC`,
        [id, JOBS_LOOKED_THROUGH, ...values, part, id],
      ]
    },
  },
]

/** Of nothing, what can be done; of a text, all that has it in its name. */
function found(call: ReadContext, text: string): Found[] {
  const navItems = call
    .navItems(call.actor)
    .filter(({ type, title }) => (text ? title.toLowerCase().includes(text.toLowerCase()) : type === 'action'))
    .map(({ type, title, href }): Found => ({ type, id: null, title, detail: null, href }))
  const rows = sources.map((source) => {
    const place = text ? source.place(call) : undefined
    if (!place) return []
    const [sql, values] = source.sql(call, partOf(text), text)
    return call.tx.$client
      .query<Row, any[]>(`${sql} LIMIT ${MOST}`)
      .all(...values)
      .map((row): Found => ({ type: source.type, ...row, href: `${place}${row.id}` }))
  })
  return share([
    ...(['page', 'action'] as const).map((type) => navItems.filter((place) => place.type === type)),
    ...rows,
  ])
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
  summary: `Find servers, customers, nodes, jobs, pages and actions by name, address or id; at most ${MOST}`,
  access: everybody('account:read'),
  query: {
    q: t.String({
      maxLength: 200,
      description: 'Part of a name or address, or an id. Without it, what can be done is found.',
    }),
  },
  response: t.Object({
    data: t.Array(
      t.Object({
        type: t.Enum([...types]),
        id: nullable(t.String()),
        title: t.String(),
        detail: nullable(t.String()),
        href: t.String(),
      }),
    ),
  }),
  run: (call) => ({ data: found(call, (call.query['q'] ?? '').trim().slice(0, 100)) }),
})
