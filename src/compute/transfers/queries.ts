// The statements about transfers.
import { and, desc, eq, gt, gte, isNotNull, isNull, lt, lte, notInArray, or, type SQL, sql } from 'drizzle-orm'
import { workloadReference } from '../../fleet/workloads/queries.ts'
import type { TimelineSpan } from '../../fleet/workloads/timeline.ts'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting, rowBy, updating } from '../../kernel/db/rows.ts'
import { jobReference } from '../../kernel/jobs/queries.ts'
import { type Transfer, type TransferMode, type TransferState, transfers } from './tables.ts'

export type { Transfer }

export const transferTarget: AuditTarget = { prefix: 'trf', scope: 'servers:read' }

export const transferById = rowBy(transfers, transfers.id)
const change = updating(transfers, transfers.id)
/** Parts of a disk that is written while it is copied are sent again; a node that tells more is not believed. */
const MOST_TIMES_SENT = 8
/** Nodes tell the amounts, so they are no more than the disks can be. */
export function changeTransfer(tx: Tx, id: string, given: Parameters<typeof change>[2]) {
  const { bytesTotal, bytesCopied } = given
  if (bytesTotal === undefined && bytesCopied === undefined) return change(tx, id, given)
  const { bytesTotal: mostBytes } = transferById(tx, id)!
  change(tx, id, {
    ...given,
    ...(bytesTotal !== undefined && { bytesTotal: Math.min(bytesTotal, mostBytes) }),
    ...(bytesCopied !== undefined && { bytesCopied: Math.min(bytesCopied, MOST_TIMES_SENT * mostBytes) }),
  })
}
export const insertTransfer = inserting(transfers)

type Filter = {
  nodeId?: string | undefined
  serverId?: string | undefined
  /** Part of a hostname, or an id. */
  server?: string | undefined
  state?: TransferState | undefined
  mode?: TransferMode | undefined
  /** In ms. */
  since?: number | undefined
  until?: number | undefined
}
/** Those from or to a node, of a server, in a state, begun in a span of time. */
export const transfersThatFit = ({ nodeId, serverId, server, state, mode, since, until }: Filter): SQL | undefined =>
  and(
    nodeId === undefined ? undefined : or(eq(transfers.fromNodeId, nodeId), eq(transfers.toNodeId, nodeId)),
    serverId === undefined ? undefined : eq(transfers.serverId, serverId),
    server === undefined ? undefined : or(eq(transfers.id, server), eq(transfers.serverId, server), isNamed(server)),
    state === undefined ? undefined : eq(transfers.state, state),
    mode === undefined ? undefined : eq(transfers.mode, mode),
    since === undefined ? undefined : gte(transfers.createdAt, since),
    until === undefined ? undefined : lte(transfers.createdAt, until),
  )
const hostname = sql.raw(workloadReference.value('hostname', 'transfers.server_id'))
const isNamed = (text: string): SQL => sql`instr(lower(${hostname}), ${text.toLowerCase()}) > 0`
/** A page, newest first. */
export const pageOfTransfers = <Shown>(call: ReadContext, where: SQL | undefined, show: (row: Transfer) => Shown) =>
  newest({ call, name: 'transfers', table: transfers, where, show })
/** Of no transfer: for readers who see none. */
export const noTransfer: SQL = sql`0`

/** The transfer of a server that has begun, or waits for others, and has not ended. */
export const transferAtWork = (tx: Db, serverId: string): Transfer | undefined =>
  tx
    .select()
    .from(transfers)
    .where(and(eq(transfers.serverId, serverId), isNull(transfers.finishedAt), isNotNull(transfers.jobId)))
    .get()

/** A move of the server that waits for its time. */
export const waitingMoveOf = (tx: Db, serverId: string): Transfer | undefined => {
  return tx
    .select()
    .from(transfers)
    .where(and(eq(transfers.serverId, serverId), isNull(transfers.finishedAt), isNull(transfers.jobId)))
    .get()
}
/** It has no job before its time. */
export const isWaitingForTime = ({ startsAt, jobId, finishedAt }: Transfer): boolean =>
  startsAt !== null && jobId === null && finishedAt === null
