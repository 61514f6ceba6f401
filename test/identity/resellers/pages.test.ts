import { describe, expect, test } from 'bun:test'
import type { Who } from '../../support/world/panel.ts'
import { type Shop, shop } from './shop.ts'

async function pageOf(p: Shop, who: Who, path: string) {
  const response = await p.controller.router.fetch(
    new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
  )
  return { status: response.status, text: await response.text() }
}
const area = ['', '/servers', '/servers/new', '/customers', '/packages'].map((end) => `/reseller${end}`)

describe("a reseller's area", () => {
  test('is its own: every page leads on within it, and other accounts are kept out', async () => {
    using p = await shop()
    for (const path of area) {
      const shown = await pageOf(p, p.rita, path)
      expect([path, shown.status]).toEqual([path, 200])
      expect(shown.text).toContain('href="/reseller/servers"')
      expect(shown.text).not.toContain('href="/admin')
      for (const who of [p.client, p.owner]) expect([path, (await pageOf(p, who, path)).status]).toEqual([path, 404])
    }
  })
  test('offers what it may sell and no node, and what it may not is not named', async () => {
    using p = await shop({ vcpus: 1 })
    await p.admin('POST', '/admin/packages', { name: 'Hidden package', vcpus: 1, memoryMb: 512, diskGb: 5 })
    await p.admin('POST', '/admin/node-groups', { name: 'Hidden place' })
    const { text } = await pageOf(p, p.rita, '/reseller/servers/new')
    for (const there of ['KVM 2G', 'Frankfurt', 'Debian 13', 'Rita (you)', 'Clara', 'Over quota. vCPUs: 0 of 1 used.'])
      expect(text).toContain(there)
    for (const never of ['Hidden', 'nodeId', 'fra-01', 'Cal']) expect(text).not.toContain(never)
  })
  test('shows a server and a customer of its own with what it may do with them', async () => {
    using p = await shop()
    const { serverId } = (await p.buy()).body
    const tabs = ['', '/settings'].map((tab) => pageOf(p, p.rita, `/reseller/servers/${serverId}${tab}`))
    const server = (await Promise.all(tabs)).map(({ text }) => text).join('')
    for (const call of ['servers.setup', 'servers.suspend', 'servers.terminate'])
      expect(server).toContain(`data-call="${call}"`)
    expect(server).toContain(`href="/reseller/customers/${p.client.id}"`)
    const client = (await pageOf(p, p.rita, `/reseller/customers/${p.client.id}`)).text
    for (const call of ['customers.update', 'customers.lock', 'ssh-keys.create'])
      expect(client).toContain(`data-call="${call}"`)
    expect(client).toContain(`href="/reseller/servers/${serverId}"`)
    const itself = (await pageOf(p, p.rita, `/reseller/customers/${p.rita.id}`)).text
    expect(itself).toContain('data-call="ssh-keys.create"')
    for (const call of ['customers.update', 'customers.lock', 'customers.set-allowance'])
      expect(itself).not.toContain(call)
    const otto = p.account('reseller', 'Otto')
    for (const path of [
      `/reseller/servers/${serverId}`,
      `/reseller/customers/${p.client.id}`,
      `/reseller/customers/${p.rita.id}`,
    ])
      expect([path, (await pageOf(p, otto, path)).status]).toEqual([path, 404])
  })
  test('says what needs attention: failed servers, quotas near the end, locked customers, its suspension', async () => {
    using p = await shop({ servers: 1 })
    expect((await pageOf(p, p.rita, '/reseller')).text).toContain('Nothing needs attention.')
    p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
    await p.buy({ imageId: p.image, hostname: 'web01', access: { mode: 'password' } })
    await p.settle()
    await p.call(p.rita, 'POST', `/customers/${p.client.id}/actions/lock`, { reason: 'owes <b>much</b>' })
    await p.admin('POST', `/resellers/${p.rita.id}/actions/suspend`, { reason: 'Invoice 7' })
    const { text } = await pageOf(p, p.rita, '/reseller')
    for (const words of [
      'The installation of web01 failed.',
      'Servers: 1 of 1 used',
      'Clara is locked.',
      'owes &lt;b>much&lt;/b>',
      'Your reseller account is suspended.',
      'Invoice 7',
    ])
      expect(text).toContain(words)
    // The search still knows the page, which says why nothing can be ordered.
    expect(text.slice(0, text.indexOf('<dialog id="palette"'))).not.toContain('/reseller/servers/new')
    expect((await pageOf(p, p.rita, '/reseller/servers/new')).text).toContain('Nothing new can be ordered now.')
  })
})

