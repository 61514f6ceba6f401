// Imports whose servers move: their hypervisors are fake ones that all nodes of a panel share.
import { expect } from 'bun:test'
import { type FakeSourceHost, FakeSourceHosts, type FakeSourceServer } from '../../../agent/drivers/source-host/fake.ts'
import { closedAtEnd } from '../../support/opened.ts'
import type { World } from '../../support/world/panel.ts'
import { decide, dryRun, KVM_1 } from '../dry-run/world.ts'
import { type Listed, small } from '../panel-in-memory.ts'
import { begin, discovered, type Importing, map, open } from '../world.ts'

export { KVM_1 }

export type Moved = Record<string, any> & { serverId: string; hostname: string; state: string }

/** The card of the nth server. */
export const macOf = (n: number) => `52:54:00:00:${hex(n >> 8)}:${hex(n)}`
const hex = (n: number) => (n & 255).toString(16).padStart(2, '0')
/** A server as its hypervisor has it: a card of its own, besides what the test says. */
export const there = (n: number, values: FakeSourceServer = {}): FakeSourceServer => ({
  ...values,
  definition: { nics: [{ mac: macOf(n), model: 'virtio', bridge: 'br0' }], ...values.definition },
})
/** The first servers of a hypervisor; `values`: what is special about some. */
export const domains = (numbers: readonly number[], values: Record<number, FakeSourceServer> = {}) =>
  Object.fromEntries(numbers.map((n) => [`v${n}`, there(n, values[n])])) as NonNullable<FakeSourceHost['servers']>

type Options = {
  nodes?: readonly string[]
  kind?: 'virtualizor'
  /** Specialities of servers, by their numbers. */
  special?: Record<number, FakeSourceServer>
  /** Work before anything is decided. */
  first?: (p: World) => Promise<void>
  /** Choices that are made before the others get the usual ones. */
  before?: object
  /** The choice for every range that `before` leaves out. */
  ranges?: 'new'
}
/** An import that is decided and checked. */
export async function ready(listed: Partial<Listed> = {}, { special = {}, nodes = [], ...options }: Options = {}) {
  const whole = { ...small(), ...listed }
  const p = await open(whole)
  const id = await begin(p, options.kind && { kind: options.kind })
  await discovered(p, id)
  Object.assign(p, { id })
  return await readied(p as Importing & { id: string }, whole, { special, nodes, ...options })
}
async function readied(
  p: Importing & { id: string },
  whole: Listed,
  { special = {}, nodes = [], ...options }: Options,
) {
  await options.first?.(p)
  if (options.before) await map(p, p.id, options.before)
  if (options.ranges)
    await map(p, p.id, { ranges: whole.ranges.map(({ id }) => ({ sourceId: id, choice: options.ranges })) })
  const path = `${p.node.agent.home}/source-hosts.db`
  const sources = new FakeSourceHosts(path, 'test', p.now)
  const close = closedAtEnd(() => sources.close())
  for (const name of nodes) p.addNode(p.location, name, { sourceHosts: path })
  for (const [id, all] of Map.groupBy(whole.servers, ({ hypervisorId }) => hypervisorId)) {
    const numbers = all.map((one) => Number(one.id))
    sources.describe(`192.0.2.${10 + Number(id)}`, { lets: 'everyone', servers: domains(numbers, special) })
  }
  await decide(p, p.id, p.location)
  expect((await dryRun(p)).status).toBe('ready')
  return Object.assign(p, {
    sources,
    [Symbol.dispose]() {
      close()
      p.close()
    },
  })
}
export type Ready = Awaited<ReturnType<typeof ready>>

export const start = (p: World & { id: string }, body: object = {}) =>
  p.admin('POST', `/admin/migrations/${p.id}/actions/start`, body)
export const act = (p: World & { id: string }, action: string, body?: object) =>
  p.admin('POST', `/admin/migrations/${p.id}/actions/${action}`, body)
/** One turn of the clock of the dispatcher. Jobs begin, and are not waited for. */
export async function dispatch(p: World) {
  const { app, hub } = p.controller
  await app.importDispatcher.turn(p.db, app)
  await app.importLimitsTold.turn({ db: p.db, hub })
}
/** Turns until nothing moves and nothing begins; answers the import. */
export async function moveAll(p: World & { id: string }, most = 400) {
  for (let i = 0; i < most; i++) {
    await dispatch(p)
    await p.settle()
    const row = await p.admin('GET', `/admin/migrations/${p.id}`)
    if (row.status !== 'migrating') return row
  }
  throw new Error('the import does not end')
}
export const moves = async (p: World & { id: string }, query = ''): Promise<Moved[]> =>
  (await p.admin('GET', `/admin/migrations/${p.id}/moves?limit=200${query}`)).data
export const move = async (p: World & { id: string }, hostname: string): Promise<Moved> =>
  (await moves(p)).find((one) => one.hostname === hostname)!
export const progress = (p: World & { id: string }) => p.admin('GET', `/admin/migrations/${p.id}/progress`)

type Event = { type: string; data: Record<string, any> }
export const eventsOf = (p: World): Event[] =>
  p.db.$client
    .query<{ type: string; data: string }, []>('SELECT type, data FROM events ORDER BY seq')
    .all()
    .map(({ type, data }) => ({ type, data: JSON.parse(data) }))

/** On all nodes of the panel together: vms that are on, vms, and volumes. */
export async function onNodes(p: World) {
  const hosts = [...p.agents.values()].map(({ host }) => host)
  const vms = (await Promise.all(hosts.map((host) => host.hypervisor.look()))).flatMap(({ ours }) => ours)
  const volumes = (await Promise.all(hosts.map((host) => host.storage.list()))).flat()
  return { running: vms.filter(({ power }) => power === 'running').length, vms: vms.length, volumes: volumes.length }
}
