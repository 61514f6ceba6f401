// The pages of maintenance in Chromium: each on a desk and on a phone, in the light and in the dark.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { drainOf, open as openPanel, ordered, played } from '../../compute/drains/world.ts'
import { nodeNamed } from '../../compute/transfers/world.ts'
import { launch, open, screens } from '../../support/browser.ts'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../support/pages/pages-on-screens.ts'
import type { World } from '../../support/world/panel.ts'

let p: World
let browser: Browser
const paths: Record<string, string> = {}
beforeAll(async () => {
  p = await openPanel()
  const [shop, mail] = [await ordered(p, 'shop01'), await ordered(p, 'mail01'), await ordered(p, 'db01')]
  const off = await ordered(p, 'old01')
  await p.admin('POST', `/servers/${off}/actions/power`, { action: 'off' })
  const held = await ordered(p, 'git01')
  await p.admin('POST', `/servers/${held}/snapshots`, { name: 'before' })
  await p.settle()
  await p.admin('PATCH', `/admin/nodes/${p.node.id}`, { open: false, closedReason: 'Memory is exchanged' })
  paths['drain-plan'] = `/admin/nodes/${p.node.id}/drain`
  paths['drain-choice'] = `/admin/nodes/${p.node.id}/drain?choose=${mail}`
  const choice = { mode: 'near_live', nodeId: nodeNamed(p, 'fra-03'), place: 1 }
  await p.admin('PUT', `/admin/nodes/${p.node.id}/drain-plan/servers/${shop}`, choice)
  const startsAt = new Date(p.now() + 86_400_000).toISOString()
  await p.admin('POST', `/admin/nodes/${p.node.id}/actions/schedule-drain`, { startsAt })
  paths['closed-node'] = `/admin/nodes/${p.node.id}`
  const other = nodeNamed(p, 'fra-02')
  for (const hostname of ['web01', 'web02', 'web03', 'web04'])
    await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId: other })
  await p.settle()
  p.agents.get(other)!.fault({ command: 'transfer.begin-migration', mode: 'fail', times: 1 })
  const paused = await drainOf(p, { onFailure: 'pause', atOnce: 1 }, other)
  await played(p, paused.id)
  expect((await p.admin('GET', `/admin/drains/${paused.id}`)).state).toBe('paused')
  paths['drain-paused'] = `/admin/drains/${paused.id}`
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

for (const name of ['drain-plan', 'drain-choice', 'drain-paused', 'closed-node'])
  for (const screen of shownScreens)
    test(`${name} at ${titleOf(screen)}: nothing to complain about`, async () => {
      await mustLookRight({ p, browser, who: p.owner }, screen, { name, path: paths[name]! })
    })

test('a choice is kept from the form on, and survives a reload', async () => {
  const staff = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, screens[0]!, staff.url.origin)
  page.setDefaultTimeout(10_000)
  try {
    await page.goto(paths['drain-choice']!)
    await page.getByLabel('It stays here').check()
    await page.getByRole('button', { name: 'Keep it' }).click()
    await page.waitForURL(`**${paths['drain-plan']}`)
    await page.reload()
    await page.getByText('leaves it here.').waitFor()
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await staff.stop(true)
  }
})
