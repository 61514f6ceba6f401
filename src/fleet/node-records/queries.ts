import type { Database } from 'bun:sqlite'
import { and, count, desc, eq, getTableColumns, isNotNull, isNull, lt, lte, sql } from 'drizzle-orm'
import type { Facts } from '../../../agent/protocol/wire.ts'
import { ended, type Slice, type Sorts } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { day } from '../../kernel/db/clock.ts'
import { expiring } from '../../kernel/db/expiring.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { inserting, rowBy, updating, type Where } from '../../kernel/db/rows.ts'
import { choicesIn } from '../../kernel/search/choices.ts'
import { hasWords } from '../../kernel/search/index.ts'
import { locationReference } from '../locations/queries.ts'
import {
  type Enrollment,
  enrollments,
  type GoneAddress,
  goneAddresses,
  type Node,
  type NodeAbsence,
  nodeAbsences,
  nodeGuests,
  type nodeSpaces,
  nodes,
} from './tables.ts'

export const nodeReference = reference(nodes, [
  'name',
  'locationId',
  'threads',
  'connectedAt',
  'seenAt',
  'removedAt',
  'lostAt',
])
export const nodeTarget: AuditTarget = {
  prefix: 'nod',
  name: (id) => nodeReference.value('name', id),
  isGone: (id) => `(SELECT removed_at IS NOT NULL FROM nodes WHERE id = ${id})`,
}
export const nodeChoices = choicesIn(nodes, isNull(nodes.removedAt))
/** A slice of the nodes whose ids the query `ids` finds, by name, behind the name `after`. */
export const nodesAmong = (
  tx: Db,
  { where, values }: Where,
  { after = '', limit, skip }: Slice,
): { id: string; name: string }[] =>
  tx.$client
    .query<{ id: string; name: string }, (string | number)[]>(
      `SELECT id, name FROM nodes WHERE removed_at IS NULL AND id IN (${where}) AND name > ?
       ORDER BY name LIMIT ? OFFSET ?`,
    )
    .all(...values, after, limit, skip)
export const nodeById = rowBy(nodes, nodes.id)
/** The bridge of a node alone: to parse its facts takes most of the time of `nodeById`. Undefined for no node. */
export const bridgeOf = (tx: Db, id: string): string | undefined => statements(tx).bridge.get(id)?.bridge
/** The node's address between the nodes, without a prefix length; undefined where it has none. */
export const managementAddressOf = (tx: Db, id: string): string | undefined =>
  statements(tx).management.get(id)?.address?.split('/')[0]
const ofMachine = prepared((db) =>
  db
    .select()
    .from(nodes)
    .where(and(eq(nodes.machineId, sql.placeholder('machineId')), isNull(nodes.removedAt), isNull(nodes.lostAt)))
    .prepare(),
)
/** The node that is this machine and neither removed nor lost. */
export const nodeOfMachine = (tx: Db, machineId: string): Node | undefined => ofMachine(tx).get({ machineId })
/** Removed or declared lost: nothing is sent to it, and its credential opens nothing. */
export const isGone = ({ removedAt, lostAt }: Pick<Node, 'removedAt' | 'lostAt'>): boolean =>
  removedAt !== null || lostAt !== null
/** The same by its id, asked before each command: a row with its facts takes ten times as long. False for no node. */
export const isGoneNode = (tx: Db, id: string): boolean => statements(tx).gone.get(id) !== null

const present = isNull(nodes.removedAt)
const inLocation = (locationId: string | undefined, among?: readonly string[]) =>
  and(
    present,
    locationId ? eq(nodes.locationId, locationId) : undefined,
    among && sql`${nodes.id} IN (SELECT value FROM json_each(${JSON.stringify(among)}))`,
  )

