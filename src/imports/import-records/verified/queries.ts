// The statements about checks of servers that have moved.
import { and, getTableColumns, sql } from 'drizzle-orm'
import type { ReadContext } from '../../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { columnList, decoding } from '../../../kernel/db/rows.ts'
import { changeMove, contains, pageByServer } from '../moves/queries.ts'
import { checkCodes, type ImportMove, importMoves, type MoveCheck, nextSteps } from '../moves/tables.ts'
import {
  hasOpenCheck,
  resultOf,
  resultOfChecks,
  type VerificationResult,
  verificationResults,
} from '../results/queries.ts'

export { checkCodes, type MoveCheck, nextSteps, resultOf, type VerificationResult, verificationResults }

const columns = columnList(getTableColumns(importMoves))
const decode = decoding<ImportMove>(getTableColumns(importMoves))
/** Those that run here, and are not on their way back. */
const hasMoved = "state = 'moved'"

const statements = prepared(({ $client }) => ({
  due: $client.prepare<unknown, [number, number]>(
    `SELECT ${columns} FROM (
       SELECT * FROM import_moves WHERE check_at <= ?1 AND ${hasMoved}
       UNION ALL SELECT * FROM import_moves WHERE ${hasMoved} AND checked_at IS NULL AND check_at IS NULL
     ) AS import_moves WHERE (SELECT status FROM imports WHERE id = import_id) IN ('migrating', 'verifying')
     ORDER BY check_at LIMIT ?2`,
  ),
  counts: $client.prepare<{ result: VerificationResult; n: number }, [string]>(
    `SELECT ${resultOfChecks} AS result, count(*) AS n FROM import_moves WHERE import_id = ? AND ${hasMoved}
     GROUP BY 1`,
  ),
  askAll: $client.prepare<unknown, [number, string]>(
    `UPDATE import_moves SET check_at = ?1, check_asked_at = ?1, check_tries = 0
     WHERE import_id = ?2 AND ${hasMoved} AND (checks IS NULL OR ${hasOpenCheck})`,
  ),
}))

/** Those that have just moved, and those whose time has come, the longest waiting first. */
export const dueChecks = (tx: Db, now: number, most: number): ImportMove[] =>
  statements(tx)
    .due.all(now, most)
    .map((row) => decode(row)!)
/** How many of the servers that have moved have which result. */
export const verificationCounts = (tx: Db, importId: string): Partial<Record<VerificationResult, number>> =>
  Object.fromEntries(
    statements(tx)
      .counts.all(importId)
      .map(({ result, n }) => [result, n]),
  )
/** Of a server that is not here any more: when it has moved again, it is checked anew. */
export const unchecked = {
  ...{ checks: null, checkedAt: null, checkAt: null, checkTries: 0, checkAskedAt: null },
  ...{ acceptedBy: null, acceptedAt: null },
} as const
/** A person asks for its checks. */
export const askChecks = (tx: Tx, serverId: string, now: number) =>
  changeMove(tx, serverId, { checkAt: now, checkTries: 0, checkAskedAt: now })
/** A person asks for those of all servers with an open check; answers how many. */
export const askAllChecks = (tx: Tx, importId: string, now: number): number =>
  statements(tx).askAll.run(now, importId).changes

type Filter = { result?: VerificationResult | undefined; nodeId?: string | undefined; q?: string | undefined }
/** A page of the servers that have moved, in the order of their ids. */
export function pageOfChecks<Shown>(
  call: ReadContext,
  importId: string,
  { result: wanted, nodeId, q }: Filter,
  show: (row: ImportMove) => Shown,
) {
  const m = importMoves
  const fits = and(
    sql`${m.importId} = ${importId} AND ${m.state} = 'moved'`,
    wanted && sql`${sql.raw(resultOfChecks)} = ${wanted}`,
    nodeId ? sql`${m.nodeId} = ${nodeId}` : undefined,
    q
      ? sql`${m.serverId} IN (SELECT s.id FROM import_servers s WHERE s.import_id = ${importId} AND
          (${contains(sql`s.hostname`, q)} OR s.source_id = ${q}
            OR EXISTS (SELECT 1 FROM import_addresses a WHERE a.server_id = s.id AND a.address = ${q})))`
      : undefined,
  )
  return pageByServer(call, `checks of ${importId}`, fits, show)
}
