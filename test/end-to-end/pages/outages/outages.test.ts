// A node is killed while a member of staff looks at the overview in Chromium: within 90 seconds there are a mail, a
// notice behind the bell and a red row, and all of it is gone when the node is back.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { known, outageWorld, pass } from '../../../platform/outages/world.ts'
import { launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'
import { mailbox } from '../../../support/services/mailbox.ts'
import type { World } from '../../../support/world/panel.ts'

let p: World
let box: Awaited<ReturnType<typeof mailbox>>
let browser: Browser
beforeAll(async () => {
  box = await mailbox()
  p = await outageWorld()
  await box.serve(p)
  for (const hostname of ['shop01', 'mail01']) await p.admin('POST', '/admin/servers', { ...p.order, hostname })
  await p.settle()
  const { id: oslo } = await p.admin('POST', '/admin/node-groups', { name: 'Oslo' })
  p.addNode(oslo, 'osl-01')
  p.addNode(p.location, 'fra-02')
  await known(p)
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
  box?.close()
})

const mails = () =>
  box.deliver(p).then((taken) => taken.map(({ subject }) => subject).filter((one) => /fra-01/.test(one)))

test('a killed node is told within 90 seconds, and nothing of it is left when it is back', async () => {
  const reader = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, shownScreens[0]!, reader.url.origin)
  try {
    await page.goto('/admin')
    const red = page.locator('#attention li.soft.bad', { hasText: 'fra-01 does not answer.' })
    const unread = page.locator('#unread b')
    expect([await red.count(), await unread.count(), await mails()]).toEqual([0, 0, []])
    const killedAt = p.now()
    p.node.agent.disconnect()
    await pass(p, 85)
    expect(p.now() - killedAt).toBeLessThan(90_000)
    // The page looks for itself.
    await red.waitFor({ timeout: 30_000 })
    expect(await page.locator('#attention li').first().textContent()).toContain('fra-01 does not answer.')
    expect(await red.textContent()).toContain('2 servers most likely run on there')
    expect(await unread.textContent()).toMatch(/^1/)
    expect(await mails()).toEqual(['fra-01 does not answer: 2 servers of 1 customer'])
    await page.getByRole('link', { name: 'Notices' }).first().click()
    const notice = page.locator('#notices li.soft.bad', { hasText: 'fra-01 does not answer' })
    await notice.waitFor()
    expect(await notice.textContent()).toContain('On it: 2 servers of 1 customer.')

    p.node.agent.connect()
    await pass(p, 15)
    await page.locator('#notices li', { hasText: 'fra-01 is back' }).waitFor({ timeout: 30_000 })
    expect([await notice.count(), await unread.count()]).toEqual([0, 0])
    await page.goto('/admin')
    expect(await red.count()).toBe(0)
    expect((await mails())[1]).toMatch(/^fra-01 is back after 1 min$/)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await reader.stop(true)
  }
})

test('by the keyboard a member of staff chooses how and where to be told', async () => {
  const bea = p.staff(['nodes.read'], 'Bea')
  const reader = pagesFor(p, bea)
  const { page, context, complaints } = await open(browser, shownScreens[0]!, reader.url.origin)
  const choice = async (kind: string) =>
    (await p.call(bea, 'GET', '/account/notice-choices')).body.kinds.find((one: { kind: string }) => one.kind === kind)
  try {
    await page.goto('/account/notifications')
    await page.getByRole('checkbox', { name: 'By mail: the storage of a node is nearly full' }).press('Space')
    await page.getByRole('button', { name: 'Save' }).first().press('Enter')
    await page.getByText('Saved', { exact: true }).waitFor()
    expect(await choice('storage_nearly_full')).toMatchObject({ inPanel: true, byMail: false })
    expect(await choice('node_away')).toMatchObject({ inPanel: true, byMail: true, locationIds: [] })
    const where = page.getByRole('button', { name: 'when a node goes away, and when it is back' })
    await where.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('checkbox', { name: 'Oslo' }).press('Space')
    await dialog.getByRole('button', { name: 'Save' }).press('Enter')
    await where.getByText('Oslo').waitFor()
    expect((await choice('node_away')).locationIds).toHaveLength(1)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await reader.stop(true)
  }
})

for (const screen of shownScreens)
  test(`an outage looks right at ${titleOf(screen)}`, async () => {
    p.node.agent.disconnect()
    await pass(p, 90)
    for (const [name, path] of [
      ['outage-overview', '/admin'],
      ['outage-notices', '/account/notifications'],
      ['outage-recipients', '/admin/staff'],
    ])
      await mustLookRight({ p, browser, who: p.owner }, screen, { name: name!, path: path! })
    p.node.agent.connect()
    await pass(p, 15)
  })