/** The orders of the list. */
export const nodeSorts = {
  name: 'nodes.name',
  location: locationReference.value('name', 'nodes.location_id'),
} satisfies Sorts
/** A slice of the nodes, by name where nothing else is asked for. `among`: only nodes with these ids. */
export function nodesByName(
  tx: Db,
  { locationId, among }: { locationId: string | undefined; among: readonly string[] | undefined },
  slice: Slice,
): Node[] {
  const { behind, inOrder, sortValue } = ended(slice, nodes.name, 'ASC')
  return tx
    .select({ ...getTableColumns(nodes), ...sortValue })
    .from(nodes)
    .where(and(inLocation(locationId, among), behind))
    .orderBy(...inOrder)
    .limit(slice.limit)
    .offset(slice.skip)
    .all()
}
/** The names that are taken: of every node that is not removed. */
export const nodeNames = (tx: Db): string[] =>
  tx
    .select({ name: nodes.name })
    .from(nodes)
    .where(present)
    .all()
    .map(({ name }) => name)
/** Every node that is not removed, by name. */
export const nodeNamesById = (tx: Db): { id: string; name: string }[] =>
  tx.select({ id: nodes.id, name: nodes.name }).from(nodes).where(present).orderBy(nodes.name).all()
/** The addresses by which nodes reach each other and the controller, without prefix lengths. */
export const managementAddresses = (tx: Db): string[] =>
  statements(tx)
    .managements.all()
    .flatMap(({ address }) => address?.split('/')[0] ?? [])
export const countNodes = (tx: Db, locationId: string | undefined, among?: readonly string[]): number =>
  tx.select({ n: count() }).from(nodes).where(inLocation(locationId, among)).get()!.n

/** Throws a unique violation when the name is taken. */
export const updateNode = (tx: Tx, row: Node, given: Partial<Node>): Node => patched(tx, nodes, row, given)

/** The columns of a node that takes new servers again, or none from now on. */
export const openColumns = (open: boolean, now: number, reason: string | null) =>
  open ? { open, closedAt: null, closedReason: null } : { open, closedAt: now, closedReason: reason }

// ---------------------------------------------------------------- capacity
/** A node and what workloads hold of it, beside its storage pools. */
/** The memory that a node has left: `rank` as in the table. */
type Space = Pick<typeof nodeSpaces.$inferSelect, 'rank' | 'name'> & { id: string }

export type CapacityRow = {
  id: string
  name: string
  open: number
  bridge: string
  memoryMb: number
  heldMemoryMb: number
  heldDiskGb: number
}
const capacities = `SELECT n.id, n.name, n.open, n.bridge, max(0, n.memory_mb - n.reserved_memory_mb) AS memoryMb,
  coalesce(h.memory_mb, 0) AS heldMemoryMb, coalesce(h.disk_gb, 0) AS heldDiskGb
  FROM nodes n LEFT JOIN node_held h ON h.node_id = n.id`

type NodeHealthRow = {
  id: string
  name: string
  seenAt: number
  lostAt: number | null
  skewMs: number
  differences: string
  version: string
  kind: string
  fake: number
  /** JSON of its uplink; null: none is named. */
  uplink: string | null
  /** It takes new servers. */
  open: number
}

type NodeFigureRow = Pick<NodeHealthRow, 'id' | 'name' | 'seenAt' | 'lostAt'> & { workloads: number }

type Found = { id: string; title: string; detail: string; exact: number }

