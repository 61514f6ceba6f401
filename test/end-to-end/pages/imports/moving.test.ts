// The pages of an import whose servers move, in Chromium: before it starts, on its way, and what failed.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { dispatch, KVM_1, moveAll, type Ready, ready } from '../../../imports/migrate/world.ts'
import { hypervisor, owner, server } from '../../../imports/panel-in-memory.ts'
import { launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'
import { mustBePictured } from './in-document.ts'

let p: Ready
let browser: Browser
const at = (path = '') => `/admin/imports/${p.id}${path}`
const names = ['files.halden', 'shop.atelier-nord', 'git.kestrel', 'wiki.radwandern', 'db-3.lumen', 'ns1.cyan']

beforeAll(async () => {
  p = await ready({
    hypervisors: [hypervisor('1', { name: 'kvm-fra-01' }), hypervisor('2', { name: 'kvm-fra-02', isPanel: true })],
    owners: [owner('1')],
    servers: Array.from({ length: 12 }, (_, i) =>
      server(i + 1, {
        name: i < names.length ? `${names[i]}.example` : `kvm-${5500 + i}.example`,
        hypervisorId: i < 9 ? '1' : '2',
      }),
    ),
  })
  const trouble = { v4: { moving: { startsAtPercent: 40 } }, v5: { moving: { readErrorAt: 2 ** 20 } } }
  p.sources.describe(KVM_1, { lets: 'everyone', servers: trouble })
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.[Symbol.dispose]()
})

const find = async (state: string) =>
  (await p.admin('GET', `/admin/migrations/${p.id}/moves?state=${state}&limit=1`)).data[0]
const seen = (path: () => string, name: string) => {
  for (const screen of shownScreens)
    test(`${name} at ${titleOf(screen)}: nothing to complain about`, async () => {
      await mustLookRight({ p, browser, who: p.owner }, screen, { name, path: path() })
    })
}
/** A window of the owner; afterwards its console must have been silent. */
async function walk(work: (page: Page) => Promise<void>) {
  const reader = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, undefined, reader.url.origin)
  page.setDefaultTimeout(10_000)
  try {
    await work(page)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await reader.stop(true)
  }
}
const pageOf = ({ serverId }: { serverId: string }) => `/admin/import-servers/${serverId}`

seen(() => at('/messages'), 'import-messages')
test('a person turns messages on, changes one and sends it to themselves, by the keyboard', async () => {
  await walk(async (page) => {
    await page.goto(at('/migrate'))
    await page.getByRole('link', { name: 'read and change them' }).press('Enter')
    await page.getByRole('button', { name: 'Tell owners' }).press('Enter')
    await page.getByRole('button', { name: 'Tell nobody' }).waitFor()
    const before = page.locator('#before')
    await before.getByLabel('Goes out by itself').press('Space')
    await before.getByLabel('Subject').fill('{servers} will move on Sunday')
    await before.getByRole('button', { name: 'Save Before' }).press('Enter')
    await page
      .locator('#before-preview')
      .getByText(/files\.halden\.example.* and 9 more will move on Sunday/)
      .waitFor()
    await page.getByRole('button', { name: 'Send a test to me Before' }).press('Enter')
    await page.locator('.toast', { hasText: 'A test is on its way to' }).waitFor()
  })
  const { emailsOwners, before } = await p.admin('GET', `/admin/migrations/${p.id}/messages`)
  expect([emailsOwners, before.isOn, before.told]).toEqual([true, true, 0])
  expect(p.mailed().map(({ subject }) => subject)).toEqual([expect.stringMatching(/^Test: .* will move on Sunday$/)])
})

seen(() => at('/migrate'), 'import-migrate-before')

