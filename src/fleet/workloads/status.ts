// The status of a workload, computed from lifecycle, suspension and power: the same rule for one row and for SQL.
import type { Workload } from './tables.ts'

export const statuses = [
  'provisioning',
  'pending_setup',
  'running',
  'stopped',
  'suspended',
  'failed',
  'terminated',
] as const
export type Status = (typeof statuses)[number]

/**
 * A termination counts before a suspension, and that before the rest. `running` and `stopped` are the node's last
 * report.
 */
export function statusOf({
  lifecycle,
  suspendedAt,
  power,
}: Pick<Workload, 'lifecycle' | 'suspendedAt' | 'power'>): Status {
  if (lifecycle === 'terminated') return 'terminated'
  if (suspendedAt !== null) return 'suspended'
  if (lifecycle !== 'active') return lifecycle
  return power === 'running' || power === 'paused' ? 'running' : 'stopped'
}

const on = "w.power IN ('running', 'paused')"
/**
 * Per status, a condition over `workloads w`: exactly one is true for a row. Each can use the index `workloads_state`.
 */
export const statusIs: Readonly<Record<Status, string>> = {
  terminated: "w.lifecycle = 'terminated'",
  suspended: "w.lifecycle <> 'terminated' AND w.suspended_at IS NOT NULL",
  provisioning: "w.lifecycle = 'provisioning' AND w.suspended_at IS NULL",
  pending_setup: "w.lifecycle = 'pending_setup' AND w.suspended_at IS NULL",
  failed: "w.lifecycle = 'failed' AND w.suspended_at IS NULL",
  running: `w.lifecycle = 'active' AND w.suspended_at IS NULL AND ${on}`,
  stopped: `w.lifecycle = 'active' AND w.suspended_at IS NULL AND (w.power IS NULL OR NOT ${on})`,
}
/** The status of `workloads w` as an SQL expression. */
export const statusSql = `CASE ${statuses.map((status) => `WHEN ${statusIs[status]} THEN '${status}'`).join(' ')} END`
