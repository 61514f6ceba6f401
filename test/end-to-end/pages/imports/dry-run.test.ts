// The pages of a dry run and of the access of nodes to source hypervisors, in Chromium.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { type Decided, decided, dryRun, look } from '../../../imports/dry-run/world.ts'
import { hypervisor, owner, server } from '../../../imports/panel-in-memory.ts'
import { launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'

const PASSWORD = 'canary-root-password'
const AWAY = '192.0.2.12'

let p: Decided
let browser: Browser
let paths: Record<string, string>
beforeAll(async () => {
  const servers = Array.from({ length: 14 }, (_, i) =>
    server(i + 1, {
      name: `shop-${i + 1}.lumen.example`,
      hypervisorId: i < 9 ? '1' : '2',
      virtualization: i === 8 ? 'container' : 'kvm',
    }),
  )
  p = await decided(
    {
      hypervisors: [hypervisor('1', { name: 'kvm-fra-01' }), hypervisor('2', { name: 'kvm-fra-02' })],
      owners: [owner('1')],
      servers,
    },
    {
      servers: {
        v2: { state: 'off' },
        v3: { definition: { firmware: 'uefi' } },
        v4: null,
        v5: { definition: { hasGuestAgent: false } },
      } as never,
    },
  )
  p.sources.describe(AWAY, { lets: 'known', password: PASSWORD })
  await dryRun(p)
  const one = async (query: string) =>
    (await p.admin('GET', `/admin/migrations/${p.id}/servers?limit=1&${query}`)).data[0].id
  paths = {
    'import-dry-run': `/admin/imports/${p.id}/dry-run`,
    'import-access': `/admin/imports/${p.id}/access`,
    'import-server-to-fix': `/admin/import-servers/${await one('finding=no_login')}`,
    'import-server-ready': `/admin/import-servers/${await one('result=ready')}`,
  }
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.[Symbol.dispose]()
})

for (const name of ['import-dry-run', 'import-access', 'import-server-to-fix', 'import-server-ready'])
  for (const screen of shownScreens)
    test(`${name} at ${titleOf(screen)}: nothing to complain about`, async () => {
      await mustLookRight({ p, browser, who: p.owner }, screen, { name, path: paths[name]! })
    })

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
const totals = () => p.admin('GET', `/admin/migrations/${p.id}/dry-run`)

test('a person finds what stops servers, adds the keys with the root password, and runs it again', async () => {
  const before = await totals()
  expect(before.servers.toFix).toBeGreaterThan(4)
  await walk(async (page) => {
    await page.goto(`/admin/imports/${p.id}`)
    await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Dry run' }).press('Enter')
    await page.getByRole('heading', { name: 'Fix first' }).waitFor()
    await page.getByRole('link', { name: 'Show the 5: no_login' }).press('Enter')
    await page.locator('tbody tr').nth(4).waitFor()
    expect(await page.locator('tbody tr').count()).toBe(5)
    await page.locator('#fix').getByRole('link', { name: 'Node access' }).press('Enter')
    await page.getByRole('button', { name: 'Add keys with root password on kvm-fra-02' }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Password of root on kvm-fra-02').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Add keys' }).press('Enter')
    await page.locator('.toast', { hasText: 'One node signs in and adds the keys' }).waitFor()
    await p.settle()
    await look(p)
    await page.reload()
    const section = page.locator('section', { has: page.getByRole('heading', { name: 'kvm-fra-02' }) })
    await section.getByText('Works').first().waitFor()
    expect(await page.content()).not.toContain(PASSWORD)
    await page.getByRole('button', { name: 'Run dry run again' }).press('Enter')
    await page.getByText('The dry run is under way.').waitFor()
    while ((await p.admin('GET', `/admin/migrations/${p.id}`)).status === 'checking') await look(p)
    await page.getByRole('button', { name: 'Run dry run again' }).waitFor()
    await page.getByText('Ended just now').waitFor()
  })
  const after = await totals()
  expect(after.findings.map(({ code }: { code: string }) => code)).not.toContain('no_login')
  expect(after.servers.ready).toBe(before.servers.ready + 5)
})
