import { describe, expect, test } from 'bun:test'
import { type Who, world } from '../../support/world/panel.ts'

describe('the list of servers, whose pages are kept until something changes', () => {
  test('says of each server what the server says of itself, whatever happens', async () => {
    using p = await world()
    const reseller = p.account('reseller', 'Reseller')
    const everybody: [string, Who][] = [
      ['/admin/servers', p.owner],
      ['/servers', p.owner],
      ['/servers', p.customer],
      ['/servers', reseller],
      ['/servers', p.token(p.customer.id, ['servers:read'])],
    ]
    const seen: string[] = []
    const compare = async (after: string) => {
      for (const [path, who] of everybody)
        for (let again = 0; again < 2; again++) {
          const { status, body } = await p.call(who, 'GET', path)
          expect([after, status, body.total]).toEqual([after, 200, body.data.length])
          for (const server of body.data)
            expect([after, server]).toEqual([after, (await p.call(who, 'GET', `/servers/${server.id}`)).body])
          seen.push(JSON.stringify(body))
        }
    }
    await compare('nothing')
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    await compare('the installation')
    p.node.agent.disconnect()
    await compare('the node went away')
    p.node.agent.connect()
    await compare('the node came back')
    await p.admin('PATCH', `/customers/${p.customer.id}`, { name: 'Another Name' })
    await compare('the owner has another name')
    await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'unpaid' })
    await p.settle()
    await compare('the suspension')
    await p.admin('DELETE', `/servers/${serverId}`)
    await p.settle()
    await compare('the termination')
    expect(new Set(seen).size).toBeGreaterThan(10)
  })

  test('gives nobody what was made for somebody else', async () => {
    using p = await world()
    await p.admin('POST', '/admin/servers', p.order)
    const other = p.account('customer', 'Other')
    const reader = p.token(p.owner.id, ['servers:read'])
    for (let again = 0; again < 2; again++) {
      expect((await p.call(p.customer, 'GET', '/servers')).body.data).toMatchObject([{ node: null, placement: null }])
      expect((await p.call(p.owner, 'GET', '/servers')).body.data).toMatchObject([{ node: { name: 'fra-01' } }])
      expect((await p.call(other, 'GET', '/servers')).body).toEqual({ data: [], nextCursor: null, total: 0 })
      expect((await p.call(reader, 'GET', '/servers')).body.data).toMatchObject([{ allowed: [] }])
    }
  })
})
