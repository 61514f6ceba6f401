// A kind of workload: servers, and whatever else runs on nodes for an owner. Placement, addresses, quotas, team access
// and the reports of nodes know no kind; texts and identifiers do, by this value.
import type { Registry } from '../../kernel/feature.ts'
import { count, list } from '../../kernel/words.ts'

export type WorkloadKind = {
  /** Stored in `workloads.kind`, and the type of the subject of its jobs. */
  kind: string
  /** As in `srv_…`, without the underscore. */
  idPrefix: string
  words: { one: string; many: string }
}

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    workloadKinds?: readonly WorkloadKind[]
  }
}

/** Every kind that the features of this controller declare. */
export const workloadKindsOf = ({ features }: Pick<Registry, 'features'>): WorkloadKind[] =>
  features.flatMap(({ workloadKinds = [] }) => workloadKinds)

/** `2 servers and 1 box`, in the order of the features; no words for no workloads. */
export const countedByKind = (registry: Pick<Registry, 'features'>, workloads: readonly { kind: string }[]): string =>
  list(
    workloadKindsOf(registry).flatMap(({ kind, words }) => {
      const n = workloads.filter((workload) => workload.kind === kind).length
      return n ? [count(n, words.one, words.many)] : []
    }),
  )
