import type { Card, ContainerEngine } from '../../../agent/protocol/gpu.ts'
import type { Output } from '../../../agent/protocol/wire.ts'
import { patched } from '../../kernel/api/named.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy, updating } from '../../kernel/db/rows.ts'
import { nodeReference } from '../node-records/queries.ts'
import { workloadReference } from '../workloads/queries.ts'
import { vcpusWithCardsOn } from '../workloads/stays/queries.ts'
import { noteOutOfSale } from './out-of-sale.ts'
import { type GpuCard, type GpuHost, gpuCards, gpuHosts } from './tables.ts'

const cardReference = reference(gpuCards, ['model', 'nodeId'])
export const cardTarget: AuditTarget = {
  prefix: 'crd',
  name: (id) => cardReference.value('model', id),
  isGone: (id) => `NOT EXISTS (SELECT 1 FROM gpu_cards WHERE id = ${id})`,
}
export const cardById = rowBy(gpuCards, gpuCards.id)
export const updateCard = (tx: Tx, row: GpuCard, given: Partial<GpuCard>): GpuCard => patched(tx, gpuCards, row, given)
const changeCard = updating(gpuCards, gpuCards.id)
/** The settings of a GPU host; undefined for a node that never reported a card. */
export const gpuHostOf = rowBy(gpuHosts, gpuHosts.nodeId)
export const changeHost = updating(gpuHosts, gpuHosts.nodeId)

/** A host as placement counts with it. */
export type HostRow = Omit<GpuHost, 'engineProblems' | 'open'> & {
  name: string
  locationId: string
  threads: number
  open: number
  /** As JSON. */
  engineProblems: string
  heldVcpus: number
  heldPorts: number
}
/** One model of a host: how many cards of it there are, and how many can be sold now. */
export type ModelRow = { nodeId: string; model: string; cards: number; free: number }
/** A card with the node that reports it and the instance that holds it. */
export type CardHolder = {
  cardId: string
  workloadId: string
  name: string | null
  hostname: string | null
  ownerId: string | null
}

/** `gpu_cards c` that can be sold now. */
const IS_FREE = `c.open = 1 AND c.workload_id IS NULL AND c.health = 'passed' AND c.missing_since IS NULL
  AND c.problems = '[]'`
/** `gpu_cards c` that waits for a check: nobody has it, and nothing is known to be wrong with it. */
const WAITS = `c.health = 'unchecked' AND c.workload_id IS NULL AND c.missing_since IS NULL AND c.problems = '[]'
  AND c.open = 1`
/** A node that invents cards fills no table: more than these are forgotten, those that are gone for longest first. */
const MOST_OF_NODE = 128

const hosts = `SELECT h.node_id AS nodeId, h.engine, h.engine_version AS engineVersion,
  h.engine_problems AS engineProblems, h.open, h.public_address AS publicAddress, h.first_port AS firstPort,
  h.last_port AS lastPort, h.http_domain AS httpDomain, h.http_scheme AS httpScheme, h.http_applied AS httpApplied,
  h.http_problem AS httpProblem, h.http_after AS httpAfter,
  ${nodeReference.columns('n', { name: 'name', locationId: 'locationId', threads: 'threads' })},
  ${vcpusWithCardsOn('h.node_id')} AS heldVcpus,
  (SELECT count(*) FROM gpu_ports WHERE node_id = h.node_id AND port BETWEEN h.first_port AND h.last_port) AS heldPorts
  FROM gpu_hosts h ${nodeReference.join('n', 'h.node_id')} WHERE ${nodeReference.column('n', 'removedAt')} IS NULL`

