// The search finds what its asker may see, and nothing else.
import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import type { AccountKind } from '../../../src/kernel/api/access.ts'
import { dialogId } from '../../../src/kernel/web/navigation.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const find = async (p: World, who: Who, q: string) =>
  ((await p.call(who, 'GET', `/search?q=${encodeURIComponent(q)}`)).body.data as any[]).map(
    (f) => `${f.type} ${f.title}`,
  )
async function sold() {
  const p = await world()
  const { body } = await p.call(p.owner, 'POST', '/admin/servers', p.order)
  await p.settle()
  return Object.assign(p, { serverId: body.serverId as string, jobId: body.jobId as string, ipv4: body.ipv4 as string })
}
const page = async (p: World, path: string, who: Who) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path.split('#')[0]}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
    )
  ).text()

describe('the search', () => {
  test('finds a server by its name, address and id, a customer, a node, a job and a page', async () => {
    using p = await sold()
    expect(await find(p, p.owner, 'web0')).toEqual(['server web01', 'job Install web01'])
    expect(await find(p, p.owner, p.ipv4)).toEqual(['server web01', `address ${p.ipv4}`])
    expect(await find(p, p.owner, p.serverId)).toEqual(['server web01'])
    expect(await find(p, p.owner, p.jobId)).toEqual(['job Install web01'])
    expect(await find(p, p.owner, 'fra-0')).toEqual(['node fra-01'])
    expect(await find(p, p.owner, 'audit')).toEqual(['page Audit log', 'action Verify the audit log'])
    expect(await find(p, p.owner, 'CAL')).toContain('customer Cal')
  })
  test('leads from a verb and a name to where that is done, for those who may do it', async () => {
    using p = await sold()
    for (const q of ['reinstall web01', 'rein web', 'Reinstall web01']) {
      const { data } = (await p.call(p.customer, 'GET', `/search?q=${encodeURIComponent(q)}`)).body
      expect(data.map(({ title, href }: any) => [title, href])).toEqual([
        ['Reinstall web01', `/servers/${p.serverId}/settings#reinstall`],
      ])
      expect(await page(p, data[0].href, p.customer)).toContain('<div id="reinstall">')
    }
    for (const q of ['reinstall', 'reinstallation web01', 'rename web01'])
      expect(await find(p, p.customer, q)).toEqual([])
    // Two letters name no action; by chance they are in the id of the server, which is then found by them.
    expect((await find(p, p.customer, 're web01')).filter((hit) => hit !== 'server web01')).toEqual([])
    expect(await find(p, p.staff(['servers.see_all']), 'reinstall web01')).toEqual([])
    expect(await find(p, p.account('customer', 'Mallory'), 'reinstall web01')).toEqual([])
  })
  test('finds a server by any address inside its prefix, in whatever spelling, and by its MAC address', async () => {
    using p = await sold()
    await p.admin('POST', '/admin/ip-pools', {
      name: 'v6',
      network: '2001:db8:40::/48',
      gateway: 'fe80::1',
      nodeIds: [p.node.id],
    })
    const { id } = await p.admin('POST', '/admin/packages', {
      name: 'six',
      vcpus: 1,
      memoryMb: 64,
      diskGb: 5,
      ipv6Prefix: 64,
    })
    await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'six01', packageId: id })
    await p.settle()
    const six = p.db.$client
      .query<{ mac: string; address: string }, []>(
        `SELECT w.mac, a.address FROM workloads w JOIN addresses a ON a.workload_id = w.id
         WHERE w.hostname = 'six01' AND a.version = 6`,
      )
      .get()!
    const inside = six.address.replace(/::$/, ':0:ab:0:99')
    const spellings = [inside, inside.toUpperCase(), inside.replace('db8', '0db8'), `${six.address}ab:0:99`]
    for (const text of [...spellings, six.address])
      expect([text, (await find(p, p.owner, text)).filter((hit) => !hit.startsWith('address '))]).toEqual([
        ...[text, ['server six01']],
      ])
    expect(await find(p, p.owner, '2001:db8:41::1')).toEqual([])
    expect(await find(p, p.owner, `::ffff:${p.ipv4}`)).toEqual(['server web01'])
    const bare = six.mac.replaceAll(':', '')
    for (const text of [six.mac, six.mac.toUpperCase(), six.mac.replaceAll(':', '-'), bare, bare.slice(6)])
      expect([text, await find(p, p.owner, text)]).toEqual([text, ['server six01']])
    const listed = (await p.call(p.owner, 'GET', `/admin/servers?q=${encodeURIComponent(inside)}`)).body
    expect(listed.data.map((s: any) => s.hostname)).toEqual(['six01'])
    expect(await find(p, p.account('customer', 'Mallory'), inside)).toEqual([])
  })
  test('finds names without their accents and with them, in any case', async () => {
    using p = await sold()
    p.account('customer', 'Jürgen Müller')
    p.account('customer', 'ØRSTED ŁÓDŹ')
    p.account('customer', 'Привет')
    for (const text of ['muller', 'MÜLLER', 'jurgen m', 'müll'])
      expect([text, await find(p, p.owner, text)]).toEqual([text, ['customer Jürgen Müller']])
    for (const text of ['orsted', 'lodz', 'Łódź'])
      expect([text, await find(p, p.owner, text)]).toEqual([text, ['customer ØRSTED ŁÓDŹ']])
    expect(await find(p, p.owner, 'привет')).toEqual(['customer Привет'])
    for (const text of ['m*ller', 'm?ller', '[a-z]uller', 'm_ller'])
      expect([text, await find(p, p.owner, text)]).toEqual([text, []])
  })
  test('finds a Vietnamese name by itself and by its plain letters', async () => {
    using p = await world()
    p.account('customer', 'Nguyễn Thị Hồng')
    for (const q of ['Nguyễn', 'nguyen', 'NGUYỄN', 'Hồng', 'hong', 'Thị Nguyễn'])
      expect([q, await find(p, p.owner, q)]).toEqual([q, ['customer Nguyễn Thị Hồng']])
    const listed = await p.call(p.owner, 'GET', `/admin/customers?q=${encodeURIComponent('Nguyễn')}`)
    expect(listed.body.data.map((one: { name: string }) => one.name)).toEqual(['Nguyễn Thị Hồng'])
  })
  test('finds words in any order, each in whatever a thing is found by', async () => {
    using p = await sold()
    p.account('customer', 'Jürgen Müller')
    p.account('customer', 'Jürgen Schmidt')
    for (const text of ['muller jurgen', 'Müller, Jürgen'.replace(',', ''), ' jur  mül '])
      expect([text, await find(p, p.owner, text)]).toEqual([text, ['customer Jürgen Müller']])
    expect(await find(p, p.owner, `${p.ipv4} web0`)).toEqual(['server web01'])
    expect(await find(p, p.owner, 'web01 install')).toEqual(['job Install web01'])
    expect(await find(p, p.owner, 'log audit')).toContain('page Audit log')
    expect(await find(p, p.owner, 'web01 nothing')).toEqual([])
    const listed = async (path: string) => (await p.call(p.owner, 'GET', path)).body.data.length
    expect(await listed('/admin/customers?q=muller+jurgen')).toBe(1)
    expect(await listed('/admin/servers?q=cal+web0')).toBe(1)
    expect(await listed('/admin/servers?q=muller+web0')).toBe(0)
    p.db.$client.run("UPDATE jobs SET state = 'failed'")
    for (const text of ['failed jobs', 'install failed', 'jobs web01'])
      expect([text, await find(p, p.owner, text)]).toEqual([text, ['job Install web01']])
    // A word beside another one finds nothing that its asker may not see.
    expect(await find(p, p.account('customer', 'Mallory'), `account ${p.ipv4}`)).toEqual([])
    const many = 'one two three four five six seven eight '.repeat(5).slice(0, 200)
    expect(await find(p, p.owner, many)).toEqual([])
  })
  test('finds a customer by its external id, and jobs that failed', async () => {
    using p = await sold()
    const email = 'ext@customer.test'
    await p.admin('POST', '/admin/customers', { name: 'Ext', email, externalId: 'client-1842' })
    expect(await find(p, p.owner, 'client-1842')).toEqual(['customer Ext'])
    expect(await find(p, p.owner, 'failed')).toEqual([])
    p.db.$client.run("UPDATE jobs SET state = 'failed'")
    expect(await find(p, p.owner, 'failed')).toEqual(['job Install web01'])
    expect(await find(p, p.account('customer', 'Mallory'), 'failed')).toEqual([])
  })
  test('leads everybody to their own place', async () => {
    using p = await sold()
    const places = async (who: Who, q: string) =>
      (await p.call(who, 'GET', `/search?q=${q}`)).body.data.map((f: any) => f.href)
    expect(await places(p.owner, 'web0')).toEqual([`/admin/servers/${p.serverId}`, `/admin/jobs/${p.jobId}`])
    expect(await places(p.customer, 'web0')).toEqual([`/servers/${p.serverId}`, `/jobs/${p.jobId}`])
    for (const href of await places(p.customer, 'a'))
      expect((await page(p, href, p.customer)).includes('<h1>Not found')).toBe(false)
  })
  test('finds nothing of what its asker may not see, by whatever name or id', async () => {
    using p = await sold()
    const stranger = p.account('customer', 'Mallory')
    const reseller = p.account('reseller', 'Eve')
    for (const who of [stranger, reseller])
      for (const q of [
        'web0',
        p.serverId,
        p.ipv4,
        p.jobId,
        'Install',
        'Cal',
        p.customer.id,
        'fra-01',
        p.node.id,
        '%',
        '_',
      ])
        expect({ q, found: (await find(p, who, q)).filter((f) => !f.startsWith('page ')) }).toEqual({ q, found: [] })
    expect(await find(p, p.customer, 'fra-01')).toEqual([])
    expect(await find(p, p.staff(['customers.read']), 'web0')).toEqual([])
    // Its list of servers names the owners too.
    expect(await find(p, p.staff(['servers.see_all']), 'Cal')).toEqual(['server web01'])
    expect(await find(p, p.token(p.owner.id, ['account:read']), 'web0')).toEqual([])
  })
  test('finds no server but those that the list of its asker has, whatever is looked for', async () => {
    using p = await sold()
    const reseller = p.account('reseller', 'Rex')
    const resold = p.account('customer', 'Clara', reseller.id)
    await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'shop01' })
    await p.settle()
    p.db.$client.run("UPDATE workloads SET owner_id = ?, reseller_id = ? WHERE hostname = 'shop01'", [
      resold.id,
      reseller.id,
    ])
    const servers = p.db.$client
      .query<{ id: string; mac: string; address: string }, []>(
        'SELECT w.id, w.mac, a.address FROM workloads w JOIN addresses a ON a.workload_id = w.id',
      )
      .all()
    const texts = [
      ...['0', 'w', 'we', 'web', '01', 'web01', 'shop', 'cal', 'clara', 'clara shop', 'customer.test', '203', '52:54'],
      ...servers.flatMap(({ id, mac, address }) => [id, mac, address, `::ffff:${address}`, `${address} 01`]),
    ]
    const readers = { customer: p.customer, resold, reseller, stranger: p.account('customer', 'Mallory') }
    let most = 0
    for (const [name, who] of Object.entries(readers)) {
      const own = (await p.call(who, 'GET', '/servers')).body.data.map(({ id }: { id: string }) => id)
      for (const q of texts) {
        const { data } = (await p.call(who, 'GET', `/search?q=${encodeURIComponent(q)}`)).body
        const ids = data.flatMap((hit: any) => (hit.type === 'server' ? [hit.id] : []))
        const listed = (await p.call(who, 'GET', `/servers?q=${encodeURIComponent(q)}`)).body.data
        expect([name, q, ids.filter((id: string) => !own.includes(id))]).toEqual([name, q, []])
        expect([name, q, ids.toSorted()]).toEqual([name, q, listed.map(({ id }: any) => id).toSorted()])
        most = Math.max(most, ids.length)
      }
    }
    expect(most).toBe(1)
  })
  test('finds a reseller its own customers, and nobody else’s', async () => {
    using p = await sold()
    const [reseller, rival] = [p.account('reseller', 'Rex'), p.account('reseller', 'Eve')]
    const { id } = p.account('customer', 'Clara', reseller.id)
    const places = async (who: Who) => (await p.call(who, 'GET', '/search?q=clara')).body.data.map((f: any) => f.href)
    expect(await places(reseller)).toEqual([`/reseller/customers/${id}`])
    expect(await page(p, `/reseller/customers/${id}`, reseller)).toContain('<h1>Clara</h1>')
    expect([await places(rival), await places(p.customer)]).toEqual([[], []])
  })
  test('finds pages that the navigation shows its asker', async () => {
    using p = await sold()
    expect(await find(p, p.staff(['nodes.read']), 'audit')).toEqual([])
    expect(await find(p, p.customer, 'tokens')).toEqual(['page API tokens'])
    expect(await find(p, p.customer, 'packages')).toEqual([])
  })
  test('shows twelve at most, some of each kind', async () => {
    using p = await sold()
    for (let i = 0; i < 15; i++) p.account('customer', `web0 customer ${i}`)
    const found = await find(p, p.owner, 'web0')
    expect(found.length).toBe(12)
    expect(found[0]).toBe('server web01')
    expect(found.at(-1)).toBe('job Install web01')
  })
  test('of nothing is nothing', async () => {
    using p = await sold()
    for (const q of ['%', "' OR 1=1 --"]) expect(await find(p, p.owner, q)).toEqual([])
  })
})

