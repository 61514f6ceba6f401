// No page leads its reader to a refusal. Everybody there can be starts at home and opens every link there is, until
// none is new.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { h } from 'preact'
import { registry as product } from '../../src/app/features.ts'
import { areas, homeOf } from '../../src/identity/account-records/areas.ts'
import { accountKinds } from '../../src/identity/account-records/kinds.ts'
import { rendered } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import { inContext } from '../../src/kernel/web/page-context.ts'
import { addresses } from '../../views/addresses.ts'
import { Link } from '../../views/components/link.tsx'
import { type WalkedPage, walked } from '../support/pages/walk.ts'
import { type Everything, everything } from '../support/world/everything.ts'
import type { Who } from '../support/world/panel.ts'
import { allPermissions } from '../support/world/rights.ts'
import { share } from '../support/world/team.ts'
import { registry } from './toy-feature/every-feature.ts'

let p: Everything
beforeAll(async () => {
  p = await everything()
  p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
  await p.admin('POST', '/admin/servers', { ...p.order, ownerId: p.resold.id, hostname: 'failed01' })
  await p.settle()
  p.db.$client.run('UPDATE nodes SET skew_ms = 60000')
  p.db.$client.run("UPDATE deliveries SET state = 'failed'")
  await p.admin('POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'Overdue' })
}, 60_000)
afterAll(() => p.close())

/** Where each page that is refused was linked from. */
const refusalsIn = (pages: readonly WalkedPage[]) =>
  pages.filter(({ status }) => status >= 400).map(({ from, path, status }) => `${from} → ${path} ${status}`)
async function refused(who: Pick<Who, 'cookie'>, start: string): Promise<{ refusals: string[]; opened: number }> {
  const pages = await walked(p, who, start)
  return { refusals: refusalsIn(pages), opened: pages.length }
}

test('the addresses that links can name are those of the pages, each once', () => {
  const paths = product.pages.map(({ path }) => path)
  expect(addresses.toSorted()).toEqual(paths.toSorted() as (typeof addresses)[number][])
})

describe('no link leads to a refusal', () => {
  for (const one of [undefined, ...allPermissions])
    test(`for staff with ${one ? `the one permission ${one}` : 'no permission at all'}`, async () => {
      const { refusals, opened } = await refused(p.staff(one ? [one] : []), '/admin')
      expect(refusals).toEqual([])
      expect(opened).toBeGreaterThan(3)
    })
  test('for an owner, who is led everywhere', async () => {
    const { refusals, opened } = await refused(p.owner, '/admin')
    expect(refusals).toEqual([])
    expect(opened).toBeGreaterThan(25)
  })
  test('for a reseller, a customer, somebody who shares a server, and support in an account', async () => {
    const guest = p.account('customer', 'Gus')
    await share(p, p.people.customer, guest, 'view')
    const opened = await p.call(
      p.staff(['support_session', 'customers.read']),
      'POST',
      `/customers/${p.customer.id}/support-session`,
      {
        reason: 'x',
      },
    )
    const support = { cookie: opened.headers.get('Set-Cookie')!.split(/[=;]/)[1]! }
    for (const [who, kind] of [
      [p.people.reseller, 'reseller'],
      [p.people.customer, 'customer'],
      [guest, 'customer'],
      [support, 'customer'],
    ] as const)
      expect((await refused(who, homeOf(kind))).refusals).toEqual([])
  })
  test('while no node is connected, and nobody sees a server running', async () => {
    const nodes = [...p.agents.values()]
    for (const agent of nodes) agent.disconnect()
    p.turnClock(240_000)
    for (const kind of accountKinds) {
      const pages = await walked(p, p.people[kind], homeOf(kind))
      expect(refusalsIn(pages)).toEqual([])
      const { text } = pages.find(({ path }) => path === `${areas[kind]}/servers`)!
      expect(text).toContain('Unreachable')
      expect(text).not.toMatch(/class="st ok">/)
    }
    for (const agent of nodes) agent.connect()
  })
})

test('a link to a refusal is not drawn: a button goes, the words of a link stay', () => {
  const at = { leads: (href: string) => !href.startsWith('/closed') } as At
  const drawn = (href: string, look: string, ...words: any[]) =>
    rendered(inContext({ at, asset: (name) => name }, h(Link, { href, class: look, title: 'Why', children: words })))
  expect(drawn('/open', 'mono', 'In')).toBe('<a href="/open" class="mono" title="Why">In</a>')
  expect(drawn('/closed/x', 'mono', 'Out ', h('b', null, 'there'))).toBe(
    '<span class="mono" title="Why">Out <b>there</b></span>',
  )
  expect(drawn('/closed', 'btn pri', 'Go')).toBe('')
})

describe('each navigation entry', () => {
  test('has an icon that there is, and leads to a page that gives its name', async () => {
    const icons = await Bun.file('public/icons.svg').text()
    const pages = new Map(registry.pages.map((page) => [page.path, page]))
    for (const { name, href, icon } of registry.nav) {
      expect([name, icons.includes(`id="i-${icon}"`)]).toEqual([name, true])
      expect([href, pages.get(href)?.nav]).toEqual([href, name])
    }
  })
  test('has a place of its own in the navigation of each kind of account', () => {
    for (const kind of accountKinds) {
      const places = registry.nav.filter(({ kinds }) => kinds.includes(kind)).map(({ position }) => position)
      expect([kind, new Set(places).size]).toEqual([kind, places.length])
    }
  })
})
