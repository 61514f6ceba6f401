// A node is away, as staff see it in Chromium: locations, lists, old values and the navigation; and all as before when
// it is back.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { launch, open, screens } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'
import { type World, world } from '../../../support/world/panel.ts'

let p: World
let browser: Browser
let second: ReturnType<World['addNode']>
/** Signed in after the clock was turned on by more than a session may rest. */
let who: World['owner']
const paths: Record<string, string> = {}
const ids: string[] = []

const HOURS_MEASURED = 5
/** Both nodes tell their load and their use for some hours, and it is stored as time passes. */
async function measure() {
  const pools = [{ name: 'local', kind: 'file' as const, path: '/var/lib/berth', totalBytes: 5e11, freeBytes: 2e11 }]
  for (let minute = 0; minute < HOURS_MEASURED * 60; minute++) {
    p.turnClock(60_000)
    const use = { ms: 10_000, fast: [52_000, 10_000_000, 20_000_000, 0, 0], memory: { ms: 10_000, usedMb: 512 } }
    const host = { ...use, disk: { ms: 10_000, sums: [40_960, 81_920, 0, 0] } }
    for (const { agent } of [p.node, second]) {
      agent.say({ type: 'metrics', host, samples: ids.map((id) => ({ id, ...use, fast: [4000, 1e6, 2e6, 0, 0] })) })
      agent.say({
        type: 'heartbeat',
        at: p.now(),
        cpuPercent: 71,
        load1: 9.4,
        memoryFreeMb: 9000,
        pools,
        workloads: [],
      })
    }
    await p.controller.app.metrics.advance()
    await p.controller.app.metrics.storeDue()
  }
}

beforeAll(async () => {
  p = await world()
  second = p.addNode(p.location, 'fra-02')
  p.attach(p.pool, second.id)
  const { id: helsinki } = await p.admin('POST', '/admin/node-groups', { name: 'Helsinki' })
  p.addNode(helsinki, 'hel-01')
  await p.admin('POST', '/admin/node-groups', { name: 'Oslo' })
  for (let n = 1; n <= 14; n++) {
    const order = { ...p.order, nodeId: n > 3 ? p.node.id : second.id, hostname: `web${String(n).padStart(2, '0')}` }
    ids.push((await p.admin('POST', '/admin/servers', order)).serverId)
  }
  await p.settle()
  await measure()
  who = p.staff()
  Object.assign(paths, {
    'outage-locations': '/admin/node-groups',
    'outage-servers': '/admin/servers?state=unreachable',
    'outage-node': `/admin/nodes/${p.node.id}`,
    'outage-node-day': `/admin/nodes/${p.node.id}?beats=day`,
    'outage-nodes': '/admin/nodes',
    'outage-storage': `/admin/nodes/${p.node.id}/storage`,
    'outage-metrics': `/admin/nodes/${p.node.id}/metrics?range=1h`,
    'outage-server': `/admin/servers/${ids[10]}`,
    'navigation-tabs': '/admin/ip-pools',
  })
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

test('an open list of servers and the navigation follow a node that goes and comes back', async () => {
  const reader = pagesFor(p, who)
  const { page, context, complaints } = await open(browser, screens[0], reader.url.origin)
  try {
    await page.goto('/admin/servers?state=running')
    const mark = page.locator('#mark-nodes')
    const rows = page.locator('#list tbody tr')
    await rows.first().waitFor()
    expect([await rows.count(), await mark.isVisible()]).toEqual([14, false])
    p.node.agent.disconnect()
    await mark.getByText('1 away').waitFor()
    await page.waitForFunction(() => document.querySelectorAll('#list tbody tr').length === 3)
    // The filter has the words of the column.
    await page.getByLabel('State', { exact: true }).selectOption('unreachable')
    await page.waitForURL(/state=unreachable/)
    await page.waitForFunction(() => document.querySelectorAll('#list tbody tr').length === 11)
    expect(await rows.locator('.state').allInnerTexts()).toEqual(
      Array.from({ length: 11 }, () => expect.stringMatching(/^Unreachable\s+last seen running/)),
    )
    await page.goto('/admin/node-groups')
    await page.getByText('1 of 2 nodes away').waitFor()
    await page.goto(paths['outage-server']!)
    const use = page.locator('.stale', { hasText: 'CPU' })
    expect(await use.textContent()).toContain('Last known')
    expect(await use.evaluate((element) => getComputedStyle(element).filter)).toContain('saturate')
    await page.goto('/admin/node-groups')
    p.node.agent.connect()
    await mark.waitFor({ state: 'hidden' })
    await page.getByText('1 of 2 nodes away').waitFor({ state: 'detached' })
    await page.goto(paths['outage-server']!)
    expect(await page.locator('.stale').count()).toBe(0)
    await page.goto('/admin/servers?state=unreachable')
    await page.getByText('No server matches these filters.').waitFor()
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await reader.stop(true)
  }
}, 60_000)

test('the list of a node that is away stands on the first screen of its page', async () => {
  p.node.agent.disconnect()
  p.turnClock(32 * 60_000)
  who = p.staff()
  const reader = pagesFor(p, who)
  const { page, context } = await open(browser, screens[0], reader.url.origin)
  try {
    await page.goto(paths['outage-node']!)
    const first = await page.locator('#servers tbody tr').first().boundingBox()
    expect(first!.y + first!.height).toBeLessThan(screens[0]!.height)
  } finally {
    await context.close()
    await reader.stop(true)
  }
})

test('the strip of a day shows when it was measured, when it was away, and of what nothing is known', async () => {
  const reader = pagesFor(p, who)
  const { page, context } = await open(browser, screens[0], reader.url.origin)
  try {
    await page.goto(paths['outage-node-day']!)
    const bars = await page
      .locator('svg.heartbeats rect')
      .evaluateAll((all) => all.map((bar) => bar.getAttribute('class') ?? 'heard'))
    const heard = bars.indexOf('heard')
    const away = bars.lastIndexOf('heard') + 1
    expect(bars.length).toBe(144)
    expect(new Set(bars.slice(away))).toEqual(new Set(['x']))
    expect(bars.length - away).toBe(4)
    expect(new Set(bars.slice(heard, away))).toEqual(new Set(['heard']))
    expect(away - heard).toBe(HOURS_MEASURED * 6)
    expect(new Set(bars.slice(0, heard))).toEqual(new Set(['u']))
  } finally {
    await context.close()
    await reader.stop(true)
  }
})

for (const name of [
  'outage-locations',
  'outage-servers',
  'outage-node',
  'outage-node-day',
  'outage-nodes',
  'outage-storage',
  'outage-metrics',
  'outage-server',
  'navigation-tabs',
])
  for (const screen of shownScreens)
    test(`${name} at ${titleOf(screen)}: nothing to complain about`, async () => {
      await mustLookRight({ p, browser, who }, screen, { name, path: paths[name]! })
    })
