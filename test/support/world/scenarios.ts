// The scenarios of the crash matrix: for each saga the state before, the call that starts it, and the state after
// success and after failure. A saga without a scenario fails the test of the matrix.

import type { Invariants } from './invariants.ts'
import type { World } from './panel.ts'

type Ending = Partial<Invariants> | Readonly<Record<string, unknown>>

export type Scenario = {
  name: string
  kind: string
  /** Returns the server's id. */
  before(p: World): Promise<string>
  start(p: World, serverId: string): Promise<{ jobId: string | null; serverId: string }>
  /** The state when it has ended, in the words of `invariants` or of the matrix's own `measure`. */
  succeeds: Ending
  /**
   * Undefined: it never gives up, so a failure that passes ends as a success. A function where it depends on how far it
   * came.
   */
  fails?: Ending | ((end: any) => Ending)
}

const order = async (p: World) => {
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return serverId as string
}
const act = (name: string, body?: object) => (p: World, id: string) =>
  p.admin('POST', `/servers/${id}/actions/${name}`, body)
/** The node of the job goes away at this moment, and the job stays open. */
async function stoppedAt(p: World, moment: string, start: () => Promise<{ serverId: string }>): Promise<string> {
  p.arm({ failpoints: (at) => void (at === moment && p.node.agent.disconnect()) })
  const { serverId } = await start()
  for (let i = 0; p.controller.hub.connected(p.node.id); i++) {
    if (i === 1000) throw new Error(`the job never came to ${moment}`)
    await Bun.sleep(1)
  }
  return serverId
}
const reinstall =
  (more: object = {}) =>
  (p: World, id: string) =>
    act('reinstall', { imageId: p.image, access: { mode: 'password' }, ...more })(p, id)
const there = { vms: 1, volumes: 1, spareDiskGb: 0, seeds: 0, rules: 1, addresses: 1, held: 1, openJobs: 0 }
/** To a package with more of everything. */
const toLarger = async (p: World, id: string) => {
  const { id: packageId } = await p.admin('POST', '/admin/packages', {
    name: 'KVM 4G',
    vcpus: 4,
    memoryMb: 4096,
    diskGb: 30,
  })
  return act('change-package', { packageId })(p, id)
}
const larger = { size: '4 vCPU 4096 MB 30 GB', onNode: '4 vCPU 4096 MB' }
const grown = { size: '2 vCPU 2048 MB 30 GB', onNode: '2 vCPU 2048 MB' }
const smaller = { size: '2 vCPU 2048 MB 20 GB', onNode: '2 vCPU 2048 MB' }
const gone = { power: 'absent', vms: 0, volumes: 0, spareDiskGb: 0, seeds: 0, rules: 0, openJobs: 0 }
const first = { onNode: 1, inUse: 1 }
const second = { onNode: 2, inUse: 2 }
const built = ['server.created', 'server.provisioned']
const reinstalled = [...built, 'server.reinstalled']

