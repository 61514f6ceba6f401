// Headless Chromium over a running panel. Whatever it says on the console and every policy it sees violated is a
// failure.
import { existsSync, mkdirSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { complaintsOfAxe } from './axe.ts'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
export const artefacts = new URL('../artefacts/screens', import.meta.url).pathname

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath!,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

export type Screen = { width: number; height: number; scheme: 'light' | 'dark' }
export const screens: readonly Screen[] = [
  { width: 1280, height: 900, scheme: 'light' },
  { width: 1280, height: 900, scheme: 'dark' },
  { width: 390, height: 844, scheme: 'light' },
  { width: 390, height: 844, scheme: 'dark' },
]

/** A page that collects what it complains about. */
export async function open(browser: Browser, screen: Screen = screens[0]!, baseURL: string) {
  const context = await browser.newContext({
    baseURL,
    viewport: { width: screen.width, height: screen.height },
    colorScheme: screen.scheme,
    reducedMotion: 'reduce',
    // Not the server's: what is drawn in UTC by mistake shows.
    timezoneId: 'America/New_York',
  })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    // Chromium tells that signing out cleared what it was told to clear.
    if (message.type() === 'info' && message.text().startsWith('Clear-Site-Data header')) return
    // A call that is refused is no complaint of the page's: it is what the test provoked, and is shown to the person.
    if (
      message.type() !== 'log' &&
      !/Failed to load resource: the server responded with a status of 4/.test(message.text())
    )
      complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  return { context, page, complaints }
}

/** As a person at the sign-in page, up to what comes next. */
export async function signIn(page: Page, email: string, password: string) {
  await page.goto('/login')
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => url.pathname !== '/login')
}

/** The menu behind the reader's name: the account's pages, and signing out. */
export const openAccountMenu = (page: Page) => page.locator('details.me:not([open]) > summary').click()

/** The menu of actions with this name. */
export const openMenu = (page: Page, label: string) => page.getByRole('button', { name: label, exact: true }).click()

/** Keeps a picture, and answers what axe-core has against the page. */
export async function look(page: Page, name: string): Promise<string[]> {
  mkdirSync(artefacts, { recursive: true })
  await page.screenshot({ path: `${artefacts}/${name}.png`, fullPage: true })
  return complaintsOfAxe(page)
}

/** Does anything stick out of the window sideways? */
export const sticksOut = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)