describe('each kind of account has its area', () => {
  test('and every way into it: the browser is told, mails lead there, and so do the pages that all have', async () => {
    using p = await shop()
    const { serverId } = (await p.buy({ ownerId: p.rita.id })).body
    const sold = (await p.buy()).body.serverId
    const ready = p.mailed().filter(({ subject }) => subject.endsWith('is ready to be set up'))
    expect(ready.map((m) => /https?:\S+\/servers\/\S+/.exec(m.text)?.[0])).toEqual([
      `https://panel.test/reseller/servers/${serverId}`,
      `https://panel.test/servers/${sold}`,
    ])
    for (const [who, area] of [
      [p.owner, '/admin'],
      [p.rita, '/reseller'],
      [p.client, ''],
    ] as const)
      expect((await pageOf(p, who, '/account')).text).toContain(area ? ` data-area="${area}"` : ' data-area ')
    const activity = (await pageOf(p, p.rita, '/account/activity')).text
    expect(activity).toContain(`href="/reseller/servers/${serverId}"`)
    expect(activity).not.toContain('href="/servers/')
    // A link that was made for an owner finds the same page in the area of who opens it.
    for (const path of [
      `/servers/${serverId}`,
      `/servers/${serverId}/activity`,
      '/servers?q=x',
      '/jobs?state=done',
      '/',
    ])
      for (const [who, area] of [
        [p.owner, '/admin'],
        [p.rita, '/reseller'],
      ] as const) {
        const answer = await p.controller.router.fetch(
          new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
        )
        expect([answer.status, answer.headers.get('Location')]).toEqual([303, path === '/' ? area : area + path])
      }
  })
})

describe("the staff's pages of resellers", () => {
  test('say what suspending one does now, and offer what can be done', async () => {
    using p = await shop({ servers: 4 })
    await p.buy()
    await p.buy({ ownerId: p.rita.id })
    const path = `/admin/resellers/${p.rita.id}`
    const { text } = await pageOf(p, p.owner, path)
    for (const words of [
      'Orders for Rita and its 1 customer are refused',
      'The 2 servers of Rita and its customers keep running',
      '2 of 4',
      'Clara',
    ])
      expect(text).toContain(words)
    // Each dialog has an id of its own, or a button would open another's.
    const dialogs = [...text.matchAll(/<dialog id="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(dialogs).size).toBe(dialogs.length)
    await p.admin('POST', `/resellers/${p.rita.id}/actions/suspend`, { reason: 'Owes <b>much</b>' })
    const suspended = (await pageOf(p, p.owner, path)).text
    expect(suspended).toContain('Owes &lt;b>much&lt;/b>')
    expect(suspended).toContain('data-call="resellers.unsuspend"')
    expect(suspended).not.toContain('data-call="resellers.suspend"')
    const reader = (await pageOf(p, p.staff(['customers.read']), path)).text
    expect(reader).toContain('Clara')
    for (const op of ['resellers.update', 'resellers.unsuspend']) expect(reader).not.toContain(op)
  })
  test('list them with what they hold, and lead to them from their accounts and customers', async () => {
    using p = await shop({ servers: 1 })
    await p.buy()
    const list = (await pageOf(p, p.owner, '/admin/resellers')).text
    expect(list).toContain(`href="/admin/resellers/${p.rita.id}"`)
    expect(list).toContain('Servers: 1 of 1 used')
    for (const id of [p.rita.id, p.client.id])
      expect((await pageOf(p, p.owner, `/admin/customers/${id}`)).text).toContain(
        `href="/admin/resellers/${p.rita.id}"`,
      )
    expect((await pageOf(p, p.owner, `/admin/customers/${p.customer.id}`)).text).not.toContain('/admin/resellers/')
  })
  test('are refused to staff without the permission, and do not exist for other kinds of account', async () => {
    using p = await shop()
    const cases = [
      [p.rita, 404],
      [p.client, 404],
      [p.staff([]), 403],
    ] as const
    for (const [who, status] of cases)
      for (const path of ['/admin/resellers', `/admin/resellers/${p.rita.id}`])
        expect([path, (await pageOf(p, who, path)).status]).toEqual([path, status])
  })
})
