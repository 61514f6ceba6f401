import { purgeDue } from '../../../../src/compute/servers/life/terminate.ts'
import { hour } from '../../../../src/kernel/db/clock.ts'
import type { Scenario } from '../../../support/crash-matrix/scenario.ts'
import { act, built, failedFirst, first, gone, jobOf, order, there } from '../../../support/crash-matrix/servers.ts'
import type { World } from '../../../support/world/panel.ts'

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
const terminated = async (p: World) => {
  const id = await order(p)
  await p.admin('DELETE', `/servers/${id}`)
  await p.settle()
  return id
}

export const scenarios: readonly Scenario[] = [
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
    succeeds: { ...gone, status: 'suspended', addresses: 1, held: 1, events: [...failedFirst, 'server.suspended'] },
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
    succeeds: { ...there, status: 'terminated', power: 'stopped', events: [...built, 'server.terminated'] },
  },
  {
    name: 'terminating without an undelete window',
    kind: 'purge',
    before: order,
    start: (p, id) => p.admin('DELETE', `/servers/${id}?immediately=true`),
    succeeds: { ...gone, status: 'terminated', addresses: 0, held: 0, events: [...built, 'server.terminated'] },
  },
  {
    name: 'deleting the disk at the end of the undelete window',
    kind: 'purge',
    before: terminated,
    start: async (p, id) => {
      p.turnClock(24 * hour)
      purgeDue(p.db, p.controller.app)
      return { jobId: jobOf(p, 'purge')!, serverId: id }
    },
    succeeds: { ...gone, status: 'terminated', addresses: 0, held: 0, events: [...built, 'server.terminated'] },
  },
  {
    name: 'bringing back a terminated server',
    kind: 'undelete',
    before: terminated,
    start: act('undelete'),
    succeeds: {
      ...there,
      disk: first,
      status: 'running',
      power: 'running',
      events: [...built, 'server.terminated', 'server.undeleted'],
    },
  },
  {
    name: 'terminating during the installation, which is undone first',
    kind: 'purge',
    before: (p) => stoppedAt(p, 'install/define:noted', () => p.admin('POST', '/admin/servers', p.order)),
    start: (p, id) => p.admin('DELETE', `/servers/${id}?immediately=true`).finally(p.node.agent.connect),
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
