// Activity: every owner sees the changes to their own things.
import { describe, expect, test } from 'bun:test'
import { noteCrash } from '../../../src/fleet/workloads/crashes.ts'
import { appendLine } from '../../../src/kernel/audit/chain.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { otherLines } from '../../../src/platform/audit/line.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const activity = async (p: World, who: Who, path = '/account/activity') =>
  (await p.call(who, 'GET', `${path}?limit=200`)).body.data as any[]
async function sold(options = {}) {
  const p = await world(options)
  const { serverId } = await p.call(p.owner, 'POST', '/admin/servers', p.order).then((r) => r.body)
  await p.settle()
  return Object.assign(p, { serverId })
}
const signIn = (p: World, id: string) => {
  const { email } = p.db.$client.query<{ email: string }, [string]>('SELECT email FROM accounts WHERE id = ?').get(id)!
  return p.call(undefined, 'POST', '/sessions', { email, password: 'not this one' })
}

describe('own activity', () => {
  test("tells a customer what they did, and what the provider's people did, without who or from where", async () => {
    using p = await sold()
    await p.call(p.customer, 'POST', `/servers/${p.serverId}/actions/power`, { action: 'shutdown' })
    await p.call(p.owner, 'POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'Canary reason' })
    await p.admin('POST', `/customers/${p.customer.id}/actions/unlock`)
    const lines = await activity(p, p.customer)
    expect(lines.map((l) => [l.operation, l.who.name, l.who.you, l.from])).toEqual([
      ['customers.unlock', 'System', false, null],
      ['customers.lock', 'Staff', false, null],
      ['servers.power', 'Cal', true, '127.0.0.1'],
      ['servers.create', 'Staff', false, null],
    ])
    expect(lines[2]).toMatchObject({ target: p.serverId, targetName: 'web01', via: { type: 'page' } })
    for (const secret of ['Ada', 'Canary reason', p.owner.id]) expect(JSON.stringify(lines)).not.toContain(secret)
  })
  test('tells of refused sign-ins to the account, with the address, as nobody in particular', async () => {
    using p = await sold()
    await signIn(p, p.customer.id)
    const [line] = await activity(p, p.customer)
    expect(line).toMatchObject({
      operation: 'sessions.create',
      result: 'sign_in_failed',
      who: { name: 'Somebody', you: false },
      from: '127.0.0.1',
    })
  })
  test('tells of a server that is gone, too', async () => {
    using p = await sold()
    await p.admin('DELETE', `/servers/${p.serverId}?immediately=true`)
    await p.settle()
    expect((await activity(p, p.customer)).map((l) => l.operation)).toEqual(['servers.terminate', 'servers.create'])
  })
  test('is nobody else’s: another customer, and another reseller, see nothing of it', async () => {
    using p = await sold()
    expect(await activity(p, p.account('customer', 'Mallory'))).toEqual([])
    expect(await activity(p, p.account('reseller', 'Eve'))).toEqual([])
  })
  test("tells a reseller of its customers' servers, by the customers' names", async () => {
    using p = await sold()
    const reseller = p.account('reseller', 'Reed')
    p.db.$client.run('UPDATE accounts SET reseller_id = ? WHERE id = ?', [reseller.id, p.customer.id])
    p.db.$client.run('UPDATE workloads SET reseller_id = ?', [reseller.id])
    await p.call(p.customer, 'POST', `/servers/${p.serverId}/actions/power`, { action: 'shutdown' })
    expect((await activity(p, reseller)).map((l) => [l.operation, l.who.name])).toEqual([
      ['servers.power', 'Cal'],
      ['servers.create', 'Staff'],
    ])
  })
  test('tells staff of themselves, by name and address', async () => {
    using p = await sold()
    expect((await activity(p, p.owner)).map((l) => [l.operation, l.who.you, l.from])).toEqual([
      ['servers.create', true, '127.0.0.1'],
    ])
    expect(await activity(p, p.staff())).toEqual([])
  })
})

describe("a server's activity", () => {
  test('is for who sees the server', async () => {
    using p = await sold()
    const path = `/servers/${p.serverId}/activity`
    expect((await activity(p, p.customer, path)).map((l) => [l.operation, l.who.name])).toEqual([
      ['servers.create', 'Staff'],
    ])
    expect((await activity(p, p.owner, path)).map((l) => [l.operation, l.who.name])).toEqual([
      ['servers.create', 'Ada'],
    ])
    expect((await p.call(p.account('customer', 'Mallory'), 'GET', path)).body.error.code).toBe('server_not_found')
  })
  test('stands on its page, the last ten', async () => {
    using p = await sold()
    const page = await p.controller.router.fetch(
      new Request(`http://localhost/servers/${p.serverId}`, {
        headers: { Cookie: `__Host-panel=${p.customer.cookie}` },
      }),
    )
    const text = await page.text()
    expect(text).toContain('id="done"')
    expect(text).toMatch(/<small>Staff\b/)
    expect(text).not.toContain('/admin/audit')
  })
})

describe('the page of it', () => {
  const page = async (p: World, who: Who, path: string) =>
    (await p.controller.router.fetch(
      new Request(`http://localhost${path.split('#')[0]}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
    )) as Response
  test('says what was done, not what could have been, and leads to the job', async () => {
    using p = await sold()
    const { jobId } = (await p.call(p.customer, 'POST', `/servers/${p.serverId}/actions/power`, { action: 'off' })).body
    await p.settle()
    for (const [who, area] of [
      [p.customer, ''],
      [p.owner, '/admin'],
    ] as const) {
      const text = await (await page(p, who, `${area}/servers/${p.serverId}/activity`)).text()
      expect(text).toContain('<b>Forced off</b>')
      expect(text).toContain(`href="${area}/jobs/${jobId}"`)
      expect(text).not.toContain('Start, shut down, force off or restart')
    }
    expect(await (await page(p, p.owner, '/admin/audit')).text()).toMatch(/<b>(<svg.*?<\/svg> )?Forced off<\/b>/)
  })
  test('goes on where the card on the page of the server ends, in every area', async () => {
    using p = await sold()
    const reseller = p.account('reseller', 'Rex')
    p.db.$client.run('UPDATE accounts SET reseller_id = ? WHERE id = ?', [reseller.id, p.customer.id])
    p.db.$client.run('UPDATE workloads SET reseller_id = ?', [reseller.id])
    for (let i = 0; i < 6; i++)
      for (const action of ['shutdown', 'start']) {
        await p.call(p.customer, 'POST', `/servers/${p.serverId}/actions/power`, { action })
        await p.settle()
      }
    for (const [who, area] of [
      [p.customer, ''],
      [reseller, '/reseller'],
      [p.owner, '/admin'],
    ] as const) {
      const here = `${area}/servers/${p.serverId}`
      expect(await (await page(p, who, here)).text()).toContain(`href="${here}/activity"`)
      const first = await (await page(p, who, `${here}/activity?limit=10`)).text()
      const next = /href="([^"]+)" rel="next"/.exec(first)![1]!.replaceAll('&amp;', '&')
      const rest = await (await page(p, who, next)).text()
      // 13 changes, each with the job that it started.
      const entries = /<tr id="(aud|job)_/g
      expect([first.match(entries)?.length, rest.match(entries)?.length]).toEqual([10, 3])
    }
    expect((await page(p, reseller, `/servers/${p.serverId}/activity?limit=10`)).headers.get('Location')).toBe(
      `/reseller/servers/${p.serverId}/activity?limit=10`,
    )
    expect((await page(p, p.account('customer', 'Mallory'), `/servers/${p.serverId}/activity`)).status).toBe(404)
  })
  test('links what a line is about to the page that its reader has of it, and nothing that is gone', async () => {
    using p = await sold()
    const reseller = p.account('reseller', 'Rex')
    const resold = p.account('customer', 'Rita', reseller.id)
    const other = p.staff([], 'Otto')
    await p.call(p.owner, 'PATCH', `/customers/${p.customer.id}`, { name: 'Calla' })
    await p.call(p.owner, 'PATCH', `/resellers/${reseller.id}`, { quotas: {} })
    await p.call(p.owner, 'PATCH', `/admin/staff/${other.id}`, { name: 'Otto O' })
    await p.call(reseller, 'PATCH', `/customers/${resold.id}`, { name: 'Rita R' })
    const links = async (who: Who, path: string) => {
      const text = await (await page(p, who, path)).text()
      const main = text.slice(text.indexOf('<main'))
      const found = [...main.matchAll(/href="(\/[^"]*_[0-9a-z]{26}[^"]*)"/g)]
        .map(([, href]) => href!)
        .filter((href) => !href.includes('/jobs/'))
      for (const href of new Set(found)) expect(`${href} ${(await page(p, who, href)).status}`).toBe(`${href} 200`)
      return new Set(found)
    }
    const seen = await links(p.owner, '/admin/audit')
    for (const href of [
      `/admin/customers/${p.customer.id}`,
      `/admin/resellers/${reseller.id}`,
      `/admin/staff#${other.id}`,
      `/admin/servers/${p.serverId}`,
    ])
      expect(seen).toContain(href)
    expect(await links(reseller, '/account/activity')).toEqual(new Set([`/reseller/customers/${resold.id}`]))
    expect(await links(p.customer, '/account/activity')).toEqual(new Set([`/servers/${p.serverId}`]))
    await p.admin('DELETE', `/servers/${p.serverId}?immediately=true`)
    await p.settle()
    expect(await links(p.customer, '/account/activity')).toEqual(new Set())
  })
  test('a crash stands in the log of the server with its cause, and not as something that was done', async () => {
    using p = await sold()
    const crash = { at: p.now(), cause: 'out_of_memory', detail: '', outcome: 'restarts' } as const
    write(p.db, (tx) => noteCrash(tx, p.now, { id: p.serverId }, crash))
    for (const [who, path] of [
      [p.customer, `/servers/${p.serverId}/activity`],
      [p.customer, `/servers/${p.serverId}`],
      [p.owner, `/admin/audit?target=${p.serverId}`],
    ] as const) {
      const text = await (await page(p, who, path)).text()
      const line = text.match(/<(?:tr|li) id="aud_[\s\S]*?<\/(?:tr|li)>/g)!.find((row) => row.includes('Ended'))
      expect([path, line]).toEqual([path, expect.stringContaining('Ended: the host ran out of memory')])
      expect([path, line]).toEqual([path, expect.not.stringContaining('Done')])
    }
  })
  test('a node that enrolled stands in the log in words', async () => {
    using p = await sold()
    expect(Object.keys(otherLines)).toEqual([
      'nodes.enrolled',
      'nodes.misconduct',
      'nodes.addresses-held',
      'nodes.addresses-freed',
      'workloads.crashed',
      'gpus.out-of-sale',
      'roll-outs.node-failed',
      'consoles.opened',
      'consoles.closed',
    ])
    const [row] = p.db.$client.query<any, []>('SELECT * FROM audit LIMIT 1').all()
    write(p.db, (tx) =>
      appendLine(tx, { ...row, id: newId('aud'), operation: 'nodes.enrolled', target: p.node.id, job_id: null }),
    )
    const text = await (await page(p, p.owner, '/admin/audit')).text()
    expect(text).toMatch(/<b>(<svg.*?<\/svg> )?Enrolled<\/b>/)
    expect(text).toContain(`href="/admin/nodes/${p.node.id}"`)
  })
})

test('how many jobs go on stands at the top of every page, for who sees jobs', async () => {
  using p = await sold()
  const top = async (who: Who) => {
    const text = await (
      await p.controller.router.fetch(
        new Request('http://localhost/account', { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
      )
    ).text()
    const [, href, hidden, n] = /id="running" href="([^"]*)"[^>]*?( hidden)?><svg.*?<\/svg>(\d+) </.exec(text) ?? []
    return `${href} ${n}${hidden ?? ''}`
  }
  expect(await top(p.owner)).toBe('/admin/jobs?state=running 0 hidden')
  p.node.agent.disconnect()
  p.db.$client.run("UPDATE jobs SET state = 'running'")
  expect(await top(p.owner)).toBe('/admin/jobs?state=running 1')
  expect(await top(p.customer)).toBe('/jobs?state=running 1')
  expect(await top(p.account('reseller', 'Rex'))).toBe('/reseller/jobs?state=running 0 hidden')
  expect(await top(p.staff([]))).toBe('undefined undefined')
  p.db.$client.run("UPDATE jobs SET state = 'succeeded'")
})

test('a lock stands on the own account, in the words of the provider', async () => {
  using p = await sold()
  const account = async () =>
    (
      await p.controller.router.fetch(
        new Request('http://localhost/account', { headers: { Cookie: `__Host-panel=${p.customer.cookie}` } }),
      )
    ).text()
  expect(await account()).not.toContain('locked')
  await p.admin('POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'Three invoices are overdue.' })
  expect(await account()).toContain('Your provider says: Three invoices are overdue.')
})
