// The navigation: short for staff, with every page still found, and marks that say what is wrong now.
import { expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { accountKinds } from '../../../src/identity/account-records/kinds.ts'
import { navTree } from '../../../src/kernel/web/navigation.ts'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const treeOf = (kind: (typeof accountKinds)[number]) => navTree(registry, kind, () => true)

test('staff have 18 entries at most, in three groups', () => {
  const tree = treeOf('staff').filter(([, entries]) => entries.length > 0)
  expect(tree.map(([group]) => group)).toEqual(['', 'Infrastructure', 'Platform'])
  expect(tree.flatMap(([, entries]) => entries).length).toBeLessThanOrEqual(18)
})

for (const kind of accountKinds)
  test(`no two entries of ${kind} have the same icon, at the side or in the menu`, () => {
    const side = treeOf(kind).flatMap(([, entries]) => entries.map(({ entry }) => entry.icon))
    const menu = registry.nav.filter((one) => one.menu && one.kinds.includes(kind)).map(({ icon }) => icon)
    const twice = (icons: string[]) => icons.filter((icon, i) => icons.indexOf(icon) !== i)
    expect([twice(side), twice(menu)]).toEqual([[], []])
  })

test('an entry within another one is of the same accounts, and that one is of the first level', () => {
  const within = registry.nav.filter((one) => one.within !== undefined)
  expect(within.length).toBeGreaterThan(10)
  for (const one of within) {
    const outer = registry.nav.filter(
      ({ name, kinds }) => name === one.within && one.kinds.every((k) => kinds.includes(k)),
    )
    expect([one.name, outer.map((entry) => [entry.menu, entry.within])]).toEqual([one.name, [[undefined, undefined]]])
  }
})

const sideOf = async (p: World, who: Who, path: string) => {
  using pages = pagesFor(p, who)
  const html = await (await fetch(new URL(path, pages.url))).text()
  const [, side = ''] = /<nav class="side"[^>]*>([\s\S]*?)<\/nav>/.exec(html) ?? []
  const links = [...side.matchAll(/<a href="([^"]+)"( aria-current="page")?>/g)].map(([, href, current]) => [
    href,
    !!current,
  ])
  const mark = /<span class="n( bad)?" id="mark-nodes"[^>]*?( hidden)?>([^<]*)</.exec(side)
  const tabs = [...html.matchAll(/<nav class="tabs"[^>]*>([\s\S]*?)<\/nav>/g)].map(([, of = '']) =>
    [...of.matchAll(/<a href="([^"]+)"( aria-current="page")?>/g)].map(([, href]) => href!),
  )
  return { links, mark: mark && { bad: !!mark[1], hidden: !!mark[2], words: mark[3] }, tabs }
}

test('every entry is a link at the side, a tab of one, or in the menu, and the search finds each', async () => {
  using p = await world()
  const { links } = await sideOf(p, p.owner, '/admin')
  const reached = new Set(links.map(([href]) => href))
  for (const [href] of links) for (const tab of (await sideOf(p, p.owner, href as string)).tabs.flat()) reached.add(tab)
  for (const { href, title, menu, has, kinds } of registry.nav) {
    if (!kinds.includes('staff') || menu || has) continue
    expect([href, reached.has(href)]).toEqual([href, true])
    const { data } = await p.admin('GET', `/search?q=${encodeURIComponent(title)}`)
    expect([title, data.some((hit: any) => hit.href === href)]).toEqual([title, true])
  }
})

test('the entry of a page within another one is current, and leads to the first page that its reader has', async () => {
  using p = await world()
  const { links, tabs } = await sideOf(p, p.owner, '/admin/resellers')
  expect(links.filter(([, current]) => current)).toEqual([['/admin/customers', true]])
  expect(tabs).toEqual([['/admin/customers', '/admin/resellers', '/admin/reports']])
  // A role that sees reports alone has one link, and no tabs.
  const reader = p.staff(['reports.read'])
  const theirs = await sideOf(p, reader, '/admin/reports')
  expect(theirs.links.filter(([href]) => /customers|resellers|reports/.test(href as string))).toEqual([
    ['/admin/reports', true],
  ])
  expect(theirs.tabs.flat()).not.toContain('/admin/customers')
})

test('the navigation says how many nodes are away to those who see nodes, until they are back', async () => {
  using p = await world()
  const second = p.addNode(p.location, 'fra-02')
  const none = { bad: false, hidden: true, words: '' }
  expect((await sideOf(p, p.owner, '/admin')).mark).toEqual(none)
  p.node.agent.disconnect()
  expect((await sideOf(p, p.owner, '/admin')).mark).toEqual({ bad: true, hidden: false, words: '1 away' })
  second.agent.disconnect()
  expect((await sideOf(p, p.owner, '/admin/servers')).mark?.words).toBe('2 away')
  const marks = async (who: Who) => (await p.call(who, 'GET', '/admin/navigation-marks')).body.marks
  expect(await marks(p.owner)).toEqual([{ name: 'nodes', words: '2 away', bad: true }])
  expect(await marks(p.staff(['customers.read']))).toEqual([])
  p.node.agent.connect()
  second.agent.connect()
  expect((await sideOf(p, p.owner, '/admin')).mark).toEqual(none)
})

test('a part of a page that is fetched again brings the newest marks', async () => {
  using p = await world()
  using pages = pagesFor(p, p.owner)
  const part = async () => (await fetch(new URL('/admin/servers', pages.url), { headers: { 'X-Part': 'list' } })).text()
  p.node.agent.disconnect()
  expect(await part()).toContain('1 away')
})
