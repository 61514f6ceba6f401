// The state of a location follows from one rule, which is never green while a node of it is away.
import { expect, test } from 'bun:test'
import { locationState, ordersOf } from '../../../views/fleet/locations/state.tsx'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { world } from '../../support/world/panel.ts'

test('no combination of an open location with a node that is away is green', () => {
  for (const open of [true, false])
    for (let nodes = 0; nodes <= 3; nodes++)
      for (let connectedNodes = 0; connectedNodes <= nodes; connectedNodes++)
        for (let openNodes = 0; openNodes <= connectedNodes; openNodes++) {
          const of = { open, nodes, connectedNodes, openNodes }
          const [tone, shape] = locationState(of)
          expect([of, tone === 'ok']).toEqual([of, open && openNodes > 0 && connectedNodes === nodes])
          expect([of, shape === 'away']).toEqual([of, connectedNodes < nodes])
          expect([of, ordersOf(of).startsWith('Open')]).toEqual([of, open])
        }
})

test('list, page and overview say that nodes of a location are away, and that they are back', async () => {
  using p = await world()
  const second = p.addNode(p.location, 'fra-02')
  const pages = pagesFor(p, p.owner)
  const paths = ['/admin/node-groups', `/admin/node-groups/${p.location}`, '/admin']
  const say = async (...words: string[]) => {
    for (const path of paths) {
      const text = await (await fetch(new URL(path, pages.url))).text()
      const row = text.slice(text.indexOf('<main'))
      for (const one of words) expect([path, row.includes(one) || row]).toEqual([path, true])
    }
  }
  const is = async () => {
    const { connectedNodes, openNodes } = (await p.admin('GET', '/admin/node-groups')).data[0]
    return [connectedNodes, openNodes]
  }
  try {
    expect(await is()).toEqual([2, 2])
    await say('class="st ok', '2 of 2 connected')
    p.node.agent.disconnect()
    expect(await is()).toEqual([1, 1])
    await say('1 of 2 nodes away', '1 of 2 connected')
    second.agent.disconnect()
    expect(await is()).toEqual([0, 0])
    await say('All nodes away', '0 of 2 connected')
    p.node.agent.connect()
    second.agent.connect()
    await p.admin('PATCH', `/admin/nodes/${p.node.id}`, { open: false })
    await p.admin('PATCH', `/admin/nodes/${second.id}`, { open: false })
    expect(await is()).toEqual([2, 0])
    await say('No open node')
  } finally {
    await pages.stop(true)
  }
})