const statements = prepared(({ $client }) => ({
  hosts: $client.prepare<HostRow, []>(`${hosts} ORDER BY ${nodeReference.column('n', 'name')}`),
  hostsIn: $client.prepare<HostRow, [string]>(
    `${hosts} AND ${nodeReference.column('n', 'locationId')} = +? AND ${nodeReference.column('n', 'lostAt')} IS NULL
     ORDER BY ${nodeReference.column('n', 'name')}`,
  ),
  models: $client.prepare<ModelRow, [string]>(
    `SELECT c.node_id AS nodeId, c.model, count(*) AS cards, sum(${IS_FREE}) AS free FROM gpu_cards c
     WHERE c.node_id IN (SELECT value FROM json_each(?)) GROUP BY c.node_id, c.model`,
  ),
  free: $client.prepare<{ id: string; uuid: string }, [string, string, number]>(
    `SELECT c.id, c.uuid FROM gpu_cards c WHERE c.node_id = +? AND c.model = ? AND ${IS_FREE} 
     ORDER BY c.bus, c.id LIMIT ?`,
  ),
  ofNode: $client.prepare<{ id: string }, [string]>('SELECT id FROM gpu_cards WHERE node_id = +? ORDER BY bus, id'),
  held: $client.prepare<{ id: string; uuid: string; model: string; memoryMb: number }, [string, string]>(
    `SELECT id, uuid, model, memory_mb AS memoryMb FROM gpu_cards
     WHERE workload_id = ? AND +node_id = ? ORDER BY bus, id`,
  ),
  holders: $client.prepare<CardHolder, [string]>(
    `SELECT c.id AS cardId, c.workload_id AS workloadId,
      ${workloadReference.columns('w', { name: 'name', hostname: 'hostname', ownerId: 'ownerId' })}
     FROM gpu_cards c ${workloadReference.leftJoin('w', 'c.workload_id')}
     WHERE c.node_id = +? AND c.workload_id IS NOT NULL`,
  ),
  hold: $client.prepare('UPDATE gpu_cards SET workload_id = ? WHERE id = ? AND workload_id IS NULL'),
  release: $client.prepare(
    `UPDATE gpu_cards SET workload_id = NULL, health = 'unchecked', check_after = NULL
     WHERE workload_id = ? AND +node_id = ?`,
  ),
  letBrokenGo: $client.prepare<{ uuid: string }, [string, string]>(
    `UPDATE gpu_cards SET workload_id = NULL
     WHERE workload_id = ? AND +node_id = ?
       AND (health = 'failed' OR problems <> '[]' OR missing_since IS NOT NULL) RETURNING uuid`,
  ),
  waiting: $client.prepare<{ uuid: string }, [string]>(
    `SELECT c.uuid FROM gpu_cards c INDEXED BY gpu_cards_unchecked WHERE c.node_id = +? AND ${WAITS} ORDER BY c.bus`,
  ),
  nodesWaiting: $client.prepare<{ nodeId: string }, [number]>(
    `SELECT DISTINCT c.node_id AS nodeId FROM gpu_cards c INDEXED BY gpu_cards_unchecked
     WHERE ${WAITS} AND (c.check_after IS NULL OR c.check_after <= +?)`,
  ),
  checkTheseLater: $client.prepare(
    `UPDATE gpu_cards SET check_after = ?, check_problems = ?
     WHERE node_id = ? AND health = 'unchecked' AND uuid IN (SELECT value FROM json_each(?))`,
  ),
  noteCheck: $client.prepare(
    `UPDATE gpu_cards SET health = ?, check_problems = ?, checked_at = ?, check_after = NULL, cleared_mb = ?,
       memory_gb_per_second = ? WHERE node_id = ? AND uuid = ?`,
  ),
  portsHeld: $client.prepare<{ port: number }, [string, number, number]>(
    'SELECT port FROM gpu_ports WHERE node_id = +? AND port BETWEEN ? AND ? ORDER BY port',
  ),
  portsOf: $client.prepare<{ port: number }, [string, string]>(
    'SELECT port FROM gpu_ports WHERE workload_id = ? AND +node_id = ? ORDER BY port',
  ),
  takePort: $client.prepare('INSERT INTO gpu_ports (node_id, port, workload_id) VALUES (?, ?, ?)'),
  freePorts: $client.prepare('DELETE FROM gpu_ports WHERE workload_id = ? AND +node_id = ?'),
  keepHost: $client.prepare(
    `INSERT INTO gpu_hosts (node_id, engine, engine_version, engine_problems) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (node_id) DO UPDATE SET engine = ?2, engine_version = ?3, engine_problems = ?4`,
  ),
  // A card that came back, is no longer broken or has another driver is checked before it is sold again.
  keepCard: $client.prepare(
    `INSERT INTO gpu_cards (id, node_id, uuid, model, memory_mb, bus, driver, serial, nvlinks, mig, problems,
       problems_since, created_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, iif(?11 = '[]', NULL, ?12), ?12)
     ON CONFLICT (node_id, uuid) DO UPDATE SET model = ?4, memory_mb = ?5, bus = ?6, driver = ?7, serial = ?8,
       nvlinks = ?9, mig = ?10, problems = ?11,
       problems_since = iif(?11 = '[]', NULL, coalesce(problems_since, ?12)), missing_since = NULL,
       health =
         iif(missing_since IS NOT NULL OR driver <> ?7 OR (problems <> '[]' AND ?11 = '[]'), 'unchecked', health)`,
  ),
  miss: $client.prepare(
    `UPDATE gpu_cards SET missing_since = ?
     WHERE node_id = ? AND missing_since IS NULL AND uuid NOT IN (SELECT value FROM json_each(?))`,
  ),
  forgetOldest: $client.prepare(
    `DELETE FROM gpu_cards WHERE id IN (
       SELECT id FROM gpu_cards WHERE node_id = ?1 AND missing_since IS NOT NULL AND workload_id IS NULL
       ORDER BY missing_since
       LIMIT max(0, (SELECT count(*) FROM gpu_cards WHERE node_id = ?1) - ${MOST_OF_NODE}))`,
  ),
  forget: $client.prepare('DELETE FROM gpu_cards WHERE id = ?'),
  forgetOfNode: $client.prepare('DELETE FROM gpu_cards WHERE node_id = ?'),
  forgetHost: $client.prepare('DELETE FROM gpu_hosts WHERE node_id = ?'),
  freePortsOfNode: $client.prepare('DELETE FROM gpu_ports WHERE node_id = ?'),
  modelsAnywhere: $client.prepare<{ model: string; memoryMb: number }, []>(
    'SELECT model, max(memory_mb) AS memoryMb FROM gpu_cards GROUP BY model ORDER BY model',
  ),
  unsold: $client.prepare<{ id: string }, []>(
    `SELECT c.id FROM gpu_cards c WHERE c.missing_since IS NOT NULL OR c.problems <> '[]'
       OR (c.health = 'failed' AND c.workload_id IS NULL) OR (c.health = 'unchecked' AND c.check_after IS NOT NULL)
     ORDER BY c.node_id, c.bus, c.id`,
  ),
}))