describe('the order of what is found', () => {
  type Hit = { type: string; title: string; exact: boolean; terminated: boolean; actions: { title: string }[] }
  const hits = async (p: World, who: Who, q: string): Promise<Hit[]> =>
    (await p.call(who, 'GET', `/search?q=${encodeURIComponent(q)}`)).body.data
  const marked = async (p: World, who: Who, q: string) =>
    (await hits(p, who, q)).map(
      ({ title, exact, terminated }) => `${title}${exact ? ' exactly' : ''}${terminated ? ' terminated' : ''}`,
    )
  const rename = (p: World, from: string, to: Record<string, string>) => {
    for (const [column, value] of Object.entries(to))
      p.db.$client.run(`UPDATE workloads SET ${column} = ? WHERE hostname = ?`, [value, from])
  }
  /** Fourteen servers with addresses that begin with that of the first, which is the oldest. */
  async function many() {
    const p = await sold()
    for (let i = 0; i < 14; i++) {
      const id = `${p.serverId.slice(0, -2)}z${i.toString(36)}`
      p.db.$client.run(
        `INSERT INTO workloads (id, kind, number, owner_id, node_id, location_id, hostname, name, vcpus, memory_mb,
           disk_gb, mac, held_mac, placement, lifecycle, created_at, pool)
         SELECT ?1, kind, number + ?2, owner_id, node_id, location_id, ?3, ?3, 1, 1, 1, ?4, ?4, '', 'active',
           created_at, pool
         FROM workloads WHERE id = ?5`,
        [id, 100 + i, `web01${i}`, `52:54:00:00:01:${i + 10}`, p.serverId],
      )
      p.db.$client.run(
        'INSERT INTO servers (id, package_id, format) SELECT ?, package_id, format FROM servers WHERE id = ?',
        [id, p.serverId],
      )
    }
    return p
  }
  test('begins with the one whose name, id, address or MAC address the text is', async () => {
    using p = await many()
    expect((await marked(p, p.owner, 'web01'))[0]).toBe('web01 exactly')
    expect((await marked(p, p.owner, 'WEB01')).length).toBe(12)
    expect(await marked(p, p.owner, p.serverId)).toEqual(['web01 exactly'])
    expect(await marked(p, p.owner, p.ipv4)).toEqual(['web01 exactly', `${p.ipv4} exactly`])
    expect(await marked(p, p.owner, '5254.0000.0113')).toEqual(['web013 exactly'])
    rename(p, 'web013', { hostname: 'mail.web01.test', name: 'mail' })
    // Those that begin with it, before those that have it somewhere, though that one is newer than most.
    const found = await marked(p, p.owner, 'web01')
    expect([found[0], found.includes('mail.web01.test')]).toEqual(['web01 exactly', false])
    p.account('customer', 'web01')
    expect((await hits(p, p.owner, 'web01')).slice(0, 2).map(({ type }) => type)).toEqual(['server', 'customer'])
  })
  test('has servers by the names of their owners', async () => {
    using p = await sold()
    expect(await marked(p, p.owner, 'cal')).toEqual(['web01', 'Cal exactly'].toReversed())
    expect(await marked(p, p.owner, 'cal web')).toEqual(['web01'])
  })
  test('ends with terminated servers, which staff alone find, also by an address that is held', async () => {
    using p = await many()
    p.db.$client.run(
      "UPDATE workloads SET terminated_at = 1, lifecycle = 'terminated' WHERE hostname IN ('web01', 'web0113')",
    )
    const found = await marked(p, p.owner, 'web')
    expect(found.filter((hit) => hit.endsWith('terminated'))).toEqual([])
    expect(await marked(p, p.owner, p.ipv4)).toEqual(['web01 exactly terminated', `${p.ipv4} exactly`])
    expect((await marked(p, p.owner, 'web0113'))[0]).toBe('web0113 exactly terminated')
    expect(await marked(p, p.customer, p.ipv4)).toEqual([])
    expect(await marked(p, p.customer, 'web0113')).toEqual([])
    p.db.$client.run('PRAGMA foreign_keys = OFF')
    p.db.$client.run("DELETE FROM workloads WHERE hostname GLOB 'web01[0-9]' OR hostname GLOB 'web011[0-2]'")
    expect(await marked(p, p.owner, 'web')).toEqual(expect.arrayContaining(['web0113 terminated', 'web01 terminated']))
  })
  test('says what can be done with the one that is meant, as far as its asker may', async () => {
    using p = await sold()
    const titles = async (who: Who, q: string) => (await hits(p, who, q))[0]?.actions.map(({ title }) => title)
    const forOwner = ['Open console', 'Restart', 'Copy SSH command']
    expect(await titles(p.owner, 'web01')).toEqual([...forOwner, 'Move', 'Open owner Cal'])
    expect(await titles(p.customer, 'web01')).toEqual(forOwner)
    expect(await titles(p.staff(['servers.see_all']), 'web01')).toEqual(['Open console', 'Copy SSH command'])
    const [hit] = (await p.call(p.owner, 'GET', '/search?q=web01')).body.data
    expect(hit.actions).toMatchObject([
      {},
      {},
      { copies: `ssh root@${p.ipv4}`, href: null, operation: null },
      { href: `/admin/servers/${p.serverId}/move`, copies: null },
      {},
    ])
    expect(await titles(p.owner, 'web0')).toEqual([])
    p.db.$client.run("UPDATE workloads SET terminated_at = 1, lifecycle = 'terminated'")
    expect(await titles(p.owner, 'web01')).toEqual(['Open owner Cal'])
  })
})

