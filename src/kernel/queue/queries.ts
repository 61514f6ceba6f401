// The statements of the queue. They are raw because the claims run after each commit: an index answers each of them. A
// plus before a value keeps SQLite from planning the statement anew for each value.
import type { Secrets } from '../crypto/secrets.ts'
import { encryptedColumn } from '../db/encrypted.ts'
import { newId } from '../db/ids.ts'
import { type Db, prepared, type Tx } from '../db/open.ts'
import type { DeliveryKind } from './delivery-kind.ts'
import { deliveries } from './tables.ts'

export const encryptedDeliveries = encryptedColumn(deliveries, 'encryptedPayload', ({ id }: { id: string }) => id)

/** A waiting delivery as it is claimed. */
export type Claimed = {
  id: string
  lane: string
  recipient: string
  subject: string
  encryptedPayload: string
  attempts: number
  maxAttempts: number
  group: string | null
  orderedBy: string | null
}
const claimed =
  'id, lane, recipient, subject, encrypted_payload AS encryptedPayload, attempts, max_attempts AS maxAttempts, ' +
  'lane_group AS "group", ordered_by AS orderedBy'

type GroupState = { waiting: number; dropped: number; droppedAt: number | null }
export type DueLane = { lane: string; group: string | null; paused: number }
const isPausedSql = (lane: string) =>
  `EXISTS (SELECT 1 FROM delivery_lanes l WHERE l.kind = $kind AND l.lane = ${lane} AND l.paused)`

const groupSql = (lane: string) =>
  `(SELECT lane_group FROM deliveries WHERE kind = $kind AND state = 'waiting' AND lane = ${lane} LIMIT 1)`

type Client = Db['$client']

/** Puts deliveries into their lanes, and drops the oldest where those are full. */
const queueing = ($client: Client) => ({
  insert: $client.prepare(
    `INSERT INTO deliveries (id, kind, key, lane, recipient, subject, encrypted_payload, state, attempts, max_attempts,
       next_at, until, created_at, lane_group, ordered_by, about)
     VALUES ($id, $kind, $key, $lane, $recipient, $subject, $encryptedPayload, 'waiting', 0, $maxAttempts,
       $now, $until, $now, $group, $orderedBy, $about)`,
  ),
  byKey: $client.prepare<{ id: string }, [string, string]>('SELECT id FROM deliveries WHERE kind = ? AND key = ?'),

  /** Waiting deliveries; the lane '' counts for the whole kind. */
  waiting: $client.prepare<{ waiting: number }, [string, string]>(
    'SELECT waiting FROM delivery_lanes WHERE kind = ? AND lane = ?',
  ),
  oldestInLane: $client.prepare<Claimed, [string, string]>(
    `SELECT ${claimed} FROM deliveries WHERE kind = ? AND lane = ? AND state = 'waiting' ORDER BY rowid LIMIT 1`,
  ),
  waitingInGroup: $client.prepare<GroupState, [string, string]>(
    'SELECT waiting, dropped, dropped_at AS droppedAt FROM delivery_groups WHERE kind = ? AND lane_group = ?',
  ),
  oldestInGroup: $client.prepare<Claimed, [string, string]>(
    `SELECT ${claimed} FROM deliveries WHERE kind = ? AND lane_group = ? AND state = 'waiting' ORDER BY rowid LIMIT 1`,
  ),
  countDroppedInGroup: $client.prepare(
    'UPDATE delivery_groups SET dropped = dropped + 1, dropped_at = $now WHERE kind = $kind AND lane_group = $group',
  ),
  oldest: $client.prepare<Claimed, [string]>(
    `SELECT ${claimed} FROM deliveries WHERE kind = ? AND state = 'waiting' ORDER BY rowid LIMIT 1`,
  ),
  drop: $client.prepare('DELETE FROM deliveries WHERE id = ?'),
  countDropped: $client.prepare(
    'UPDATE delivery_lanes SET dropped = dropped + 1, dropped_at = $now WHERE kind = $kind AND lane = $lane',
  ),
})

