import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import {
  act,
  built,
  failedFirst,
  first,
  gone,
  jobOf,
  order,
  running,
  second,
  stopped,
  there,
} from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

const reinstall =
  (more: object = {}) =>
  (p: World, id: string) =>
    act('reinstall', { imageId: p.image, access: { mode: 'password' }, ...more })(p, id)
const reinstalled = [...built, 'server.reinstalled']

export const scenarios: readonly Scenario[] = [
  {
    name: 'ordering',
    kind: 'install',
    before: async () => '',
    start: (p) => p.admin('POST', '/admin/servers', p.order),
    succeeds: running,
    fails: { ...gone, status: 'failed', addresses: 1, held: 1, events: failedFirst },
  },
  {
    name: 'setting up',
    kind: 'setup',
    before: async (p) => {
      const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
      return (await p.admin('POST', '/admin/servers', waiting)).serverId
    },
    start: (p, id) => act('setup', { imageId: p.image, hostname: 'web01', access: { mode: 'password' } })(p, id),
    succeeds: running,
    fails: { ...gone, status: 'pending_setup', addresses: 1, held: 1, events: failedFirst },
  },
  {
    name: 'reinstalling',
    kind: 'reinstall',
    before: order,
    start: reinstall(),
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
    fails: running,
  },
  {
    name: 'reinstalling a stopped server',
    kind: 'reinstall',
    before: stopped,
    start: reinstall(),
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
    fails: { ...there, disk: first, status: 'stopped', power: 'stopped', events: built },
  },
  {
    name: 'reinstalling without space for two disks',
    kind: 'reinstall',
    before: async (p) => {
      const id = await order(p)
      p.db.$client.run('UPDATE storage_pools SET total_bytes = ?', [30 * 1024 ** 3])
      return id
    },
    start: reinstall({ discardFirst: true }),
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
    // A failure before the old system is given up leaves it as it was; one after that leaves nothing.
    fails: ({ status }: { status: string }) =>
      status === 'failed'
        ? {
            ...gone,
            disk: { onNode: null, inUse: null },
            addresses: 1,
            held: 1,
            events: [...built, 'server.install_failed'],
          }
        : running,
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
      events: [...failedFirst, 'server.provisioned', 'server.reinstalled'],
    },
    fails: { ...gone, status: 'failed', addresses: 1, held: 1, events: [...failedFirst, 'server.install_failed'] },
  },
  {
    name: 'deleting the disk that a reinstallation replaced',
    kind: 'remove_disk',
    before: order,
    start: async (p, id) => {
      await reinstall()(p, id)
      await p.settle()
      return { jobId: jobOf(p, 'remove_disk')!, serverId: id }
    },
    succeeds: { ...there, disk: second, status: 'running', power: 'running', events: reinstalled },
  },
]
