import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import { act, built, order, running, stopped, there } from '../../support/crash-matrix/servers.ts'

export const scenarios: readonly Scenario[] = [
  {
    name: 'shutting down',
    kind: 'power',
    before: order,
    start: act('power', { action: 'shutdown' }),
    succeeds: { ...there, status: 'stopped', power: 'stopped', events: built },
    fails: running,
  },
  {
    name: 'restarting',
    kind: 'power',
    before: order,
    start: act('power', { action: 'restart' }),
    succeeds: running,
    fails: running,
  },
  {
    name: 'starting',
    kind: 'power',
    before: stopped,
    start: act('power', { action: 'start' }),
    succeeds: running,
    fails: { ...there, status: 'stopped', power: 'stopped', events: built },
  },
  {
    name: 'adding an address',
    kind: 'addresses',
    before: order,
    start: (p, id) => p.admin('POST', `/servers/${id}/ips`, { version: 4 }),
    succeeds: {
      ...there,
      status: 'running',
      power: 'running',
      addresses: 2,
      allowed: 2,
      seeds: 1,
      events: [...built, 'server.addresses_changed'],
    },
    // The network for its next start may be written again: the one that it has.
    fails: ({ seeds }: { seeds: number }) => ({ ...there, status: 'running', power: 'running', seeds, events: built }),
  },
  {
    name: 'removing an address',
    kind: 'addresses',
    before: async (p) => {
      const id = await order(p)
      await p.admin('POST', `/servers/${id}/ips`, { version: 4 })
      await p.settle()
      return id
    },
    start: async (p, id) => {
      const { data } = await p.admin('GET', `/servers/${id}/ips`)
      return p.admin('DELETE', `/servers/${id}/ips/${data.find((a: { kind: string }) => a.kind === 'extra').id}`)
    },
    succeeds: {
      ...there,
      status: 'running',
      power: 'running',
      seeds: 1,
      events: [...built, 'server.addresses_changed', 'server.addresses_changed'],
    },
    fails: {
      ...there,
      status: 'running',
      power: 'running',
      addresses: 2,
      allowed: 2,
      seeds: 1,
      events: [...built, 'server.addresses_changed'],
    },
  },
]
