// The statements of the brake.
import { and, eq, isNull } from 'drizzle-orm'
import { workloadReference } from '../../fleet/workloads/queries.ts'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting, rowBy, updating } from '../../kernel/db/rows.ts'
import { type BrakeCase, brakeCases, type Destruction, type DestructionKind, destructions } from './tables.ts'

export const caseById = rowBy(brakeCases, brakeCases.id)
export const insertCase = inserting(brakeCases)
export const updateCase = updating(brakeCases, brakeCases.id)

/** A page of all cases, the newest first. */
export const pageOfCases = <Shown>(call: ReadContext, show: (one: BrakeCase) => Shown) =>
  newest({ call, name: 'brakes', table: brakeCases, where: undefined, show })

const statements = prepared(({ $client }) => ({
  insert: $client.prepare<{ id: number }, (string | number | null)[]>(
    `INSERT INTO destructions (actor_id, at, kind, workload_id, disk_id, disk_name, disk_owner_id, case_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  ),
  // A release begins the count anew.
  count: $client.prepare<{ n: number }, [string, number, string]>(
    `SELECT count(*) AS n FROM destructions WHERE actor_id = ?1 AND case_id IS NULL AND at > max(?2, coalesce(
       (SELECT max(decided_at) FROM brake_cases WHERE actor_id = ?3 AND decision = 'released'), 0))`,
  ),
  setJob: $client.prepare<unknown, [string, number]>('UPDATE destructions SET job_id = ? WHERE id = ?'),
  settle: $client.prepare<unknown, [number, number]>('UPDATE destructions SET settled_at = ? WHERE id = ?'),
  open: $client.prepare<{ id: string }, [string]>(
    'SELECT id FROM brake_cases WHERE actor_id = +? AND decided_at IS NULL',
  ),
  waiting: $client.prepare<{ n: number }, [string]>(
    'SELECT count(*) AS n FROM destructions WHERE case_id = +? AND settled_at IS NULL',
  ),
  all: $client.prepare<{ n: number }, [string]>('SELECT count(*) AS n FROM destructions WHERE case_id = +?'),
  heldAs: $client.prepare<{ kind: DestructionKind }, [string]>(
    `SELECT kind FROM destructions WHERE workload_id = ? AND case_id IS NOT NULL AND settled_at IS NULL
       AND kind IN ('terminate', 'give_up_window') ORDER BY id LIMIT 1`,
  ),
  openCases: $client.prepare<{ id: string; actorName: string; openedAt: number; n: number }, [number]>(
    `SELECT c.id, c.actor_name AS actorName, c.opened_at AS openedAt,
       (SELECT count(*) FROM destructions d WHERE d.case_id = c.id AND d.settled_at IS NULL) AS n
     FROM brake_cases c WHERE c.decided_at IS NULL ORDER BY c.opened_at LIMIT +?`,
  ),
  heldItems: $client.prepare<HeldItem, [string, number]>(
    `SELECT d.kind, d.at, d.workload_id AS workloadId,
       coalesce(d.disk_id, d.workload_id) AS id,
       coalesce(d.disk_name, ${workloadReference.column('w', 'hostname')}) AS name,
       coalesce(d.disk_owner_id, ${workloadReference.column('w', 'ownerId')}) AS ownerId,
       ${workloadReference.columns('w', { workloadKind: 'kind', hostname: 'hostname' })}
     FROM destructions d ${workloadReference.join('w', 'd.workload_id')}
     WHERE d.case_id = +? AND d.settled_at IS NULL ORDER BY d.id LIMIT +?`,
  ),
}))

/** A volume or backup that is destroyed. */
export type Disk = { id: string; name: string; ownerId: string }
type New = Pick<Destruction, 'actorId' | 'at' | 'kind' | 'workloadId' | 'caseId'> & { disk: Disk | undefined }
/** Answers the id of the row. */
export const insertDestruction = (tx: Tx, { actorId, at, kind, workloadId, disk, caseId }: New): number =>
  statements(tx).insert.get(
    actorId,
    at,
    kind,
    workloadId,
    disk?.id ?? null,
    disk?.name ?? null,
    disk?.ownerId ?? null,
    caseId,
  )!.id
/** The job of a destruction, which is started after it was counted. */
export const setJobOf = (tx: Tx, id: number, jobId: string) => void statements(tx).setJob.run(jobId, id)
/** Why the disk of a terminated workload waits for a second person; undefined: it does not. */
export const heldAs = (tx: Db, workloadId: string): DestructionKind | undefined =>
  statements(tx).heldAs.get(workloadId)?.kind
/** It was released or refused at `now` (ms). */
export const settle = (tx: Tx, id: number, now: number) => void statements(tx).settle.run(now, id)
/** How many the account asked for since this time (ms) that were not held. */
export const destructionsSince = (tx: Db, actorId: string, since: number): number =>
  statements(tx).count.get(actorId, since, actorId)!.n
export const openCaseOf = (tx: Db, actorId: string): string | undefined => statements(tx).open.get(actorId)?.id
/** How many of a case still wait, and how many it has. */
export const waitingIn = (tx: Db, caseId: string): number => statements(tx).waiting.get(caseId)!.n
export const allIn = (tx: Db, caseId: string): number => statements(tx).all.get(caseId)!.n
export const openCases = (tx: Db, limit: number) => statements(tx).openCases.all(limit)

/** `id`, `name`, `ownerId`: of what is destroyed. */
export type HeldItem = {
  kind: DestructionKind
  at: number
  id: string
  name: string
  ownerId: string
  workloadId: string
  workloadKind: string
  hostname: string
}
/** Those of a case that still wait, in the order in which they were asked for. */
export const heldItems = (tx: Db, caseId: string, limit: number): HeldItem[] =>
  statements(tx).heldItems.all(caseId, limit)

export const unsettledOf = (tx: Db, caseId: string): Destruction[] =>
  tx
    .select()
    .from(destructions)
    .where(and(eq(destructions.caseId, caseId), isNull(destructions.settledAt)))
    .all()
