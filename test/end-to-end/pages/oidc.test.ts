// Signing in through an identity provider, in Chromium over the compiled program: the provider is another site, as it
// will be.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { launch, look, open, screens, sticksOut } from '../../support/browser.ts'
import { provider, type TestProvider } from '../../support/services/provider.ts'
import { type Installation, installation } from '../../support/world/processes.ts'
import { berth } from '../../support/world/program.ts'

let live: Installation
let browser: Browser
let idp: TestProvider

beforeAll(async () => {
  live = await installation()
  await live.serve()
  idp = await provider()
  await berth(
    ['admin', 'create-staff', '--email', 'ada@example.com', '--name', 'Ada'],
    live.env,
    'seven green bicycles\n',
  )
  await live.admin('sign-in-provider.set', { ...idp.settings, issuer: idp.issuer, for: ['staff'] })
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await idp?.stop()
  await live?.close()
})

test('a member of staff links the provider once; then its button leads to where they were going, and a stranger is ' +
  'told ' +
  'to link', async () => {
  const { context, page, complaints } = await open(browser, screens[0]!, live.url)
  page.setDefaultTimeout(15_000)
  await page.goto('/login?next=%2Faccount')
  await page.getByLabel('E-mail address').fill('ada@example.com')
  await page.getByLabel('Password').fill('seven green bicycles')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL('**/account')
  for (const { width, height, scheme } of screens) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: scheme })
    expect(await look(page, `account-not-linked-${width}-${scheme}`)).toEqual([])
    expect(await sticksOut(page)).toBe(false)
  }
  await page.getByRole('button', { name: 'Link sign-in' }).click()
  await page.getByRole('button', { name: 'Unlink' }).waitFor()
  for (const { width, height, scheme } of screens) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: scheme })
    expect(await look(page, `account-linked-${width}-${scheme}`)).toEqual([])
    expect(await sticksOut(page)).toBe(false)
  }
  await context.clearCookies()
  await page.goto('/admin/servers')
  await page.waitForURL('**/login?next=%2Fadmin%2Fservers')
  expect(await look(page, 'login-provider')).toEqual([])
  await page.getByRole('link', { name: 'Sign in with Example' }).press('Enter')
  await page.waitForURL('**/admin/servers')
  const names = (await context.cookies()).map((c) => c.name)
  expect(names).toContain('panel')
  expect(names).not.toContain('panel-provider')

  await page.goto('/account')
  await page.getByRole('heading', { name: 'Linked sign-in' }).waitFor()
  expect(await look(page, 'account-identities')).toEqual([])

  // The provider did not say that it had just asked, so the panel does before the settings change.
  await page.goto('/admin/settings')
  await page.getByLabel('Button text').fill('Company account')
  await page.getByRole('button', { name: 'Save single sign-on' }).click()
  await page.locator('#confirm input[name=password]').fill('seven green bicycles')
  await page.locator('#confirm').getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('People can sign in through the provider').waitFor()
  for (const { width, height, scheme } of screens) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: scheme })
    // The page stays where the form was: the bar on top may cover a field.
    await page.evaluate(() => window.scrollTo(0, 0))
    expect(await look(page, `settings-provider-${width}-${scheme}`)).toEqual([])
    expect(await sticksOut(page)).toBe(false)
  }

  await context.clearCookies()
  idp.is({ sub: 'eve', email: 'eve@example.com', email_verified: true })
  await page.goto('/login')
  await page.getByRole('link', { name: 'Company account' }).click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').textContent()).toContain('No account here is linked to this sign-in')
  expect(await look(page, 'login-provider-refused')).toEqual([])
  expect((await context.cookies()).map((c) => c.name)).not.toContain('panel')
  expect(complaints).toEqual([])
}, 120_000)