/** Those whose time has come, in the order of their times. */
export const dueMoves = (tx: Db, now: number): Transfer[] =>
  tx
    .select()
    .from(transfers)
    .where(and(lte(transfers.startsAt, now), isNull(transfers.jobId), isNull(transfers.finishedAt)))
    .orderBy(transfers.startsAt)
    .all()

const statements = prepared(({ $client }) => ({
  atWork: $client.prepare<{ n: number }, [string]>(
    `SELECT count(*) AS n FROM transfers t ${jobReference.join('j', 't.job_id')}
     WHERE t.finished_at IS NULL AND ?1 IN (t.from_node_id, t.to_node_id)
       AND ${jobReference.column('j', 'heldAt')} IS NULL`,
  ),
  held: $client.prepare<{ jobId: string; fromNodeId: string; toNodeId: string }, []>(
    `SELECT t.job_id AS jobId, t.from_node_id AS fromNodeId, t.to_node_id AS toNodeId
     FROM transfers t ${jobReference.join('j', 't.job_id')}
     WHERE t.finished_at IS NULL AND ${jobReference.column('j', 'heldAt')} IS NOT NULL ORDER BY t.id`,
  ),
}))
/** The moves after which the addresses of this server, or of any, are held; the last one first. */
export const movesThatHold = (tx: Db, serverId?: string): Transfer[] =>
  tx
    .select()
    .from(transfers)
    .where(and(isNotNull(transfers.heldUntil), serverId === undefined ? undefined : eq(transfers.serverId, serverId)))
    .orderBy(desc(transfers.id))
    .all()
/** How often its owner has moved the server since then, without moves back and those that failed. */
export const relocationsSince = (tx: Db, serverId: string, since: number): number =>
  tx
    .select({ n: sql<number>`count(*)` })
    .from(transfers)
    .where(
      and(
        eq(transfers.serverId, serverId),
        eq(transfers.byOwner, true),
        gt(transfers.createdAt, since),
        notInArray(transfers.state, ['failed', 'cancelled']),
        sql`json_extract(${transfers.readdressing}, '$.back') IS NULL`,
      ),
    )
    .get()!.n
/** How many transfers from or to the node have not ended, without those that wait for others. */
export const transfersAtWorkOn = (tx: Db, nodeId: string): number => statements(tx).atWork.get(nodeId)!.n
/** Those that wait until others of their nodes have ended, the oldest first. */
export const heldTransfers = (tx: Db) => statements(tx).held.all()

/** Those of a server that ended within a span of time, the newest first. */
export const movesWithin = (tx: Db, serverId: string, { from, to, most }: TimelineSpan): Transfer[] =>
  tx
    .select()
    .from(transfers)
    .where(and(eq(transfers.serverId, serverId), gte(transfers.finishedAt, from), lt(transfers.finishedAt, to)))
    .orderBy(desc(transfers.id))
    .limit(most)
    .all()

