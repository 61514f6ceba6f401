// Every page that staff, a reseller and a customer can open, in Chromium as those use it who cannot use it the usual
// way: with forced colours, without motion, at twice the size, and by the keyboard alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { launch, open, screens, sticksOut } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { routesOf } from '../../../support/pages/routes.ts'
import { type Everything, everything } from '../../../support/world/everything.ts'

let p: Everything
let browser: Browser
beforeAll(async () => {
  p = await everything()
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

const desk = { width: 1280, height: 900 }
/** A window of 1280 pixels at 200 %. */
const twice = { width: 640, height: 450 }
const TABS = 12

/** Elements that move, though the person has asked for no motion. */
const moving = (page: Page) =>
  page.evaluate(() =>
    document
      .getAnimations()
      .filter(({ playState }) => playState === 'running')
      .map(({ effect }) => (effect as KeyframeEffect).target?.outerHTML.slice(0, 80)),
  )

/** Elements that are lost with forced colours, where no background and no shadow is left. */
const lostInForcedColours = (page: Page) =>
  page.evaluate(() => {
    const lost: string[] = []
    const isShown = (element: Element) => (element as HTMLElement).checkVisibility({ visibilityProperty: true })
    const say = (why: string, element: Element) => lost.push(`${why}: ${element.outerHTML.slice(0, 100)}`)
    const borderOf = (element: Element) => Number.parseFloat(getComputedStyle(element).borderTopWidth)
    for (const button of document.querySelectorAll('main .btn:not(.bare)'))
      if (isShown(button) && !borderOf(button)) say('a button without an edge', button)
    // The hidden field of a console takes the keys of a phone.
    const fields = 'main :is(input:not([type=hidden], [type=radio], [type=checkbox], [data-phone]), select)'
    for (const field of document.querySelectorAll(fields))
      if (isShown(field) && !borderOf(field)) say('a field without an edge', field)
    for (const state of document.querySelectorAll('main .st'))
      if (isShown(state) && !(state.querySelector('svg') && state.closest('li, tr, div')!.textContent!.trim()))
        say('a state by colour alone', state)
    for (const meter of document.querySelectorAll('main meter'))
      if (isShown(meter) && !borderOf(meter)) say('a meter without an edge', meter)
    return lost
  })

/** Tables that keep their columns though there is no width for them. */
const cutTables = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('main table.t')]
      .filter((table) => getComputedStyle(table.querySelector('tbody')!).display === 'table-row-group')
      .map((table) => table.outerHTML.slice(0, 80)),
  )

/**
 * Goes past the navigation and then from one thing to the next. What has the focus must be seen: drawn, with a mark of
 * the focus, in the window, and not under the bar at its top.
 */
async function keyboardFaults(page: Page): Promise<string[]> {
  const faults: string[] = []
  // A page that begins with a field has the focus there.
  const isInField = await page.evaluate(() => document.activeElement !== document.body)
  if (!isInField) {
    await page.keyboard.press('Tab')
    const skip = page.locator('a[href="#main"]')
    if (!(await skip.evaluate((link) => link === document.activeElement)))
      faults.push('the way past the navigation is not first')
    await page.keyboard.press('Enter')
  }
  let before = ''
  for (let i = 0; i < TABS; i++) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement
      if (element === document.body) return { name: 'body' }
      // A date has several parts, and each its own mark. The screen of a console lies below what connects it.
      if (element.matches('[type=date], [type=time], [type=datetime-local], [data-stage]')) return { name: 'parts' }
      const name = element.outerHTML.slice(0, 120)
      const box = element.getBoundingClientRect()
      const style = getComputedStyle(element)
      const nearest = element.closest('label, .pick, .tickbox, .chip') ?? element
      const isMarked = [element, nearest, element.parentElement!, element.nextElementSibling ?? element].some((one) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(one)
        return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0
      })
      const middle = [box.left + Math.min(box.width, innerWidth) / 2, box.top + box.height / 2] as const
      const above = document.elementFromPoint(...middle)
      const isCovered = !!above && !above.contains(element) && !element.contains(above) && !nearest.contains(above)
      const isInWindow = box.bottom > 0 && box.top < innerHeight
      return {
        name,
        place: `${box.left},${box.top + scrollY},${name}`,
        fault:
          (style.visibility === 'hidden' && 'is hidden') ||
          (!isMarked && 'has no mark of the focus') ||
          (!isInWindow && 'is outside of the window') ||
          (isCovered && `is covered by ${above.outerHTML.slice(0, 60)}`),
      }
    })
    // From the last one the browser goes on with itself, and then at the top.
    if (at.name === 'body') break
    if (at.fault) faults.push(`${at.name} ${at.fault}`)
    if (at.place && at.place === before) faults.push(`${at.name} keeps the focus`)
    before = at.place ?? ''
  }
  return faults
}

describe('every page', () => {
  for (const [name, start] of [
    ['staff', '/admin'],
    ['reseller', '/reseller'],
    ['customer', '/'],
  ] as const)
    test(`can be used with forced colours, without motion, at 200 % and by the keyboard, for the ${name}`, async () => {
      const person = name === 'staff' ? p.owner : p.people[name]
      const reader = pagesFor(p, person)
      const { page, context, complaints } = await open(browser, screens[0], reader.url.origin)
      const faults: Record<string, string[]> = {}
      try {
        const routes = await routesOf(p, person, start)
        expect(routes.length).toBeGreaterThan(15)
        for (const [route, path] of routes) {
          await page.goto(path)
          const found = (await moving(page)).map((element) => `moves: ${element}`)
          found.push(...(await keyboardFaults(page)))
          await page.emulateMedia({ forcedColors: 'active' })
          found.push(...(await lostInForcedColours(page)))
          await page.emulateMedia({ forcedColors: 'none' })
          await page.setViewportSize(twice)
          if (await sticksOut(page)) found.push('sticks out at 200 %')
          found.push(...(await cutTables(page)).map((table) => `a table with columns at 200 %: ${table}`))
          await page.setViewportSize(desk)
          if (found.length) faults[route] = found
        }
        expect(faults).toEqual({})
        // Pages that are served in this process have no WebSocket for a console.
        expect(complaints.filter((words) => !words.includes('/console/v1/'))).toEqual([])
      } finally {
        await context.close()
        await reader.stop(true)
      }
    }, 300_000)
})
