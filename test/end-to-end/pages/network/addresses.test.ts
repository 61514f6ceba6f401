// The pages of addresses in Chromium: a pool with addresses in use, reserved and at rest, and the history of one.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { minuteText } from '../../../../src/kernel/db/clock.ts'
import { launch, look, open, openMenu } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'
import { eventually } from '../../../support/waiting/eventually.ts'
import { type World, world } from '../../../support/world/panel.ts'

const day = 24 * 3_600_000
let p: World
let browser: Browser
/** A day on which the first server had the address. */
let asked: string
beforeAll(async () => {
  p = await world()
  p.db.$client.run('UPDATE pools SET quarantine_hours = 48')
  const lives = [
    ['test-4.polder.example', 50],
    ['bot-9.example', 40],
    ['shop.atelier-nord.example', 20],
  ] as const
  for (const [hostname, days] of lives) {
    p.db.$client.run('UPDATE addresses SET rests_until = NULL')
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname })
    await p.settle()
    asked ??= new Date(p.now() + 5 * day).toISOString()
    p.turnClock(days * day)
    if (hostname === lives.at(-1)![0]) break
    await p.admin('DELETE', `/servers/${serverId}?immediately=true`)
    await p.settle()
    p.turnClock(4 * day)
  }
  const other = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web01' })
  await p.settle()
  p.turnClock(day)
  await p.admin('DELETE', `/servers/${other.serverId}?immediately=true`)
  await p.settle()
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  p?.close()
})
/** Sessions do not live through the days that went by. */
const reader = () => p.staff()

for (const screen of shownScreens) {
  test(`the history of an address at ${titleOf(screen)}: nothing to complain about`, async () => {
    const path = `/admin/addresses/203.0.113.10?date=${asked.slice(0, 10)}&time=12%3A00`
    await mustLookRight({ p, browser, who: reader() }, screen, { name: 'address-history', path })
  })
  test(`a pool with addresses at rest at ${titleOf(screen)}: nothing to complain about`, async () => {
    const { id } = p.db.$client.query<{ id: string }, []>('SELECT id FROM addresses WHERE rests_until > 0').get()!
    const path = `/admin/ip-pools/${p.pool}?address=${id}`
    await mustLookRight({ p, browser, who: reader() }, screen, { name: 'pool-at-rest', path })
  })
}

test('staff see what a change and a swap of a primary address mean, and do both', async () => {
  const shop = p.db.$client
    .query<{ id: string }, []>("SELECT id FROM workloads WHERE hostname = 'shop.atelier-nord.example'")
    .get()!.id
  await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'mail.atelier-nord.example' })
  await p.settle()
  const pages = pagesFor(p, reader())
  const { page, context, complaints } = await open(browser, shownScreens[0], pages.url.origin)
  const primary = () =>
    p.admin('GET', `/servers/${shop}/ips`).then(({ data }) => data.find(({ kind }: any) => kind === 'primary').address)
  const act = async (label: string, submit: string, name: string) => {
    const before = await primary()
    await page.goto(`/admin/servers/${shop}/network`)
    await openMenu(page, `Actions for ${before}`)
    await page.getByRole('button', { name: label }).click()
    await page.getByRole('button', { name: submit }).waitFor()
    const found = await look(page, name)
    await page.getByRole('button', { name: submit }).click()
    await eventually(async () => (await primary()) !== before)
    await p.settle()
    return found
  }
  try {
    expect(await act('Change 203.0.113.10', 'Change address', 'change-primary')).toEqual([])
    expect(await act(`Swap ${await primary()}`, 'Swap addresses', 'swap-primary')).toEqual([])
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
})

test('who had an address on a day is three steps away from any page: search, open, ask', async () => {
  const pages = pagesFor(p, reader())
  const { page, context, complaints } = await open(browser, shownScreens[0], pages.url.origin)
  try {
    await page.goto('/search?q=203.0.113.10')
    await page.locator('#results a', { hasText: '203.0.113.10' }).first().click()
    await page.getByLabel('Date').fill(asked.slice(0, 10))
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.getByText('it belonged to').waitFor()
    expect(await page.getByRole('status').filter({ hasText: 'belonged' }).textContent()).toBe(
      `On ${minuteText(Date.parse(`${asked.slice(0, 10)}T12:00:00Z`))} it belonged to test-4.polder.example of Cal.`,
    )
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
})

test('a message to the owner of that time begins on the page, with the address and the server in it', async () => {
  const pages = pagesFor(p, reader())
  const { page, context, complaints } = await open(browser, shownScreens[0], pages.url.origin)
  try {
    await page.goto(`/admin/addresses/203.0.113.10?date=${asked.slice(0, 10)}&time=12%3A00`)
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download' }).click()
    expect((await download).suggestedFilename()).toBe('statement.txt')
    await page.getByRole('link', { name: 'Write…' }).click()
    await page.getByText('A report about the address 203.0.113.10').waitFor()
    expect(await look(page, 'report-to-owner')).toEqual([])
    await page.getByRole('button', { name: 'Begin' }).click()
    await page.getByRole('article', { name: 'Preview' }).getByText('belonged to your server test-4.polder').waitFor()
    expect(await page.getByText('Cal, or its reseller, about 1 server.').count()).toBe(1)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
})

test('staff take an address out of use for good on its page, read why in the pool, and take it back', async () => {
  const pages = pagesFor(p, reader())
  const { page, context, complaints } = await open(browser, shownScreens[0], pages.url.origin)
  const retired = () =>
    p.admin('GET', '/admin/addresses/203.0.113.20').then(({ rows }) => [rows[0].state, rows[0].retiredFor])
  try {
    await page.goto('/admin/addresses/203.0.113.20')
    await page.getByRole('button', { name: 'Never give out again' }).click()
    await page.getByLabel('Reason').fill('On block lists since report 118')
    expect(await look(page, 'retire-address')).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Never give out again' }).click()
    await eventually(async () => (await retired())[1] !== null)
    expect(await retired()).toEqual(['reserved', 'On block lists since report 118'])
    const { id } = p.db.$client
      .query<{ id: string }, []>("SELECT id FROM addresses WHERE address = '203.0.113.20'")
      .get()!
    await page.goto(`/admin/ip-pools/${p.pool}?address=${id}`)
    await page.getByText('On block lists since report 118', { exact: true }).waitFor()
    expect(await look(page, 'pool-retired')).toEqual([])
    await page.getByRole('button', { name: 'Let it be given out' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Let it be given out' }).click()
    await eventually(async () => (await retired())[1] === null)
    expect(await retired()).toEqual(['free', null])
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
})
