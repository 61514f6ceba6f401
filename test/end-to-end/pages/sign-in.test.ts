// Signing in beyond the password, as a person does it: an authenticator app, recovery codes, passkeys in a virtual
// authenticator, and being asked once more. At localhost, where browsers offer passkeys without HTTPS.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Secret, TOTP } from 'otpauth'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { launch, look, open, openAccountMenu, openMenu, screens, sticksOut } from '../../support/browser.ts'
import { type Installation, installation } from '../../support/world/processes.ts'
import { berth } from '../../support/world/program.ts'

let live: Installation
let browser: Browser
let url = ''
let context: BrowserContext
let page: Page
let complaints: string[]
const password = 'seven green bicycles'

beforeAll(async () => {
  live = await installation()
  url = live.url.replace('127.0.0.1', 'localhost')
  await live.serve({ PANEL_PUBLIC_URL: url })
  await berth(['admin', 'create-staff', '--email', 'ada@example.com', '--name', 'Ada'], live.env, `${password}\n`)
  await berth(['admin', 'create-staff', '--email', 'bo@example.com', '--name', 'Bo'], live.env, `${password}\n`)
  browser = await launch()
  ;({ context, page, complaints } = await open(browser, screens[0]!, url))
  page.setDefaultTimeout(10_000)
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await live?.close()
})

const clean = async (name: string) => {
  expect({ page: name, axe: await look(page, name) }).toEqual({ page: name, axe: [] })
  expect({ page: name, complaints }).toEqual({ page: name, complaints: [] })
}
/**
 * The same in a page of its own: another debugger at this one, as axe is, would take the virtual authenticator away.
 */
async function cleanBeside(name: string, path = page.url()) {
  const beside = await context.newPage()
  await beside.goto(path)
  expect({ page: name, axe: await look(beside, name) }).toEqual({ page: name, axe: [] })
  await beside.close()
  expect({ page: name, complaints }).toEqual({ page: name, complaints: [] })
}
async function signOut() {
  await openAccountMenu(page)
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.waitForURL('**/login**')
}
async function passwordStep(email: string, at = '/login') {
  await page.goto(at)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
/** As if the sessions had been opened eleven minutes ago: time passes in the table, not in the test. */
function elevenMinutesLater() {
  const db = new Database(`${live.dir}/berth.db`)
  db.run('PRAGMA busy_timeout=5000')
  db.run('UPDATE sessions SET confirmed_at = confirmed_at - 660000')
  db.close()
}
/** No code twice: waits until the app shows another one than `last`. */
async function freshCode(secret: string, last: string) {
  const router = new TOTP({ secret: Secret.fromBase32(secret) })
  return live.until('the next code', async () => router.generate() !== last && router.generate(), 40)
}

describe('S18 an authenticator app', () => {
  let secret = ''
  let code = ''
  let recovery: string[] = []

  test('is added with its QR code or secret, and recovery codes are shown once', async () => {
    await passwordStep('ada@example.com')
    await page.waitForURL('**/admin')
    await page.goto('/account/security')
    await clean('security-empty')
    await page.getByRole('button', { name: 'Add app' }).click()
    const dialog = page.locator('#app')
    await dialog.locator('img').waitFor()
    expect(await dialog.locator('img').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0)
    secret = (await dialog.locator('.secret').textContent())!.replaceAll(' ', '')
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    await clean('security-app')
    await dialog.getByLabel('Code').fill('000000')
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    await dialog.getByRole('alert').waitFor()
    code = await freshCode(secret, '')
    await dialog.getByLabel('Code').fill(code)
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    const codes = page.locator('#codes')
    await codes.getByRole('button', { name: "I've saved them" }).waitFor()
    recovery = (await codes.locator('.secret').textContent())!.split('\n')
    expect(recovery).toHaveLength(10)
    await clean('security-codes')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      codes.getByRole('link', { name: 'Download' }).click(),
    ])
    expect(await Bun.file((await download.path())!).text()).toContain(recovery[9]!)
    await codes.getByRole('button', { name: "I've saved them" }).click()
    await page.locator('#totp').getByText('On', { exact: true }).waitFor()
    expect(await page.content()).not.toContain(secret)
    expect(await page.content()).not.toContain(recovery[0]!)
    await clean('security-with-app')
  }, 120_000)

  test('is asked for after the password, and leads where one was going', async () => {
    await signOut()
    await passwordStep('ada@example.com', '/login?next=%2Fadmin%2Fservers')
    await page.waitForURL('**/login/2fa?next=%2Fadmin%2Fservers')
    await clean('login-second-step')
    await page.getByLabel('Code from your authenticator app').fill(code)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await clean('login-second-step-refused')
    code = await freshCode(secret, code)
    await page.getByLabel('Code from your authenticator app').fill(code)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/admin/servers')
  }, 120_000)

  test('gives way to a recovery code, once', async () => {
    await signOut()
    await passwordStep('ada@example.com')
    await page.waitForURL('**/login/2fa')
    await page.getByText("I don't have my device").click()
    await clean('login-lost-device')
    await page.getByLabel('Recovery code').fill(recovery[0]!)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/admin')
    await page.goto('/account/security')
    await page.locator('#recovery').getByText('9 left').waitFor()
  }, 120_000)

  test('a second step that nobody began says so', async () => {
    const visit = await open(browser, screens[0]!, url)
    await visit.page.goto('/login/2fa')
    await visit.page.getByText('No sign-in is waiting').waitFor()
    await visit.context.close()
  }, 60_000)
})

