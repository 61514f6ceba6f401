// Long reads in their thread, over the operations of the product that say `atReader`.
import { describe, expect, test } from 'bun:test'
import { inWorker } from '../../../src/app/wiring/reader.ts'
import { system } from '../../../src/kernel/api/actor.ts'
import { placeOf } from '../../../src/kernel/reader/place.ts'
import { operations } from '../../every/toy-feature/every-feature.ts'
import { listening } from '../../support/listening.ts'
import { longestHold } from '../../support/load/event-loop.ts'
import { everything } from '../../support/world/everything.ts'
import { panel } from '../../support/world/panel.ts'

/** Beside this much nobody notices it. */
const MOST_HOLD_MS = 25

const seeded = { servers: 3000, customers: 100, nodes: 10, tokens: 1, freeAddresses: 0 }
const lines = (text: string) => text.trim().split('\n').length - 1

describe('long reads in a worker', () => {
  test('a spreadsheet of all servers is that of the list, and holds nobody else up', async () => {
    using p = await panel({ seeded, startReader: () => inWorker })
    const owner = p.staff()
    // Loads the product there.
    await p.call(owner, 'GET', '/admin/customers.csv')
    let body = ''
    const held = await longestHold(async () => {
      body = (await p.call(owner, 'GET', '/admin/servers.csv')).body
    })
    expect(lines(body)).toBe(3000)
    expect(held).toBeLessThan(MOST_HOLD_MS)
    const { body: listed } = await p.call(owner, 'GET', '/admin/servers?limit=1')
    expect(body.split('\n')[1]).toContain(`"${listed.data[0].id}","${listed.data[0].name}"`)
    // It sees what was committed, and refuses what the list refuses.
    p.db.$client.run("UPDATE workloads SET name = 'renamed' WHERE id = ?", [listed.data[0].id])
    expect((await p.call(owner, 'GET', '/admin/servers.csv')).body).toContain('"renamed"')
    const { status, body: refused } = await p.call(owner, 'GET', '/admin/servers.csv?status=nonsense')
    expect([status, refused.error.code]).toEqual([400, 'invalid_request'])
    const { n } = p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM audit').get()!
    expect((await p.call(owner, 'GET', '/admin/audit/verify')).body.lines).toBe(n)
  })

  test('a client that goes away in the middle leaves the reader to others', async () => {
    using p = await panel({ seeded, startReader: () => inWorker })
    const owner = p.staff()
    for (let n = 0; n < 4; n++) {
      const response = await p.controller.router.fetch(
        new Request('http://localhost/api/v1/admin/servers.csv', {
          headers: { Cookie: `__Host-panel=${owner.cookie}` },
        }),
      )
      const reader = response.body!.getReader()
      expect((await reader.read()).value!.length).toBeGreaterThan(10_000)
      await reader.cancel()
    }
    expect(lines((await p.call(owner, 'GET', '/admin/servers.csv')).body)).toBe(3000)
  })
})

describe('an operation that a reader makes', () => {
  test('is one of many', () => expect(operations.filter((op) => op.atReader).length).toBeGreaterThan(15))
  test('is refused for what it cannot have: the reader has no socket of a node', async () => {
    using p = await everything()
    const verify = operations.find(({ id }) => id === 'audit.verify')!
    const { prepare } = verify
    Object.assign(verify, { prepare: async (call: any) => call.nodes.openConsole('nod_1', {}) })
    try {
      const { status, body } = await p.call(p.people.staff, 'GET', '/admin/audit/verify')
      expect([status, body.error.code]).toEqual([500, 'internal_error'])
    } finally {
      Object.assign(verify, { prepare })
    }
    expect((await p.call(p.people.staff, 'GET', '/admin/audit/verify')).status).toBe(200)
  })
})

test('a small database is read at once, by the controller itself', async () => {
  await using panel = await listening()
  const bearer = { Authorization: `Bearer ${panel.token}` }
  const asked: string[] = []
  const { reader } = panel.controller.app
  for (const name of ['value', 'file'] as const) Object.assign(reader, { [name]: async () => void asked.push(name) })
  const statuses = []
  for (const path of ['/admin/customers.csv', '/reports/usage', '/admin/audit/verify'])
    statuses.push((await panel.ask('GET', `/api/v1${path}`, bearer)).status)
  expect([statuses, asked]).toEqual([[200, 200, 200], []])
})

test('a page of a report has the cursor of the controller and knows its place', async () => {
  using p = await panel({ seeded: { ...seeded, servers: 5 } })
  const owner = p.staff()
  const ids = []
  for (let cursor = ''; ; ) {
    const { status, body } = await p.call(owner, 'GET', `/reports/usage?limit=2${cursor && `&cursor=${cursor}`}`)
    expect(status).toBe(200)
    ids.push(...body.data.map(({ serverId }: { serverId: string }) => serverId))
    if (body.nextCursor === null) break
    cursor = body.nextCursor
  }
  expect([ids.length, new Set(ids).size]).toEqual([5, 5])
  const op = operations.find(({ id }) => id === 'usage.report')!
  const first = (await p.controller.gate(op, system, { query: { limit: '2' } })).body
  const second = (await p.controller.gate(op, system, { query: { limit: '2', cursor: first.nextCursor } })).body
  expect([placeOf(first), placeOf(second)]).toEqual([
    { first: 0, previous: undefined },
    { first: 2, previous: null },
  ])
})
