// The charts of a server in Chromium: values under the keys and in the table, new values, gaps, and a refused browser.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { launch, look, open, screens } from '../../support/browser.ts'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { type World, world } from '../../support/world/panel.ts'

let p: World
let owner: ReturnType<typeof pagesFor>
let browser: Browser
let page: Page
let complaints: string[]
let id = ''

/** So long the server uses a quarter of its processors and receives 1 MB/s. */
async function uses(ms: number, bytesPerSecond = 1_000_000) {
  const { vcpus } = p.server(id)
  for (const end = p.now() + ms; p.now() < end; ) {
    p.turnClock(10_000)
    const fast = [2500 * vcpus, bytesPerSecond * 10, 0, 0, 0]
    p.node.agent.say({ type: 'metrics', samples: [{ id, ms: 10_000, fast }] })
    await p.controller.app.metrics.advance()
  }
}

beforeAll(async () => {
  p = await world()
  id = (await p.admin('POST', '/admin/servers', p.order)).serverId
  await p.settle()
  await uses(30 * 60_000)
  p.turnClock(15 * 60_000)
  await uses(15 * 60_000)
  owner = pagesFor(p, p.customer)
  browser = await launch()
  const opened = await open(browser, undefined, owner.url.origin)
  page = opened.page
  complaints = opened.complaints
  page.setDefaultTimeout(10_000)
  await page.goto(`/servers/${id}/metrics?range=1h`)
  await page.locator('#cpu-t').waitFor()
  await page.locator('.u-wrap').nth(3).waitFor()
}, 120_000)
afterAll(async () => {
  expect(complaints).toEqual([])
  await browser?.close()
  await owner?.stop(true)
  p?.close()
})

const chart = (title: string) => page.getByRole('figure', { name: title, exact: true })
const value = (title: string, n = 0) => chart(title).locator('[data-value]').nth(n).textContent()
const when = (title: string) => chart(title).locator('[data-when]').textContent()

describe('the charts of a server', () => {
  test('tell the newest value, in words', async () => {
    expect([await value('CPU'), await value('Network'), await value('Memory'), await when('CPU')]).toEqual([
      '25 %',
      '8 Mbit/s',
      'no data',
      'now',
    ])
  })
  test('are read by the arrow keys, all at one time, and a gap says that there is no data', async () => {
    await chart('Network').getByRole('img').focus()
    await page.keyboard.press('ArrowLeft')
    expect([await value('Network'), await value('CPU')]).toEqual(['8 Mbit/s', '25 %'])
    expect(await when('CPU')).toMatch(/^\d\d:\d\d:\d\d$/)
    for (let i = 0; i < 13; i++) await page.keyboard.press('PageUp')
    expect(await value('Network')).toBe('no data')
    expect(await chart('Network').getByRole('status').textContent()).toContain('In no data')
    await page.keyboard.press('Home')
    for (let i = 0; i < 3; i++) await page.keyboard.press('PageDown')
    expect(await value('Network')).toBe('8 Mbit/s')
  })
  test('stand beside a table with the same values and gaps', async () => {
    await chart('CPU').locator('summary').click()
    const cells = await chart('CPU').locator('td').allTextContents()
    expect(cells.length).toBeGreaterThan(40)
    expect(new Set(cells)).toEqual(new Set(['25 %', 'no data']))
  })
  test('show new values without a reload, also after the page was drawn again', async () => {
    await uses(10 * 60_000, 3_000_000)
    await chart('Network').getByRole('img').blur()
    await expectText(() => value('Network'), '24 Mbit/s')
    await page.evaluate(() => {
      const at = location.pathname + location.search
      return (window as any).htmx.ajax('GET', at, { target: '#main', select: '#main', swap: 'outerMorph' })
    })
    await page.waitForTimeout(300)
    expect(await page.locator('.u-wrap').count()).toBe(4)
    expect(await value('Network')).toBe('24 Mbit/s')
  }, 60_000)
  test('fit a phone, and every period has its own', async () => {
    const phone = await open(browser, screens[2]!, owner.url.origin)
    for (const range of ['24h', '7d', '30d', '1y']) {
      await phone.page.goto(`/servers/${id}/metrics?range=${range}`)
      await phone.page.locator('.u-wrap').nth(3).waitFor()
      const sticksOut = await phone.page.evaluate(
        () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
      )
      expect({ range, sticksOut, complaints: phone.complaints }).toEqual({ range, sticksOut: false, complaints: [] })
    }
    await phone.context.close()
  }, 60_000)
  test('mark when jobs ended and alerts fired, with their words, and list them', async () => {
    const fired = p.db.$client.prepare('INSERT INTO alert_changes VALUES (?, ?, ?, ?, 1, ?)')
    fired.run('alc_1', id, 'alr_1', p.now() - 6 * 60_000, 'CPU above 90 % for 10 min')
    await page.goto(`/servers/${id}/metrics?range=24h`)
    await page.locator('.u-wrap').nth(3).waitFor()
    const list = page.getByRole('region', { name: 'Jobs and alerts in this time' })
    const words = await list.locator('tbody .name b').allTextContents()
    expect(words).toEqual(['CPU above 90 % for 10 min', 'Ordered'])
    const marks = chart('CPU').locator('.happened')
    expect(await marks.count()).toBe(words.length)
    expect(await marks.first().getAttribute('title')).toStartWith('CPU above 90 % for 10 min: Alert, ')
    expect(await marks.nth(1).getAttribute('title')).toStartWith('Ordered: Done, ')
    for (const screen of [screens[0]!, screens[3]!]) {
      const seen = await open(browser, screen, owner.url.origin)
      await seen.page.goto(`/servers/${id}/metrics?range=24h`)
      await seen.page.locator('.happened').first().waitFor()
      expect([await look(seen.page, `metrics-marks-${screen.width}`), seen.complaints]).toEqual([[], []])
      await seen.context.close()
    }
  }, 60_000)
  test('show a time of one’s own, in the zone of the browser, and mark nothing that lies outside', async () => {
    const begin = p.now() - 50 * 60_000
    const local = (ms: number) =>
      page.evaluate((at) => {
        const date = new Date(at)
        return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
      }, ms)
    await page.getByLabel('From', { exact: true }).fill(await local(begin))
    await page.getByLabel('to', { exact: true }).fill(await local(begin + 20 * 60_000))
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.waitForURL(/from=/)
    const minute = new Date(Math.floor(begin / 60_000) * 60_000).toISOString()
    expect(new URL(page.url()).searchParams.get('from')).toBe(minute)
    await page.locator('.u-wrap').nth(3).waitFor()
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe(await local(begin))
    expect(await page.getByText('New values every').count()).toBe(0)
    expect(await page.locator('.happened').count()).toBe(0)
    await page.getByText('None: nothing is marked in the charts.').waitFor()
    await page.getByRole('link', { name: '1 h' }).click()
    await page.waitForURL((url) => url.search === '?range=1h')
  }, 60_000)
})

async function expectText(of: () => Promise<string | null>, text: string) {
  for (let i = 0; i < 150 && (await of()) !== text; i++) await page.waitForTimeout(100)
  expect(await of()).toBe(text)
}