describe('its page', () => {
  test('works without scripts: the field is a form, what is found are links', async () => {
    using p = await sold()
    const text = await page(p, '/search?q=web0', p.customer)
    expect(text).toContain('action="/search" method="get"')
    expect(text).toContain(`role="option" id="found-0" href="/servers/${p.serverId}"`)
    expect(await page(p, `/search?q=${encodeURIComponent('<b>')}`, p.customer)).toContain('“&lt;b>”')
  })
  test('has a heading above each kind, which is the name of its group, and a button that copies', async () => {
    using p = await sold()
    const text = await page(p, '/search?q=web01', p.owner)
    const groups = [
      ...text.matchAll(/<div role="group" aria-label="([^"]+)"><small class="muted" aria-hidden="true">([^<]+)</g),
    ]
    expect(groups.map(([, name, heading]) => [name, heading])[0]).toEqual(['Servers', 'Servers'])
    expect(groups.length).toBe(new Set(groups.map(([, name]) => name)).size)
    expect(text).toContain(`data-copy="ssh root@${p.ipv4}"`)
  })
  test('is a dialog on every other page', async () => {
    using p = await sold()
    expect(await page(p, '/', p.customer)).toContain('<dialog id="palette"')
    expect(await page(p, '/search', p.customer)).not.toContain('<dialog id="palette"')
    expect(await page(p, '/login', {})).not.toContain('palette')
  })
})

