import type { Speed } from '../../../agent/protocol/wire.ts'
import { limitsOf } from '../../../src/compute/server-records/limits.ts'
import { serverById } from '../../../src/compute/server-records/model.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { built, order, there } from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

function speedInPanel(p: World, id: string) {
  const server = serverById(p.db, id)
  if (!server) return 'none'
  const { portInMbps, portOutMbps } = limitsOf(server)
  return `${portInMbps}/${portOutMbps}`
}
const speedOnNode = (speed: Speed | undefined) => (speed ? `${speed.inMbps}/${speed.outMbps}` : 'none')

export const measures: Measures = {
  /** The limits in force by the panel's record, and on the node: in and out. */
  speed: (p, id) => `${speedInPanel(p, id)} ${speedOnNode(p.node.agent.host.state.port(id)?.speed)}`,
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'changing the speed',
    kind: 'speed',
    before: order,
    start: (p, id) => p.admin('PATCH', `/servers/${id}/speed`, { portInMbps: 50 }),
    succeeds: {
      ...there,
      status: 'running',
      power: 'running',
      speed: '50/null 50/null',
      events: [...built, 'server.speed_changed'],
    },
    fails: { ...there, status: 'running', power: 'running', speed: 'null/null null/null', events: built },
  },
  {
    name: 'giving a server that was slowed down its speed back',
    kind: 'tell_speed',
    before: async (p) => {
      const id = await order(p)
      p.db.$client.run(
        "UPDATE servers SET traffic_gb = 100, throttle_mbps = 10, throttle_month = '2027-01' WHERE id = ?",
        [id],
      )
      await p.admin('PATCH', `/servers/${id}/speed`, { portInMbps: 50 })
      await p.settle()
      return id
    },
    start: (p, id) => p.admin('POST', `/servers/${id}/bandwidth`, { action: 'add', gb: 5 }),
    succeeds: {
      ...there,
      status: 'running',
      power: 'running',
      speed: '50/null 50/null',
      events: [...built, 'server.speed_changed'],
    },
    // It is told again a minute later.
    fails: {
      ...there,
      status: 'running',
      power: 'running',
      events: [...built, 'server.speed_changed'],
    },
  },
]