/** Takes up what is due, and notes how it went. */
const sending = ($client: Client) => ({
  /**
   * The lanes of the deliveries that are due the longest, those behind `after` first. `n` says how many were looked at.
   */
  dueSample: $client.prepare<DueLane & { n: number }, { kind: string; after: string; now: number; most: number }>(
    `SELECT lane, count(*) AS n, (${isPausedSql('due.lane')}) AS paused, ${groupSql('due.lane')} AS "group"
     FROM (SELECT lane FROM deliveries WHERE kind = $kind AND state = 'waiting' AND next_at <= +$now
       ORDER BY next_at LIMIT +$most) AS due
     GROUP BY lane ORDER BY lane <= +$after, lane`,
  ),
  /** The next due lanes behind `after`. Steps from lane to lane: a lane of thousands costs as much as a lane of one. */
  dueLanes: $client.prepare<DueLane, { kind: string; after: string; now: number; most: number }>(
    `WITH RECURSIVE lanes (lane) AS (
       SELECT (SELECT min(lane) FROM deliveries WHERE kind = $kind AND state = 'waiting' AND lane > +$after)
       UNION ALL
       SELECT (SELECT min(lane) FROM deliveries WHERE kind = $kind AND state = 'waiting' AND lane > lanes.lane)
       FROM lanes WHERE lanes.lane IS NOT NULL
     )
     SELECT lane, (${isPausedSql('lanes.lane')}) AS paused,
       ${groupSql('lanes.lane')} AS "group"
     FROM lanes
     WHERE lane IS NOT NULL
       AND (SELECT min(next_at) FROM deliveries WHERE kind = $kind AND state = 'waiting' AND lane = lanes.lane) <= +$now
     LIMIT +$most`,
  ),
  dueIn: $client.prepare<Pick<Claimed, 'id' | 'orderedBy'>, [string, string, number, number]>(
    `SELECT id, ordered_by AS orderedBy FROM deliveries
     WHERE kind = ? AND lane = ? AND state = 'waiting' AND next_at <= +? ORDER BY next_at, rowid LIMIT +?`,
  ),
  byId: $client.prepare<Claimed, [string]>(`SELECT ${claimed} FROM deliveries WHERE id = ?`),
  nextAt: $client.prepare<{ at: number | null }, [string, number]>(
    "SELECT min(next_at) AS at FROM deliveries WHERE kind = ? AND state = 'waiting' AND next_at > +?",
  ),
  /** Changes when something was queued or a lane was paused or resumed. */
  newest: $client.prepare<{ id: string | null; changes: number }, []>(
    `SELECT (SELECT id FROM deliveries ORDER BY rowid DESC LIMIT 1) AS id,
       (SELECT total(changes) FROM delivery_lanes WHERE lane = '') AS changes`,
  ),

  expired: $client.prepare<Claimed, [string, number]>(
    `SELECT ${claimed} FROM deliveries WHERE kind = ? AND state = 'waiting' AND until <= +? LIMIT 100`,
  ),
  // Without a log the payload is not needed any more, and what is not stored cannot leak.
  ended: $client.prepare(
    `UPDATE deliveries SET state = $state, encrypted_payload = iif($logged, encrypted_payload, ''),
       attempts = $attempts, error = $error, ended_at = $now
     WHERE id = $id AND state = 'waiting'`,
  ),
  retry: $client.prepare(
    `UPDATE deliveries SET attempts = $attempts, next_at = $nextAt, error = $error
     WHERE id = $id AND state = 'waiting'`,
  ),

  addAttempt: $client.prepare('INSERT INTO delivery_attempts (delivery_id, n, at, record) VALUES (?, ?, ?, ?)'),
  /** The group's log keeps the newest; what waits is never deleted. */
  trim: $client.prepare(
    `DELETE FROM deliveries WHERE kind = $kind AND lane_group = $group AND state <> 'waiting' AND rowid < (
       SELECT rowid FROM deliveries WHERE kind = $kind AND lane_group = $group ORDER BY rowid DESC
       LIMIT 1 OFFSET $logged - 1)`,
  ),
})

