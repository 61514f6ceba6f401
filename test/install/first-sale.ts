// A person in the browser from the address that the installation printed to the first running server: signs in, follows
// the open steps of the checklist from the top, and orders.
import type { Page } from 'playwright-core'
import { signIn } from '../support/browser.ts'

/** The sign-in of the staff, and the file of the image. */
export type Sale = { email: string; password: string; image: string }

const forms: Readonly<Record<string, (page: Page, sale: Sale) => Promise<void>>> = {
  // In the order of the checklist.
  async 'Address pool'(page) {
    await page.getByRole('button', { name: 'Add pool' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Servers')
    await dialog.getByRole('textbox', { name: 'Network' }).fill('10.88.0.0/24')
    await dialog.getByRole('textbox', { name: 'Gateway' }).fill('10.88.0.1')
    await dialog.getByRole('textbox', { name: 'First address' }).fill('10.88.0.10')
    await dialog.getByRole('button', { name: 'Add pool' }).click()
    await page.waitForURL(/ip-pools\/pool_/)
  },
  async Image(page, { image }) {
    await page.getByRole('button', { name: 'Import from file' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'File name' }).fill(image)
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Tiny Linux')
    await dialog.getByRole('textbox', { name: 'Minimum disk' }).fill('1')
    await dialog.getByRole('button', { name: 'Import' }).click()
    await page.getByText('Tiny Linux is imported').waitFor()
  },
  async Package(page) {
    await page
      .getByRole('link', { name: 'Add package' })
      .or(page.getByRole('button', { name: 'Add package' }))
      .first()
      .click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Small')
    await page
      .getByRole('button', { name: /^(Add|Create) package$/ })
      .last()
      .click()
    await page.getByText('Small').first().waitFor()
  },
  async 'First customer'(page) {
    await page.getByRole('button', { name: 'Add customer' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Ada Lovelace')
    await dialog.getByRole('textbox', { name: 'E-mail address' }).fill('ada@example.com')
    await dialog.getByRole('checkbox', { name: 'Send an invitation' }).uncheck()
    await dialog.getByRole('button', { name: 'Add customer' }).click()
    await page.waitForURL(/customers\/usr_/)
  },
}

/** Answers the titles of the steps in the order in which they were done, the root password, and the address. */
export async function sellFirstServer(page: Page, sale: Sale) {
  const steps: string[] = []
  await signIn(page, sale.email, sale.password)
  for (const [title, fill] of Object.entries(forms)) {
    await openStep(page, title)
    await fill(page, sale)
    steps.push(title)
  }
  await openStep(page, 'First server')
  return { steps, ...(await order(page)) }
}

/** By its link in the checklist, which is folded when half of it is done. */
async function openStep(page: Page, title: string) {
  await page.goto('/admin')
  const step = page.locator('li', { has: page.getByText(title, { exact: true }) }).locator('a')
  if (!(await step.isVisible())) await page.locator('details', { has: step }).locator('summary').click()
  await step.click()
}

/** The page of an order: all but the customer is chosen already where there is one of each. */
async function order(page: Page) {
  await page.getByRole('radio', { name: 'Ada Lovelace' }).check()
  await page.getByRole('textbox', { name: 'Hostname' }).fill('web01')
  await page.getByRole('button', { name: 'Create server', disabled: false }).click()
  const began = performance.now()
  const shown = page.getByRole('dialog')
  const password = await shown.locator('.secret').first().textContent()
  return { password: password!.trim(), began }
}
