// One field finds servers by name, address or id, customers, nodes, jobs, pages and actions. It finds nothing that the
// actor may not see or do.

import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { described, nullable, operation, type ReadContext } from '../../kernel/api/operation.ts'
import { declaredName } from '../../kernel/declared-names.ts'
import { wordsOf } from '../../kernel/search/text.ts'
import type { HitAction, SearchRow } from './source.ts'

/** Results without a thing of that name: pages, and what can be done. */
const entries = ['page', 'action'] as const
const isThing = (type: string) => !(entries as readonly string[]).includes(type)

/** Results per search. */
export const MOST = 12

type Found = Required<SearchRow> & { type: string; href: string; actions: Required<HitAction>[] }

/** Without a text, the actions; with one, everything that has each of its words in its name, in whatever order. */
function found(call: ReadContext, text: string): Found[] {
  const words = wordsOf(text.toLowerCase())
  const navItems = call
    .navItems(call.actor)
    .filter(({ type, title }) => (text ? words.every((word) => title.toLowerCase().includes(word)) : type === 'action'))
    .map(({ type, title, href }): Found => ({ ...plainRow, type, id: null, title, href }))
  const sources = call.registry.features
    .flatMap(({ search = [] }) => search)
    .toSorted((a, b) => a.position - b.position)
  const rows = sources.map((source) => {
    const place = text ? source.place(call) : undefined
    if (!place) return []
    return source
      .find(call, text, MOST)
      .map(
        (row): Found => ({ ...plainRow, ...row, type: source.type, href: `${place}${row.id}${source.behind ?? ''}` }),
      )
  })
  const kinds = [...entries.map((type) => navItems.filter((place) => place.type === type)), ...rows]
  const exact = kinds.map((kind) => kind.filter((row) => row.exact))
  const living = kinds.map((kind) => kind.filter((row) => !row.exact && !row.terminated))
  const ended = kinds.map((kind) => kind.filter((row) => !row.exact && row.terminated))
  const found: Found[] = []
  for (const some of [exact, living, ended]) found.push(...share(some, MOST - found.length))
  const [first, second] = found
  // Something is done with the one that is meant.
  if (!first?.id || (second && !first.exact) || (second?.exact && second.type === first.type)) return found
  const { actions } = sources.find(({ type }) => type === first.type) ?? {}
  if (!actions) return found
  const open = actions(call, first.id).map((action) => ({ copies: null, ...action }))
  return [{ ...first, actions: open }, ...found.slice(1)]
}
const plainRow = { detail: null, exact: false, terminated: false, actions: [] }

/** Takes one of each kind in turn, so that many servers of a name do not hide the customer. Kinds stay together. */
function share(kinds: readonly Found[][], most: number): Found[] {
  const taken = kinds.map(() => 0)
  for (let n = 0; n < most; ) {
    const before = n
    for (const [i, kind] of kinds.entries())
      if (n < most && taken[i]! < kind.length) {
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
      description:
        'Words in any order, each part of a name, address, MAC address or external id; or an id. Without it, what ' +
        'can be done is found.',
    }),
  },
  response: t.Object({
    data: t.Array(
      t.Object({
        type: declaredName(
          (features) => features.flatMap(({ search = [] }) => search.map(({ type }) => type).filter(isThing)),
          {
            also: [...entries],
          },
        ),
        id: nullable(t.String()),
        title: t.String(),
        detail: nullable(t.String()),
        href: t.String(),
        exact: described(t.Boolean(), 'The whole text is its id, address or name. Such ones come first.'),
        actions: described(
          t.Array(
            t.Object({
              title: t.String(),
              href: nullable(t.String()),
              operation: nullable(t.String()),
              copies: described(nullable(t.String()), 'A text of it to copy, such as its SSH command.'),
            }),
          ),
          'A page that its reader can open for it, an operation that can be called on it now, or a text to copy. ' +
            'Only the first hit has them, where it alone is meant.',
        ),
        terminated: described(t.Boolean(), 'Only staff find what is terminated. It comes last, but for exact hits.'),
      }),
    ),
  }),
  run: (call) => ({ data: found(call, (call.query['q'] ?? '').trim().slice(0, 100)) }),
})
