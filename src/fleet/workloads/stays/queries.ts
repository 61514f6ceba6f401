// The statements about stays. Everybody reads them; `stays.ts` alone opens, changes and closes one.
import { getTableColumns, lt } from 'drizzle-orm'
import { day, hour } from '../../../kernel/db/clock.ts'
import { expiring } from '../../../kernel/db/expiring.ts'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { columnList, decoding, inserting, type Where } from '../../../kernel/db/rows.ts'
import { nodeReference } from '../../node-records/queries.ts'
import { groupMemberReference, placementGroupReference } from '../../placement-group-records/queries.ts'
import { type Workload, workloads } from '../tables.ts'
import { type Stay, type StayRole, workloadPastStays, workloadStays, workloadStayVolumes } from './tables.ts'

const columns = `workload_id AS workloadId, node_id AS nodeId, role, pool, vcpus, memory_mb AS memoryMb,
  disk_gb AS diskGb, spare_disk_gb AS spareDiskGb, rules, since`
const { version: _, heldMac: __, pool: _pool, ...ofWorkload } = getTableColumns(workloads)
type OnNode = Workload & Pick<Stay, 'role' | 'spareDiskGb'>
const decode = decoding<OnNode>(ofWorkload)

const statements = prepared(({ $client }) => ({
  home: $client.prepare<Stay, [string]>(
    `SELECT ${columns} FROM workload_stays WHERE workload_id = ? AND role = 'home'`,
  ),
  all: $client.prepare<Stay, [string]>(`SELECT ${columns} FROM workload_stays WHERE workload_id = ? ORDER BY node_id`),
  one: $client.prepare<Stay, [string, string]>(
    `SELECT ${columns} FROM workload_stays WHERE workload_id = ? AND node_id = ?`,
  ),
  role: $client.prepare<{ role: StayRole }, [string, string]>(
    'SELECT role FROM workload_stays WHERE workload_id = ? AND node_id = ?',
  ),
  past: $client.prepare<unknown, [string, string]>(
    'SELECT 1 FROM workload_past_stays WHERE workload_id = ? AND node_id = ?',
  ),
  within: $client.prepare<unknown, [string, string, number, number]>(
    `SELECT 1 FROM workload_stays WHERE workload_id = ?1 AND node_id = ?2 AND since < ?4
     UNION ALL SELECT 1 FROM workload_past_stays
       WHERE workload_id = ?1 AND node_id = ?2 AND since < ?4 AND until >= ?3 LIMIT 1`,
  ),
  on: $client.prepare<unknown, [string]>(
    `SELECT ${columnList(ofWorkload)}, s.pool, s.role, s.spare_disk_gb AS spareDiskGb
     FROM workload_stays s JOIN workloads ON workloads.id = s.workload_id WHERE s.node_id = ?`,
  ),
  members: $client.prepare<MemberStay, [string]>(
    `SELECT w.id AS workloadId, w.kind, w.hostname, s.node_id AS nodeId, s.role
     ${groupMemberReference.from('m')}
     CROSS JOIN workloads w ON w.id = ${groupMemberReference.column('m', 'workloadId')}
     JOIN workload_stays s ON s.workload_id = w.id
     WHERE ${groupMemberReference.column('m', 'groupId')} = ? AND w.terminated_at IS NULL ORDER BY w.hostname, w.id`,
  ),
  brokenGroups: $client.prepare<{ id: string }, [number]>(
    `SELECT g.id ${placementGroupReference.from('g')}
     JOIN (SELECT ${groupMemberReference.column('m', 'groupId')} AS id, count(*) AS members,
         count(DISTINCT s.node_id) AS nodes
       ${groupMemberReference.from('m')} CROSS JOIN workload_stays s
         ON s.workload_id = ${groupMemberReference.column('m', 'workloadId')} AND s.role = 'home'
       JOIN workloads w ON w.id = s.workload_id AND w.terminated_at IS NULL
       GROUP BY 1) h ON h.id = g.id
     WHERE ${placementGroupReference.column('g', 'hard')} = 1 AND
       CASE ${placementGroupReference.column('g', 'policy')}
         WHEN 'affinity' THEN h.nodes > 1 ELSE h.nodes < h.members END
     ORDER BY g.id LIMIT ?`,
  ),
  volumesOn: $client.prepare<{ id: string }, [string]>(
    'SELECT volume_id AS id FROM workload_stay_volumes WHERE node_id = ?',
  ),
  volumeOn: $client.prepare<unknown, [string, string]>(
    'SELECT 1 FROM workload_stay_volumes WHERE node_id = ? AND volume_id = ? LIMIT 1',
  ),
  passing: $client.prepare<Stay, [string]>(
    `SELECT ${columns} FROM workload_stays WHERE node_id = ? AND role <> 'home' ORDER BY workload_id`,
  ),
  setRole: $client.prepare('UPDATE workload_stays SET role = ? WHERE workload_id = ? AND node_id = ?'),
  hold: $client.prepare(
    `UPDATE workload_stays SET vcpus = ?, memory_mb = ?, disk_gb = ?, spare_disk_gb = ?
     WHERE workload_id = ? AND node_id = ?`,
  ),
  noteRules: $client.prepare(
    'UPDATE workload_stays SET rules = ?1 WHERE workload_id = ?2 AND node_id = ?3 AND rules < ?1',
  ),
  drop: $client.prepare('DELETE FROM workload_stays WHERE workload_id = ? AND node_id = ?'),
  remember: $client.prepare(
    `INSERT INTO workload_past_stays (workload_id, node_id, since, until) VALUES (?1, ?2, min(?3, ?4), ?4)
     ON CONFLICT (workload_id, node_id, since) DO UPDATE SET until = max(until, ?4)`,
  ),
}))

