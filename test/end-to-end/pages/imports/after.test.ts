// The pages of an import whose servers have moved, in Chromium: their checks, the way back, and the end.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { checkTurn, moved } from '../../../imports/after/world.ts'
import { hypervisor, owner, server } from '../../../imports/panel-in-memory.ts'
import { launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'
import { mustBePictured } from './in-document.ts'

let p: Awaited<ReturnType<typeof moved>>
let browser: Browser
beforeAll(async () => {
  p = await moved({
    listed: {
      hypervisors: [hypervisor('1', { name: 'kvm-fra-01' }), hypervisor('2', { name: 'kvm-fra-02', isPanel: true })],
      owners: [owner('1')],
      servers: ['shop.atelier-nord', 'ns1.cyan', 'git.kestrel', 'wiki.radwandern'].map((name, i) =>
        server(i + 1, { name: `${name}.example`, hypervisorId: i < 3 ? '1' : '2' }),
      ),
    },
    sourceIds: ['1', '2', '3'],
  })
  const { capabilities } = await import('../../../../agent/protocol/wire.ts')
  const older = capabilities.filter((name) => name !== 'reach.look')
  ;(p.controller.hub as any).capabilities.set(p.server(p.workloadId).nodeId, new Set(older))
  await checkTurn(p)
  ;(p.controller.hub as any).capabilities.set(p.server(p.workloadId).nodeId, new Set(capabilities))
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.[Symbol.dispose]()
})
const at = (path = '') => `/admin/imports/${p.id}${path}`
const seen = (path: () => string, name: string) => {
  for (const screen of shownScreens)
    test(`${name} at ${titleOf(screen)}: nothing to complain about`, async () => {
      await mustLookRight({ p, browser, who: p.owner }, screen, { name, path: path() })
    })
}
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
const status = async () => (await p.admin('GET', `/admin/migrations/${p.id}`)).status

seen(() => at('/verify'), 'import-verify-open')
test('an open check says what to do, and all of them are checked again by the keyboard', async () => {
  await walk(async (page) => {
    await page.goto(at('/verify'))
    await page
      .getByText(/older than the controller: update it first/)
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'Update agent of fra-01' }).first().waitFor()
    await page.getByRole('button', { name: 'Check all again' }).press('Enter')
    await page.locator('.toast', { hasText: 'checked again' }).waitFor()
    await checkTurn(p)
    await page.reload()
    await page.locator('.legend', { hasText: 'All checks pass' }).waitFor()
  })
  expect(await p.admin('GET', `/admin/migrations/${p.id}/verification`)).toMatchObject({ passed: 3, open: 0 })
})
seen(() => at('/verify'), 'import-verify')
for (const [name, path] of [
  ['imports-verify', () => at('/verify')],
  ['imports-roll-back', () => `/admin/import-servers/${p.serverId}/roll-back`],
  ['imports-finish', () => at('/finish')],
] as const)
  test(`${name}.png is a picture of the page, and the document shows it`, () =>
    mustBePictured({ p, browser }, name, path()))
seen(() => `/admin/import-servers/${p.serverId}/roll-back`, 'import-roll-back')
seen(() => at('/finish'), 'import-finish')
seen(() => `/admin/import-servers/${p.serverId}`, 'import-server-verified')

test('a roll back says what is lost, and waits for the name', async () => {
  await walk(async (page) => {
    await page.goto(at('/verify'))
    await page.getByRole('link', { name: 'Roll back shop.atelier-nord.example' }).press('Enter')
    await page.getByText(/Everything written since/).waitFor()
    const button = page.getByRole('button', { name: 'Roll back' })
    const before = p.fingerprint()
    expect(await button.isDisabled()).toBe(true)
    await page.getByRole('textbox', { name: /Type/ }).fill('another.example')
    expect(await button.isDisabled()).toBe(true)
    expect(p.fingerprint()).toBe(before)
    await page.getByRole('textbox', { name: /Type/ }).fill('shop.atelier-nord.example')
    await button.press('Enter')
    await page.waitForURL(/\/admin\/jobs\//)
    await page.getByRole('heading', { name: 'Roll shop.atelier-nord.example back' }).waitFor()
  })
  await p.settle()
  const { data } = await p.admin('GET', `/admin/migrations/${p.id}/moves?state=rolled_back`)
  expect(data.map(({ hostname, whereItRuns }: any) => [hostname, whereItRuns])).toEqual([
    ['shop.atelier-nord.example', 'source'],
  ])
})

test('finishing names what ends, and the page says afterwards what was left on hypervisors', async () => {
  await walk(async (page) => {
    await page.goto(at('/finish'))
    await page.locator('#finish').getByText('2 servers can still go back today.').waitFor()
    expect(await status()).toBe('verifying')
    await page.getByRole('button', { name: 'Finish import' }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Rolling back ends.').waitFor()
    await dialog.getByRole('button', { name: 'Finish import' }).press('Enter')
    await page.getByRole('heading', { name: 'Left on hypervisors' }).waitFor()
  })
  expect(await status()).toBe('finished')
})
seen(() => at('/finish'), 'import-finished')
