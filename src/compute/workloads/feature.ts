import { feature } from '../../kernel/feature.ts'
import { workloadCounts, workloads } from './tables.ts'

export const workloadsFeature = feature({
  name: 'workloads',
  tables: [workloads, workloadCounts],
})
