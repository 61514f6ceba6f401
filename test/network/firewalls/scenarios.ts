import { isInForce, serverFirewall } from '../../../src/network/firewall-records/queries.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { built, order, there } from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

function firewallOnNode({ node }: World, id: string) {
  const rules = node.agent.host.state.portRules().find(({ workload }) => workload === id)
  return rules?.policy?.firewall ? 'on' : 'off'
}

export const measures: Measures = {
  /** Is the firewall in force by the panel's record, and is it on, on the node? */
  firewall: (p, id) =>
    `${isInForce(p.db, serverFirewall(p.db, id)) ? 'in force' : 'on its way'}, ${firewallOnNode(p, id)}`,
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'changing the firewall',
    kind: 'firewall',
    before: order,
    start: async (p, id) => {
      const body = { enabled: true, acceptClosedSsh: true }
      return { ...(await p.admin('PATCH', `/servers/${id}/firewall`, body)), serverId: id }
    },
    succeeds: { ...there, status: 'running', power: 'running', firewall: 'in force, on', events: built },
  },
  {
    name: 'counting the firewall',
    kind: 'firewall_counters',
    before: order,
    start: (p, id) => p.admin('POST', `/servers/${id}/firewall/actions/count`),
    succeeds: { ...there, status: 'running', power: 'running', firewall: 'in force, off', events: built },
    fails: { ...there, status: 'running', power: 'running', firewall: 'in force, off', events: built },
  },
]
