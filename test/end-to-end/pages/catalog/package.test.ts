// A new package in Chromium: copied from another one, with how many would fit counted while its size is typed.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'
import { type World, world } from '../../../support/world/panel.ts'

let p: World
let browser: Browser
let large: string
beforeAll(async () => {
  p = await world()
  large = (
    await p.admin('POST', '/admin/packages', {
      name: 'KVM 8G',
      vcpus: 4,
      memoryMb: 8192,
      diskGb: 60,
      trafficGb: 4000,
      smtpAllowed: true,
      billingProductId: 'whmcs:14',
    })
  ).id
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  p?.close()
})

const path = '/admin/packages/new'
for (const screen of shownScreens)
  for (const [name, query] of [
    ['package-new', ''],
    ['package-copied', () => `?from=${large}`],
  ] as const)
    test(`${name} at ${titleOf(screen)}: nothing to complain about`, () =>
      mustLookRight({ p, browser, who: p.owner }, screen, {
        name,
        path: path + (typeof query === 'string' ? query : query()),
      }))

async function onForm(look: (page: Page) => Promise<void>) {
  const pages = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, shownScreens[0], pages.url.origin)
  try {
    await page.goto(path)
    await look(page)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
}
const stockOf = async (memoryMb: number, diskGb: number): Promise<number> =>
  (await p.admin('GET', `/stock/of-size?memoryMb=${memoryMb}&diskGb=${diskGb}`)).available
const fits = (page: Page, n: number) => page.locator('#fits').getByText(`Now ${n} of these fit.`)

test('how many fit is counted again as the size is typed, and waits for a size that can be ordered', () =>
  onForm(async (page) => {
    const [usual, larger] = [await stockOf(2048, 40), await stockOf(8192, 40)]
    expect(larger).not.toBe(usual)
    await fits(page, usual).waitFor()
    const memory = page.getByLabel('Memory')
    await memory.fill('8192')
    await fits(page, larger).waitFor()
    await memory.fill('')
    await page.getByText('is counted once memory, disk and addresses have values').waitFor()
    expect(await memory.inputValue()).toBe('')
    await memory.fill('2048')
    await fits(page, usual).waitFor()
    expect(await memory.evaluate((field) => field === document.activeElement)).toBe(true)
  }))

test('a package is copied with all its values but those that are its own, and added under another name', () =>
  onForm(async (page) => {
    await page.getByLabel('Copy from').selectOption(large)
    await page.getByRole('button', { name: 'Copy', exact: true }).click()
    await page.waitForURL(`**${path}?from=${large}`)
    expect(await page.getByLabel('Memory').inputValue()).toBe('8192')
    expect(await page.getByLabel('Monthly traffic').inputValue()).toBe('4000')
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('')
    await fits(page, await stockOf(8192, 60)).waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('KVM 8G, more disk')
    await page.locator('#package-diskGb').fill('80')
    await page.getByRole('button', { name: 'Create package' }).click()
    await page.waitForURL('**/admin/packages')
    const { data } = await p.admin('GET', '/admin/packages')
    expect(data.find(({ name }: { name: string }) => name === 'KVM 8G, more disk')).toMatchObject({
      memoryMb: 8192,
      diskGb: 80,
      trafficGb: 4000,
      smtpAllowed: true,
      billingProductId: null,
    })
  }))
