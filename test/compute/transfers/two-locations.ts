// The panel of moves with a second location, to which the first allows moves.
import type { World } from '../../support/world/panel.ts'
import { open } from './world.ts'

/** Beside `open`: the node `hel-01` of the location Helsinki, which has a pool of its own. */
export async function openTwo(): Promise<World & { helsinki: string }> {
  const p = await open()
  const { id: helsinki } = await p.admin('POST', '/admin/node-groups', { name: 'Helsinki' })
  const { id: nodeId } = p.addNode(helsinki, 'hel-01')
  await p.admin('POST', '/admin/ip-pools', {
    ...{ name: 'hel', network: '198.51.100.0/24', gateway: '198.51.100.1', nodeIds: [nodeId] },
    ...{ first: '198.51.100.10', last: '198.51.100.12' },
  })
  await p.admin('PUT', `/admin/node-groups/${p.location}/moves`, { locationIds: [helsinki] })
  return Object.assign(p, { helsinki })
}
