import { feature } from '../../kernel/feature.ts'
import { workloads } from './tables.ts'

export const workloadsFeature = feature({
  name: 'workloads',
  tables: [workloads],
})
