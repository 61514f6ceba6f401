// A kind of workload: servers, and whatever else runs on nodes for an owner. Placement, addresses, quotas, team access and the reports of
// nodes work on `workloads` and know no kind; this value says what texts and API fields need to know.

export type WorkloadKind = {
  /** Stored in `workloads.kind`, and the type of the subject of its jobs. */
  kind: string
  /** As in `srv_…`, without the underscore. */
  idPrefix: string
  words: { one: string; many: string }
  /** The API field that names it in a job, such as `serverId`. */
  idField: string
}

export const workloadKind = (kind: WorkloadKind): WorkloadKind => kind
