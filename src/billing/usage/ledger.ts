// The ledger of usage: what each workload was, from when to when. Triggers note every workload whose billed facts
// change, and the end of the same transaction takes them into the ledger: no change can forget it, and nothing is
// computed later from the present.
import type { Clock } from '../../kernel/db/clock.ts'
import { beforeCommit, type Db, type Tx } from '../../kernel/db/open.ts'
import { monthOf, wholeMonth } from './period.ts'
import { type DueWorkload, dueWorkloads, type OpenInterval, settled, usageStatements } from './queries.ts'

/** Keeps the ledger for as long as the database is open. */
export function keepLedger(db: Db, clock: Clock) {
  beforeCommit(db, (tx) => void recordUsage(tx, clock))
}

/**
 * Takes every change that the ledger does not have yet. An order, a suspension, a termination and the start and end of
 * a container count from the time that the workload's own row says, anything else from now. Answers how many workloads
 * changed.
 */
export function recordUsage(tx: Tx, clock: Clock): number {
  const due = dueWorkloads(tx)
  if (!due.length) return 0
  const now = clock()
  for (const workload of due) record(tx, workload, now)
  settled(tx)
  return due.length
}

function record(tx: Tx, { present, open, closedAt }: DueWorkload, now: number) {
  const { insert, close, amend, withdraw } = usageStatements(tx)
  const state = present?.state ?? null
  if (!open) {
    if (!present || state === null) return
    // A workload that comes back after its termination begins anew.
    const since = closedAt === null ? Math.min(present.createdAt, now) : Math.max(closedAt, now)
    insert.run(present.workloadId, ...facts(present), since)
    return
  }
  if (present && state !== null && facts(present).every((fact, i) => fact === facts(open)[i])) return
  const at = Math.min(now, Math.max(open.since, changedAt(open, present, now) ?? now))
  const isNew = at === open.since
  if (state === null || !present) return void (isNew ? withdraw.run(open.id) : close.run(at, open.id))
  // Several changes in one moment are one.
  if (isNew) return void amend.run(...facts(present), open.id)
  close.run(at, open.id)
  insert.run(present.workloadId, ...facts(present), at)
}

type Facts = NonNullable<DueWorkload['present']> | OpenInterval
const facts = (of: Facts) =>
  [
    of.kind,
    of.ownerId,
    of.resellerId,
    of.hostname,
    of.productId,
    of.productName,
    of.billingProductId,
    of.billingServiceId,
    of.state,
    of.power,
  ] as const

/** When the row itself says that it changed, in ms. */
function changedAt(open: OpenInterval, present: DueWorkload['present'], now: number): number | null {
  if (!present) return null
  if (present.state === null) return present.terminatedAt
  if (present.state === 'suspended') return open.state === 'suspended' ? null : present.suspendedAt
  const at =
    present.power === 'running' && open.power !== 'running'
      ? present.spellAt
      : present.power === 'stopped' && open.power === 'running'
        ? present.endedAt
        : null
  // A node that was away tells late of an end. The report of a month that has passed stays as it is.
  return at === null ? null : Math.max(at, wholeMonth(monthOf(now)).from)
}
