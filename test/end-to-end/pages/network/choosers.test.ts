// Fields that search among many things, in Chromium: a filter of a list, and several of them in a dialog.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { type World, world } from '../../../support/world/panel.ts'

/** More than a field offers at once. */
const NODES = 40
const screen = { width: 1280, height: 900, scheme: 'light' } as const
let p: World
let browser: Browser
beforeAll(async () => {
  p = await world()
  await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  for (let n = 0; n < NODES; n++) p.addNode(p.location, `many-${n}`)
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

test('a typed name narrows the list of servers, and ticks a node of a new pool', async () => {
  const staff = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, screen, staff.url.origin)
  try {
    await page.goto('/admin/servers')
    await page.getByLabel('Node', { exact: true }).fill('many-33')
    await page.waitForURL(/nodeId=nod_/)
    await page.getByText('No server matches these filters.').waitFor()

    await page.goto('/admin/ip-pools')
    await page.getByRole('button', { name: 'Add pool' }).click()
    const search = page.locator('dialog[open]').getByLabel('Add a node')
    for (const name of ['many-12', 'many-7']) {
      await search.fill(name)
      await page.locator('dialog[open]').getByRole('checkbox', { name, exact: true }).waitFor()
    }
    expect(await page.locator('dialog[open] [name=nodeIds]:checked').count()).toBe(2)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await staff.stop(true)
  }
}, 60_000)
