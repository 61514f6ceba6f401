// The named filters of a list, above its filters: each is a link, and the filter that is on can be saved or removed.
import { listSavedFilters, removeSavedFilter, saveFilter } from '../../../src/identity/saved-filters/saved-filters.ts'
import { type Answers, type At, allIfAllowed, aroundParts } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { isFiltered } from '../../components/list.tsx'

/** The read of pages with `SavedFilters`. */
export const savedFilters = aroundParts(allIfAllowed(listSavedFilters))
export type Saved = Answers<{ saved: typeof savedFilters }>['saved']

/** The filters in the page's address, in the form in which they are stored. */
function queryNow({ query: { cursor: _, limit: __, ...filters } }: Pick<At, 'query'>): string {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value))
  query.sort()
  return query.toString()
}

/** Nothing while no filter is on and none is saved. */
export function SavedFilters({ list, of }: { list: 'servers'; of: Saved }) {
  const at = useAt()
  const saved = of?.data.filter((one) => one.list === list).toSorted((a, b) => a.name.localeCompare(b.name)) ?? []
  const now = queryNow(at)
  const on = saved.find(({ query }) => query === now)
  if (!saved.length && !isFiltered(at.query)) return null
  return (
    <nav class="tools" aria-label="Saved filters">
      {saved.map(({ name, query }) => (
        <a
          class={query === now ? 'chip on' : 'chip'}
          href={`${at.path}?${query}`}
          aria-current={query === now ? 'page' : undefined}
        >
          {name}
        </a>
      ))}
      {on ? (
        <Action
          op={removeSavedFilter}
          params={{ id: on.id }}
          label="Remove saved filter"
          small
          done={`${on.name} is removed`}
        />
      ) : (
        isFiltered(at.query) && (
          <Action
            op={saveFilter}
            body={{ list, query: now }}
            label="Save filter"
            icon="plus"
            small
            title="Save this filter"
            submit="Save filter"
            done="{name} is saved"
            fields={<Field scope="filter" name="name" label="Name" required hint="It appears above the list." />}
          />
        )
      )}
    </nav>
  )
}
