// A panel that can sell a GPU instance.
import type { ContainerEnd } from '../../../agent/protocol/gpu.ts'
import type { Crash } from '../../../agent/protocol/wire.ts'
import { checkWaitingCards } from '../../../src/fleet/gpus/check.ts'
import { type World, world } from '../world/panel.ts'
import { addGpuHost, addGpuImage, addGpuOffer } from './gpus.ts'

const publicKey = (n: number) => {
  const blob = Buffer.concat([
    Buffer.from([0, 0, 0, 11]),
    Buffer.from('ssh-ed25519'),
    Buffer.from([0, 0, 0, 32]),
    Buffer.alloc(32, n),
  ])
  return `ssh-ed25519 ${blob.toString('base64')}`
}
/** A key of the account; its id. */
export const addKey = async (p: World, ownerId: string, n: number): Promise<string> =>
  (await p.admin('POST', `/customers/${ownerId}/ssh-keys`, { name: `key ${n}`, publicKey: publicKey(n) })).id

/**
 * A GPU host with so many cards, an offer of one card with two images, the first with Jupyter, and a key of the
 * customer.
 */
export async function gpuWorld({ cards = 1, offer = {} }: { cards?: number; offer?: object } = {}) {
  const p = await world()
  const host = addGpuHost(p, p.location, cards, { name: 'gpu-01' })
  const images = [
    await addGpuImage(p, { jupyter: true, environment: ['HF_HOME=/workspace/hf', 'MODE=fast'] }),
    await addGpuImage(p),
  ] as const
  const offerId = await addGpuOffer(p, { imageIds: [...images], ...offer })
  const keyId = await addKey(p, p.customer.id, 1)
  const instanceOrder = { ownerId: p.customer.id, offerId, nodeGroupId: p.location }
  return Object.assign(p, { host, images, offerId, keyId, instanceOrder })
}
export type GpuWorld = Awaited<ReturnType<typeof gpuWorld>>

/** An instance whose setup has ended, well or not; its id. */
export async function orderInstance(p: GpuWorld, more: object = {}): Promise<string> {
  const { instanceId } = await p.admin('POST', '/admin/gpu-instances', { ...p.instanceOrder, ...more })
  await p.settle()
  return instanceId
}
export const showInstance = (p: World, id: string) => p.admin('GET', `/gpu-instances/${id}`)
export const power = async (p: World, id: string, action: 'start' | 'stop' | 'restart') => {
  await p.admin('POST', `/gpu-instances/${id}/actions/power`, { action })
  await p.settle()
}
/** The container on its host, as it was made. */
export const containerOn = ({ host }: GpuWorld, id: string) => host.agent.host.containers.definition(id)
/** How often its host has started it. */
export const startsOf = async ({ host }: GpuWorld, id: string): Promise<number> =>
  Number(/started (\d+) times/.exec((await host.agent.host.containers.logs(id, 10)).text)?.[1] ?? 0)
export const powerOn = ({ host }: GpuWorld, id: string) => host.agent.host.containers.power(id)

/** The cards that were given back are checked. */
export async function checkCards(p: World) {
  checkWaitingCards(p.db, p.controller.app)
  await p.settle()
}

/** The container ends although nobody asked for it, and its host reports it. */
export async function ends(
  p: GpuWorld,
  id: string,
  outcome: Crash['outcome'] | 'settled',
  end: Partial<ContainerEnd> = {},
) {
  const known = { exitCode: 1, oomKilled: false, detail: 'The command ended with exit code 1.', ...end }
  p.turnClock(60_000)
  p.host.agent.host.containers.end(id, known)
  const at = p.now()
  p.host.agent.say({ type: 'power', workload: id, power: 'stopped', at, reason: 'ended', end: known })
  if (outcome !== 'settled')
    p.host.agent.say({ type: 'crash', workload: id, at, cause: 'ended', detail: '', outcome, end: known })
  if (outcome === 'restarts') {
    await p.host.agent.host.containers.start(id)
    p.host.agent.say({ type: 'power', workload: id, power: 'running', at: p.now(), reason: 'started again' })
  }
  await p.reported()
}
/** The host sends a heartbeat and its inventory. */
export async function beats(p: GpuWorld) {
  p.turnClock(11_000)
  await p.host.agent.look()
  await p.reported()
}

type Told = { type: string; data: any }
/** Events of instances, in their order. */
export const instanceEvents = (p: World): Told[] =>
  p.db.$client
    .query<{ type: string; data: string }, []>("SELECT type, data FROM events WHERE type LIKE 'gpu%' ORDER BY seq")
    .all()
    .map(({ type, data }) => ({ type: type.slice('gpu_instance.'.length), data: JSON.parse(data) }))
export const namesOf = (p: World): string[] => instanceEvents(p).map(({ type }) => type)