/** Undefined once the home was given back. */
export const homeOf = (tx: Db, workloadId: string): Stay | undefined => statements(tx).home.get(workloadId) ?? undefined
export const stayOn = (tx: Db, workloadId: string, nodeId: string): Stay | undefined =>
  statements(tx).one.get(workloadId, nodeId) ?? undefined
/** All stays of a workload. */
export const staysOf = (tx: Db, workloadId: string): Stay[] => statements(tx).all.all(workloadId)

/**
 * The workloads that hold something of a node, whatever their role there; a terminated one until its termination is
 * through. `pool` is the one on this node, `nodeId` the home.
 */
export const workloadsOn = (tx: Db, nodeId: string): OnNode[] =>
  statements(tx)
    .on.all(nodeId)
    .map((row) => decode(row)!)
export type { OnNode }

export type MemberStay = Pick<Stay, 'workloadId' | 'nodeId' | 'role'> & Pick<Workload, 'kind' | 'hostname'>
/** Where the workloads of a placement group stay, by hostname; not those that are terminated. */
export const memberStays = (tx: Db, groupId: string): MemberStay[] => statements(tx).members.all(groupId)

/** The ids of hard groups of all owners whose rule is broken, at most so many. */
export const brokenHardGroups = (tx: Db, most: number): string[] =>
  statements(tx)
    .brokenGroups.all(most)
    .map(({ id }) => id)

/** Extra volumes that arrive on a node, or wait there for their deletion. */
export const stayVolumesOn = (tx: Db, nodeId: string): string[] =>
  statements(tx)
    .volumesOn.all(nodeId)
    .map(({ id }) => id)
/** Does a copy of the extra volume arrive on a node, or wait there for its deletion, whatever server brought it? */
export const isVolumeOn = (tx: Db, volumeId: string, nodeId: string): boolean =>
  statements(tx).volumeOn.get(nodeId, volumeId) !== null
/** The stays on a node that are no home. */
export const passingOn = (tx: Db, nodeId: string): Stay[] => statements(tx).passing.all(nodeId)
/** A workload that stays on one of these nodes and fits; undefined where there is none. */
export function idOn(tx: Db, nodeIds: readonly string[], fits: (id: string) => Where): string | undefined {
  const { where, values } = fits('s.workload_id')
  return tx.$client
    .query<{ id: string }, string[]>(
      `SELECT s.workload_id AS id FROM json_each(+?) n CROSS JOIN workload_stays s ON s.node_id = n.value
       WHERE ${where} LIMIT 1`,
    )
    .get(JSON.stringify(nodeIds), ...values)?.id
}

