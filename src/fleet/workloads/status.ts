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

/** Of a workload whose node is away: nobody knows whether the status that was last seen lasts. */
export const UNREACHABLE = 'unreachable'
/** The statuses in which the node has something of a server: with the node away it is unreachable. */
export const statusesOnNode = ['provisioning', 'running', 'stopped', 'suspended'] as const satisfies Status[]

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
const caseOf = (is: Readonly<Record<string, string>>) =>
  `CASE ${Object.entries(is)
    .map(([status, condition]) => `WHEN ${condition} THEN '${status}'`)
    .join(' ')} END`
/** The status of `workloads w` as an SQL expression. */
export const statusSql = caseOf(statusIs)

/**
 * The condition for a status in a list: the index `workloads_status` answers it in the order of ids. `narrowed`:
 * another filter leaves few, so its index is the one to use.
 */
export const listedAs = (status: Status, { narrowed }: { narrowed: boolean }): string =>
  narrowed
    ? `+(${statusSql}) = '${status}' AND w.terminated_at ${status === 'terminated' ? 'IS NOT NULL' : 'IS NULL'}`
    : `(${statusSql}) = '${status}'`

/** Names of a kind for the statuses; two for one that is terminated, where it tells what is still held for it. */
type StatusNames<S extends string> = Readonly<Record<Exclude<Status, 'terminated'>, S>> & {
  terminated: S | { held: S; released: S }
}
type StatusFacts = Parameters<typeof statusOf>[0] & Pick<Workload, 'releasedAt'>
/**
 * The statuses of a kind that calls them by names of its own: all of them, the name for a row, the condition for each
 * name over `workloads w`, and the name as an SQL expression.
 */
export function namedStatuses<const S extends string>(names: StatusNames<S>) {
  const { terminated } = names
  const { held, released } = typeof terminated === 'string' ? { held: terminated, released: terminated } : terminated
  const conditions = new Map<S, string[]>()
  const add = (name: S, condition: string) => conditions.set(name, [...(conditions.get(name) ?? []), condition])
  for (const status of statuses) if (status !== 'terminated') add(names[status], statusIs[status])
  if (held === released) add(held, statusIs.terminated)
  else {
    add(held, `${statusIs.terminated} AND w.released_at IS NULL`)
    add(released, `${statusIs.terminated} AND w.released_at IS NOT NULL`)
  }
  const is = Object.fromEntries([...conditions].map(([name, any]) => [name, `(${any.join(' OR ')})`]))
  return {
    statuses: [...conditions.keys()],
    of(row: StatusFacts): S {
      const status = statusOf(row)
      return status === 'terminated' ? (row.releasedAt === null ? held : released) : names[status]
    },
    is: is as Readonly<Record<S, string>>,
    sql: caseOf(is),
  }
}
