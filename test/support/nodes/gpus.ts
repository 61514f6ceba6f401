// Nodes with cards, images and offers of GPU instances, for tests.
import type { FakeSettings } from '../../../agent/host/fake-host.ts'
import type { Card } from '../../../agent/protocol/gpu.ts'
import { cardsOn, keepCards, noteCheck } from '../../../src/fleet/gpus/queries.ts'
import type { GpuCard } from '../../../src/fleet/gpus/tables.ts'
import { write } from '../../../src/kernel/db/open.ts'
import type { Panel, World } from '../world/panel.ts'

export const MODEL = 'NVIDIA L4'

/** A card as its node reports it. */
export const cardOf = (n: number, more: Partial<Card> = {}): Card => ({
  uuid: `GPU-${n.toString(16).padStart(8, '0')}-0b4f-4a6c-9d7e-8f9a0b1c2d3e`,
  model: MODEL,
  memoryMb: 23_034,
  bus: `0000:${(n % 256).toString(16).padStart(2, '0')}:00.0`,
  driver: '570.0',
  serial: String(n),
  nvlinks: 0,
  mig: 'none',
  problems: [],
  ...more,
})

const engine = { name: 'fake', version: '1.0', problems: [] as string[] }
type Report = { cards: readonly Card[]; problems?: string[]; engine?: false }
/** Takes in what the facts of a node say of its engine and cards. */
export const reportCards = (p: Panel, nodeId: string, { cards, problems = [], ...more }: Report) =>
  write(p.db, (tx) =>
    keepCards(tx, nodeId, { containers: more.engine === false ? undefined : { ...engine, problems }, cards }, p.now()),
  )

let made = 0
type Host = { name?: string; model?: string; unchecked?: true } & Partial<FakeSettings>
/** A node with so many cards, which have passed a check unless they are to be unchecked. */
export function addGpuHost(
  p: Panel,
  locationId: string,
  n: number,
  { name, model, unchecked, ...settings }: Host = {},
) {
  const cards = Array.from({ length: n }, () => cardOf(++made, model === undefined ? {} : { model }))
  const node = p.addNode(locationId, name, { ...settings, cards })
  reportCards(p, node.id, { cards })
  if (!unchecked) passAll(p, node.id)
  return { ...node, cards }
}

/** The node of a world gets a card, which waits for its check. */
export function giveCard(p: World) {
  const cards = [cardOf(++made)]
  Object.assign(p.node.agent.settings, { cards })
  p.node.agent.restart()
  reportCards(p, p.node.id, { cards })
}

/** Every card of the node has passed a check. */
export const passAll = (p: Panel, nodeId: string) =>
  write(p.db, (tx) =>
    noteCheck(
      tx,
      nodeId,
      cardsOn(tx, nodeId).map(({ uuid, memoryMb }) => ({ uuid, sellable: true, problems: [], clearedMb: memoryMb })),
      p.now(),
    ),
  )

/** The card of a node with this number, as it is stored. */
export const cardIn = (p: Panel, nodeId: string, uuid: string): GpuCard =>
  cardsOn(p.db, nodeId).find((card) => card.uuid === uuid)!

const digest = (n: number) => `sha256:${n.toString(16).padStart(64, '0')}`
export const addGpuImage = async (p: Panel, more: object = {}): Promise<string> => {
  const body = { name: `Image ${++made}`, reference: `registry.example.com/ml/image@${digest(made)}`, mostMb: 8192 }
  return (await p.admin('POST', '/admin/gpu-images', { ...body, ...more })).id
}
/** One card, one vCPU, 1 GiB of memory, 10 GiB of workspace and three ports, if nothing else is said. */
export const addGpuOffer = async (p: Panel, more: { imageIds?: string[] } & Record<string, unknown> = {}) => {
  const size = { name: `Offer ${++made}`, model: MODEL, cards: 1, vcpus: 1, memoryMb: 1024, workspaceGb: 10, ports: 3 }
  const imageIds = more.imageIds ?? [await addGpuImage(p)]
  return (await p.admin('POST', '/admin/gpu-offers', { ...size, ...more, imageIds })).id as string
}

/** The id of a card: the first of this node, or of a node that is added for it. */
export const gpuCard = (p: Panel & { location: string }, nodeId = addGpuHost(p, p.location, 1).id): string =>
  cardsOn(p.db, nodeId)[0]!.id
