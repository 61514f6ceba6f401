// The page of private networks in Chromium, with a network of several servers, whose links stand below each other.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { launch } from '../../../support/browser.ts'
import { htmlOf } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'
import { type World, world } from '../../../support/world/panel.ts'

let p: World
let browser: Browser
beforeAll(async () => {
  p = await world()
  const servers: string[] = []
  for (const hostname of ['web01', 'web02', 'db01']) {
    servers.push((await p.admin('POST', '/admin/servers', { ...p.order, hostname })).serverId)
    await p.settle()
  }
  const range = { name: 'backend', locationId: p.location, ipv4: '10.20.0.0/24' }
  const { body } = await p.call(p.customer, 'POST', `/customers/${p.customer.id}/networks`, range)
  for (const serverId of servers) await p.call(p.customer, 'POST', `/networks/${body.id}/servers`, { serverId })
  await p.settle()
  expect((await htmlOf(p, p.customer, '/networks')).match(/href="\/servers\/srv_\w+\/network"/g)).toHaveLength(3)
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

describe.each(shownScreens.map((screen) => [titleOf(screen), screen] as const))('%s', (_, screen) => {
  test('the links to its servers are far enough apart for a finger', () =>
    mustLookRight({ p, browser, who: p.customer }, screen, { name: 'private-networks', path: '/networks' }))
})
