// The log of a GPU instance in Chromium: it is followed, paused, scrolled, and says why it is empty.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { launch, open } from '../../../support/browser.ts'
import { type GpuWorld, gpuWorld, orderInstance } from '../../../support/nodes/instances.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'

let p: GpuWorld
let browser: Browser
let id: string
const write = (text: string) => p.host.agent.host.containers.write(id, text)

beforeAll(async () => {
  p = await gpuWorld({ cards: 2 })
  id = await orderInstance(p)
  const steps = Array.from({ length: 80 }, (_, n) => `step ${n + 1}/80  loss ${(2.4 / (n + 1)).toFixed(4)}`)
  write(`${steps.join('\n')}\n`)
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  p?.close()
})

for (const screen of shownScreens)
  test(`the log at ${titleOf(screen)}: nothing to complain about`, () =>
    mustLookRight({ p, browser, who: p.customer }, screen, { name: 'gpu-log', path: `/gpu/${id}/logs` }))

async function onLog(look: (page: Page) => Promise<void>) {
  const pages = pagesFor(p, p.customer)
  const { page, context, complaints } = await open(browser, shownScreens[0], pages.url.origin)
  try {
    await page.goto(`/gpu/${id}/logs`)
    await look(page)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
}
const line = (page: Page, text: string) => page.locator('[data-log-lines] li', { hasText: text })
const fromEnd = (page: Page) => page.locator('[data-log-box]').evaluate((box) => Math.abs(Math.round(box.scrollTop)))

test('new lines come by themselves, each once, and the end stays in view', () =>
  onLog(async (page) => {
    await line(page, 'step 80/80').waitFor()
    write('saved the model\n')
    await line(page, 'saved the model').waitFor()
    expect([await line(page, 'saved the model').count(), await line(page, 'step 80/80').count()]).toEqual([1, 1])
    expect(await fromEnd(page)).toBe(0)
    expect(await page.getByRole('button', { name: 'Jump to the end' }).isVisible()).toBe(false)
  }))

test('a reader who has scrolled up stays there while lines come, and jumps to the end', () =>
  onLog(async (page) => {
    const box = page.locator('[data-log-box]')
    await box.evaluate((element) => element.scrollTo(0, -300))
    const jump = page.getByRole('button', { name: 'Jump to the end' })
    await jump.waitFor()
    const before = await line(page, 'step 40/80').evaluate((li) => Math.round(li.getBoundingClientRect().top))
    write('first\nsecond\nthird of these\n')
    await line(page, 'third of these').waitFor({ state: 'attached' })
    const after = await line(page, 'step 40/80').evaluate((li) => Math.round(li.getBoundingClientRect().top))
    expect(after).toBe(before)
    await jump.press('Enter')
    expect(await fromEnd(page)).toBe(0)
    expect(await jump.isVisible()).toBe(false)
    expect(await box.evaluate((element) => element === document.activeElement)).toBe(true)
  }))

test('a log that is paused takes nothing, and goes on where it was', () =>
  onLog(async (page) => {
    await page.getByRole('button', { name: 'Pause' }).press('Enter')
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    write('while it was paused\n')
    await Bun.sleep(2500)
    expect(await line(page, 'while it was paused').count()).toBe(0)
    await page.getByRole('button', { name: 'Resume' }).press('Enter')
    await line(page, 'while it was paused').waitFor()
    expect(await line(page, 'while it was paused').count()).toBe(1)
  }))

test('an empty log says why, and begins with its first line', async () => {
  const other = await orderInstance(p)
  const before = id
  id = other
  try {
    const { containers } = p.host.agent.host
    const { logs } = containers
    let isSilent = true
    containers.logs = async (...of) =>
      isSilent ? { text: '', cursor: '1-2', skipped: false } : await logs.apply(containers, of)
    await onLog(async (page) => {
      await page.getByText('Its programs have written nothing yet.').waitFor()
      expect(await page.locator('[data-log-box]').isVisible()).toBe(false)
      isSilent = false
      write('hello\n')
      await line(page, 'hello').waitFor()
      expect(await page.getByText('Its programs have written nothing yet.').isVisible()).toBe(false)
      p.host.agent.disconnect()
      await page.getByRole('status').getByText('Its host does not answer now.').waitFor({ timeout: 20_000 })
      expect(await line(page, 'hello').count()).toBe(1)
    })
    containers.logs = logs
  } finally {
    id = before
  }
})
