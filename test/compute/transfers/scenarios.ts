// Moves for the crash matrix, on a panel with three nodes: whatever happens, the server has one home, runs on one node
// at most, and nothing of it is left on another one.
import { expect } from 'bun:test'
import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import type { World } from '../../support/world/panel.ts'
import { looked, restoredBefore } from './elsewhere/restored.ts'
import { openTwo } from './two-locations.ts'
import { move, nodeNamed, open, order, where } from './world.ts'

const started = ['transfer.started']
const there = (power: string, { disks = 1, floating = 0 } = {}) =>
  `${power}, ${disks} disks, 1 rules, ${floating} floating, 0 transfers`
type Where = { status: string; power: string; mode: string; disks?: number; floating?: number; gb?: number }
const at = (node: string, { status, power, disks, floating, gb = 20 }: Where) => ({
  status,
  stays: [`home on ${node}`],
  onNodes: Object.fromEntries(
    ['fra-01', 'fra-02', 'fra-03'].map((name) => [
      name,
      name === node ? there(power, { disks: disks ?? 1, floating: floating ?? 0 }) : 'nothing',
    ]),
  ),
  held: [`${node} holds 1 2048 ${gb}`],
  running: power === 'running' ? 1 : 0,
  openJobs: [],
})
const moved = (given: Where) => ({
  ...at('fra-02', given),
  transfers: [`${given.mode} finished`],
  events: [...started, 'transfer.finished'],
})
const stayed = (given: Where) => ({ ...at('fra-01', given), transfers: [`${given.mode} failed`] })
/** A node that is lost still has what it had, and nobody asks it. */
const aside = (name: string, end: ReturnType<typeof at>) => ({
  ...end,
  onNodes: { ...end.onNodes, [name]: expect.any(String) },
  running: expect.any(Number),
})

const running: Where = { status: 'running', power: 'running', mode: 'live' }
const near: Where = { ...running, mode: 'near_live' }
const off: Where = { status: 'stopped', power: 'stopped', mode: 'cold' }
const loaded: Where = { ...running, disks: 2, floating: 1, gb: 30 }

const start =
  (body: object = {}) =>
  async (p: World, id: string) => {
    const { jobId, serverId } = await move(p, id, { nodeId: nodeNamed(p, 'fra-02'), ...body })
    return { jobId, serverId }
  }
async function stopped(p: World) {
  const id = await order(p)
  await p.admin('POST', `/servers/${id}/actions/power`, { action: 'off' })
  await p.settle()
  return id
}
/** With an extra volume, a floating address and a private network. */
export async function withEverything(p: World) {
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50 })
  const id = await order(p)
  await p.admin('POST', `/servers/${id}/volumes`, { name: 'data', sizeGb: 10 })
  await p.settle()
  const { id: floatingId } = await p.admin('POST', `/customers/${p.customer.id}/floating-ips`, {
    locationId: p.location,
  })
  await p.admin('POST', `/floating-ips/${floatingId}/actions/assign`, { serverId: id })
  await p.settle()
  const network = { name: 'backend', locationId: p.location, ipv4: '10.20.0.0/24' }
  const { id: networkId } = await p.admin('POST', `/customers/${p.customer.id}/networks`, network)
  await p.admin('POST', `/networks/${networkId}/servers`, { serverId: id })
  await p.settle()
  return id
}

const jobOf = (p: World, kind: string) =>
  p.db.$client.query<{ id: string; state: string }, [string]>('SELECT id, state FROM jobs WHERE kind = ?').get(kind)!
/** The node that it left is away, so the job that clears it waits. */
async function left(p: World) {
  const id = await order(p)
  p.arm({ failpoints: (moment) => void (moment === 'move/settle:before' && p.node.agent.disconnect()) })
  await start()(p, id)
  await eventually(() => jobOf(p, 'move').state === 'succeeded')
  p.arm({})
  expect(jobOf(p, 'clear_move').state).toBe('queued')
  return id
}