type Figures = {
  moves: number
  finished: number
  announced: number
  late: number
  longestOverMs: number | null
  bytesCopied: number
  rate: number | null
}
const figures = prepared(({ $client }) => ({
  all: $client.prepare<Figures, [number]>(
    `SELECT count(*) AS moves, count(*) FILTER (WHERE state = 'finished') AS finished,
       count(*) FILTER (WHERE state = 'finished' AND expected_downtime_ms > 0) AS announced,
       count(*) FILTER (WHERE state = 'finished' AND expected_downtime_ms > 0
         AND downtime_ms > expected_downtime_ms) AS late,
       max(downtime_ms - expected_downtime_ms) FILTER (WHERE state = 'finished' AND expected_downtime_ms > 0
         AND downtime_ms > expected_downtime_ms) AS longestOverMs,
       coalesce(sum(bytes_copied), 0) AS bytesCopied,
       CAST(sum(bytes_copied) FILTER (WHERE state = 'finished' AND bytes_copied > 0) * 1000.0 /
         max(1, sum(finished_at - began_at) FILTER (WHERE state = 'finished' AND bytes_copied > 0)) AS INTEGER) AS rate
     FROM transfers WHERE created_at >= CAST(? AS INTEGER)`,
  ),
  // The middle one of an odd number, the earlier of the two in the middle of an even one.
  median: $client.prepare<{ ms: number }, [number]>(
    `WITH off AS (SELECT downtime_ms AS ms FROM transfers
       WHERE created_at >= CAST(?1 AS INTEGER) AND state = 'finished' AND downtime_ms > 0)
     SELECT ms FROM off ORDER BY ms LIMIT 1 OFFSET (SELECT max(0, (count(*) - 1) / 2) FROM off)`,
  ),
}))
/** Of those that were ordered since then. */
export const figuresSince = (tx: Db, since: number): Figures & { medianDowntimeMs: number | null } => ({
  ...figures(tx).all.get(since)!,
  medianDowntimeMs: figures(tx).median.get(since)?.ms ?? null,
})

/** The moves whose copy is under way, or about to be. */
export const transfersToRenew = (tx: Db): Pick<Transfer, 'id' | 'serverId' | 'toNodeId'>[] =>
  tx
    .select({ id: transfers.id, serverId: transfers.serverId, toNodeId: transfers.toNodeId })
    .from(transfers)
    .where(and(isNull(transfers.finishedAt), isNotNull(transfers.beganAt), isNotNull(transfers.jobId)))
    .all()

/** Those whose limit has changed, and whose node has not heard that. */
export const changedLimits = (tx: Db): Transfer[] =>
  tx
    .select()
    .from(transfers)
    .where(and(isNotNull(transfers.limitChangedAt), isNull(transfers.finishedAt)))
    .all()
/** The node has heard of this change, which may not be the last one. */
export function noteLimitTold(tx: Tx, told: Pick<Transfer, 'id' | 'maxMbps' | 'limitChangedAt'>) {
  const { maxMbps, limitChangedAt } = transferById(tx, told.id)!
  if (maxMbps === told.maxMbps && limitChangedAt === told.limitChangedAt) change(tx, told.id, { limitChangedAt: null })
}

/** So many transfers say how fast the next one will be. */
const MEASURED = 20
/** A link of 100 Gbit/s. No node makes the estimates of others by saying that it is faster. */
const MOST_BYTES_PER_SECOND = 12.5e9
/** Below this, a copy is over before its speed says anything. */
const LEAST_BYTES = 256 * 1024 ** 2
const middleOf = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

/** Bytes per second of the last copies that had no limit: the middle one. Undefined: there was none of some length. */
export const measuredRate = (tx: Db): number | undefined =>
  middleOf(
    tx
      .select({ rate: sql<number>`${transfers.bytesCopied} * 1000.0 / ${transfers.copyMs}` })
      .from(transfers)
      .where(
        and(
          eq(transfers.state, 'finished'),
          isNull(transfers.maxMbps),
          gte(transfers.bytesCopied, LEAST_BYTES),
          gt(transfers.copyMs, 0),
        ),
      )
      .orderBy(desc(transfers.id))
      .limit(MEASURED)
      .all()
      .map(({ rate }) => Math.min(rate, MOST_BYTES_PER_SECOND)),
  )

/** A stop that took longer says nothing about the next one. */
const MOST_STOP_MS = 60_000
/** For how long guests stood still in the last live moves, in ms: the middle one. */
export const measuredStop = (tx: Db): number | undefined =>
  middleOf(
    tx
      .select({ ms: sql<number>`${transfers.downtimeMs}` })
      .from(transfers)
      .where(and(eq(transfers.state, 'finished'), eq(transfers.mode, 'live'), isNotNull(transfers.downtimeMs)))
      .orderBy(desc(transfers.id))
      .limit(MEASURED)
      .all()
      .map(({ ms }) => Math.min(ms, MOST_STOP_MS)),
  )
