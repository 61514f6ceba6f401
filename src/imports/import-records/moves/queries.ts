// The statements about servers that are moved: their state, and what the limits of imports count.
import { and, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { ended, paginate } from '../../../kernel/api/list.ts'
import type { ReadContext } from '../../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { columnList, decoding, inserting, rowBy, updating } from '../../../kernel/db/rows.ts'
import { importCleanUps } from '../clean-ups/queries.ts'
import { changeServer } from '../inventory/queries.ts'
import { resultOfChecks, type VerificationResult, verificationResults } from '../results/queries.ts'
import type { ImportServerState } from '../tables.ts'
import {
  type ImportAttempt,
  type ImportMove,
  importAttempts,
  importMoves,
  type MovedDrive,
  type MoveState,
  type MoveWay,
  moveStates,
  moveWays,
  places,
} from './tables.ts'

export type { ImportAttempt, ImportMove, MovedDrive, MoveState, MoveWay }
export { moveStates, moveWays, places, verificationResults }

const columns = columnList(getTableColumns(importMoves))
const decodeMove = decoding<ImportMove>(getTableColumns(importMoves))
const isOpen = "state IN ('moving', 'rolling_back')"

export type MoveFigures = {
  waiting: number
  moving: number
  moved: number
  failed: number
  rollingBack: number
  rolledBack: number
  bytesTotal: number
  bytesCopied: number
  medianDowntimeMs: number | null
  longestDowntimeMs: number | null
  /** Those that have moved and of which a time away was estimated, and those of them that were not away longer. */
  announced: number
  announcedKept: number
}
const statements = prepared(({ $client }) => ({
  waiting: $client.prepare<unknown, [string, number | null, number]>(
    `SELECT ${columns} FROM import_moves WHERE import_id = ?1 AND state = 'waiting' AND (?2 IS NULL OR asked_at >= ?2)
     ORDER BY position LIMIT ?3`,
  ),
  withJobs: $client.prepare<unknown, [string]>(
    `SELECT ${columns} FROM import_moves WHERE import_id = ? AND ${isOpen} ORDER BY position`,
  ),
  after: $client.prepare<unknown, [string, string, number]>(
    `SELECT ${columns} FROM import_moves WHERE import_id = ? AND server_id > ? ORDER BY server_id LIMIT ?`,
  ),
  states: $client.prepare<{ state: MoveState; n: number }, [string]>(
    'SELECT state, count(*) AS n FROM import_moves WHERE import_id = ? GROUP BY state',
  ),
  atWork: $client.prepare<{ importId: string; hypervisorId: string; nodeId: string | null; n: number }, []>(
    `SELECT import_id AS importId, hypervisor_id AS hypervisorId, node_id AS nodeId, count(*) AS n
     FROM import_moves WHERE state IN ('moving', 'rolling_back') GROUP BY 1, 2, 3`,
  ),
  figures: $client.prepare<Omit<MoveFigures, 'medianDowntimeMs'>, [string]>(
    `SELECT coalesce(sum(state = 'waiting'), 0) AS waiting, coalesce(sum(state = 'moving'), 0) AS moving,
       coalesce(sum(state = 'moved'), 0) AS moved, coalesce(sum(state = 'failed'), 0) AS failed,
       coalesce(sum(state = 'rolling_back'), 0) AS rollingBack, coalesce(sum(state = 'rolled_back'), 0) AS rolledBack,
       cast(total(coalesce(bytes_total, drive ->> 'virtualBytes',
         (SELECT disk_bytes FROM import_checks c WHERE c.server_id = import_moves.server_id))) AS INTEGER)
         AS bytesTotal,
       cast(total(iif(state = 'moved', bytes_copied, 0)) AS INTEGER) AS bytesCopied,
       max(iif(state = 'moved', downtime_ms, NULL)) AS longestDowntimeMs,
       coalesce(sum(state = 'moved' AND downtime_ms IS NOT NULL AND expected_away_seconds IS NOT NULL), 0) AS announced,
       coalesce(sum(state = 'moved' AND downtime_ms <= expected_away_seconds * 1000), 0) AS announcedKept
     FROM import_moves WHERE import_id = ?`,
  ),
  median: $client.prepare<{ ms: number }, [string, string]>(
    `SELECT downtime_ms AS ms FROM import_moves WHERE import_id = ?1 AND state = 'moved' AND downtime_ms IS NOT NULL
     ORDER BY downtime_ms LIMIT 1 OFFSET (SELECT count(*) FROM import_moves
       WHERE import_id = ?2 AND state = 'moved' AND downtime_ms IS NOT NULL) / 2`,
  ),
  ofWorkload: $client.prepare<unknown, [string]>(`SELECT ${columns} FROM import_moves WHERE workload_id = ?`),
  ofJob: $client.prepare<unknown, [string]>(`SELECT ${columns} FROM import_moves WHERE job_id = ?`),
  elsewhere: $client.prepare<{ n: number }, [string, string]>(
    `SELECT count(*) AS n FROM import_servers s JOIN import_moves m ON m.server_id = s.id
     WHERE s.identity = ? AND s.import_id <> ? AND m.state IN ('moving', 'moved', 'rolling_back')`,
  ),
  attempts: $client.prepare<ImportAttempt, [string]>(
    `SELECT server_id AS serverId, n, job_id AS jobId, workload_id AS workloadId, at FROM import_attempts
     WHERE server_id = ? ORDER BY n`,
  ),
  migrating: $client.prepare<{ id: string }, []>("SELECT id FROM imports WHERE status = 'migrating' ORDER BY id"),
  announcing: $client.prepare<{ id: string }, []>(
    "SELECT id FROM imports WHERE announces = 1 AND status = 'migrating' ORDER BY id",
  ),
}))

export const moveOf = rowBy(importMoves, importMoves.serverId)
export const insertMove = inserting(importMoves)
const update = updating(importMoves, importMoves.serverId)
/** The state of the server itself, which lists of servers show. */
const serverState: Record<MoveState, ImportServerState> = {
  waiting: 'ready',
  moving: 'moving',
  moved: 'moved',
  failed: 'failed',
  rolling_back: 'moved',
  rolled_back: 'rolled_back',
}
/** Changes a move, and with its state that of its server. */
export function changeMove(tx: Tx, serverId: string, values: Partial<Omit<ImportMove, 'serverId' | 'importId'>>) {
  update(tx, serverId, values)
  if (values.state !== undefined) changeServer(tx, serverId, { state: serverState[values.state] })
}
const decoded = (rows: readonly unknown[]): ImportMove[] => rows.map((row) => decodeMove(row)!)

export const moveOfWorkload = (tx: Db, workloadId: string): ImportMove | undefined =>
  decodeMove(statements(tx).ofWorkload.get(workloadId))
export const moveOfJob = (tx: Db, jobId: string): ImportMove | undefined => decodeMove(statements(tx).ofJob.get(jobId))
/**
 * Servers that are to begin, in the order in which they do. `stopsAfter`: only those that somebody has asked for since
 * then.
 */
export const waitingMoves = (
  tx: Db,
  { id, stopsAfter }: { id: string; stopsAfter: number | null },
  limit: number,
): ImportMove[] => decoded(statements(tx).waiting.all(id, stopsAfter, limit))
/** Those at which a job works. */
export const openMoves = (tx: Db, importId: string): ImportMove[] => decoded(statements(tx).withJobs.all(importId))
/** The moves of an import behind this server, in the order of the ids of servers. */
export const movesAfter = (tx: Db, importId: string, serverId: string, limit: number): ImportMove[] =>
  decoded(statements(tx).after.all(importId, serverId, limit))
/** How many are in each state. */
export const moveStateCounts = (tx: Db, importId: string): Partial<Record<MoveState, number>> =>
  Object.fromEntries(
    statements(tx)
      .states.all(importId)
      .map(({ state, n }) => [state, n]),
  )
/** The figures of all of them together. */
export const moveFigures = (tx: Db, importId: string): MoveFigures => ({
  ...statements(tx).figures.get(importId)!,
  medianDowntimeMs: statements(tx).median.get(importId, importId)?.ms ?? null,
})
/** How many are at work over all imports, by hypervisor and node. */
export const movesAtWork = (tx: Db) => statements(tx).atWork.all()
export const importsMigrating = (tx: Db): string[] =>
  statements(tx)
    .migrating.all()
    .map(({ id }) => id)
/** Those that migrate and in which owners may be left who were not told yet. */
export const importsAnnouncing = (tx: Db): string[] =>
  statements(tx)
    .announcing.all()
    .map(({ id }) => id)

/** Is another import moving this server, or has it? `identity`: of the server among those of all panels. */
export const isMovedElsewhere = (tx: Db, identity: string, importId: string): boolean =>
  statements(tx).elsewhere.get(identity, importId)!.n > 0

const insertAttempt = inserting(importAttempts)
/** Notes the job of the next attempt; answers its number. */
export function noteAttempt(
  tx: Tx,
  { serverId, attempts }: ImportMove,
  attempt: Omit<ImportAttempt, 'serverId' | 'n'>,
) {
  const n = attempts + 1
  insertAttempt(tx, { serverId, n, ...attempt })
  changeMove(tx, serverId, { attempts: n, jobId: attempt.jobId })
  return n
}
export const attemptsOf = (tx: Db, serverId: string): ImportAttempt[] => statements(tx).attempts.all(serverId)

export type MoveFilter = {
  state?: MoveState | undefined
  hypervisorId?: string | undefined
  nodeId?: string | undefined
  failure?: string | undefined
  whereItRuns?: ImportMove['whereItRuns'] | undefined
  /** Of the checks of those that have moved. */
  result?: VerificationResult | undefined
  q?: string | undefined
}
/** The column has this text in it, whatever stands in the text. */
export const contains = (column: SQL, text: string) =>
  sql`${column} LIKE ${`%${text.replace(/[\\%_]/g, '\\$&')}%`} ESCAPE '\\'`
/** A page of the moves of an import, in the order of the ids of servers. */
export function pageOfMoves<Shown>(
  call: ReadContext,
  importId: string,
  { state, hypervisorId, nodeId, failure, whereItRuns, result, q }: MoveFilter,
  show: (row: ImportMove) => Shown,
) {
  const m = importMoves
  const all: SQL[] = [
    sql`${m.importId} = ${importId}`,
    ...(state ? [sql`${m.state} = ${state}`] : []),
    ...(hypervisorId ? [sql`${m.hypervisorId} = ${hypervisorId}`] : []),
    ...(nodeId ? [sql`${m.nodeId} = ${nodeId}`] : []),
    ...(failure ? [sql`${m.failure} = ${failure}`] : []),
    ...(whereItRuns ? [sql`${m.whereItRuns} = ${whereItRuns}`] : []),
    ...(result ? [sql`${m.state} = 'moved' AND ${sql.raw(resultOfChecks)} = ${result}`] : []),
    ...(q
      ? [
          sql`${m.serverId} IN (SELECT s.id FROM import_servers s WHERE s.import_id = ${importId} AND
            (${contains(sql`s.hostname`, q)} OR ${contains(sql`s.domain`, q)} OR s.source_id = ${q}
              OR EXISTS (SELECT 1 FROM import_addresses a WHERE a.server_id = s.id AND a.address = ${q})
              OR EXISTS (SELECT 1 FROM import_owners o WHERE o.import_id = s.import_id AND o.source_id = s.owner_id
                AND (${contains(sql`o.email`, q)} OR ${contains(sql`o.name`, q)}))))`,
        ]
      : []),
  ]
  return pageByServer(call, `moves of ${importId}`, sql.join(all, sql` AND `), show)
}

/** A page of moves in the order of the ids of their servers. `name`: of the list, for its cursors. */
export const pageByServer = <Shown>(
  call: ReadContext,
  name: string,
  fits: SQL | undefined,
  show: (move: ImportMove) => Shown,
) => {
  const m = importMoves
  return paginate<ImportMove, Shown>({
    call,
    name,
    rows: (slice) => {
      const { behind, inOrder } = ended(slice, m.serverId, 'ASC')
      return call.tx
        .select()
        .from(m)
        .where(and(fits, behind))
        .orderBy(...inOrder)
        .limit(slice.limit)
        .offset(slice.skip)
        .all()
    },
    keyOf: ({ serverId }) => serverId,
    show,
    total: () => call.tx.select({ n: sql<number>`count(*)` }).from(m).where(fits).get()!.n,
  })
}

/** Tables that the feature declares. */
export const moveTables = [importMoves, importAttempts, importCleanUps] as const