/** Lost before the pivot its home takes the server with it; afterwards it is only a place that is not cleared. */
const lost = (given: Where) => ({
  nodeId: (isPast: boolean) =>
    isPast
      ? aside('fra-01', moved(given))
      : {
          status: 'failed',
          stays: ['home on fra-01'],
          onNodes: { 'fra-01': expect.any(String), 'fra-02': 'nothing', 'fra-03': 'nothing' },
          transfers: [`${given.mode} failed`],
          openJobs: [],
        },
  // It is brought back, unless the move had ended before the loss: then it failed with its new home.
  otherNodeId: (isPast: boolean, { transfers: [transfer] }: { transfers: string[] }) =>
    isPast && transfer === `${given.mode} finished`
      ? { status: 'failed', stays: ['home on fra-02'], openJobs: [] }
      : { ...aside('fra-02', at('fra-01', given)), transfers: [`${given.mode} failed`] },
})

const moves: readonly Scenario[] = [
  {
    name: 'moving a running server',
    kind: 'move',
    before: order,
    start: start(),
    succeeds: moved(running),
    fails: stayed(running),
    lost: lost(running),
    lostWithAgent: 'transfer_cut',
  },
  {
    name: 'moving a running server, and shutting it down for what changed',
    kind: 'move',
    before: order,
    start: start({ mode: 'near_live' }),
    succeeds: moved(near),
    fails: stayed(near),
    sampled: true,
  },
  {
    name: 'moving a server that is off',
    kind: 'move',
    before: stopped,
    start: start(),
    succeeds: moved(off),
    fails: stayed(off),
    sampled: true,
  },
  {
    name: 'moving a server with a volume, a floating address and a private network',
    kind: 'move',
    before: withEverything,
    start: start(),
    succeeds: moved(loaded),
    fails: stayed(loaded),
    lostWithAgent: 'transfer_cut',
    sampled: true,
  },
  {
    name: 'clearing the node that a server left',
    kind: 'clear_move',
    before: left,
    start: async (p, id) => {
      p.node.agent.connect()
      return { jobId: jobOf(p, 'clear_move').id, serverId: id }
    },
    succeeds: moved(running),
  },
]

const OLD = '203.0.113.10'
const NEW = '198.51.100.10'
/** The measure of moves with the addresses that the server holds, and those that are kept for its moves. */
async function withAddresses(p: World, id: string) {
  const { $client } = p.db
  const shown = (sql: string, ...values: string[]) =>
    $client
      .query<{ address: string }, string[]>(sql)
      .all(...values)
      .map(({ address }) => address)
  const held = shown('SELECT address FROM addresses WHERE workload_id = ?', id)
  const kept = shown("SELECT address FROM addresses WHERE reserved_for LIKE 'Move %'")
  return { ...(await where(p, id)), held: [], addresses: held, kept }
}
const onNone = { 'fra-01': 'nothing', 'fra-02': 'nothing', 'fra-03': 'nothing', 'hel-01': 'nothing' }
const readdressing: Scenario = {
  name: 'moving a server to another location, where it gets new addresses',
  kind: 'move',
  before: order,
  start: async (p, id) => {
    const { jobId, serverId } = await move(p, id, { nodeId: nodeNamed(p, 'hel-01'), readdress: true })
    return { jobId, serverId }
  },
  succeeds: {
    ...moved(near),
    stays: ['home on hel-01'],
    onNodes: { ...onNone, 'hel-01': there('running') },
    events: [...started, 'transfer.finished'],
    ...{ held: [], addresses: [NEW], kept: [] },
  },
  fails: {
    ...stayed(near),
    onNodes: { ...onNone, 'fra-01': there('running') },
    ...{ held: [], addresses: [OLD], kept: [] },
  },
  sampled: true,
}

const adopting: Scenario = {
  name: 'a server is where it runs after a restore',
  kind: 'adopt',
  open,
  measure: where,
  async before(p) {
    const id = await order(p)
    await restoredBefore(p, () => move(p, id))
    return id
  },
  async start(p, id) {
    await looked(p)
    return p.admin('POST', `/admin/servers/${id}/actions/adopt`, { nodeId: nodeNamed(p, 'fra-02') })
  },
  succeeds: { ...at('fra-02', running), transfers: [], events: [] },
}

export const scenarios: readonly Scenario[] = [
  ...moves.map((scenario) => ({ ...scenario, open, measure: where })),
  { ...readdressing, open: openTwo, measure: withAddresses },
  adopting,
]