const statements = prepared(({ $client }) => ({
  hardware: $client.prepare<{ hardware: string | null }, [string]>(
    "SELECT facts ->> '$.hardware' AS hardware FROM nodes WHERE id = ?",
  ),
  // +?: 31 µs for 20 nodes instead of 54.
  inLocation: $client.prepare<CapacityRow, [string]>(
    `${capacities} WHERE n.location_id = +? AND n.removed_at IS NULL ORDER BY n.name`,
  ),
  // As one text: as rows those of 10,000 nodes take three times as long.
  sizes: $client.prepare<{ sizes: string }, [string]>(
    `SELECT json_group_array(json_array(id, open, memoryMb, heldMemoryMb, heldDiskGb)) AS sizes
     FROM (${capacities} WHERE n.location_id = +? AND n.removed_at IS NULL)`,
  ),
  spaces: $client.prepare<Space, [string, number, string, number]>(
    `SELECT node_id AS id, rank, name FROM node_spaces
     WHERE location_id = +? AND (rank, name) > (+?, +?) ORDER BY rank, name LIMIT +?`,
  ),
  managements: $client.prepare<{ address: string | null }, []>(
    `SELECT coalesce(facts ->> '$.managementAddress', facts ->> '$.addresses[0]') AS address FROM nodes
     WHERE removed_at IS NULL`,
  ),
  management: $client.prepare<{ address: string | null }, [string]>(
    `SELECT coalesce(facts ->> '$.managementAddress', facts ->> '$.addresses[0]') AS address FROM nodes WHERE id = ?`,
  ),
  bridge: $client.prepare<{ bridge: string }, [string]>('SELECT bridge FROM nodes WHERE id = ?'),
  ofNode: $client.prepare<CapacityRow, [string]>(`${capacities} WHERE n.id = +?`),
  isIn: $client.prepare<{ id: string }, [string, string]>(
    'SELECT id FROM nodes WHERE id = ? AND location_id = ? AND removed_at IS NULL',
  ),
  used: $client.prepare<{ id: string }, []>(
    `SELECT l.id ${locationReference.from('l')}
     WHERE EXISTS (SELECT 1 FROM nodes n WHERE n.location_id = l.id AND n.removed_at IS NULL)`,
  ),
  locations: $client.prepare<{ id: string }, [string]>(
    'SELECT DISTINCT location_id AS id FROM nodes WHERE id IN (SELECT value FROM json_each(?))',
  ),
  health: $client.prepare<NodeHealthRow, []>(
    `SELECT n.id, n.name, n.seen_at AS seenAt, n.lost_at AS lostAt, n.skew_ms AS skewMs, n.differences,
      n.facts ->> '$.agentVersion' AS version, n.facts ->> '$.virtualisation.kind' AS kind,
      n.facts ->> '$.fake' AS fake, n.facts ->> '$.uplink' AS uplink, n.open
     FROM nodes n WHERE n.removed_at IS NULL ORDER BY n.name`,
  ),
  figures: $client.prepare<NodeFigureRow, []>(
    `SELECT n.id, n.name, n.seen_at AS seenAt, n.lost_at AS lostAt, coalesce(h.workloads, 0) AS workloads
     FROM nodes n LEFT JOIN node_held h ON h.node_id = n.id WHERE n.removed_at IS NULL`,
  ),
  ids: $client.prepare<{ id: string }, []>('SELECT id FROM nodes'),
  // By the index nodes_present alone: rows with their facts take a hundred times as long.
  present: $client.prepare<{ id: string }, []>(
    'SELECT id FROM nodes INDEXED BY nodes_present WHERE removed_at IS NULL',
  ),
  // By an index that has the version: to parse the facts of each takes most of the time.
  versions: $client.prepare<{ id: string; version: string }, []>(
    `SELECT id, facts ->> '$.agentVersion' AS version FROM nodes INDEXED BY nodes_versions WHERE removed_at IS NULL`,
  ),
  countVersions: $client.prepare<{ version: string; n: number }, []>(
    `SELECT facts ->> '$.agentVersion' AS version, count(*) AS n FROM nodes INDEXED BY nodes_versions
     WHERE removed_at IS NULL GROUP BY facts ->> '$.agentVersion'`,
  ),
  near: $client.prepare<{ id: string }, [string]>(
    `SELECT n.id FROM nodes n LEFT JOIN nodes own ON own.id = ?1 WHERE n.removed_at IS NULL AND n.lost_at IS NULL
     ORDER BY n.id = ?1 DESC, n.location_id = own.location_id DESC, n.seen_at DESC, n.id`,
  ),
  hasCpuModel: $client.prepare<unknown, [string, string]>(
    'SELECT 1 FROM node_cpu_models WHERE model = ? AND node_id = ?',
  ),
  // In an index of its own: few of thousands are away.
  away: $client.prepare<AwayNode, []>(
    `SELECT id, name, location_id AS locationId, seen_at AS seenAt FROM nodes INDEXED BY nodes_away
     WHERE connected_at IS NULL AND removed_at IS NULL AND lost_at IS NULL AND credential_revoked_at IS NULL
       AND inventory_at IS NOT NULL ORDER BY name`,
  ),
  withCpuModel: $client.prepare<{ id: string }, [string]>('SELECT node_id AS id FROM node_cpu_models WHERE model = ?'),
  cpuModelsIn: $client.prepare<{ nodeId: string; model: string }, [string]>(
    `SELECT m.node_id AS nodeId, m.model FROM nodes n CROSS JOIN node_cpu_models m ON m.node_id = n.id
     WHERE n.location_id = ? AND n.removed_at IS NULL`,
  ),
  cpu: $client.prepare<{ model: string | null }, [string]>(
    "SELECT facts ->> '$.cpu.model' AS model FROM nodes WHERE id = ?",
  ),
  hasReported: $client.prepare<unknown, [string]>('SELECT 1 FROM nodes WHERE id = ? AND inventory_at >= connected_at'),
  gone: $client.prepare<unknown, [string]>(
    'SELECT 1 FROM nodes WHERE id = ? AND (removed_at IS NOT NULL OR lost_at IS NOT NULL)',
  ),
  own: $client.prepare<{ id: string; name: string; locationId: string; addresses: string }, []>(
    `SELECT id, name, location_id AS locationId, json_insert(coalesce(facts -> '$.addresses', '[]'), '$[#]',
       facts ->> '$.managementAddress') AS addresses
     FROM nodes WHERE removed_at IS NULL AND lost_at IS NULL ORDER BY name`,
  ),
  anyLive: $client.prepare<unknown, [number]>(
    'SELECT 1 FROM nodes WHERE removed_at IS NULL AND (connected_at IS NOT NULL OR seen_at > ?) LIMIT 1',
  ),
}))

