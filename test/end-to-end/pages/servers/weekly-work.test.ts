// The weekly work of staff, each from the overview with the mouse, and how many clicks it takes at most. Typing and the
// last button of a dialog, which does it, are not counted.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { open as openWorld, ordered } from '../../../compute/drains/world.ts'
import { launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import type { World } from '../../../support/world/panel.ts'

setDefaultTimeout(60_000)
let p: World
let browser: Browser
let server = ''
let former = ''
let address = ''
beforeAll(async () => {
  p = await openWorld()
  server = await ordered(p, 'web01')
  former = await ordered(p, 'gone01')
  address = (await p.admin('GET', `/servers/${former}`)).ipv4
  await p.admin('DELETE', `/servers/${former}`)
  await p.settle()
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  p?.close()
})

type Walk = { page: Page; click(what: Locator): Promise<void>; find(words: string): Promise<void> }
/** From the overview; answers the number of clicks. The console must have been silent. */
async function clicks(work: (walk: Walk) => Promise<void>): Promise<number> {
  const served = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, undefined, served.url.origin)
  page.setDefaultTimeout(15_000)
  let n = 0
  const click = async (what: Locator) => {
    n++
    await what.click()
  }
  /** By the search above every page, and its first result. */
  const find = async (words: string) => {
    await click(page.getByText('Search or go to…'))
    await page.keyboard.type(words)
    await page.locator(`#found[data-for="${words}"] a`).first().waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname !== '/admin')
  }
  try {
    await page.goto('/admin')
    await work({ page, click, find })
    expect(complaints).toEqual([])
    return n
  } finally {
    await context.close()
    await served.stop(true)
  }
}
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first()
const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name }).first()
const inNavigation = (page: Page, name: string) => page.locator('#nav').getByRole('link', { name, exact: true })

test('a server by its address or its MAC: 1', async () => {
  const { ipv4, mac } = await p.admin('GET', `/servers/${server}`)
  const { mac: stored } = p.db.$client.query('SELECT mac FROM workloads WHERE id = ?').get(server) as { mac: string }
  for (const words of [ipv4, mac ?? stored])
    expect(
      await clicks(async ({ page, find }) => {
        await find(words)
        await page.waitForURL(`**/admin/servers/${server}*`)
      }),
    ).toBeLessThanOrEqual(1)
})

test('who had an address last month: 2', async () => {
  const n = await clicks(async ({ page, find }) => {
    await find(address)
    await page.getByText('gone01').first().waitFor()
  })
  expect(n).toBeLessThanOrEqual(2)
})

test('mail of a server blocked: 4, of which the first finds it', async () => {
  await p.admin('PUT', `/servers/${server}/smtp`, { allowed: true })
  await p.settle()
  const n = await clicks(async ({ page, click, find }) => {
    await find('web01')
    await click(page.locator('main').getByRole('link', { name: 'Network', exact: true }))
    await click(
      page
        .locator('summary', { hasText: 'Actions for the firewall' })
        .or(button(page, 'Actions for the firewall'))
        .first(),
    )
    await click(button(page, 'Block outgoing mail'))
    await page.getByText('Outgoing mail is being blocked').first().waitFor()
  })
  expect(n).toBeLessThanOrEqual(4)
  await p.settle()
  expect((await p.admin('GET', `/servers/${server}/firewall`)).smtpAllowed).toBe(false)
})

test('mail to the customers of a node: 4', async () => {
  const n = await clicks(async ({ page, click, find }) => {
    await find('fra-01')
    await click(
      page
        .locator('summary', { hasText: 'Actions for all' })
        .or(button(page, /^Actions for all/))
        .first(),
    )
    await click(link(page, 'Write to their owners'))
    await click(button(page, 'Begin'))
    await page.waitForURL(/messages\/msg_/)
  })
  expect(n).toBeLessThanOrEqual(4)
})

test('another primary address: 4', async () => {
  const before = (await p.admin('GET', `/servers/${server}`)).ipv4
  const n = await clicks(async ({ page, click, find }) => {
    await find('web01')
    await click(page.locator('main').getByRole('link', { name: 'Network', exact: true }))
    await click(button(page, `Actions for ${before}`))
    await click(button(page, `Change ${before}`))
    await page.getByRole('dialog').getByRole('button', { name: 'Change address' }).waitFor()
  })
  expect(n).toBeLessThanOrEqual(4)
})

test('an empty node: 3', async () => {
  const n = await clicks(async ({ page, click, find }) => {
    await find('fra-01')
    await click(link(page, 'Drain'))
    await click(button(page, 'Start draining'))
    await page.getByRole('dialog').waitFor()
  })
  expect(n).toBeLessThanOrEqual(3)
})

test('the heaviest users of traffic: 2', async () => {
  const n = await clicks(async ({ page, click }) => {
    await click(inNavigation(page, 'Network'))
    await click(link(page, 'Traffic'))
    await page.waitForURL('**/admin/traffic*')
  })
  expect(n).toBeLessThanOrEqual(2)
})

test('all servers as CSV: 2', async () => {
  const n = await clicks(async ({ page, click }) => {
    await click(inNavigation(page, 'Servers'))
    const [file] = await Promise.all([page.waitForEvent('download'), click(link(page, 'CSV'))])
    expect(await Bun.file(await file.path()).text()).toContain('web01')
  })
  expect(n).toBeLessThanOrEqual(2)
})

test('a new colleague with limited rights: 3', async () => {
  const n = await clicks(async ({ page, click }) => {
    await click(inNavigation(page, 'Settings'))
    await click(page.locator('main').getByRole('link', { name: 'Staff' }))
    await click(button(page, 'Add member'))
    await page.getByRole('dialog').getByLabel('Role').waitFor()
  })
  expect(n).toBeLessThanOrEqual(3)
})
