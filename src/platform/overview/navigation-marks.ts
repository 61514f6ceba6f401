// Marks beside the entries of the navigation, such as how many nodes are away.
import { Type as t } from 'typebox'
import { described, operation } from '../../kernel/api/operation.ts'
import { isInNav, navGroups } from '../../kernel/web/navigation.ts'

export const listNavigationMarks = operation({
  id: 'overview.navigation-marks',
  method: 'GET',
  path: '/admin/navigation-marks',
  summary: 'What the navigation says beside its entries, such as how many nodes are away',
  access: { staff: ['account:read'] },
  response: t.Object({
    marks: t.Array(
      t.Object({
        name: described(t.String(), 'Of the entry.'),
        words: t.String(),
        bad: described(t.Boolean(), 'Something is wrong.'),
      }),
    ),
  }),
  run: (call) => ({
    marks: navGroups(call.registry, call.actor.kind).flatMap(([, entries]) =>
      entries.flatMap((entry) => {
        const mark = isInNav(entry, call.tx, call.actor) ? entry.mark?.(call) : undefined
        return mark ? [{ name: entry.name, ...mark }] : []
      }),
    ),
  }),
})
