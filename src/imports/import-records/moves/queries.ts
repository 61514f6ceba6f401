// The statements about servers that are moved: their state, and what the limits of imports count.
import { and, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { ended, paginate } from '../../../kernel/api/list.ts'
import type { ReadContext } from '../../../kernel/api/operation.ts'
import { encryptedColumn } from '../../../kernel/db/encrypted.ts'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { columnList, decoding, inserting, rowBy, updating } from '../../../kernel/db/rows.ts'
import { changeServer } from '../inventory/queries.ts'
import type { ImportServerState } from '../tables.ts'
import {
  type ImportAttempt,
  type ImportMove,
  importAttempts,
  importMoves,
  type MoveState,
  type MoveWay,
  moveStates,
  places,
} from './tables.ts'

export type { ImportAttempt, ImportMove, MoveState, MoveWay }
export { moveStates, places }

export const encryptedDefinition = encryptedColumn(
  importMoves,
  'encryptedDefinition',
  ({ serverId }: { serverId: string }) => `${serverId} definition`,
)

const columns = columnList(getTableColumns(importMoves))
const decodeMove = decoding<ImportMove>(getTableColumns(importMoves))
const isOpen = "state IN ('moving', 'rolling_back')"

const statements = prepared(({ $client }) => ({
  waiting: $client.prepare<unknown, [string, number]>(
    `SELECT ${columns} FROM import_moves WHERE import_id = ? AND state = 'waiting' ORDER BY position LIMIT ?`,
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
  ofWorkload: $client.prepare<unknown, [string]>(`SELECT ${columns} FROM import_moves WHERE workload_id = ?`),
  ofJob: $client.prepare<unknown, [string]>(`SELECT ${columns} FROM import_moves WHERE job_id = ?`),
  attempts: $client.prepare<ImportAttempt, [string]>(
    `SELECT server_id AS serverId, n, job_id AS jobId, workload_id AS workloadId, at FROM import_attempts
     WHERE server_id = ? ORDER BY n`,
  ),
  migrating: $client.prepare<{ id: string }, []>("SELECT id FROM imports WHERE status = 'migrating' ORDER BY id"),
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
/** Servers that have not begun, in the order in which they begin. */
export const waitingMoves = (tx: Db, importId: string, limit: number): ImportMove[] =>
  decoded(statements(tx).waiting.all(importId, limit))
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
/** How many are at work over all imports, by hypervisor and node. */
export const movesAtWork = (tx: Db) => statements(tx).atWork.all()
export const importsMigrating = (tx: Db): string[] =>
  statements(tx)
    .migrating.all()
    .map(({ id }) => id)

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
  q?: string | undefined
}
const contains = (column: SQL, text: string) =>
  sql`${column} LIKE ${`%${text.replace(/[\\%_]/g, '\\$&')}%`} ESCAPE '\\'`
/** A page of the moves of an import, in the order of the ids of servers. */
export function pageOfMoves<Shown>(
  call: ReadContext,
  importId: string,
  { state, hypervisorId, nodeId, failure, whereItRuns, q }: MoveFilter,
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
  const fits = sql.join(all, sql` AND `)
  return paginate<ImportMove, Shown>({
    call,
    name: `moves of ${importId}`,
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
export const moveTables = [importMoves, importAttempts] as const
