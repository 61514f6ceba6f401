// A page in Chromium as somebody sees it on a desk and on a phone, in the light and in the dark.
import { expect } from 'bun:test'
import type { Browser } from 'playwright-core'
import { look, open, type Screen, screens } from '../browser.ts'
import type { World } from '../world/panel.ts'
import { pagesFor } from './pages-for.ts'

/** All screens in the long run; else a light desk and a dark phone, which are enough. */
export const shownScreens =
  process.env['BERTH_LONG'] === '1'
    ? screens
    : screens.filter(({ width, scheme }) => width > 500 === (scheme === 'light'))

/** The screen in the title of a test. */
export const titleOf = ({ width, scheme }: Screen) => `${width} px, ${scheme}`

/** Takes the picture `name`. Fails on findings of axe, complaints of the console, and what sticks out of the screen. */
export async function mustLookRight(
  { p, browser, who }: { p: World; browser: Browser; who: World['owner'] },
  screen: Screen,
  { name, path }: { name: string; path: string },
) {
  const reader = pagesFor(p, who)
  const { page, context, complaints } = await open(browser, screen, reader.url.origin)
  try {
    await page.goto(path)
    await page.getByRole('heading').first().waitFor()
    const found = await look(page, `${name}-${screen.width}-${screen.scheme}`)
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect([found, complaints, overflow > 0]).toEqual([[], [], false])
  } finally {
    await context.close()
    await reader.stop(true)
  }
}
