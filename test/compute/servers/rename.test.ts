// The display name of a server: whose it is may change it, and who may not, may not.
import { expect, test } from 'bun:test'
import { world } from '../../support/world/panel.ts'

test(
  'a server is renamed by its owner, a manager and staff; not by an operator or a stranger, nor once it is ' + 'gone',
  async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web01' })
    await p.settle()
    const rename = (who: Parameters<typeof p.call>[0], name: string) =>
      p.call(who, 'PATCH', `/servers/${serverId}/name`, { name })
    for (const who of [p.customer, p.owner, p.staff(['servers.see_all', 'servers.settings'])]) {
      const { status, body } = await rename(who, 'Shop')
      expect([status, body.name, body.hostname]).toEqual([200, 'Shop', 'web01'])
    }
    expect((await p.call(p.customer, 'GET', '/servers?q=shop')).body.data.map((s: any) => s.name)).toEqual(['Shop'])
    const [eve, clerk] = [p.account('customer', 'Eve'), p.staff(['servers.see_all', 'servers.power'])]
    const before = p.fingerprint()
    expect((await rename(eve, 'Mine')).body.error.code).toBe('server_not_found')
    expect((await rename(clerk, 'Mine')).body.error.code).toBe('forbidden')
    for (const name of ['', 'x'.repeat(65), 'two\nlines'])
      expect((await rename(p.customer, name)).body.error.code).toBe('validation_failed')
    expect(p.fingerprint()).toBe(before)
    await p.admin('DELETE', `/servers/${serverId}`)
    await p.settle()
    expect((await rename(p.owner, 'Gone')).body.error.code).toBe('server_terminated')
  },
)