/** A node that is not connected, and when it last was, in ms. */
export type AwayNode = { id: string; name: string; locationId: string; seenAt: number }
/**
 * The nodes by name that are not connected although they should be: one that never said what is on it is still being
 * set up, and one whose credential was revoked is refused.
 */
export const awayNodes = (tx: Db): AwayNode[] => statements(tx).away.all()
/** The nodes of a location, by name. */
export const capacityRowsIn = (tx: Db, locationId: string): CapacityRow[] => statements(tx).inLocation.all(locationId)
/** A node without its name, and without its storage pools. */
export type NodeSize = Pick<CapacityRow, 'id' | 'memoryMb' | 'heldMemoryMb' | 'heldDiskGb'> & { open: boolean }
/** The nodes of a location, in no order. */
export const sizesIn = (tx: Db, locationId: string): NodeSize[] =>
  (JSON.parse(statements(tx).sizes.get(locationId)!.sizes) as [string, number, number, number, number][]).map(
    ([id, open, memoryMb, heldMemoryMb, heldDiskGb]) => ({ id, open: open === 1, memoryMb, heldMemoryMb, heldDiskGb }),
  )
/** One node; undefined where there is none with this id. */
export const capacityRowOf = (tx: Db, nodeId: string): CapacityRow | undefined =>
  statements(tx).ofNode.get(nodeId) ?? undefined
/**
 * Open nodes of a location with this much memory left, in the order in which its rule takes them: `many` of them,
 * behind `last`.
 */
export function spacesIn(
  tx: Db,
  { id, placement }: { id: string; placement: 'spread' | 'fill' },
  memoryMb: number,
  { last, many }: { last: Space | undefined; many: number },
): Space[] {
  // Ranks are negative where the location spreads: those with enough memory are the first, else the last.
  const [least, most] = placement === 'spread' ? [-Number.MAX_SAFE_INTEGER, -memoryMb] : [memoryMb, Infinity]
  const behind = last ?? { rank: least, name: '' }
  return statements(tx)
    .spaces.all(id, behind.rank, behind.name, many)
    .filter(({ rank }) => rank <= most)
}
/** Can vms on the node have this CPU model? */
export const hasCpuModel = (tx: Db, nodeId: string, model: string): boolean =>
  statements(tx).hasCpuModel.get(model, nodeId) !== null
/** The nodes whose vms can have this CPU model. */
export const nodesWithCpuModel = (tx: Db, model: string): ReadonlySet<string> =>
  new Set(
    statements(tx)
      .withCpuModel.all(model)
      .map(({ id }) => id),
  )