/** The locations of workloads at home on nodes that were removed and that fit, each once. */
export function locationsOnRemoved(tx: Db, fits: (id: string) => Where): string[] {
  const { where, values } = fits('w.id')
  return tx.$client
    .query<{ id: string }, (string | number)[]>(
      `SELECT DISTINCT w.location_id AS id ${nodeReference.from('n')} CROSS JOIN workload_stays s ON s.node_id = n.id
       JOIN workloads w ON w.id = s.workload_id
       WHERE ${nodeReference.column('n', 'removedAt')} IS NOT NULL AND ${where}`,
    )
    .all(...values)
    .map(({ id }) => id)
}

/**
 * The role of a workload on a node; `past` where it was before, undefined where it never was. A home that was given
 * back is still one: its node tells the last of it.
 */
export function roleOn(tx: Db, { id, nodeId: home }: Pick<Workload, 'id' | 'nodeId'>, nodeId: string) {
  if (home === nodeId) return 'home'
  const role = statements(tx).role.get(id, nodeId)?.role
  return role ?? (statements(tx).past.get(id, nodeId) ? 'past' : undefined)
}

/** Days are those of the node's clock; one that is further off than this is shown to staff. */
const CLOCKS_DIFFER_MS = hour

/** Did the workload hold something of the node at any moment of this day? Counted from 1970. */
export const stayedOnDay = (tx: Db, workloadId: string, nodeId: string, dayNumber: number): boolean => {
  const from = dayNumber * day
  return statements(tx).within.get(workloadId, nodeId, from - CLOCKS_DIFFER_MS, from + day + CLOCKS_DIFFER_MS) !== null
}

const changes = prepared(() => new Map<string, number>())
/** How often a second stay of the workload came, went or became its home since the start: for facts held in memory. */
export const stayChanges = (tx: Db, workloadId: string): number => changes(tx).get(workloadId) ?? 0

/** SQL: the stays `s` (`s.node_id`, `s.role`) of the workload whose id the expression `workloadId` is. */
export const joinStays = (workloadId: string) => `JOIN workload_stays s ON s.workload_id = ${workloadId}`

/** The vCPUs that workloads with cards hold of the node whose id the SQL expression `nodeId` is, as SQL. */
export const vcpusWithCardsOn = (nodeId: string) =>
  `(SELECT coalesce(sum(s.vcpus), 0) FROM workload_stays s JOIN workloads w ON w.id = s.workload_id
    WHERE s.node_id = ${nodeId} AND w.gpus > 0)`

// ---------------------------------------------------------------- for stays.ts alone
export const insertStay = inserting(workloadStays)
/** A transaction that is rolled back counts too: what is held in memory is then read once more. */
export const countChange = (tx: Tx, workloadId: string) =>
  void changes(tx).set(workloadId, stayChanges(tx, workloadId) + 1)
export const insertStayVolume = inserting(workloadStayVolumes)
export const setRole = (tx: Tx, workloadId: string, nodeId: string, role: StayRole) =>
  void statements(tx).setRole.run(role, workloadId, nodeId)
export const setHeld = (tx: Tx, { workloadId, nodeId, vcpus, memoryMb, diskGb, spareDiskGb }: Stay) =>
  void statements(tx).hold.run(vcpus, memoryMb, diskGb, spareDiskGb, workloadId, nodeId)
export const setRules = (tx: Tx, workloadId: string, nodeId: string, revision: number) =>
  void statements(tx).noteRules.run(revision, workloadId, nodeId)
export const deleteStay = (tx: Tx, workloadId: string, nodeId: string) =>
  void statements(tx).drop.run(workloadId, nodeId)
export const rememberStay = (tx: Tx, { workloadId, nodeId, since }: Stay, now: number) =>
  void statements(tx).remember.run(workloadId, nodeId, since, now)

/** As long as a node may tell of a day. */
const PAST_KEPT_DAYS = 70
export const expiringPastStays = expiring(workloadPastStays, (now) =>
  lt(workloadPastStays.until, now - PAST_KEPT_DAYS * day),
)
