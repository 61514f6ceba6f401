import { type Static, Type as t } from 'typebox'
import type { Actor } from '../../kernel/api/actor.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { locationOf, locationReferred } from '../locations/reference.ts'
import { node } from '../node-records/model.ts'
import { managementAddressOf } from '../node-records/queries.ts'
import { type CardHolder, cardById, cardsOn, everyCard, type HostRow, holdersOn } from './queries.ts'
import type { GpuCard } from './tables.ts'

export type { GpuCard }

/** Staff see the cards of the nodes that they see. */
export const gpuCard: Resource<GpuCard> = {
  name: 'GPU card',
  notFound: 'gpu_card_not_found',
  find(tx, actor, id) {
    const found = actor.kind === 'staff' ? cardById(tx, id) : undefined
    return found && node.find(tx, actor, found.nodeId) ? found : undefined
  },
}

export const cardStates = ['free', 'held', 'checking', 'closed', 'broken', 'missing'] as const
export type CardState = (typeof cardStates)[number]

/** The first that is true: a card that is held and broken is broken. */
export function stateOf(card: GpuCard): CardState {
  if (card.missingSince !== null) return 'missing'
  if (problemsOf(card).length) return 'broken'
  if (card.workloadId !== null) return 'held'
  if (!card.open) return 'closed'
  return card.health === 'passed' ? 'free' : 'checking'
}
/** How many cards of every node are in which state. */
export function cardsByState(tx: Db): Record<CardState, number> {
  const counts = Object.fromEntries(cardStates.map((state) => [state, 0])) as Record<CardState, number>
  for (const card of everyCard(tx)) counts[stateOf(card)]++
  return counts
}
/** Why it cannot be sold: what its node says, or what its last check found. */
export const problemsOf = ({ problems, health, checkProblems, checkAfter }: GpuCard): string[] => [
  ...problems,
  ...(health === 'failed' || checkAfter !== null ? checkProblems : []),
]

export const gpuCardResponse = namedSchema('GpuCard', {
  id: t.String(),
  nodeId: t.String(),
  uuid: described(t.String(), 'The name that its driver gives it.'),
  model: t.String(),
  memoryMb: t.Integer(),
  bus: t.String(),
  driver: t.String(),
  serial: t.String(),
  nvlinks: t.Integer(),
  mig: t.Enum(['none', 'off', 'on']),
  open: described(t.Boolean(), 'Staff let it be sold.'),
  state: described(
    t.Enum(cardStates),
    'checking: it waits for a check or is in one, and is sold when it passes. broken: see problems. missing: its ' +
      'node does not report it any more.',
  ),
  problems: described(t.Array(t.String()), 'Why it cannot be sold, in words.'),
  since: described(nullable(time), 'Since when it is missing, or its node says that it is broken.'),
  checkedAt: described(nullable(time), 'The last check; null: none yet.'),
  clearedMb: described(nullable(t.Integer()), 'So much of its memory was cleared then, and proved clear.'),
  memoryGbPerSecond: described(nullable(t.Number()), 'Its memory throughput then; null: it was not measured.'),
  heldBy: described(
    nullable(
      t.Object({
        id: t.String(),
        name: nullable(t.String()),
        hostname: nullable(t.String()),
        ownerId: nullable(t.String()),
      }),
    ),
    'The instance that has it, whether that runs or not; for those who may see instances.',
  ),
})

export const showCard = (
  { scopes }: Pick<Actor, 'scopes'>,
  card: GpuCard,
  holder: CardHolder | undefined,
): Static<typeof gpuCardResponse> => ({
  id: card.id,
  nodeId: card.nodeId,
  uuid: card.uuid,
  model: card.model,
  memoryMb: card.memoryMb,
  bus: card.bus,
  driver: card.driver,
  serial: card.serial,
  nvlinks: card.nvlinks,
  mig: card.mig,
  open: card.open,
  state: stateOf(card),
  problems: problemsOf(card),
  since: isoOrNull(card.missingSince ?? card.problemsSince),
  checkedAt: isoOrNull(card.checkedAt),
  clearedMb: card.clearedMb,
  memoryGbPerSecond: card.memoryGbPerSecond,
  heldBy:
    holder && scopes.has('servers:read')
      ? { id: holder.workloadId, name: holder.name, hostname: holder.hostname, ownerId: holder.ownerId }
      : null,
})

export const gpuHostResponse = namedSchema('GpuHost', {
  nodeId: t.String(),
  name: t.String(),
  location: locationReferred,
  connected: t.Boolean(),
  seenAt: described(nullable(time), 'When the host, which is away, was last connected; null while it is connected.'),
  open: described(t.Boolean(), 'It takes new GPU instances. Whether it takes servers is said by the node.'),
  engine: described(
    nullable(t.Object({ name: t.String(), version: t.String(), problems: t.Array(t.String()) })),
    'Its container engine; with a problem it runs no instances. Null: it reports none.',
  ),
  publicAddress: described(nullable(t.String()), 'Where mapped ports are reached; null: as the node names it.'),
  address: described(nullable(t.String()), 'Where mapped ports are reached now.'),
  firstPort: described(t.Integer(), 'New instances get mapped ports from this one on.'),
  lastPort: t.Integer(),
  heldPorts: t.Integer(),
  httpDomain: described(nullable(t.String()), 'HTTP ports of instances have names under it; null: they have none.'),
  httpState: described(
    nullable(t.Enum(['waiting', 'served', 'failed'])),
    'Whether the host serves these names; see httpProblem. Null: no domain.',
  ),
  httpProblem: described(nullable(t.String()), 'Why it does not, in words.'),
  vcpus: described(t.Integer(), 'Of which instances have heldVcpus.'),
  heldVcpus: t.Integer(),
  cards: t.Array(gpuCardResponse),
})

const httpStateOf = ({ httpDomain, httpScheme, httpProblem }: HostRow) =>
  httpDomain === null ? null : httpProblem !== null ? 'failed' : httpScheme === null ? 'waiting' : 'served'

type HostContext = Pick<AppContext, 'nodes'> & { tx: Db; actor: Actor }
export function showHost({ tx, nodes, actor }: HostContext, row: HostRow): Static<typeof gpuHostResponse> {
  const holders = holdersOn(tx, row.nodeId)
  return {
    nodeId: row.nodeId,
    name: row.name,
    location: locationOf(tx, row),
    connected: nodes.connected(row.nodeId),
    seenAt: isoOrNull(nodes.lastSeen(row.nodeId) ?? null),
    open: !!row.open,
    engine:
      row.engine === null
        ? null
        : {
            name: row.engine,
            version: row.engineVersion ?? '',
            problems: JSON.parse(row.engineProblems) as string[],
          },
    publicAddress: row.publicAddress,
    address: row.publicAddress ?? managementAddressOf(tx, row.nodeId) ?? null,
    firstPort: row.firstPort,
    lastPort: row.lastPort,
    heldPorts: row.heldPorts,
    httpDomain: row.httpDomain,
    httpState: httpStateOf(row),
    httpProblem: row.httpProblem,
    vcpus: row.threads,
    heldVcpus: row.heldVcpus,
    cards: cardsOn(tx, row.nodeId).map((card) => showCard(actor, card, holders.get(card.id))),
  }
}
