import type { WorkloadKind } from '../../fleet/workloads/kind.ts'
import { billingServiceFits } from '../../fleet/workloads/queries.ts'
import { searchWorkloads } from '../../fleet/workloads/search.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { own, visible } from '../../identity/team/access.ts'
import type { Feature } from '../../kernel/feature.ts'

type Source = NonNullable<Feature['search']>[number]
type Searched = Pick<Source, 'type' | 'position'> & {
  /** The address of their list in an area. */
  list(area: (typeof areas)[keyof typeof areas]): string
}
/** A search for workloads of the kind. Only their owner finds them by the identifier that billing gave them. */
export const searchOf = (kind: WorkloadKind, { list, ...about }: Searched): Source => ({
  ...about,
  place: ({ actor }) => (actor.scopes.has('servers:read') ? `${list(areas[actor.kind])}/` : undefined),
  find({ tx, actor }, text, most) {
    const theirs = own(actor)
    const also = (word: string) => {
      const called = billingServiceFits(word)
      return { where: `(${theirs.where} AND ${called.where})`, values: [...theirs.values, ...called.values] }
    }
    return searchWorkloads(tx, kind, { visible: visible(tx, actor), text, also }, most)
  },
})
