import { feature } from '../../kernel/feature.ts'
import { search } from './search.ts'

export const searchFeature = feature({
  name: 'search',
  operations: [search],
})