/** Pauses lanes, forgets what is old, and counts for alerts. */
const keeping = ($client: Client) => ({
  setPaused: $client.prepare(
    `INSERT INTO delivery_lanes (kind, lane, paused) VALUES ($kind, $lane, $paused)
     ON CONFLICT (kind, lane) DO UPDATE SET paused = $paused`,
  ),
  countChange: $client.prepare(
    `INSERT INTO delivery_lanes (kind, lane, changes) VALUES (?, '', 1)
     ON CONFLICT (kind, lane) DO UPDATE SET changes = changes + 1`,
  ),
  isPaused: $client.prepare<unknown, [string, string]>(
    'SELECT 1 FROM delivery_lanes WHERE kind = ? AND lane = ? AND paused',
  ),

  /** The newest delivered one stays: that a kind has ever worked is asked for later. */
  prune: $client.prepare(
    `DELETE FROM deliveries WHERE rowid IN (
       SELECT rowid FROM deliveries WHERE kind = $kind AND state <> 'waiting' AND ended_at < $before
         AND rowid <> coalesce((SELECT rowid FROM deliveries WHERE kind = $kind AND state = 'delivered'
           ORDER BY ended_at DESC, rowid DESC LIMIT 1), 0)
       ORDER BY ended_at LIMIT $most)`,
  ),
  forgetDropped: $client.prepare(
    'UPDATE delivery_lanes SET dropped = 0, dropped_at = NULL WHERE kind = ? AND dropped_at < ?',
  ),
  pruneLanes: $client.prepare(
    "DELETE FROM delivery_lanes WHERE kind = ? AND lane <> '' AND NOT paused AND waiting = 0 AND dropped = 0",
  ),

  undelivered: $client.prepare<{ failed: number; late: number; dropped: number }, { kind: string; before: number }>(
    `SELECT
       (SELECT count(*) FROM deliveries WHERE kind = $kind AND state = 'failed') AS failed,
       (SELECT count(*) FROM deliveries WHERE kind = $kind AND state = 'waiting' AND attempts = 0
         AND created_at < $before) AS late,
       (SELECT coalesce(sum(dropped), 0) FROM delivery_lanes WHERE kind = $kind) AS dropped`,
  ),
  retried: $client.prepare<{ deliveries: number; since: number | null; error: string | null }, [string]>(
    `SELECT count(*) AS deliveries, min(created_at) AS since, error FROM deliveries
     WHERE kind = ? AND state = 'waiting' AND attempts > 0`,
  ),
  hasDelivered: $client.prepare<unknown, [string]>(
    "SELECT 1 FROM deliveries WHERE kind = ? AND state = 'delivered' LIMIT 1",
  ),
})

export const statements = prepared(({ $client }) => ({
  ...queueing($client),
  ...sending($client),
  ...keeping($client),
}))

export type NewDelivery<P> = {
  /** Left out: nothing else is the same delivery. */
  key?: string
  lane: string
  /** The group whose limits count for the lane, such as an account. */
  group?: string
  /** Deliveries of the lane with the same value leave one after another, as far as retries allow. */
  orderedBy?: string
  /** The id of the thing that it tells of. */
  about?: string
  /** Called in the transaction when an older delivery of the group makes way for this one. */
  dropped?(): void
  recipient: string
  subject: string
  payload: P
  until?: number | null
  /** False: one attempt and no more. */
  retries?: boolean
}

/**
 * Queues a delivery in the caller's transaction and answers its id; for a key that was queued before, the id of that
 * one. The queue takes it up when the transaction has committed. Drops the oldest waiting one when the lane or the kind
 * is full.
 */
export function queueDelivery<P>(
  tx: Tx,
  kind: DeliveryKind<P>,
  { secrets, now }: { secrets: Pick<Secrets, 'encrypt'>; now: number },
  { key, lane, group, orderedBy, about, dropped, recipient, subject, payload, until = null, retries }: NewDelivery<P>,
): string {
  if (!lane) throw new Error('a delivery has a lane')
  const known = key === undefined ? undefined : statements(tx).byKey.get(kind.kind, key)
  if (known) return known.id
  const id = newId('dlv')
  statements(tx).insert.run({
    id,
    kind: kind.kind,
    key: key ?? id,
    lane,
    recipient,
    subject,
    encryptedPayload: secrets.encrypt(encryptedDeliveries.about({ id }), JSON.stringify(payload)),
    maxAttempts: retries === false ? 1 : kind.retryAfterMs.length + 1,
    now,
    until,
    group: group ?? null,
    orderedBy: orderedBy ?? null,
    about: about ?? null,
  })
  const { oldestInLane, oldestInGroup, oldest } = statements(tx)
  if (group !== undefined && waitingInGroup(tx, kind.kind, group) > (kind.groups?.(group).mostWaiting ?? Infinity)) {
    drop(tx, kind, oldestInGroup.get(kind.kind, group)!, now)
    dropped?.()
  } else if (waitingIn(tx, kind.kind, lane) > kind.mostWaiting.perLane)
    drop(tx, kind, oldestInLane.get(kind.kind, lane)!, now)
  else if (waitingIn(tx, kind.kind) > kind.mostWaiting.total) drop(tx, kind, oldest.get(kind.kind)!, now)
  return id
}

