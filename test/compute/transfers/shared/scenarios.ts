// Moves between nodes that reach one storage, for the crash matrix: whatever happens, the disk in it stays as it is,
// and no two nodes ever have it open.
import type { Scenario } from '../../../support/crash-matrix/scenario.ts'
import type { World } from '../../../support/world/panel.ts'
import { move, nodeNamed } from '../world.ts'
import { openShared, orderShared, whereShared } from './world.ts'

type Ended = { mode: string; power?: string; status?: string; local?: number }
const at = (node: string, { power = 'running', status = 'running', local = 0 }: Omit<Ended, 'mode'>) => ({
  status,
  stays: [`home on ${node}`],
  onNodes: Object.fromEntries(
    ['ceph-1', 'ceph-2', 'far-3'].map((name) => [
      name,
      name === node ? `${power}, ${local} local disks, 1 rules, 0 transfers` : 'nothing',
    ]),
  ),
  running: power === 'running' ? 1 : 0,
  shared: '1 disks, as they were',
  openJobs: [],
})
const moved = (given: Ended) => ({
  ...at('ceph-2', given),
  transfers: [`${given.mode} finished, ${given.local ? 'copied' : 'nothing copied'}`],
})
const stayed = (given: Ended) => (end: { transfers: string[] }) => ({
  ...at('ceph-1', given),
  transfers: end.transfers.filter((one) => one.startsWith(`${given.mode} failed`)),
})

const start =
  (body: object = {}) =>
  async (p: World, id: string) => {
    const { jobId, serverId } = await move(p, id, { nodeId: nodeNamed(p, 'ceph-2'), ...body })
    return { jobId, serverId }
  }
async function stopped(p: World) {
  const id = await orderShared(p)
  await p.admin('POST', `/servers/${id}/actions/power`, { action: 'off' })
  await p.settle()
  return id
}
/** Its volume is in a pool of its node alone, and its TPM comes along. */
export async function mixed(p: World) {
  await p.admin('PATCH', `/admin/images/${p.image}`, { tpm: true })
  const id = await orderShared(p)
  await p.admin('POST', `/servers/${id}/volumes`, { name: 'data', sizeGb: 10 })
  await p.settle()
  return id
}

const live: Ended = { mode: 'live' }
const near: Ended = { mode: 'near_live' }
const cold: Ended = { mode: 'cold', power: 'stopped', status: 'stopped' }
const both: Ended = { mode: 'near_live', local: 1 }
const moves: readonly Scenario[] = [
  {
    name: 'moving a running server whose disk both nodes reach',
    kind: 'move',
    before: orderShared,
    start: start(),
    succeeds: moved(live),
    fails: stayed(live),
    lostWithAgent: 'transfer_cut',
    sampled: true,
  },
  {
    name: 'moving a server whose disk both nodes reach, and shutting it down',
    kind: 'move',
    before: orderShared,
    start: start({ mode: 'near_live' }),
    succeeds: moved(near),
    fails: stayed(near),
    sampled: true,
  },
  {
    name: 'moving a server that is off, and whose disk both nodes reach',
    kind: 'move',
    before: stopped,
    start: start(),
    succeeds: moved(cold),
    fails: stayed(cold),
    sampled: true,
  },
  {
    name: 'moving a server with a disk that both nodes reach, and a volume that is copied',
    kind: 'move',
    before: mixed,
    start: start({ mode: 'near_live' }),
    succeeds: moved(both),
    fails: stayed(both),
    sampled: true,
  },
]
export const scenarios: readonly Scenario[] = moves.map((scenario) => ({
  ...scenario,
  open: openShared,
  measure: whereShared,
}))