// ---------------------------------------------------------------- hosts and cards
/** Every GPU host that is not removed, by name. */
export const gpuHostRows = (tx: Db): HostRow[] => statements(tx).hosts.all()
/** Those of a location that are not lost. */
export const gpuHostsIn = (tx: Db, locationId: string): HostRow[] => statements(tx).hostsIn.all(locationId)
/** The models of each of these hosts. */
export const modelsOn = (tx: Db, nodeIds: readonly string[]): ModelRow[] =>
  statements(tx).models.all(JSON.stringify(nodeIds))
/** The models that any node has ever reported, with the memory of the largest of each. */
export const knownModels = (tx: Db) => statements(tx).modelsAnywhere.all()
/** Every card of the nodes that are not removed. */
export const everyCard = (tx: Db): GpuCard[] => gpuHostRows(tx).flatMap(({ nodeId }) => cardsOn(tx, nodeId))
/** The cards of a node in the order of their slots. */
export const cardsOn = (tx: Db, nodeId: string): GpuCard[] =>
  statements(tx)
    .ofNode.all(nodeId)
    .map(({ id }) => cardById(tx, id)!)
/** The instances that hold cards of a node, by the card. */
export const holdersOn = (tx: Db, nodeId: string): ReadonlyMap<string, CardHolder> =>
  new Map(
    statements(tx)
      .holders.all(nodeId)
      .map((holder) => [holder.cardId, holder]),
  )
