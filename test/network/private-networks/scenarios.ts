import type { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { built, order, there } from '../../support/crash-matrix/servers.ts'

export const measures: Measures = {
  /** Private networks on the node, and the cards that the vm has there. */
  networks({ node }, id) {
    const { state, hypervisor } = node.agent.host
    return `${state.privateNetworks().length}, ${(hypervisor as FakeHypervisor).nics(id).length}`
  },
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'joining a private network',
    kind: 'private_network',
    before: order,
    async start(p, serverId) {
      const range = { name: 'backend', locationId: p.location, ipv4: '10.20.0.0/24' }
      const { id } = await p.admin('POST', `/customers/${p.customer.id}/networks`, range)
      return p.admin('POST', `/networks/${id}/servers`, { serverId })
    },
    succeeds: { ...there, status: 'running', power: 'running', networks: '1, 1', events: built },
  },
  {
    name: 'leaving a private network',
    kind: 'private_network',
    async before(p) {
      const serverId = await order(p)
      const range = { name: 'backend', locationId: p.location, ipv4: '10.20.0.0/24' }
      const { id } = await p.admin('POST', `/customers/${p.customer.id}/networks`, range)
      await p.admin('POST', `/networks/${id}/servers`, { serverId })
      await p.settle()
      return serverId
    },
    async start(p, id) {
      const { data } = await p.admin('GET', '/networks')
      return p.admin('DELETE', `/networks/${data[0].id}/servers/${id}`)
    },
    succeeds: { ...there, status: 'running', power: 'running', networks: '0, 0', events: built },
  },
]