describe('S21 being asked once more', () => {
  test('a call that needs it goes on by itself after the password, and is done once', async () => {
    elevenMinutesLater()
    await page.goto('/account/api')
    await page.getByRole('button', { name: 'Create token' }).first().click()
    const form = page.locator('dialog[open]')
    await form.getByLabel('Name').fill('Monitoring')
    await form.getByLabel(/^See servers/).check()
    await form.getByRole('button', { name: 'Create token' }).click()
    const dialog = page.locator('#confirm')
    await dialog.getByLabel('Password').fill('not the password')
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await dialog.getByRole('alert').waitFor()
    await clean('confirm-refused')
    await dialog.getByLabel('Password').fill(password)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await page.locator('.secret').filter({ hasText: /^pnl_/ }).waitFor()
    await page.getByRole('button', { name: "I've saved it" }).click()
    await page.locator('tbody').getByText('Monitoring').first().waitFor()
    const db = new Database(`${live.dir}/berth.db`, { readonly: true })
    expect(db.query("SELECT count(*) AS n FROM tokens WHERE name = 'Monitoring'").get()).toEqual({ n: 1 })
    db.close()
  }, 120_000)

  test('closing the question does nothing', async () => {
    elevenMinutesLater()
    await page.goto('/account/security')
    await page.getByRole('button', { name: 'Generate new codes' }).click()
    await page.locator('dialog[open]').getByRole('button', { name: 'Generate new codes' }).click()
    await page.locator('#confirm').getByRole('button', { name: 'Cancel' }).click()
    await page.reload()
    await page.locator('#recovery').getByText('9 left').waitFor()
  }, 60_000)
})

describe('S18 a passkey', () => {
  let keys: CDPSession
  let authenticatorId = ''

  test('is added from the browser, named after it, and renamed', async () => {
    await context.clearCookies()
    await passwordStep('bo@example.com')
    await page.waitForURL('**/admin')
    keys = await context.newCDPSession(page)
    await keys.send('WebAuthn.enable')
    ;({ authenticatorId } = await keys.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    }))
    await page.goto('/account/security')
    await page.getByRole('button', { name: 'Add passkey' }).click()
    await page.getByRole('button', { name: "I've saved them" }).click()
    await page.locator('#passkeys').getByText('Chrome on Linux').first().waitFor()
    await openMenu(page, 'Actions for Chrome on Linux')
    await page.getByRole('button', { name: 'Rename Chrome on Linux' }).click()
    await page.locator('dialog[open]').getByLabel('Name').fill('Laptop')
    await page.keyboard.press('Enter')
    await page.locator('#passkeys').getByText('Laptop').first().waitFor()
    await cleanBeside('security-with-passkey')
  }, 120_000)

  test('signs in alone, and leads where one was going', async () => {
    await signOut()
    await page.goto('/login?next=%2Fadmin%2Fjobs')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL('**/admin/jobs')
    await page.goto('/account/security')
    await page.locator('#passkeys').getByText('from 127.0.0.1').waitFor()
  }, 120_000)

  test('is the second step after the password', async () => {
    await signOut()
    await passwordStep('bo@example.com')
    await page.waitForURL('**/login/2fa')
    await cleanBeside('login-second-step-passkey')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL('**/admin')
  }, 120_000)

  test('answers when somebody is asked once more', async () => {
    elevenMinutesLater()
    await page.goto('/account/security')
    await page.getByRole('button', { name: 'Generate new codes' }).click()
    await page.locator('dialog[open]').getByRole('button', { name: 'Generate new codes' }).click()
    await page.locator('#confirm').getByRole('button', { name: 'Use a passkey' }).waitFor()
    await cleanBeside('confirm-passkey', '/account/confirm')
    await page.locator('#confirm').getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('button', { name: "I've saved them" }).click()
  }, 120_000)

  test('that does not check who uses it is refused for staff, in words, and no session comes of it', async () => {
    await signOut()
    await keys.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.goto('/login')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page
      .getByText(/No passkey was used|was not accepted/)
      .first()
      .waitFor()
    expect(await context.cookies()).not.toContainEqual(expect.objectContaining({ name: 'panel' }))
    await keys.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
  }, 120_000)

  test('that was removed signs nobody in', async () => {
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL('**/admin')
    await page.goto('/account/security')
    await openMenu(page, 'Actions for Laptop')
    await page.getByRole('button', { name: 'Remove Laptop' }).click()
    await page
      .locator('dialog[open]')
      .getByRole('button', { name: /^Remove/ })
      .click()
    await page.getByText('There is no passkey yet').waitFor()
    await signOut()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('was not accepted').first().waitFor()
  }, 120_000)
})

for (const screen of screens)
  test(`the pages hold at ${screen.width} px, ${screen.scheme}`, async () => {
    const visit = await open(browser, screen, url)
    await visit.page.goto('/login')
    await visit.page.getByLabel('E-mail address').fill('bo@example.com')
    await visit.page.getByLabel('Password').fill(password)
    await visit.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await visit.page.waitForURL('**/admin')
    for (const path of ['/account/security', '/account/confirm', '/login', '/login/2fa']) {
      await visit.page.goto(path)
      const name = `sign-in${path.replaceAll('/', '-')}-${screen.width}-${screen.scheme}`
      expect({ name, axe: await look(visit.page, name) }).toEqual({ name, axe: [] })
      expect({ name, sticksOut: await sticksOut(visit.page) }).toEqual({ name, sticksOut: false })
      expect({ name, complaints: visit.complaints }).toEqual({ name, complaints: [] })
    }
    await visit.context.close()
  }, 120_000)

test('S33 nothing of it is in an address, the journal or a table', async () => {
  const journal = await live.log('controller-0')
  expect(journal).not.toContain(password)
  expect(journal).not.toMatch(/[?&](code|recoveryCode|password)=/)
})
