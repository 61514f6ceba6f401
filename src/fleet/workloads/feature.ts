import { feature } from '../../kernel/feature.ts'
import { locationsOfWorkloads, workloadById, workloadElsewhere } from './queries.ts'
import { checkStates } from './states/rows.ts'
import { workloadCounts, workloadCrashes, workloadSearch, workloadStates, workloads } from './tables.ts'

export const workloadsFeature = feature({
  name: 'workloads',
  check: checkStates,
  tables: [workloads, workloadSearch, workloadCounts, workloadStates, workloadCrashes],
  poolUsers: {
    holder(tx, id) {
      const workload = workloadById(tx, id)
      return workload && { id, kind: workload.kind, hostname: workload.hostname }
    },
    holderElsewhere: workloadElsewhere,
    locations: locationsOfWorkloads,
  },
})