/** The CPU models that vms can have on each node of a location; of a node that does not say none. */
export const cpuModelsIn = (tx: Db, locationId: string): { nodeId: string; model: string }[] =>
  statements(tx).cpuModelsIn.all(locationId)
/** The CPU of a node, as it calls itself. */
export const cpuOf = (tx: Db, nodeId: string): string | undefined => statements(tx).cpu.get(nodeId)?.model ?? undefined
/** The firmware that a node reports for vms on it; null: nothing beyond BIOS. */
export const nodeHardware = (tx: Db, nodeId: string): NonNullable<Facts['hardware']> | null => {
  const found = statements(tx).hardware.get(nodeId)?.hardware
  return found ? (JSON.parse(found) as NonNullable<Facts['hardware']>) : null
}

/** Nodes that are neither removed nor lost: this one first, then those of its location, those seen last before. */
export const liveNodesNear = (tx: Db, nodeId: string): string[] =>
  statements(tx)
    .near.all(nodeId)
    .map(({ id }) => id)
/** Has a node that is connected said what is on it, in this connection? */
export const hasReported = (tx: Db, nodeId: string): boolean => statements(tx).hasReported.get(nodeId) !== null
/** Is it a node of this location, and not removed? */
export const isNodeIn = (tx: Db, nodeId: string, locationId: string): boolean =>
  statements(tx).isIn.get(nodeId, locationId) !== null

/** Every node there is or was. */
export const nodeIds = (tx: Db): string[] =>
  statements(tx)
    .ids.all()
    .map(({ id }) => id)
/** The ids of the locations that have nodes. */
export const locationsWithNodes = (tx: Db): string[] =>
  statements(tx)
    .used.all()
    .map(({ id }) => id)
/** The locations of these nodes, each once. */
export const locationsOfNodes = (tx: Db, ids: readonly string[]): string[] =>
  statements(tx)
    .locations.all(JSON.stringify(ids))
    .map(({ id }) => id)

/** The columns by which Needs attention judges nodes, of every node, by name. */
export const nodesHealth = (tx: Db): NodeHealthRow[] => statements(tx).health.all()
/** The columns for monitoring, of every node. Without JSON: a scrape of 2,000 nodes takes 21 ms instead of 54. */
export const nodeFigureRows = (tx: Db) => statements(tx).figures.all()
export type { NodeHealthRow }

type Live = { connected(nodeId: string): boolean }
/** The nodes that are not removed: those that are away now, and those that are connected, by their ids. */
export function nodesByContact(tx: Db, live: Live): { away: string[]; connected: string[] } {
  const by = { away: [] as string[], connected: [] as string[] }
  for (const { id } of statements(tx).present.all()) by[live.connected(id) ? 'connected' : 'away'].push(id)
  return by
}
/** Nodes that are not removed and not connected now, by their ids. */
export const nodesAway = (tx: Db, live: Live): string[] => nodesByContact(tx, live).away
/** The versions of the agent, and on how many nodes each is. */
export const countVersions = (tx: Db): { version: string; n: number }[] => statements(tx).countVersions.all()
/** The agent's version on every node. */
export const agentVersions = (tx: Db) => statements(tx).versions.all()
/** Nodes with each word of the text in their name or location's name, or with the text as id, by name. */
export function searchNodes(tx: Db, text: string, limit: number): Found[] {
  const fits = hasWords(tx, 'node', 'n.id', text, { first: 0, last: 1, groups: 2 })
  return tx.$client
    .query<Found, (string | number)[]>(
      `SELECT n.id, n.name AS title, ${locationReference.columns('l', { detail: 'name' })},
         (n.id = ? OR n.name = ?) AS exact
       FROM nodes n ${locationReference.join('l', 'n.location_id')}
       WHERE n.removed_at IS NULL AND (${fits.where} OR n.id = ?)
       ORDER BY exact DESC, n.name LIMIT ?`,
    )
    .all(text, text, ...fits.values, text, limit)
}
/** The nodes that were connected when the controller ended: neither its stop nor a crash records their going. */
export const connectedBefore = (db: Db): string[] =>
  db
    .select({ id: nodes.id })
    .from(nodes)
    .where(and(isNotNull(nodes.connectedAt), isNull(nodes.removedAt)))
    .all()
    .map(({ id }) => id)
