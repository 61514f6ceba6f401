import { feature } from '../../kernel/feature.ts'
import { getOverview } from './overview.ts'
import { getOwnOverview } from './own-overview.ts'

export const overviewFeature = feature({
  name: 'overview',
  operations: [getOverview, getOwnOverview],
})
