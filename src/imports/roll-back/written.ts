// How much a server has written since it moved: the cost of rolling it back, for a person who decides.
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** About so many bytes a workload has written to its disks between two times; null: nobody has measured it. */
    bytesWritten?(app: AppContext, tx: Db, workloadId: string, between: { from: number; to: number }): number | null
  }
}

export function bytesWrittenBy(app: AppContext, tx: Db, workloadId: string, from: number): number | null {
  const between = { from, to: app.clock() }
  for (const { bytesWritten } of app.registry.features) {
    const found = bytesWritten?.(app, tx, workloadId, between)
    if (found != null) return found
  }
  return null
}
