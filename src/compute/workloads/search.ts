import type { WorkloadKind } from '../../fleet/workloads/kind.ts'
import { searchWorkloads, type WorkloadSearch } from '../../fleet/workloads/search.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { accountContains, accountIdsWith, accountReference } from '../../identity/account-records/queries.ts'
import { own, visible } from '../../identity/team/access.ts'
import { mayCall, type Operation, type ReadContext } from '../../kernel/api/operation.ts'
import type { Feature } from '../../kernel/feature.ts'

type Source = NonNullable<Feature['search']>[number]
type Searched = Pick<Source, 'type' | 'position'> & {
  /** The address of their list in an area. */
  list(area: (typeof areas)[keyof typeof areas]): string
}

/** The search for these words among the workloads that the actor sees, in lists and in the palette. */
export function searchFor({ tx, actor }: ReadContext, text: string): Omit<WorkloadSearch, 'kind'> {
  const theirs = own(actor)
  return {
    visible: visible(tx, actor),
    own: theirs,
    text,
    owner: {
      name: accountReference.value('name', 'w.owner_id'),
      ids: (word, most) => accountIdsWith(tx, word, most),
      // The address of who shares one is not looked into: it could be guessed letter by letter.
      fits: (word, among) => accountContains('w.owner_id', theirs, word, among),
    },
  }
}

/** A search for workloads of the kind. Staff find terminated ones too. */
export const searchOf = (kind: WorkloadKind, { list, ...about }: Searched): Source => ({
  ...about,
  place: ({ actor }) => (actor.scopes.has('servers:read') ? `${list(areas[actor.kind])}/` : undefined),
  find: (call, text, most) =>
    searchWorkloads(call.tx, kind, searchFor(call, text), { most, ended: call.actor.kind === 'staff' }).map(
      ({ addresses, owner, exact, terminatedAt, ...found }) => ({
        ...found,
        detail: call.actor.kind === 'customer' ? addresses : [addresses, owner].filter(Boolean).join(' · '),
        exact: exact === 1,
        terminated: terminatedAt !== null,
      }),
    ),
})

type Deed = { word: string; op: Operation; behind: string; position: number }
/**
 * A search for an action on one of them, by its word and a name: `reinstall web01`. It leads to the place on the page
 * that asks before anything is done.
 */
export const searchToDo = (source: Source, { word, op, ...about }: Deed): Source => ({
  ...about,
  type: 'action',
  place: (call) => (mayCall(op, call.actor) ? source.place(call) : undefined),
  find(call, text, most) {
    const [first = '', ...name] = text.split(/\s+/)
    const isMeant = first.length >= SHORTEST_WORD && word.toLowerCase().startsWith(first.toLowerCase())
    if (!isMeant || !name.length) return []
    return source
      .find(call, name.join(' '), most)
      .filter(({ terminated }) => !terminated)
      .map((row) => ({ ...row, exact: false, title: `${word} ${row.title}` }))
  },
})
/** Shorter is more often the beginning of a name. */
const SHORTEST_WORD = 3