test('a person starts it with limits of their own, by the keyboard', async () => {
  await walk(async (page) => {
    await page.goto(at('/dry-run'))
    await page.locator('.head').getByRole('link', { name: 'Migrate' }).press('Enter')
    await page.getByText('Whatever fails runs at the source as before').waitFor()
    await page.getByLabel('From one hypervisor at once').fill('4')
    await page.getByLabel('To one node at once').fill('8')
    await page.getByLabel('Begin from').fill('00:00')
    await page.getByLabel('Until').fill('23:59')
    await page.getByLabel('Time zone').fill('Europe/Berlin')
    await page.getByRole('button', { name: 'Move 12 servers' }).press('Enter')
    await page.getByText('of 12 servers have moved').waitFor()
  })
  const { status, limits } = await p.admin('GET', `/admin/migrations/${p.id}`)
  expect([status, limits.perHypervisor, limits.perNode]).toEqual(['migrating', 4, 8])
  expect(limits.window).toEqual({ from: '00:00', to: '23:59', timeZone: 'Europe/Berlin' })
})

let moving: any
test('the first servers begin', async () => {
  await dispatch(p)
  moving = await find('moving')
  expect(moving?.hostname).toBeDefined()
})
seen(() => at('/migrate'), 'import-migrate')
seen(() => pageOf(moving), 'import-server-moving')

test('a pause is said on the page, and going on takes it back', async () => {
  await walk(async (page) => {
    await page.goto(at('/migrate'))
    await page.getByRole('button', { name: 'Pause' }).press('Enter')
    await page
      .getByText(/^Paused/)
      .first()
      .waitFor()
    expect((await p.admin('GET', `/admin/migrations/${p.id}`)).pausedAt).not.toBeNull()
    await page.getByRole('button', { name: 'Go on' }).press('Enter')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
  })
  expect((await p.admin('GET', `/admin/migrations/${p.id}`)).pausedAt).toBeNull()
})

let failed: any
let moved: any
test('all servers come to an end, and some of them fail', async () => {
  await moveAll(p)
  failed = await find('failed')
  moved = await find('moved')
  expect([failed?.whereItRuns, moved?.whereItRuns]).toEqual(['source', 'here'])
}, 60_000)
seen(() => at('/migrate'), 'import-migrated')
test('imports-migrate.png is a picture of the page, and the document shows it', () =>
  mustBePictured({ p, browser }, 'imports-migrate', at('/migrate')))
seen(() => pageOf(failed), 'import-server-failed')
seen(() => pageOf(moved), 'import-server-moved')

test('of the steps of a failed server only the one that failed is drawn as bad', async () => {
  await walk(async (page) => {
    await page.goto(pageOf(failed))
    const steps = page.locator('#steps li')
    expect(await steps.locator('small').allTextContents()).toEqual(expect.arrayContaining(['rolled back']))
    expect(await page.locator('#steps li.off').count()).toBe(1)
    expect(await page.locator('#steps li.off small').textContent()).toMatch(/^failed/)
  })
})

test('a failed server says where it runs and why, and is tried again by the keyboard', async () => {
  await walk(async (page) => {
    await page.goto(at('/migrate'))
    const region = page.getByRole('region', { name: 'Failed' })
    await region
      .getByText(/runs at kvm-fra-01 as before/)
      .first()
      .waitFor()
    await region
      .getByText(/panel started it during the copy/)
      .first()
      .waitFor()
    await region.getByRole('button', { name: /^Try again wiki/ }).press('Enter')
    const dialog = page.getByRole('dialog', { name: /Try wiki.* again/ })
    await dialog.getByRole('button', { name: 'Try again' }).press('Enter')
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('wiki.radwandern.example is tried again').first().waitFor()
  })
  expect((await find('waiting')).hostname).toBe('wiki.radwandern.example')
}, 60_000)

test('a failed server is tried on another node from its page', async () => {
  const { id } = p.addNode(p.location, 'fra-02', { sourceHosts: `${p.node.agent.home}/source-hosts.db` })
  // Another one than that of the test above.
  failed = await find('failed')
  const { serverId } = failed
  await walk(async (page) => {
    await page.goto(pageOf(failed))
    await page.getByRole('button', { name: /^Try again/ }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Node').selectOption({ label: 'fra-02' })
    await dialog.getByRole('button', { name: 'Try again' }).press('Enter')
    await dialog.waitFor({ state: 'hidden' })
  })
  expect(p.db.$client.query('SELECT wanted_node_id AS id FROM import_moves WHERE server_id = ?').get(serverId)).toEqual(
    {
      id,
    },
  )
})
