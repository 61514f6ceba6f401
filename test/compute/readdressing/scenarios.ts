import { switchNow, wantSwitch } from '../../../src/compute/readdressing/switch.ts'
import { load } from '../../../src/compute/server-records/model.ts'
import { system } from '../../../src/kernel/api/actor.ts'
import { write } from '../../../src/kernel/db/open.ts'
import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import { order, running } from '../../support/crash-matrix/servers.ts'

export const scenarios: readonly Scenario[] = [
  {
    name: 'telling a system its changed addresses',
    kind: 'switch_addresses',
    before: order,
    start: async (p, serverId) => {
      const now = p.now()
      const jobId = write(p.db, (tx) => {
        wantSwitch(tx, { serverId, leave: ['203.0.113.99'], now, endsAt: null })
        return switchNow(tx, load(tx, serverId), { by: system, now })
      })
      p.controller.runner.kick()
      return { jobId, serverId }
    },
    succeeds: running,
    fails: running,
  },
]
