// A failed job, the list of jobs, a new package and the webhooks, as staff and the owner see them in Chromium.
import { afterAll, beforeAll, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { launch } from '../../../support/browser.ts'

import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'
import { type World, world } from '../../../support/world/panel.ts'

let p: World
let browser: Browser
let jobId: string

beforeAll(async () => {
  p = await world()
  p.node.agent.fault({ command: 'vm.define', mode: 'fail', times: 9 })
  jobId = (await p.admin('POST', '/admin/servers', p.order)).jobId
  await p.settle()
  p.node.agent.fault()
  const hook = { url: 'https://hooks.example.com/berth', events: ['*'], name: 'Billing' }
  await p.call(p.customer, 'POST', '/webhooks', hook)
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

const pages: [name: string, of: 'owner' | 'customer', path: () => string][] = [
  ['job-failed', 'customer', () => `/jobs/${jobId}`],
  ['job-failed-staff', 'owner', () => `/admin/jobs/${jobId}`],
  ['jobs', 'owner', () => '/admin/jobs'],
  ['package-new', 'owner', () => '/admin/packages/new'],
  ['webhooks', 'customer', () => '/account/webhooks'],
]
for (const [name, of, path] of pages)
  for (const screen of shownScreens)
    test(
      `${name} looks right at ${titleOf(screen)}`,
      () => mustLookRight({ p, browser, who: p[of] }, screen, { name, path: path() }),
      30_000,
    )
