// The list of keyboard shortcuts in a browser: by its key, by its link, and switched off.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { launch, look, open, openAccountMenu, screens } from '../../../support/browser.ts'
import { htmlOf, pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'
import { type World, world } from '../../../support/world/panel.ts'

setDefaultTimeout(60_000)
let browser: Browser
let p: World
beforeAll(async () => {
  p = await world()
  browser = await launch()
})
afterAll(async () => {
  await browser.close()
  p.close()
})

/** As staff on a page, in Chromium. */
async function visit(screen: (typeof screens)[number], path: string, act: (page: Page) => Promise<void>) {
  const reader = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, screen, reader.url.origin)
  page.setDefaultTimeout(10_000)
  try {
    await page.goto(path)
    await act(page)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await reader.stop(true)
  }
}
const list = (page: Page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' })

describe.each(shownScreens.map((screen) => [titleOf(screen), screen] as const))('%s', (_, screen) => {
  test('the page looks right', () =>
    mustLookRight({ p, browser, who: p.customer }, screen, { name: 'shortcuts', path: '/shortcuts' }))

  test('the menu of the account leads to the list, over the page that is open', () =>
    visit(screen, '/admin/nodes', async (page) => {
      await openAccountMenu(page)
      await page.getByRole('link', { name: 'Keyboard shortcuts' }).click()
      await list(page).getByText('Search, or go to a page').waitFor()
      expect(await look(page, `shortcuts-dialog-${screen.width}-${screen.scheme}`)).toEqual([])
      await list(page).getByRole('button', { name: 'Close' }).click()
      expect([await list(page).count(), new URL(page.url()).pathname]).toEqual([0, '/admin/nodes'])
    }))
})

test('? opens it, but not where one types, and Escape gives the focus back', () =>
  visit(screens[0]!, '/admin/jobs', async (page) => {
    const link = page.locator('#nav a').nth(1)
    await link.focus()
    await page.keyboard.press('?')
    await list(page).waitFor()
    await page.keyboard.press('?')
    await page.keyboard.press('Escape')
    expect(await list(page).count()).toBe(0)
    expect(await link.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('what?')
    expect(await list(page).count()).toBe(0)
    expect(await page.locator('#palette input').inputValue()).toBe('what?')
  }))

test('switched off under Account, ? does nothing, and the link still opens the list', async () => {
  await p.call(p.owner, 'PATCH', '/account', { shortcuts: 'off' })
  try {
    expect(await htmlOf(p, p.owner, '/shortcuts')).toContain('switched off')
    await visit(screens[0]!, '/admin/jobs', async (page) => {
      await page.locator('#nav a').nth(1).focus()
      await page.keyboard.press('?')
      expect(await list(page).count()).toBe(0)
      await openAccountMenu(page)
      await page.getByRole('link', { name: 'Keyboard shortcuts' }).click()
      await list(page).waitFor()
    })
  } finally {
    await p.call(p.owner, 'PATCH', '/account', { shortcuts: 'on' })
  }
})
