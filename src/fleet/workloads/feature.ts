import type { Db } from '../../kernel/db/open.ts'
import { feature } from '../../kernel/feature.ts'
import { workloadById } from './queries.ts'
import { checkStates } from './states/rows.ts'
import { expiringPastStays, idOn, locationsOnRemoved } from './stays/queries.ts'
import { workloadPastStays, workloadStays, workloadStayVolumes } from './stays/tables.ts'
import { accountHoldings, workloadCounts, workloadCrashes, workloadStates, workloads } from './tables.ts'

const holder = (tx: Db, id: string) => {
  const workload = workloadById(tx, id)
  return workload && { id, kind: workload.kind, hostname: workload.hostname }
}

export const workloadsFeature = feature({
  name: 'workloads',
  check: checkStates,
  tables: [
    workloads,
    accountHoldings,
    workloadCounts,
    workloadStates,
    workloadCrashes,
    workloadStays,
    workloadStayVolumes,
    workloadPastStays,
  ],
  expiring: [expiringPastStays],
  poolUsers: {
    holder,
    locationsLeft: locationsOnRemoved,
    holderOn(tx, nodeIds, holds) {
      const id = idOn(tx, nodeIds, holds)
      return id === undefined ? undefined : holder(tx, id)
    },
  },
})
