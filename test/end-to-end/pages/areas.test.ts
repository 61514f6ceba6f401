// Each kind of account walks its own area, in Chromium over the compiled program: what a customer, a reseller and a
// member of staff come for, from signing in to signing out.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { launch, open, openAccountMenu, openMenu, screens, signIn } from '../../support/browser.ts'
import { emptyQcow2 } from '../../support/guest.ts'
import { type Installation, installation } from '../../support/world/processes.ts'

let live: Installation
let browser: Browser
const password = 'seven green bicycles'
const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl cal@laptop'

beforeAll(async () => {
  live = await installation()
  await live.serve()
  const { api } = live
  const token = await live.ownerToken()
  const made = async (path: string, body: object) => {
    const answer = await api(token, 'POST', path, body)
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const location = (await made('/admin/node-groups', { name: 'Frankfurt' })).id
  await made('/admin/node-groups', { name: 'Elsewhere' })
  live.agent(await live.enroll(location, 'fra-01', ['--fake'], { bootMs: 300, memoryMb: 65_536 }))
  const node = await live.until('the node', async () =>
    (await api(token, 'GET', '/admin/nodes')).body.data.find((n: any) => n.connected && n.load?.pools.length),
  )
  await made('/admin/ip-pools', { name: 'v4', network: '203.0.113.0/24', gateway: '203.0.113.1', nodeIds: [node.id] })
  const size = { vcpus: 1, memoryMb: 1024, diskGb: 10 }
  const small = (await made('/admin/packages', { name: 'Small', ...size })).id
  await made('/admin/packages', { name: 'Not for resale', ...size })
  await Bun.write(`${live.dir}/incoming/debian.qcow2`, emptyQcow2())
  await made('/admin/images/import', { file: 'debian.qcow2', name: 'Debian 13', minDiskGb: 3 })
  const cal = (await made('/admin/customers', { name: 'Cal', email: 'cal@example.com' })).id
  await made('/admin/servers', { ownerId: cal, packageId: small, nodeGroupId: location })
  const quotas = { customers: 5, servers: 4 }
  await live.admin('resellers.create', {
    name: 'Rita',
    email: 'rita@example.com',
    quotas,
    packageIds: [small],
    locationIds: [location],
  })
  for (const email of ['cal@example.com', 'rita@example.com']) await live.givePassword(email, password)
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await live?.close()
})

async function as(email: string) {
  const { page, complaints, context } = await open(browser, screens[0]!, live.url)
  page.setDefaultTimeout(15_000)
  await signIn(page, email, password)
  return { page, complaints, context }
}
const go = (page: Page, entry: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: entry, exact: true }).click()
const goAccount = async (page: Page, entry: string) => {
  await openAccountMenu(page)
  await page.locator('details.me').getByRole('link', { name: entry, exact: true }).click()
}
const entries = (page: Page) => page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents()
const state = (page: Page, words: string) => page.locator('.st').filter({ hasText: words }).first().waitFor()
async function fill(page: Page, button: string, fields: Record<string, string>) {
  await page.getByRole('button', { name: button, exact: true }).first().click()
  const dialog = page.locator('dialog[open]')
  for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value)
  return dialog
}

