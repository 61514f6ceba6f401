// The pages of moves in Chromium: each on a desk and on a phone, in the light and in the dark.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { move, nodeNamed, open as openPanel, order } from '../../compute/transfers/world.ts'
import { launch, look, open, screens } from '../../support/browser.ts'
import { pagesFor } from '../../support/world/pages.ts'
import type { World } from '../../support/world/panel.ts'

const GIB = 1024 ** 3
let p: World
let browser: Browser
let paths: Record<string, string>
beforeAll(async () => {
  p = await openPanel()
  const id = await order(p)
  await p.admin('PATCH', `/admin/nodes/${nodeNamed(p, 'fra-03')}`, { open: false })
  await move(p, id)
  await p.settle()
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02', nodeId: p.node.id })
  await p.settle()
  p.arm({
    failpoints: (moment) => {
      if (moment === 'move/receive:before') p.agents.get(nodeNamed(p, 'fra-02'))!.disconnect()
    },
  })
  const { jobId, transferId } = await move(p, serverId)
  await Bun.sleep(100)
  const { liveCopies } = p.controller.app
  for (const copiedBytes of [GIB, 3 * GIB]) {
    liveCopies.take(jobId, { copiedBytes, totalBytes: 12 * GIB })
    p.turnClock(10_000)
  }
  paths = {
    transfers: '/admin/transfers',
    transfer: `/admin/transfers/${transferId}`,
    move: `/admin/servers/${id}/move`,
  }
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  p?.close()
})

for (const name of ['transfers', 'transfer', 'move'])
  for (const screen of screens)
    test(`${name} at ${screen.width} px, ${screen.scheme}: nothing to complain about`, async () => {
      const staff = pagesFor(p, p.owner)
      const { page, context, complaints } = await open(browser, screen, staff.url.origin)
      try {
        await page.goto(paths[name]!)
        await page.getByRole('heading').first().waitFor()
        const found = await look(page, `${name}-${screen.width}-${screen.scheme}`)
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
        expect([found, complaints, overflow > 0]).toEqual([[], [], false])
      } finally {
        await context.close()
        await staff.stop(true)
      }
    })
