// The choices of a field of a form. Some things are too many for a list of all of them on a page.
import { Type as t } from 'typebox'
import { described, operation } from '../../kernel/api/operation.ts'
import { text } from '../../kernel/api/query.ts'
import { declaredName } from '../../kernel/declared-names.ts'

/** So many are offered at once; of more, a field searches. */
export const MOST_CHOICES = 25

export const findChoices = operation({
  id: 'choices.find',
  method: 'GET',
  path: '/admin/choices',
  summary: `Names of nodes, locations, packages or address pools to choose from: ${MOST_CHOICES} at most`,
  access: { staff: ['account:read'] },
  query: {
    of: declaredName((features) => features.flatMap(({ choices = [] }) => choices.map(({ type }) => type)), {
      description: 'What is chosen. Kinds that the caller may not read have no names.',
    }),
    q: text('Words in any order, each part of the name. Without it, the first by name.'),
    chosenId: text('The id of the one that is chosen already: it is first.', 40),
  },
  response: t.Object({
    data: t.Array(t.Object({ id: t.String(), name: t.String() })),
    more: described(t.Boolean(), 'There are others: search for them.'),
  }),
  run({ tx, actor, registry, query: { of, q = '', chosenId } }) {
    const source = registry.features.flatMap(({ choices = [] }) => choices).find(({ type }) => type === of)
    if (!source?.mayRead(actor)) return { data: [], more: false }
    const found = source.find(tx, q.trim(), MOST_CHOICES + 1)
    const shown = found.slice(0, MOST_CHOICES)
    const chosen = chosenId && !shown.some(({ id }) => id === chosenId) ? source.byId(tx, chosenId) : undefined
    return { data: chosen ? [chosen, ...shown] : shown, more: found.length > MOST_CHOICES }
  },
})