/** Cards that are missing, broken, or could not be checked, of every node. */
export const cardsInTrouble = (tx: Db): GpuCard[] =>
  statements(tx)
    .unsold.all()
    .map(({ id }) => cardById(tx, id)!)

/** Keeps what a node reports of its engine and cards; cards that it does not name are missing. */
export function keepCards(
  tx: Tx,
  nodeId: string,
  { containers, cards = [] }: { containers?: ContainerEngine | undefined; cards?: readonly Card[] | undefined },
  now: number,
) {
  if (!cards.length && !gpuHostOf(tx, nodeId)) return
  const { keepHost, keepCard, miss, forgetOldest } = statements(tx)
  const before = cardsOn(tx, nodeId)
  keepHost.run(nodeId, containers?.name ?? null, containers?.version ?? null, json(containers?.problems))
  for (const card of cards) {
    const { uuid, model, memoryMb, bus, driver, serial, nvlinks, mig, problems } = card
    keepCard.run(newId('crd'), nodeId, uuid, model, memoryMb, bus, driver, serial, nvlinks, mig, json(problems), now)
  }
  const areMissing = miss.run(now, nodeId, json(cards.map(({ uuid }) => uuid))).changes > 0
  for (const card of before) noteTrouble(tx, card, now)
  if (areMissing) forgetOldest.run(nodeId)
}

/** Only of a card that was sold: a node that makes up troubles has to have passed a check between two of them. */
function noteTrouble(tx: Tx, before: GpuCard, now: number) {
  if (before.health !== 'passed' || before.problems.length || before.missingSince !== null) return
  const { problems, missingSince } = cardById(tx, before.id)!
  if (missingSince !== null) noteOutOfSale(tx, before, 'missing', [], now)
  else if (problems.length) noteOutOfSale(tx, before, 'broken', problems, now)
}
const json = (list: readonly string[] = []) => JSON.stringify(list)

export const forgetCard = (tx: Tx, id: string) => void statements(tx).forget.run(id)
/** For a node that is removed. */
export function forgetGpuHost(tx: Tx, nodeId: string) {
  const { forgetOfNode, freePortsOfNode, forgetHost } = statements(tx)
  for (const statement of [forgetOfNode, freePortsOfNode, forgetHost]) statement.run(nodeId)
}

// ---------------------------------------------------------------- checks
/** The UUIDs of the cards of a node that wait for a check. */
export const cardsToCheck = (tx: Db, nodeId: string): string[] =>
  statements(tx)
    .waiting.all(nodeId)
    .map(({ uuid }) => uuid)
/** The nodes with such cards, whose turn has come by `now` (ms). */
export const nodesToCheck = (tx: Db, now: number): string[] =>
  statements(tx)
    .nodesWaiting.all(now)
    .map(({ nodeId }) => nodeId)
/** It is not sold before it passes a check. */
export const mustBeChecked = (tx: Tx, id: string) => changeCard(tx, id, { health: 'unchecked', checkAfter: null })
/** The check of these cards could not be made; it is tried again after `at` (ms). */
export const checkLater = (tx: Tx, nodeId: string, uuids: readonly string[], at: number, why: string) =>
  void statements(tx).checkTheseLater.run(at, json([why]), nodeId, json(uuids))

type Checked = Output<'cards.check'>['cards']
/** Records what a check found of cards of this node; cards that it does not have are left out. */
export function noteCheck(tx: Tx, nodeId: string, checked: Checked, now: number) {
  const before = new Map(cardsOn(tx, nodeId).map((card) => [card.uuid, card]))
  for (const { uuid, sellable, problems, clearedMb, memoryGBps = null } of checked) {
    const health = sellable ? 'passed' : 'failed'
    statements(tx).noteCheck.run(health, json(problems), now, clearedMb, memoryGBps, nodeId, uuid)
    const card = before.get(uuid)
    if (card && !sellable && card.health !== 'failed') noteOutOfSale(tx, card, 'check_failed', problems, now)
  }
}

