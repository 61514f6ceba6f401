// The documents in a browser: on a desk and on a phone, by keyboard, and their search.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { launch, look, open, screens } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
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

const looked = [
  { name: 'docs-contents', path: '/docs' },
  { name: 'docs-moves', path: '/docs/moves' },
  { name: 'docs-search', path: '/docs?q=live+move' },
  { name: 'docs-codes', path: '/docs/error-codes' },
]
describe.each(shownScreens.map((screen) => [titleOf(screen), screen] as const))('%s', (_, screen) => {
  for (const one of looked)
    test(`${one.path} looks right`, () => mustLookRight({ p, browser, who: p.owner }, screen, one))
})

test('who searches by keyboard comes to the section', async () => {
  const reader = pagesFor(p, p.owner)
  const { page, context } = await open(browser, screens[0]!, reader.url.origin)
  try {
    await page.goto('/docs')
    await page.getByLabel('Search the documentation').fill('former keys')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'The key' }).first().click()
    await page.waitForURL('**/docs/backup#the-key')
    await page.getByRole('heading', { name: 'The key', exact: true }).waitFor()
  } finally {
    await context.close()
    await reader.stop(true)
  }
})

test.each(screens.filter(({ scheme }) => scheme === 'light').map((screen) => [titleOf(screen), screen] as const))(
  'the help of a page leads to its chapter at %s',
  async (_, screen) => {
    const reader = pagesFor(p, p.owner)
    const { page, context, complaints } = await open(browser, screen, reader.url.origin)
    try {
      await page.goto('/admin/nodes')
      expect(await look(page, `help-${screen.width}`)).toEqual([])
      await page.getByRole('link', { name: 'Help for this page' }).click()
      await page.waitForURL('**/docs/nodes')
      await page.getByRole('heading', { name: 'Nodes', exact: true }).waitFor()
      expect(complaints).toEqual([])
    } finally {
      await context.close()
      await reader.stop(true)
    }
  },
)
