// The pages of a node in maintenance, and of several nodes, in Chromium: on a desk and on a phone, in the light and in
// the dark.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { drainOf, open as openPanel, ordered, played, turn } from '../../compute/drains/world.ts'
import { nodeNamed } from '../../compute/transfers/world.ts'
import { launch, open } from '../../support/browser.ts'
import { addRolling } from '../../support/nodes/drains.ts'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../support/pages/pages-on-screens.ts'
import type { World } from '../../support/world/panel.ts'

let p: World
let browser: Browser
const paths: Record<string, string> = {}
beforeAll(async () => {
  p = await openPanel()
  for (const hostname of ['shop01', 'mail01']) await ordered(p, hostname)
  const held = await ordered(p, 'git01')
  await p.admin('POST', `/servers/${held}/snapshots`, { name: 'before' })
  await p.settle()
  const { id } = await drainOf(p, { reason: 'Memory is exchanged' })
  await played(p, id)
  await p.admin('POST', `/admin/drains/${id}/actions/evacuate`, { name: 'fra-01' })
  await p.settle()
  await turn(p)
  // It was off for ten minutes.
  for (let minute = 0; minute < 58; minute++) {
    p.turnClock(60_000)
    const host = { ms: 10_000, fast: [1000, 0, 0, 0, 0], memory: { ms: 10_000, usedMb: 4096 } }
    if (minute < 40 || minute > 49) p.node.agent.say({ type: 'metrics', host, samples: [] })
    await p.controller.app.metrics.advance()
  }
  const nodeIds = JSON.stringify([p.node.id, nodeNamed(p, 'fra-02'), nodeNamed(p, 'fra-03')])
  const rolling = (values: string) => {
    const added = addRolling(p, p.node.id, id)
    p.db.$client.run(`UPDATE rolling_drains SET node_ids = ?, ${values} WHERE id = ?`, [nodeIds, added])
    return `/admin/rolling-maintenance/${added}`
  }
  paths['rolling-paused'] = rolling("state = 'paused', reason = 'fra-01 is not empty: 1 could not move.'")
  paths['rolling-working'] = rolling("phase = 'working', waits_for = 'reboot'")
  paths['drain-done'] = `/admin/drains/${id}`
  paths['node-maintenance'] = `/admin/nodes/${p.node.id}`
  paths['rolling-list'] = '/admin/rolling-maintenance'
  paths['rolling-new'] = `/admin/rolling-maintenance/new?order=${nodeNamed(p, 'fra-03')},${p.node.id}`
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

for (const name of [
  'drain-done',
  'node-maintenance',
  'rolling-paused',
  'rolling-working',
  'rolling-list',
  'rolling-new',
])
  for (const screen of shownScreens)
    test(`${name} at ${titleOf(screen)}: nothing to complain about`, async () => {
      await mustLookRight({ p, browser, who: p.owner }, screen, { name, path: paths[name]! })
    })

test('nodes are put into their order with the keyboard, and the maintenance starts with the first', async () => {
  const reader = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, undefined, reader.url.origin)
  await page.goto('/admin/rolling-maintenance/new')
  for (const name of ['Add: fra-02', 'Add: fra-03', 'Earlier: fra-03'])
    await page.getByRole('button', { name }).press('Enter')
  await page.getByText('number 2').waitFor()
  expect(await page.locator('#chosen tbody .name a').allInnerTexts()).toEqual(['fra-03', 'fra-02'])
  await page.getByRole('button', { name: 'Start', exact: true }).press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).press('Enter')
  await page.getByRole('heading', { name: 'Maintenance of 2 nodes' }).waitFor()
  const [started] = (await p.admin('GET', '/admin/rolling-maintenance')).data
  expect(started).toMatchObject({ state: 'running', waitsFor: 'person', bringBack: false, node: { name: 'fra-03' } })
  expect(started.nodes.map(({ name }: { name: string }) => name)).toEqual(['fra-03', 'fra-02'])
  expect(complaints).toEqual([])
  await context.close()
  await reader.stop(true)
})
