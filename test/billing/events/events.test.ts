import { describe, expect, test } from 'bun:test'
import { day } from '../../../src/kernel/db/clock.ts'
import { world } from '../../support/world/panel.ts'

const types = (body: { data: { type: string }[] }) => body.data.map(({ type }) => type)
async function withServer() {
  const p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'Overdue' })
  await p.settle()
  return { p, serverId }
}

describe('GET /events', () => {
  test('lists events in the order in which they happened, with the data that the specification lists', async () => {
    const { p, serverId } = await withServer()
    using _ = p
    const { body } = await p.call(p.owner, 'GET', '/events')
    expect(types(body)).toEqual(['server.created', 'server.provisioned', 'server.suspended'])
    expect(body.data[2]).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'server.suspended',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: {
        server: {
          id: serverId,
          hostname: 'web01',
          status: expect.any(String),
          package: expect.any(String),
          location: { id: expect.any(String), name: expect.any(String) },
          ipv4: expect.any(String),
          billingServiceId: null,
        },
        customer: { id: p.customer.id, email: expect.any(String), name: expect.any(String), externalId: null },
        reason: 'Overdue',
      },
    })
  })
  test('goes on after the last event that a client took, page by page, until there is none', async () => {
    const { p } = await withServer()
    using _ = p
    const all = (await p.call(p.owner, 'GET', '/events')).body.data
    const first = (await p.call(p.owner, 'GET', `/events?after=${all[0].id}&limit=1`)).body
    expect([first.data, first.total]).toEqual([[all[1]], 2])
    const second = (await p.call(p.owner, 'GET', `/events?after=${all[0].id}&limit=1&cursor=${first.nextCursor}`)).body
    expect([second.data, second.nextCursor]).toEqual([[all[2]], null])
    expect((await p.call(p.owner, 'GET', `/events?after=${all[2].id}`)).body.data).toEqual([])
  })
  test('shows the newest first on request, and only the types that were named', async () => {
    const { p } = await withServer()
    using _ = p
    expect(types((await p.call(p.owner, 'GET', '/events?sort=-created_at')).body)).toEqual([
      'server.suspended',
      'server.provisioned',
      'server.created',
    ])
    expect(types((await p.call(p.owner, 'GET', '/events?type=server.created,server.suspended')).body)).toEqual([
      'server.created',
      'server.suspended',
    ])
  })
  test('ends after 30 days', async () => {
    const { p } = await withServer()
    using _ = p
    const [{ id }] = (await p.call(p.owner, 'GET', '/events')).body.data
    const program = p.token((p.owner as { id: string }).id)
    p.turnClock(30 * day + 1)
    const { body } = await p.call(program, 'GET', '/events')
    expect([body.data, body.total]).toEqual([[], 0])
    const late = await p.call(program, 'GET', `/events?after=${id}`)
    expect([late.status, late.body.error.code]).toEqual([400, 'invalid_request'])
  })
  test.each([
    ['an event that is not there', `after=evt_${'0'.repeat(26)}`],
    ['what is no event', 'after=srv_x'],
    ['an unknown type', 'type=server.exploded'],
    ['a type that only staff get', 'type=transfer.started'],
    ['an empty type', 'type='],
    ['a limit of none', 'limit=0'],
  ])('refuses %s', async (_, query) => {
    using p = await world()
    const { status, body } = await p.call(p.customer, 'GET', `/events?${query}`)
    expect([status, body.error.code]).toEqual([400, 'invalid_request'])
  })
  test('does not start after an event of somebody else', async () => {
    const { p } = await withServer()
    using _ = p
    const [{ id }] = (await p.call(p.owner, 'GET', '/events')).body.data
    expect((await p.call(p.account('customer', 'Mallory'), 'GET', `/events?after=${id}`)).status).toBe(400)
  })
})
