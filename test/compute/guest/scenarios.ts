import { removeReadSeeds } from '../../../src/compute/guest/pending-seed.ts'
import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import { act, built, jobOf, order, running, stopped, there } from '../../support/crash-matrix/servers.ts'

export const scenarios: readonly Scenario[] = [
  {
    name: 'resetting the root password by the guest agent',
    kind: 'password',
    before: order,
    start: act('reset-password', {}),
    succeeds: running,
    fails: running,
  },
  {
    name: 'resetting the root password of a stopped server',
    kind: 'password',
    before: stopped,
    start: act('reset-password', {}),
    succeeds: { ...there, seeds: 1, status: 'stopped', power: 'stopped', events: built },
    fails: { ...there, status: 'stopped', power: 'stopped', events: built },
  },
  {
    name: 'removing the seed of a password reset',
    kind: 'remove_seed',
    before: async (p) => {
      const id = await order(p)
      for (const [name, body] of [
        ['power', { action: 'off' }],
        ['reset-password', {}],
        ['power', { action: 'start' }],
      ] as const) {
        await act(name, body)(p, id)
        await p.settle()
      }
      return id
    },
    start: async (p, serverId) => {
      removeReadSeeds(p.db, { clock: p.now, nodes: { connected: () => true } as never })
      p.controller.runner.kick()
      return { jobId: jobOf(p, 'remove_seed')!, serverId }
    },
    succeeds: running,
    fails: (end: { seeds: number }) => ({
      ...there,
      seeds: end.seeds,
      status: 'running',
      power: 'running',
      events: built,
    }),
  },
  {
    name: 'detecting the system',
    kind: 'detect_os',
    before: order,
    start: act('detect-os'),
    succeeds: running,
    fails: running,
  },
]