// ---------------------------------------------------------------- holding
/** The card and port part of an instance's hold. Throws when another took a card in the same transaction. */
export function holdOn(
  tx: Tx,
  { nodeId, firstPort, lastPort }: Pick<HostRow, 'nodeId' | 'firstPort' | 'lastPort'>,
  workloadId: string,
  { model, cards, ports }: { model: string; cards: number; ports: number },
): { cards: string[]; ports: number[] } {
  const { free, hold, takePort } = statements(tx)
  const taken = free.all(nodeId, model, cards)
  if (taken.length < cards) throw new Error(`${nodeId} has fewer free cards than were counted`)
  for (const { id } of taken) hold.run(workloadId, id)
  const freed = freePortsIn(tx, nodeId, firstPort, lastPort, ports)
  for (const port of freed) takePort.run(nodeId, port, workloadId)
  return { cards: taken.map(({ uuid }) => uuid), ports: freed }
}

function freePortsIn(tx: Db, nodeId: string, first: number, last: number, wanted: number): number[] {
  const held = new Set(
    statements(tx)
      .portsHeld.all(nodeId, first, last)
      .map(({ port }) => port),
  )
  const free: number[] = []
  for (let port = first; port <= last && free.length < wanted; port++) if (!held.has(port)) free.push(port)
  if (free.length < wanted) throw new Error(`${nodeId} has fewer free ports than were counted`)
  return free
}

/** An instance on a node where it stays: while it moves, it holds cards and ports of two. */
type OnHost = { id: string; nodeId: string }

/**
 * Gives back the cards of an instance that are broken or missing, and takes free ones of the model on its host until it
 * has `wanted`. Answers their UUIDs, and how many it still lacks.
 */
export function changeBroken(
  tx: Tx,
  { id, nodeId }: OnHost,
  { model, wanted }: { model: string; wanted: number },
): { given: string[]; taken: string[]; lacking: number } {
  const { letBrokenGo, free, hold } = statements(tx)
  const given = letBrokenGo.all(id, nodeId).map(({ uuid }) => uuid)
  const taken = free.all(nodeId, model, wanted - cardsOf(tx, { id, nodeId }).length)
  for (const card of taken) hold.run(id, card.id)
  return { given, taken: taken.map(({ uuid }) => uuid), lacking: wanted - cardsOf(tx, { id, nodeId }).length }
}

/** Frees its cards alone, which have to be checked before they are sold again; ports and processors stay held. */
export const endHoldOfCards = (tx: Tx, { id, nodeId }: OnHost) => void statements(tx).release.run(id, nodeId)

/** Takes free cards of the model on its host until it has `wanted`, or none. Answers how many its host lacks. */
export function holdCards(
  tx: Tx,
  { id, nodeId }: OnHost,
  { model, wanted }: { model: string; wanted: number },
): number {
  const { free, hold } = statements(tx)
  const needed = Math.max(0, wanted - cardsOf(tx, { id, nodeId }).length)
  const found = needed ? free.all(nodeId, model, needed) : []
  if (found.length === needed) for (const card of found) hold.run(id, card.id)
  return needed - found.length
}

/** Frees what `holdOn` held; its cards have to be checked before they are sold again. Nothing held: nothing happens. */
export function endHold(tx: Tx, { id, nodeId }: OnHost) {
  const { release, freePorts } = statements(tx)
  for (const statement of [release, freePorts]) statement.run(id, nodeId)
}

/** The cards of this host that an instance holds, in the order of their slots. */
export const cardsOf = (tx: Db, { id, nodeId }: OnHost) => statements(tx).held.all(id, nodeId)
/** The ports of the host that lead to it, in their order; the first is that of SSH. */
export const portsOf = (tx: Db, { id, nodeId }: OnHost): number[] =>
  statements(tx)
    .portsOf.all(id, nodeId)
    .map(({ port }) => port)
