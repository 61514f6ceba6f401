// A drain for the crash matrix: its job records the end, whatever is cut off and whatever fails.
import { advanceDrains } from '../../../src/compute/drains/advance.ts'
import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import type { World } from '../../support/world/panel.ts'
import { drainOf, homes, open, order, turn } from './world.ts'

export const scenarios: readonly Scenario[] = [
  {
    name: 'emptying a node',
    kind: 'drain',
    open,
    before: order,
    async start(p, serverId) {
      const { jobId } = await drainOf(p)
      await turn(p)
      // Its move has ended: the next turn releases the job.
      advanceDrains(p.db, p.controller.app)
      return { jobId, serverId }
    },
    async measure(p: World) {
      const { data } = await p.admin('GET', '/admin/drains')
      const told = p.events().filter((type) => type.startsWith('node.drain_'))
      return { states: data.map(({ state }: { state: string }) => state), told, homes: await homes(p) }
    },
    succeeds: {
      states: ['done'],
      told: ['node.drain_started', 'node.drain_finished'],
      homes: { 'fra-01': 0, 'fra-02': 1, 'fra-03': 0 },
    },
  },
]
