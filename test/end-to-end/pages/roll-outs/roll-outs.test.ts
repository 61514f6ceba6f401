// The pages of roll-outs in Chromium: on a desk and on a phone, in the light and in the dark.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { type Fleet, fleet } from '../../../platform/roll-outs/lab.ts'
import { launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'

let p: Fleet
let id: string
let browser: Browser
beforeAll(async () => {
  p = await fleet(12)
  p.scripts.set('n06', 'goes_back')
  p.agentOf('n12').disconnect()
  await p.reported()
  ;({ id } = await p.start({ waveSizes: [3, 5], leftOutNodeIds: [p.idOf('n11')] }))
  await p.until(id, ({ state, members }) => {
    return state === 'paused' && members.every((one: any) => one.state !== 'updating')
  })
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

for (const screen of shownScreens)
  test(`a roll-out that stopped looks right at ${titleOf(screen)}`, async () => {
    await mustLookRight({ p, browser, who: p.owner }, screen, { name: 'roll-out', path: `/admin/roll-outs/${id}` })
    await mustLookRight({ p, browser, who: p.owner }, screen, { name: 'roll-out-new', path: '/admin/roll-outs/new' })
    await mustLookRight({ p, browser, who: p.owner }, screen, { name: 'roll-outs', path: '/admin/roll-outs' })
  })

test('by the keyboard, one is continued and stopped, and another one begins', async () => {
  const reader = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, shownScreens[0]!, reader.url.origin)
  try {
    await page.goto(`/admin/roll-outs/${id}`)
    await page.getByText('n06 went back to 0.0.9 by itself').waitFor()
    await page.getByRole('button', { name: 'Continue without n06' }).press('Enter')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'Stop…' }).press('Enter')
    await page.getByRole('button', { name: 'Stop it' }).press('Enter')
    await page.getByText('Stopped', { exact: true }).waitFor()
    await page.goto('/admin/roll-outs/new')
    await page.getByLabel('First node', { exact: true }).selectOption({ label: 'n06' })
    await page.getByRole('button', { name: 'Begin with the first node' }).press('Enter')
    await page.getByText('Under way').waitFor()
    const { data } = await p.admin('GET', '/admin/roll-outs')
    expect(data.map(({ state }: any) => state)).toEqual(['running', 'stopped'])
    const { members, windows } = await p.shown(data[0].id)
    expect([members[0].name, windows]).toEqual(['n06', []])
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await reader.stop(true)
  }
})