test('a customer adds a key, sets the waiting server up with it, follows the job, stops and starts it, and reads ' +
  'what was done', async () => {
  const { page, complaints, context } = await as('cal@example.com')
  await page.waitForURL(`${live.url}/`)
  await page.getByText('is waiting for its setup.').waitFor()
  await page.getByText('1 of 4 done').waitFor()

  await goAccount(page, 'SSH keys')
  const adding = await fill(page, 'Add SSH key', { 'Public key': key })
  await adding.getByText(/^SHA256:/).waitFor()
  const shown = await adding.getByText(/^SHA256:/).textContent()
  await adding.getByRole('button', { name: 'Add SSH key' }).click()
  await page.getByText('cal@laptop is added').waitFor()
  expect(await page.locator('table code').textContent()).toBe(shown!)

  await go(page, 'Overview')
  await page.getByText('2 of 4 done').waitFor()
  await page.getByRole('link', { name: 'Set it up' }).click()
  await page.getByRole('radio', { name: /^Debian 13/ }).check()
  await page.getByRole('radio', { name: 'SSH keys' }).check()
  await page.getByRole('checkbox', { name: 'cal@laptop' }).check()
  await page.getByLabel('Hostname').fill('web01')
  await page.getByRole('button', { name: 'Install' }).click()
  await page.getByRole('link', { name: 'Follow job' }).first().click()
  await page.waitForURL('**/jobs/job_*')
  await page.getByText('Done.').first().waitFor({ timeout: 20_000 })

  await go(page, 'Servers')
  await openMenu(page, 'Actions for web01')
  await page.getByRole('button', { name: 'Shut down web01' }).click()
  await page.getByText('web01: shut down is under way').waitFor()
  await state(page, 'Stopped')
  await page.getByRole('checkbox', { name: 'Select web01' }).check()
  await page.getByRole('button', { name: 'Start selected', exact: true }).click()
  await page.getByRole('heading', { name: 'Start 1 server?' }).waitFor()
  await page.locator('#bulk').getByRole('button', { name: 'Start' }).click()
  await state(page, 'Running')
  const summary = page.locator('.toast').filter({ hasText: 'Start: 1 under way.' })
  // It stays until it has been read.
  await page.waitForTimeout(6500)
  await summary.getByRole('button', { name: 'Close message' }).click()
  expect(await page.getByRole('checkbox', { name: 'Select web01' }).isChecked()).toBe(false)

  await go(page, 'Jobs')
  expect((await page.locator('td.name').allTextContents()).map((t) => t.trim())).toEqual([
    'Start web01',
    'Shut down web01',
    'Set up web01',
  ])
  await goAccount(page, 'Activity')
  await page.getByText('web01').first().waitFor()
  const when = page.locator('time[data-exact]').first()
  const [iso, drawn] = [await when.getAttribute('datetime'), await when.textContent()]
  expect(drawn).toBe(
    await page.evaluate(
      (at) =>
        new Date(at).toLocaleString('en-GB', {
          day: 'numeric',
          month: 'short',
          year: 'numeric',
          hour: '2-digit',
          minute: '2-digit',
          hourCycle: 'h23',
          timeZoneName: 'short',
        }),
      iso!,
    ),
  )

  // By keyboard alone: what is pressed goes with its row, and the way on is where the row was.
  await goAccount(page, 'SSH keys')
  await page.getByRole('button', { name: 'Actions for cal@laptop' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Remove cal@laptop' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('dialog[open]').waitFor()
  await page
    .locator('dialog[open]')
    .getByRole('button', { name: /^Remove/ })
    .focus()
  await page.keyboard.press('Enter')
  await page.getByText('No SSH keys yet').waitFor()
  await page.locator('main h2:focus').waitFor()
  await openAccountMenu(page)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL('**/login**')
  await page.goto('/servers')
  await page.waitForURL('**/login?next=%2Fservers')
  expect(complaints).toEqual([])
  await context.close()
}, 120_000)

test('a reseller adds a customer, sells it a server of what it may sell, suspends and unsuspends it, and sees its ' +
  'quota move', async () => {
  const { page, complaints, context } = await as('rita@example.com')
  await page.waitForURL('**/reseller')
  const quota = (words: string) => page.locator('#quotas .meter').filter({ hasText: words }).waitFor()
  await quota('Servers0 of 4')
  const dialog = await fill(page, 'Add customer', { Name: 'Clara', 'E-mail address': 'clara@example.com' })
  await dialog.getByRole('button', { name: 'Add customer' }).click()
  await page.waitForURL('**/reseller/customers/usr_*')

  await page.getByRole('link', { name: 'Create server' }).click()
  const offered = async (label: string) => page.getByRole('group', { name: label }).getByRole('radio').count()
  expect([await offered('Package'), await offered('Location')]).toEqual([1, 1])
  expect(await page.getByText(/Not for resale|Elsewhere/).count()).toBe(0)
  await page.getByLabel('Hostname').fill('shop01')
  await page.getByRole('button', { name: 'Create server' }).click()
  await page.getByRole('button', { name: "I've saved it" }).click()
  await page.waitForURL('**/reseller/servers/srv_*')
  await state(page, 'Running')

  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.waitForURL('**/settings')
  const suspending = await fill(page, 'Suspend', { Reason: 'Invoice 7 is overdue' })
  await suspending.getByRole('button', { name: 'Suspend' }).click()
  await state(page, 'Suspended')
  await page.getByText('Suspended. Invoice 7 is overdue.').waitFor()
  await page.getByRole('button', { name: 'Unsuspend' }).click()
  await state(page, 'Running')

  await go(page, 'Overview')
  await quota('Servers1 of 4')
  await quota('Customers1 of 5')
  expect(complaints).toEqual([])
  await context.close()
}, 120_000)

describe('staff', () => {
  test('an owner makes a role and somebody with it, who may see and do what it says and nothing else', async () => {
    const ada = await as('ada@example.com')
    await ada.page.waitForURL('**/admin')
    await ada.page.goto('/admin/roles')
    const role = await fill(ada.page, 'Add role', { Name: 'Helpdesk' })
    for (const may of ['See all servers', 'See customers', 'Open support sessions'])
      await role.getByLabel(may, { exact: true }).check()
    await role.getByRole('button', { name: 'Add role' }).click()
    await ada.page.getByText('Helpdesk is added').waitFor()
    await ada.page.goto('/admin/staff')
    const member = await fill(ada.page, 'Add member', {
      Name: 'Hal',
      'E-mail address': 'hal@example.com',
      'First password': password,
    })
    await member.getByLabel('Role').selectOption('Helpdesk')
    await member.getByRole('button', { name: 'Add member' }).click()
    await ada.page.getByText('Hal is added').waitFor()
    expect(ada.complaints).toEqual([])
    await ada.context.close()

    const hal = await as('hal@example.com')
    await hal.page.waitForURL('**/admin')
    const seen = await entries(hal.page)
    expect(seen).toContain('Servers')
    expect(seen).toContain('Customers')
    for (const hidden of ['Nodes', 'Address pools', 'Staff', 'Audit log', 'Settings', 'Controller host'])
      expect(seen).not.toContain(hidden)
    for (const path of ['/admin/nodes', '/admin/staff', '/admin/settings']) {
      await hal.page.goto(path)
      await hal.page.getByRole('heading', { name: 'Not allowed' }).waitFor()
    }
    await go(hal.page, 'Servers')
    await hal.page
      .getByRole('link', { name: /^(web01|server\d+)$/ })
      .first()
      .click()
    await hal.page.getByRole('heading', { level: 1 }).waitFor()
    for (const tab of ['Overview', 'Settings']) {
      await hal.page.getByRole('navigation', { name: 'Server' }).getByRole('link', { name: tab }).click()
      await hal.page.locator(`.tabs a[aria-current]`, { hasText: tab }).waitFor()
      for (const button of ['Start', 'Suspend', 'Reinstall', 'Terminate server'])
        expect(await hal.page.getByRole('button', { name: button, exact: true }).count()).toBe(0)
    }
    expect(hal.complaints).toEqual([])
    await hal.context.close()
  }, 120_000)

  test('in a support session sees what the customer sees under a banner, is told what it may not, and ends it back ' +
    'where it began', async () => {
    const { page, complaints, context } = await as('ada@example.com')
    await page.waitForURL('**/admin')
    await go(page, 'Customers')
    await page.getByRole('link', { name: 'Cal', exact: true }).click()
    await page.waitForURL('**/admin/customers/usr_*')
    const customer = new URL(page.url()).pathname
    const opening = await fill(page, 'Support session', { Reason: 'Ticket 4711' })
    await opening.getByRole('button', { name: 'Open session' }).click()
    await page.waitForURL(`${live.url}/`)
    await page.locator('#support').getByText('are in the account of Cal').waitFor()
    expect(await entries(page)).not.toContain('Nodes')
    await goAccount(page, 'SSH keys')
    await page.locator('#support').waitFor()
    expect(await page.getByRole('button', { name: 'Add SSH key' }).count()).toBe(0)
    // Where no button leads, the address does not either.
    await page.goto('/account/api')
    await page.getByRole('heading', { name: 'Not allowed' }).waitFor()
    await page
      .getByText(/support session/i)
      .first()
      .waitFor()
    await page.locator('#support').getByRole('button', { name: 'End session' }).click()
    await page.waitForURL(`**${customer}`)
    expect(await page.locator('#support').count()).toBe(0)
    expect(await entries(page)).toContain('Nodes')
    expect(complaints).toEqual([])
    await context.close()
  }, 120_000)
})