export const scenarios: readonly Scenario[] = [
  {
    name: 'ordering',
    kind: 'install',
    before: async () => '',
    start: (p) => p.admin('POST', '/admin/servers', p.order),
    succeeds: { ...there, status: 'running', power: 'running', events: built },
    fails: { ...gone, status: 'failed', addresses: 1, held: 1, events: ['server.created'] },
  },
  {
    name: 'setting up',
    kind: 'setup',
    before: async (p) => {
      const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
      return (await p.admin('POST', '/admin/servers', waiting)).serverId
    },
    start: (p, id) => act('setup', { imageId: p.image, hostname: 'web01', access: { mode: 'password' } })(p, id),
    succeeds: { ...there, disk: first, status: 'running', power: 'running', events: built },
    fails: { ...gone, status: 'pending_setup', addresses: 1, held: 1, events: ['server.created'] },
  },
  {
    name: 'reinstalling',
    kind: 'reinstall',
    before: order,
    start: reinstall(),
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
    fails: { ...there, disk: first, status: 'running', power: 'running', events: built },
  },
  {
    name: 'reinstalling a stopped server',
    kind: 'reinstall',
    before: async (p) => {
      const id = await order(p)
      await act('power', { action: 'off' })(p, id)
      await p.settle()
      return id
    },
    start: reinstall(),
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
    fails: { ...there, disk: first, status: 'stopped', power: 'stopped', events: built },
  },
  {
    name: 'reinstalling without space for two disks',
    kind: 'reinstall',
    before: async (p) => {
      const id = await order(p)
      p.db.$client.run('UPDATE nodes SET pool_bytes = ?', [30 * 1024 ** 3])
      return id
    },
    start: reinstall({ discardFirst: true }),
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
    // A failure before the old system is given up leaves it as it was; one after that leaves nothing.
    fails: ({ status }: Invariants) =>
      status === 'failed'
        ? { ...gone, disk: { onNode: null, inUse: null }, addresses: 1, held: 1, events: built }
        : { ...there, disk: first, status: 'running', power: 'running', events: built },
  },
  {
    name: 'reinstalling what could not be installed',
    kind: 'reinstall',
    before: async (p) => {
      p.node.agent.fault({ command: 'volume.create', mode: 'fail', times: 1 })
      return order(p)
    },
    start: reinstall(),
    succeeds: {
      ...there,
      disk: second,
      status: 'running',
      power: 'running',
      events: ['server.created', 'server.reinstalled'],
    },
    fails: { ...gone, status: 'failed', addresses: 1, held: 1, events: ['server.created'] },
  },
  {
    name: 'deleting the disk that a reinstallation replaced',
    kind: 'remove_disk',
    before: order,
    start: async (p, id) => {
      await reinstall()(p, id)
      await p.settle()
      const { id: jobId } = p.db.$client.query("SELECT id FROM jobs WHERE kind = 'remove_disk'").get() as { id: string }
      return { jobId, serverId: id }
    },
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
  },
  {
    name: 'shutting down',
    kind: 'power',
    before: order,
    start: act('power', { action: 'shutdown' }),
    succeeds: { ...there, status: 'stopped', power: 'stopped', events: built },
    fails: { ...there, status: 'running', power: 'running', events: built },
  },
  {
    name: 'restarting',
    kind: 'power',
    before: order,
    start: act('power', { action: 'restart' }),
    succeeds: { ...there, status: 'running', power: 'running', events: built },
    fails: { ...there, status: 'running', power: 'running', events: built },
  },
  {
    name: 'starting',
    kind: 'power',
    before: async (p) => {
      const id = await order(p)
      await act('power', { action: 'off' })(p, id)
      await p.settle()
      return id
    },
    start: act('power', { action: 'start' }),
    succeeds: { ...there, status: 'running', power: 'running', events: built },
    fails: { ...there, status: 'stopped', power: 'stopped', events: built },
  },
  {
    name: 'changing the package of a running server',
    kind: 'resize',
    before: order,
    start: toLarger,
    succeeds: { ...there, ...larger, status: 'running', power: 'running', events: [...built, 'server.resized'] },
    // A disk that has grown stays so: what is recorded is never less than what is there.
    fails: ({ size }: Invariants) => ({
      ...there,
      ...(/ 30 GB/.test(size) ? grown : smaller),
      status: 'running',
      power: 'running',
      events: built,
    }),
  },
  {
    name: 'changing the package of a stopped server',
    kind: 'resize',
    before: async (p) => {
      const id = await order(p)
      await act('power', { action: 'off' })(p, id)
      await p.settle()
      return id
    },
    start: toLarger,
    succeeds: { ...there, ...larger, status: 'stopped', power: 'stopped', events: [...built, 'server.resized'] },
    fails: ({ size }: Invariants) => ({
      ...there,
      ...(/ 30 GB/.test(size) ? grown : smaller),
      status: 'stopped',
      power: 'stopped',
      events: built,
    }),
  },
  {
    name: 'changing the restart policy',
    kind: 'restart_policy',
    before: order,
    start: (p, id) => p.admin('PUT', `/servers/${id}/restart-policy`, { restartPolicy: 'always' }),
    succeeds: { ...there, status: 'running', power: 'running', events: built, restart: 'always always' },
    fails: { ...there, status: 'running', power: 'running', events: built, restart: 'on_failure on_failure' },
  },
  {
    name: 'suspending',
    kind: 'suspend',
    before: order,
    start: act('suspend', { reason: 'overdue' }),
    succeeds: { ...there, status: 'suspended', power: 'stopped', events: [...built, 'server.suspended'] },
  },
  {
    name: 'suspending what could not be installed',
    kind: 'suspend',
    before: async (p) => {
      p.node.agent.fault({ command: 'volume.create', mode: 'fail', times: 1 })
      return order(p)
    },
    start: act('suspend', { reason: 'overdue' }),
    succeeds: { ...gone, status: 'suspended', addresses: 1, held: 1, events: ['server.created', 'server.suspended'] },
  },
  {
    name: 'unsuspending',
    kind: 'unsuspend',
    before: async (p) => {
      const id = await order(p)
      await act('suspend', { reason: 'overdue' })(p, id)
      await p.settle()
      return id
    },
    start: act('unsuspend'),
    succeeds: {
      ...there,
      status: 'running',
      power: 'running',
      events: [...built, 'server.suspended', 'server.unsuspended'],
    },
  },
  {
    name: 'terminating',
    kind: 'terminate',
    before: order,
    start: (p, id) => p.admin('DELETE', `/servers/${id}`),
    succeeds: { ...gone, status: 'terminated', addresses: 0, held: 0, events: [...built, 'server.terminated'] },
  },
  {
    name: 'terminating during the installation, which is undone first',
    kind: 'terminate',
    before: (p) => stoppedAt(p, 'install/define:noted', () => p.admin('POST', '/admin/servers', p.order)),
    start: (p, id) => p.admin('DELETE', `/servers/${id}`).finally(p.node.agent.connect),
    succeeds: {
      ...gone,
      status: 'terminated',
      addresses: 0,
      held: 0,
      events: ['server.created', 'server.terminated'],
    },
  },
  {
    name: "suspending during the owner's restart, which is undone first",
    kind: 'suspend',
    before: async (p) => {
      const id = await order(p)
      return stoppedAt(p, 'power/stop:noted', () => act('power', { action: 'restart' })(p, id))
    },
    start: (p, id) => act('suspend', { reason: 'overdue' })(p, id).finally(p.node.agent.connect),
    succeeds: { ...there, status: 'suspended', power: 'stopped', events: [...built, 'server.suspended'] },
  },
]
