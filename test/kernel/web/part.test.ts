// Live parts of pages: the part alone is sent, compressed, and nothing while it is as it was.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Everything, everything } from '../../support/world/everything.ts'
import type { Who } from '../../support/world/panel.ts'

let p: Everything
beforeAll(async () => {
  p = await everything()
})
afterAll(() => p.close())

const fetched = (who: Who, path: string, headers: Record<string, string> = {}) =>
  p.controller.router.fetch(
    new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}`, ...headers } }),
  )
const partOf = (who: Who, path: string, id: string, headers: Record<string, string> = {}) =>
  fetched(who, path, { 'X-Part': id, ...headers })

const one = (table: string) =>
  p.db.$client.query<{ id: string }, []>(`SELECT id FROM ${table} ORDER BY id LIMIT 1`).get()!.id
const places = (): [Who, string][] => [
  [p.owner, '/admin'],
  [p.owner, '/admin/servers?sort=name&status=running'],
  [p.owner, `/admin/servers/${one('servers')}`],
  [p.owner, `/admin/servers/${one('servers')}/settings`],
  [p.owner, '/admin/jobs'],
  [p.owner, `/admin/jobs/${one('jobs')}`],
  [p.owner, '/admin/nodes'],
  [p.owner, `/admin/nodes/${p.node.id}`],
  [p.owner, `/admin/customers/${p.customer.id}`],
  [p.people.reseller, '/reseller'],
  [p.people.reseller, '/reseller/servers'],
  [p.customer, '/'],
  [p.customer, '/servers'],
]

describe('a live part', () => {
  test('is what the page has in its place, and is not sent again while nothing changes', async () => {
    let parts = 0
    for (const [who, path] of places()) {
      const page = await (await fetched(who, path)).text()
      for (const [, id] of page.matchAll(/<div id="([\w-]+)"[^>]* hx-get=/g)) {
        parts++
        const answer = await partOf(who, path, id!)
        const text = await answer.text()
        expect([path, id, answer.status, text.startsWith(`<div id="${id}"`)]).toEqual([path, id, 200, true])
        const [inside] = text.split('<a class="running"')
        const still = (markup: string) => markup.replace(/<time[^>]*>[^<]*<\/time>/g, '')
        // Parts that come with it stand behind it, each to be put in its place.
        for (const part of inside!.split(/(?=<div id="[\w-]+" class="live" hx-swap-oob)/))
          expect([path, id, still(page).includes(still(part.replace(' hx-swap-oob="outerMorph"', '')))]).toEqual([
            path,
            id,
            true,
          ])
        expect(text).not.toContain('csrf-token')
        const again = await partOf(who, path, id!, { 'If-None-Match': answer.headers.get('ETag')! })
        expect([path, id, again.status, await again.text()]).toEqual([path, id, 304, ''])
      }
    }
    expect(parts).toBeGreaterThan(12)
  })

  test('is sent when a row changes, when its words about times grow old, and to another reader', async () => {
    const [who, path, id]: [Who, string, string] = [p.owner, '/admin/servers', 'list']
    const tag = async (at = path, reader: Who = who) => (await partOf(reader, at, id)).headers.get('ETag')!
    const before = await tag()
    expect(await tag()).toBe(before)
    expect(await tag(`${path}?sort=name`)).not.toBe(before)
    expect(await tag(path, p.staff())).not.toBe(before)
    p.db.$client.run('UPDATE workloads SET name = ?, version = version + 1 WHERE id = ?', ['other', one('servers')])
    const after = await partOf(who, path, id, { 'If-None-Match': before })
    expect([after.status, (await after.text()).includes('other')]).toEqual([200, true])
    const now = await tag()
    p.turnClock(61_000)
    expect(await tag()).not.toBe(now)
  })

  test('is compressed for browsers, and a fraction of the page', async () => {
    const size = { vcpus: 1, memoryMb: 64, diskGb: 1, ipv4: 0 }
    const { id: packageId } = await p.admin('POST', '/admin/packages', { name: 'tiny', ...size })
    const bare = { imageId: undefined, hostname: undefined, access: undefined, packageId }
    for (let i = 0; i < 45; i++) await p.admin('POST', '/admin/servers', { ...p.order, ...bare })
    await p.settle()
    const page = (await (await fetched(p.owner, '/admin/servers')).text()).length
    const part = await partOf(p.owner, '/admin/servers', 'list', { 'Accept-Encoding': 'gzip, deflate, br' })
    expect(part.headers.get('Content-Encoding')).toBe('gzip')
    const sent = new Uint8Array(await part.arrayBuffer())
    expect(Buffer.from(Bun.gunzipSync(sent)).toString()).toStartWith('<div id="list"')
    expect(sent.length).toBeLessThan(page / 8)
    const plain = await partOf(p.owner, '/admin/servers', 'list')
    expect(plain.headers.get('Content-Encoding')).toBeNull()
  })

  test('that the page does not have is the page, and is refused like it', async () => {
    expect(await (await partOf(p.owner, '/admin/servers', 'nothing')).text()).toStartWith('<!doctype html>')
    expect((await partOf(p.customer, '/admin/servers', 'list')).status).toBe(404)
    expect((await partOf({}, '/admin/servers', 'list')).status).toBe(303)
  })
})