/** The nodes that are neither removed nor lost, in the file of a database that no controller has open. */
export const presentNodesIn = (file: Database): string[] =>
  file
    .query<{ id: string }, []>('SELECT id FROM nodes WHERE removed_at IS NULL AND lost_at IS NULL')
    .all()
    .map(({ id }) => id)
/** The nodes that are neither removed nor lost, each with all addresses of its host, without prefix lengths. */
export const nodesWithAddresses = (tx: Db): { id: string; name: string; locationId: string; addresses: string[] }[] =>
  statements(tx)
    .own.all()
    .map(({ addresses, ...node }) => ({
      ...node,
      addresses: (JSON.parse(addresses) as (string | null)[]).flatMap((one) => one?.split('/')[0] ?? []),
    }))
/** Is a node connected, or was one after `since` (milliseconds)? */
export const isAnyNodeLive = (tx: Db, since: number): boolean => statements(tx).anyLive.get(since) !== null

// ---------------------------------------------------------------- enrolling and reporting
export const insertEnrollment = (tx: Tx, row: typeof enrollments.$inferInsert): Enrollment =>
  tx.insert(enrollments).values(row).returning().get()
/** The panel shows for a month what became of a token. */
export const expiredEnrollments = expiring(enrollments, (now) => lt(enrollments.expiresAt, now - 30 * day))
export const enrollmentById = rowBy(enrollments, enrollments.id)
export const enrollmentByTokenHash = rowBy(enrollments, enrollments.tokenHash)
/** The token of the enrolment is invalid from then on. */
export const useEnrollment = (tx: Tx, id: string, nodeId: string, now: number) =>
  void tx.update(enrollments).set({ usedAt: now, nodeId }).where(eq(enrollments.id, id)).run()
/** Keeps what a node reported. */
export const reportNode = updating(nodes, nodes.id)
export const insertNode = (tx: Tx, row: typeof nodes.$inferInsert): Node =>
  tx.insert(nodes).values(row).returning().get()

/** When the node was away: its newest absences, the newest first. */
export const absencesOf = (tx: Db, nodeId: string, most: number): NodeAbsence[] =>
  tx
    .select()
    .from(nodeAbsences)
    .where(eq(nodeAbsences.nodeId, nodeId))
    .orderBy(desc(nodeAbsences.since))
    .limit(most)
    .all()

// ---------------------------------------------------------------- guests beside the workloads
/** Holds memory and disk of a node for something that is no workload. */
export const holdForGuest = inserting(nodeGuests)
/** Gives them back; without it nothing happens. */
export const releaseGuest = (tx: Tx, id: string) => void tx.delete(nodeGuests).where(eq(nodeGuests.id, id)).run()
/** The ids of what a node holds beside its workloads. */
export const guestsOn = (tx: Db, nodeId: string): string[] =>
  tx
    .select({ id: nodeGuests.id })
    .from(nodeGuests)
    .where(eq(nodeGuests.nodeId, nodeId))
    .all()
    .map(({ id }) => id)

// ---------------------------------------------------------------- addresses of nodes that are gone
const ofAddress = (id: string) => eq(goneAddresses.addressId, id)
export const goneAddress = (tx: Db, id: string): GoneAddress | undefined =>
  tx.select().from(goneAddresses).where(ofAddress(id)).get()
export const goneAddressesOf = (tx: Db, nodeId: string): GoneAddress[] =>
  tx.select().from(goneAddresses).where(eq(goneAddresses.nodeId, nodeId)).all()
/** Those whose time is over then. */
export const goneAddressesUntil = (tx: Db, at: number): GoneAddress[] =>
  tx.select().from(goneAddresses).where(lte(goneAddresses.until, at)).all()
export const noteGoneAddress = (tx: Tx, row: GoneAddress) =>
  void tx.insert(goneAddresses).values(row).onConflictDoUpdate({ target: goneAddresses.addressId, set: row }).run()
export const dropGoneAddress = (tx: Tx, id: string) => void tx.delete(goneAddresses).where(ofAddress(id)).run()
