// How many clicks and fields each of the main tasks takes, in Chromium. None may take more than its limit; a limit is
// lowered when a task gets shorter.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { launch, open, screens } from '../../../support/browser.ts'
import { addGpuHost, addGpuImage, addGpuOffer } from '../../../support/nodes/gpus.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { eventually } from '../../../support/waiting/eventually.ts'
import { type Everything, everything } from '../../../support/world/everything.ts'
import type { Who } from '../../../support/world/panel.ts'

let p: Everything
let browser: Browser
beforeAll(async () => {
  p = await everything()
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

/** Counts the actions of one person on a page. Keys are counted apart: they are quicker than the mouse. */
class Hand {
  clicks = 0
  fields = 0
  keys = 0
  constructor(readonly page: Page) {}
  async click(target: Locator) {
    await target.click()
    this.clicks++
  }
  async fill(target: Locator, text: string) {
    await target.fill(text)
    this.fields++
  }
  async press(key: string) {
    await this.page.keyboard.press(key)
    this.keys++
  }
  button = (name: string | RegExp) => this.page.getByRole('button', { name, exact: typeof name === 'string' })
  link = (name: string | RegExp) => this.page.getByRole('link', { name, exact: typeof name === 'string' })
  dialog = () => this.page.locator('dialog[open]')
}

type Most = { clicks: number; fields: number; keys?: number }
/** Does the task from this page on, as this person; it may take so many clicks, fields and keys. */
async function does(who: Pick<Who, 'cookie'>, start: string, most: Most, task: (hand: Hand) => Promise<void>) {
  const pages = pagesFor(p, who as Who)
  const { page, context, complaints } = await open(browser, screens[0], pages.url.origin)
  page.setDefaultTimeout(15_000)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const hand = new Hand(page)
  try {
    await page.goto(start)
    await task(hand)
    const { clicks, fields, keys } = hand
    expect({ clicks, fields, keys }).toEqual({ keys: 0, ...most })
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
}
const copied = (page: Page) => page.evaluate(() => navigator.clipboard.readText())
const serverCalled = async (hostname: string) =>
  (await p.admin('GET', `/admin/servers?q=${hostname}`)).data[0] as { id: string; ipv4: string; status: string }

test('from the mail of a new customer to the SSH command of the server: two clicks and a password', async () => {
  const email = 'wim@example.com'
  const { id: ownerId } = await p.admin('POST', '/admin/customers', { name: 'Wim', email, invite: true })
  await p.admin('POST', '/admin/servers', { ...p.order, ownerId, hostname: 'wim01' })
  await p.settle()
  const mail = p.mailed().find(({ to, text }) => to === email && text.includes('/welcome/'))!
  const [, path] = /https:\/\/panel\.test(\/welcome\/[\w-]+)/.exec(mail.text)!
  await does({ cookie: undefined } as never, path!, { clicks: 2, fields: 1, keys: 1 }, async (hand) => {
    await hand.fill(hand.page.getByLabel(/password/i).first(), 'seven green bicycles')
    await hand.press('Enter')
    await hand.click(hand.link('wim01').first())
    await hand.click(hand.button('Copy SSH command'))
    expect(await copied(hand.page)).toMatch(/^ssh \w+@203\.0\.113\.\d+$/)
  })
})

test('a customer reinstalls a server: four clicks and its name', async () => {
  const { id } = await serverCalled('db01')
  await does(p.customer, `/servers/${id}`, { clicks: 4, fields: 1 }, async (hand) => {
    await hand.click(hand.button('More actions'))
    await hand.click(hand.link('Reinstall…'))
    await hand.click(hand.page.locator('#reinstall').getByRole('button', { name: 'Reinstall', exact: true }).first())
    await hand.fill(hand.dialog().getByRole('textbox', { name: /db01/ }), 'db01')
    await hand.click(hand.dialog().getByRole('button', { name: 'Reinstall', exact: true }))
    const titles = async () => (await p.admin('GET', '/jobs')).data.map(({ title }: { title: string }) => title)
    await eventually(async () => (await titles()).includes('Reinstall db01'))
    expect(await titles()).toContain('Reinstall db01')
  })
  await p.settle()
})

test('a customer looks into the files of a backup: two clicks', async () => {
  const { id } = await serverCalled('db01')
  await does(p.customer, `/servers/${id}`, { clicks: 2, fields: 0 }, async (hand) => {
    await hand.click(hand.link('Disks & backups'))
    await hand.click(hand.link('browse files').first())
    await hand.page.waitForURL(/\/backups\/bkp_\w+\/files/)
  })
})

test('a reseller adds a customer with a server: four clicks and three fields', async () => {
  await does(p.people.reseller, '/reseller', { clicks: 4, fields: 3 }, async (hand) => {
    await hand.click(hand.button('Add customer').first())
    await hand.fill(hand.dialog().getByLabel('Name', { exact: true }), 'Nia')
    await hand.fill(hand.dialog().getByLabel(/E-mail/), 'nia@example.com')
    await hand.click(hand.dialog().getByRole('button', { name: 'Add customer' }))
    await hand.page.waitForURL(/\/reseller\/customers\/usr_/)
    await hand.click(hand.link('Create server').first())
    await hand.fill(hand.page.getByLabel('Hostname'), 'nia01')
    await hand.click(hand.button('Create server'))
    await hand.page.locator('.secret').filter({ hasText: /\S/ }).first().waitFor()
    expect((await serverCalled('nia01')).ipv4).toStartWith('203.0.113.')
  })
})

test('staff add a package: two clicks and four fields', async () => {
  await does(p.staff(), '/admin/packages', { clicks: 2, fields: 4 }, async (hand) => {
    await hand.click(hand.link('Add package').first())
    for (const [name, text] of [
      ['name', 'KVM 4G'],
      ['vcpus', '4'],
      ['memoryMb', '4096'],
      ['diskGb', '80'],
    ] as const)
      await hand.fill(hand.page.locator(`main [name=${name}]`), text)
    await hand.click(hand.button('Create package'))
    await hand.page.waitForURL('**/admin/packages')
    const { data } = await p.admin('GET', '/admin/packages')
    expect(data).toContainEqual(expect.objectContaining({ name: 'KVM 4G', vcpus: 4, memoryMb: 4096, diskGb: 80 }))
  })
})

test('a customer adds a webhook: two clicks and its address', async () => {
  await does(p.customer, '/account/webhooks', { clicks: 2, fields: 1 }, async (hand) => {
    await hand.click(hand.button(/webhook/i).first())
    await hand.fill(hand.dialog().getByLabel(/^(URL|Address)/), 'https://billing.example.com/hook')
    await hand.click(hand.dialog().locator('button.pri'))
    await hand.page.locator('.secret').filter({ hasText: /\S/ }).first().waitFor()
  })
})

test('a customer opens the notebook of a GPU instance: two clicks', async () => {
  const imageId = await addGpuImage(p, { jupyter: true })
  const offerId = await addGpuOffer(p, { imageIds: [imageId] })
  addGpuHost(p, p.location, 1, { name: 'gpu-09' })
  const order = { ownerId: p.customer.id, offerId, nodeGroupId: p.location, name: 'notes' }
  await p.admin('POST', '/admin/gpu-instances', order)
  await p.settle()
  await does(p.customer, '/gpu', { clicks: 2, fields: 0 }, async (hand) => {
    await hand.click(hand.link('notes'))
    const [opened] = await Promise.all([
      hand.page.context().waitForEvent('page'),
      hand.click(hand.link('Open').first()),
    ])
    expect(opened).toBeDefined()
    await opened.close()
  })
})

// The clock is turned last: sessions do not live through it.
test('staff find a failing node from the overview, and what is on it: two clicks', async () => {
  p.node.agent.disconnect()
  p.turnClock(240_000)
  try {
    await does(p.staff(), '/admin', { clicks: 2, fields: 0 }, async (hand) => {
      const row = hand.page.locator('#attention li', { hasText: 'fra-01' }).first()
      await hand.click(row.getByRole('link', { name: 'Open node' }))
      await hand.page.locator('#servers tbody tr').first().waitFor()
      await hand.click(hand.link('Download list'))
    })
  } finally {
    p.node.agent.connect()
  }
})

test('who had an address, now and on Tuesday: keys for now, one click more for then', async () => {
  const gone = await serverCalled('off01')
  const when = new Date(p.now()).toISOString()
  p.turnClock(3 * 86_400_000)
  await p.admin('DELETE', `/servers/${gone.id}?immediately=true`)
  await p.settle()
  p.turnClock(3 * 86_400_000)
  await does(p.staff(), '/admin/jobs', { clicks: 1, fields: 2, keys: 2 }, async (hand) => {
    await hand.press('Control+k')
    await hand.fill(hand.page.locator('dialog[open] input[role=combobox]'), gone.ipv4)
    await hand.page.locator(`#found[data-for="${gone.ipv4}"] a`).first().waitFor()
    await hand.press('Enter')
    await hand.page.waitForURL(`**/admin/addresses/${gone.ipv4}`)
    await hand.fill(hand.page.getByLabel('Date'), when.slice(0, 10))
    await hand.click(hand.button('Ask'))
    const answer = hand.page.getByRole('status').filter({ hasText: 'it belonged to off01' })
    await answer.waitFor()
  })
})