/** How many deliveries wait in the lane, or in all lanes of the kind. */
export const waitingIn = (db: Db, kind: string, lane = '') => statements(db).waiting.get(kind, lane)?.waiting ?? 0

/** How many deliveries of the group wait, and how many have made way for newer ones since when. */
export const groupState = (db: Db, kind: string, group: string): GroupState =>
  statements(db).waitingInGroup.get(kind, group) ?? { waiting: 0, dropped: 0, droppedAt: null }
const waitingInGroup = (db: Db, kind: string, group: string) => groupState(db, kind, group).waiting

function drop(tx: Tx, kind: DeliveryKind, oldest: Claimed, now: number) {
  const { id, attempts, lane, group } = oldest
  if (kind.log) statements(tx).ended.run({ id, state: 'failed', attempts, error: kind.log.dropped, now, logged: 1 })
  else statements(tx).drop.run(id)
  statements(tx).countDropped.run({ kind: kind.kind, lane, now })
  if (group !== null) statements(tx).countDroppedInGroup.run({ kind: kind.kind, group, now })
  kind.recorded?.(tx, withoutPayload(oldest), { result: 'dropped' }, now, undefined)
}

export const withoutPayload = ({ id, lane, recipient, subject, attempts, maxAttempts }: Claimed) => ({
  id,
  lane,
  recipient,
  subject,
  attempts,
  maxAttempts,
})

/** Nothing of the lane is attempted until `resumeLane`; attempts under way end. */
export const pauseLane = (tx: Tx, kind: string, lane: string) => setPaused(tx, kind, lane, 1)
export const resumeLane = (tx: Tx, kind: string, lane: string) => setPaused(tx, kind, lane, 0)
function setPaused(tx: Tx, kind: string, lane: string, paused: 0 | 1) {
  statements(tx).setPaused.run({ kind, lane, paused })
  statements(tx).countChange.run(kind)
}
export const isLanePaused = (db: Db, kind: string, lane: string) => !!statements(db).isPaused.get(kind, lane)

/** A transaction of so many rows keeps others waiting for a few milliseconds. */
const PRUNED_AT_ONCE = 500

/** Deletes a part of what ended longer ago than `keepMs`; answers how many. Call it until it answers 0. */
export function pruneDeliveries(tx: Tx, { kind, keepMs }: DeliveryKind, now: number): number {
  const before = now - keepMs
  const { changes } = statements(tx).prune.run({ kind, before, most: PRUNED_AT_ONCE })
  statements(tx).forgetDropped.run(kind, before)
  statements(tx).pruneLanes.run(kind)
  return changes
}

/** Failed ones, those that wait for their first attempt since before `before`, and dropped ones, while kept. */
export const undelivered = (db: Db, kind: string, before: number) => statements(db).undelivered.get({ kind, before })!

/**
 * How many wait for another attempt after a failed one, when the oldest of them was queued (milliseconds), and why its
 * last attempt failed.
 */
export const retried = (db: Db, kind: string) => statements(db).retried.get(kind)!

/** Was anything of this kind ever delivered? */
export const hasDelivered = (db: Db, kind: string) => !!statements(db).hasDelivered.get(kind)

const figures = prepared(({ $client }) => ({
  oldest: $client.prepare<{ at: number }, [string]>(
    "SELECT created_at AS at FROM deliveries WHERE kind = ? AND state = 'waiting' ORDER BY rowid LIMIT 1",
  ),
  dropped: $client.prepare<{ n: number }, [string]>(
    'SELECT coalesce(sum(dropped), 0) AS n FROM delivery_lanes WHERE kind = ?',
  ),
}))
/** How many of a kind wait, when the oldest of them was queued (milliseconds), and how many were dropped. */
export const queueState = (db: Db, kind: string): { waiting: number; oldest: number | null; dropped: number } => ({
  waiting: waitingIn(db, kind),
  oldest: figures(db).oldest.get(kind)?.at ?? null,
  dropped: figures(db).dropped.get(kind)!.n,
})

const byId = prepared(({ $client }) =>
  $client.prepare<{ state: 'waiting' | 'delivered' | 'failed'; error: string | null }, [string]>(
    'SELECT state, error FROM deliveries WHERE id = ?',
  ),
)
/** How a delivery went; undefined where it is not kept any more. */
export const deliveryById = (db: Db, id: string) => byId(db).get(id) ?? undefined
