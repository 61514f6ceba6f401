// Samples of metrics, handed to the feature that keeps them as they come: they touch no row.
import type { Metrics } from '../../../agent/protocol/wire.ts'
import type { AppContext } from '../../kernel/api/operation.ts'

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** Takes in the samples of one frame of a node. A sample of a workload that does not stay there is dropped. */
    takeMetrics?(app: AppContext, nodeId: string, frame: Metrics): void
  }
}
