// The pages of placement in Chromium: each on a desk and on a phone, in the light and in the dark.
import { afterAll, beforeAll, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { nodeNamed, open as openPanel } from '../../compute/transfers/world.ts'
import { launch } from '../../support/browser.ts'
import { mustLookRight, shownScreens, titleOf } from '../../support/pages/pages-on-screens.ts'
import type { World } from '../../support/world/panel.ts'

let p: World
let browser: Browser
/** Of each page its path, and whether its reader is the customer. */
let pages: Record<string, { path: string; isOwn?: true }>
beforeAll(async () => {
  p = await openPanel()
  const body = { name: 'databases', policy: 'anti_affinity' }
  const { id } = await p.admin('POST', `/customers/${p.customer.id}/placement-groups`, body)
  await p.admin('POST', `/customers/${p.customer.id}/placement-groups`, {
    name: 'web',
    policy: 'affinity',
    hard: false,
  })
  for (const [hostname, node] of [
    ['db1', 'fra-01'],
    ['db2', 'fra-01'],
    ['db3', 'fra-02'],
  ] as const) {
    const ordered = await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId: nodeNamed(p, node) })
    await p.admin('POST', `/placement-groups/${id}/servers`, { serverId: ordered.serverId })
  }
  await p.settle()
  p.db.$client.run('UPDATE nodes SET memory_mb = reserved_memory_mb + 2 * 2048')
  await p.admin('PATCH', `/admin/node-groups/${p.location}`, { reserve: 1 })
  for (const [node, models] of [
    ['fra-01', ['Nehalem', 'Westmere']],
    ['fra-02', ['Nehalem', 'Westmere']],
    ['fra-03', ['Nehalem']],
  ] as const)
    p.db.$client.run("UPDATE nodes SET facts = json_set(facts, '$.cpuModels', json(?)) WHERE name = ?", [
      JSON.stringify(models),
      node,
    ])
  await p.admin('PUT', `/admin/node-groups/${p.location}/cpu-baseline`, { model: 'Westmere' })
  pages = {
    locations: { path: '/admin/node-groups' },
    location: { path: `/admin/node-groups/${p.location}` },
    'placement-groups': { path: '/admin/placement-groups' },
    'placement-group': { path: `/admin/placement-groups/${id}` },
    'own-placement-group': { path: `/placement-groups/${id}`, isOwn: true },
  }
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  p?.close()
})

for (const name of ['locations', 'location', 'placement-groups', 'placement-group', 'own-placement-group'])
  for (const screen of shownScreens)
    test(`${name} at ${titleOf(screen)}: nothing to complain about`, async () => {
      const { path, isOwn } = pages[name]!
      await mustLookRight({ p, browser, who: isOwn ? p.customer : p.owner }, screen, { name, path })
    })
