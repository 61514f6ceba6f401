// One field finds servers by name, address or id, customers, nodes, jobs, pages and actions. It finds nothing that the actor may not see
// or do.

import { Type as t } from 'typebox'
import { serverKind } from '../../compute/servers/model.ts'
import { visible } from '../../compute/workloads/access.ts'
import { searchWorkloads } from '../../compute/workloads/reports.ts'
import { searchNodes } from '../../fleet/nodes/queries.ts'
import { searchAccounts } from '../../identity/accounts/queries.ts'
import { areas, everybody } from '../../kernel/api/access.ts'
import { nullable, operation, type ReadContext } from '../../kernel/api/operation.ts'
import { partOf } from '../../kernel/db/rows.ts'
import { searchJobs, visibleJobs } from '../jobs/queries.ts'

/** As many as are seen at a glance. */
export const MOST = 12

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
  /** The path before the row's id; undefined when the actor has no such page. */
  place(call: ReadContext): string | undefined
  /** At most `MOST` rows whose name contains the text, or whose id is `id`; `part` is the text as `partOf` gives it. */
  find(call: ReadContext, part: string, id: string): Row[]
}

const sources: readonly Source[] = [
  {
    type: 'server',
    place: ({ actor }) => (actor.scopes.has('servers:read') ? `${areas[actor.kind]}/servers/` : undefined),
    find: ({ tx, actor }, part, id) => searchWorkloads(tx, serverKind, visible(tx, actor), part, id, MOST),
  },
  {
    type: 'customer',
    place: ({ actor }) =>
      actor.scopes.has(actor.kind === 'staff' ? 'customers:read' : 'reseller:customers')
        ? `${areas[actor.kind]}/customers/`
        : undefined,
    find: ({ tx, actor }, part, id) =>
      searchAccounts(tx, part, id, MOST, actor.kind === 'staff' ? undefined : actor.accountId),
  },
  {
    type: 'node',
    place: ({ actor }) => (actor.kind === 'staff' && actor.scopes.has('nodes:read') ? '/admin/nodes/' : undefined),
    find: ({ tx }, part, id) => searchNodes(tx, part, id, MOST),
  },
  {
    type: 'job',
    place: ({ actor }) =>
      actor.scopes.has('servers:read') || (actor.kind === 'staff' && actor.scopes.has('nodes:read'))
        ? `${areas[actor.kind]}/jobs/`
        : undefined,
    find: ({ tx, actor }, part, id) => searchJobs(tx, visibleJobs(tx, actor), part, id, MOST),
  },
]

/** Without a text, the actions; with one, everything that has it in its name. */
function found(call: ReadContext, text: string): Found[] {
  const navItems = call
    .navItems(call.actor)
    .filter(({ type, title }) => (text ? title.toLowerCase().includes(text.toLowerCase()) : type === 'action'))
    .map(({ type, title, href }): Found => ({ type, id: null, title, detail: null, href }))
  const rows = sources.map((source) => {
    const place = text ? source.place(call) : undefined
    if (!place) return []
    return source
      .find(call, partOf(text), text)
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
