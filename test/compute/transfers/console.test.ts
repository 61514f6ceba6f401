// Consoles of a server that moves: each is closed with a sentence, and opens again on the new node.
import { expect, test } from 'bun:test'
import { consoles } from '../../support/console/consoles.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { move, nodeNamed, open, order } from './world.ts'

const moved = {
  code: 4413,
  reason: 'The server moves to another node. Open its console again: it is shown from there.',
}

for (const mode of ['live', 'near_live'] as const)
  test(`a console is closed with a sentence when its server moves ${mode}, and opens on the new node`, async () => {
    const p = await open()
    const c = consoles(p)
    try {
      const id = await order(p)
      const viewer = await c.view(p.customer, id)
      await viewer.until('fake login: ')
      await move(p, id, { nodeId: nodeNamed(p, 'fra-02'), mode })
      await p.settle()
      expect(await viewer.closed).toEqual(moved)
      const again = await c.view(p.customer, id)
      await again.until('fake login: ')
      again.send('root\r')
      await again.until('root')
      const typedOn = (name: string) => p.agents.get(nodeNamed(p, name))!.host.consoles.typed.get(id)
      expect([typedOn('fra-01'), typedOn('fra-02')]).toEqual([undefined, 'root\r'])
      const reasons = p
        .auditLines()
        .filter(({ operation }) => operation === 'consoles.closed')
        .map(({ details }: any) => details.reason)
      expect(reasons).toEqual(['moved'])
    } finally {
      await c.stop()
      await Bun.sleep(5)
      p.close()
    }
  })

test('a console that ends on the old node before the new one has the server says the same', async () => {
  const p = await open()
  const c = consoles(p)
  try {
    const id = await order(p)
    const viewer = await c.view(p.customer, id)
    await viewer.until('fake login: ')
    p.node.agent.fault({ command: 'transfer.migrate', mode: 'hang' })
    await move(p, id)
    const isHandedOver = () =>
      p.db.$client.query("SELECT 1 FROM jobs WHERE kind = 'move' AND step_name = 'Handing it over'").get() !== null
    await eventually(isHandedOver)
    expect(isHandedOver()).toBe(true)
    // The process of the guest has ended there.
    await p.node.agent.host.consoles.forget(id)
    expect(await viewer.closed).toEqual(moved)
    expect(p.server(id).nodeId).toBe(p.node.id)
  } finally {
    await c.stop()
    await Bun.sleep(5)
    p.close()
  }
})
