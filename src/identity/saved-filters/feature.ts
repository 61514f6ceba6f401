import { feature } from '../../kernel/feature.ts'
import { listSavedFilters, removeSavedFilter, saveFilter } from './saved-filters.ts'
import { savedFilters } from './tables.ts'

const ids = { savedFilter: { prefix: 'flt', sample: 'Shops that run' } } as const
const errors = {
  saved_filter_not_found: {
    status: 404,
    when: 'There is no such saved filter, or it is not yours.',
    remedy: 'Check the id.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'saved-filters': { ids: typeof ids; errors: typeof errors }
  }
}

export const savedFiltersFeature = feature({
  name: 'saved-filters',
  ids,
  errors,
  samples: { list: 'servers', query: 'label=shop&status=running' },
  tables: [savedFilters],
  operations: [saveFilter, listSavedFilters, removeSavedFilter],
  async fixture({ call, customer }) {
    const body = { list: 'servers', name: 'fixture', query: 'status=running' }
    return { 'saved filter': (await call(customer, 'POST', '/account/saved-filters', body)).id }
  },
})