describe('actions', () => {
  const people = (p: World) => ({ staff: p.owner, reseller: p.account('reseller', 'Rex'), customer: p.customer })
  test('are shown before anything is asked for, twelve at most, each only to who may do it', async () => {
    using p = await sold()
    const [staff, none] = [await find(p, p.owner, ''), await find(p, p.staff([]), '')]
    expect(staff.length).toBe(12)
    expect(staff[0]).toBe('action Create server')
    expect(none).toEqual(['action Create API token', 'action Set up a second factor', 'action Change password'])
    expect(await find(p, p.customer, ' ')).toEqual([
      'action Invite someone',
      'action Add SSH key',
      'action Add startup script',
      'action Add own image',
      'action Create API token',
      'action Set up a second factor',
      'action Add webhook',
      'action Change password',
    ])
    expect(await find(p, p.owner, 'role')).toEqual(['action Roles and permissions'])
    expect(await find(p, p.staff(['nodes.read']), 'role')).toEqual([])
  })
  test('are not offered where the page of it is not for who may do it', async () => {
    using p = await sold()
    // An order names its customer from a list, which this role does not see.
    expect(await find(p, p.staff(['servers.create']), 'create server')).toEqual([])
  })
  test('each lead to a page that is there, with the dialog that they name', async () => {
    using p = await sold()
    // A backup plan can be added where there is a place for its backups.
    await p.admin('POST', '/admin/backup-targets/local', { name: 'Oslo', address: '/srv/oslo' })
    const all = people(p)
    p.db.$client.run("UPDATE accounts SET password_hash = 'x'")
    for (const [kind, who] of Object.entries(all))
      for (const { title, page: path, dialog: opens, does, kinds } of registry.actions) {
        if (!kinds.includes(kind as AccountKind)) continue
        const dialog = opens && dialogId(does)
        const text = await page(p, path, who)
        expect(`${kind} ${title}: ${/<h1>(Not \w+)/.exec(text)?.[1] ?? 'there'}`).toBe(`${kind} ${title}: there`)
        if (dialog) expect(`${title}: ${text.includes(`<dialog id="${dialog}"`)}`).toBe(`${title}: true`)
        else if (!/server|SSH|node|log|factor|update/i.test(title)) expect(text).toContain(does.id)
      }
  })
  test('stand in the dialog of every page', async () => {
    using p = await sold()
    const text = await page(p, '/', p.customer)
    expect(text.slice(text.indexOf('<dialog id="palette"'))).toContain('href="/team#team-invite"')
  })
})
