import { searchPage } from '../../../views/platform/search/search.tsx'
import { feature } from '../../kernel/feature.ts'
import { search } from './search.ts'

export const searchFeature = feature({
  name: 'search',
  operations: [search],
  pages: [searchPage],
})
