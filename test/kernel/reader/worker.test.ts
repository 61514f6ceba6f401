// Long reads in their thread, over the operations of the product that say `atReader`.
import { describe, expect, test } from 'bun:test'
import { inWorker } from '../../../src/app/wiring/reader.ts'
import { operations } from '../../every/toy-feature/every-feature.ts'
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
