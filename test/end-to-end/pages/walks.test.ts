// Chromium walks through a node that is away and a job that failed, and through lists on a phone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { launch, look, open, type Screen, screens, sticksOut } from '../../support/browser.ts'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { type Everything, everything } from '../../support/world/everything.ts'

let p: Everything
let browser: Browser
const origins: Record<'staff' | 'customer', string> = { staff: '', customer: '' }
const servers: { stop(force: boolean): void }[] = []
beforeAll(async () => {
  p = await everything()
  for (const [who, person] of [
    ['staff', p.owner],
    ['customer', p.customer],
  ] as const) {
    const served = pagesFor(p, person)
    origins[who] = served.url.origin
    servers.push(served)
  }
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  for (const served of servers) served.stop(true)
  p?.close()
})

/** A window of one person; afterwards its console must have been silent. */
async function as(who: keyof typeof origins, work: (page: Page) => Promise<void>, screen: Screen = screens[0]!) {
  const { context, page, complaints } = await open(browser, screen, origins[who])
  page.setDefaultTimeout(10_000)
  try {
    await work(page)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
  }
}
const clean = async (page: Page, name: string) => expect([name, await look(page, name)]).toEqual([name, []])

/** Presses Tab until this has the focus, as somebody without a mouse does. */
async function tabTo(page: Page, name: string | RegExp, role: 'link' | 'button' = 'link') {
  const wanted = page.getByRole(role, { name }).first()
  for (let i = 0; i < 80; i++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${name}`)
}

describe('a node that is away', () => {
  beforeAll(() => {
    p.node.agent.disconnect()
    p.turnClock(240_000)
  })

  test('is found from the overview by the keyboard, and leads with what is affected and what to try', async () => {
    await as('staff', async (page) => {
      await page.goto('/admin')
      expect(await page.locator('.stats').textContent()).toStartWith('Servers running0 of 85\u00a0unreachable')
      await page.getByRole('link', { name: 'Open node' }).first().waitFor()
      await clean(page, 'overview-node-away')
      await tabTo(page, 'Open node')
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/admin/nodes/${p.node.id}`)
      const card = page.locator('.fail')
      await card.getByRole('heading', { name: 'Not connected; last seen 4 min ago' }).waitFor()
      expect(await card.locator('dd').first().textContent()).toBe('8 servers, 3 customers')
      expect(await page.locator('#try .steps li').count()).toBe(3)
      expect(await page.locator('#servers .st').allTextContents()).not.toContain('Running')
      await clean(page, 'node-away')
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        card.getByRole('link', { name: 'Download list' }).click(),
      ])
      expect((await Bun.file(await file.path()).text()).trim().split('\n')).toHaveLength(9)
      await tabTo(page, 'Announce to them', 'button')
      await page.keyboard.press('Enter')
      await page.locator('dialog[open]').getByLabel('Text').waitFor()
      await clean(page, 'node-away-announce')
      await page.keyboard.press('Escape')
    })
  }, 120_000)

  test('makes its servers unreachable for their owners, who can press nothing that would fail', async () => {
    await as('customer', async (page) => {
      await page.goto('/servers')
      const states = page.locator('tbody .state .st')
      expect(new Set(await states.allTextContents())).not.toContain('Running')
      await page.getByText('last seen running 4 min ago').first().waitFor()
      await clean(page, 'own-servers-away')
      await page.getByRole('link', { name: 'db01' }).click()
      await page.locator('.title .st', { hasText: 'Unreachable · last seen running' }).waitFor()
      const restart = page.getByRole('button', { name: 'Restart' })
      expect(await restart.getAttribute('aria-disabled')).toBe('true')
      const before = p.fingerprint()
      await restart.focus()
      await page.keyboard.press('Enter')
      await page.locator('#toasts').getByText('The panel cannot reach it now.').waitFor()
      expect(p.fingerprint()).toBe(before)
      await clean(page, 'own-server-away')
    })
  }, 120_000)

  test('asks before its credential is renewed or revoked, and shows the command once', async () => {
    await as('staff', async (page) => {
      await page.goto(`/admin/nodes/${p.node.id}`)
      const dialog = page.locator('dialog[open]')
      const choose = async (entry: string) => {
        await page.locator('.head .menu > summary').click()
        await page.getByRole('button', { name: entry, exact: true }).first().click()
        await dialog.getByRole('heading').waitFor()
      }
      await choose('Revoke credential')
      await clean(page, 'node-revoke-credential')
      await dialog.getByRole('button', { name: 'Keep it' }).click()
      expect((await p.call(p.owner, 'GET', `/admin/nodes/${p.node.id}`)).body.credentialRevokedAt).toBeNull()
      await page.keyboard.press('Escape')
      await choose('Renew credential')
      await clean(page, 'node-renew-credential')
      await dialog.getByRole('button', { name: 'Create command' }).click()
      await page.locator('#secret-once .secret', { hasText: '--agent' }).waitFor()
      await clean(page, 'node-renew-command')
      await page.getByRole('button', { name: "I've saved it" }).click()
    })
  }, 120_000)

  test('is shown as connected again without a reload', async () => {
    await as('staff', async (page) => {
      await page.goto(`/admin/nodes/${p.node.id}`)
      await page.locator('.fail').waitFor()
      p.node.agent.connect()
      await page.locator('.fail').waitFor({ state: 'detached' })
      // It was drained, so this is how the page calls a node that is connected.
      await page.locator('.title .st', { hasText: 'In maintenance' }).waitFor()
    })
  }, 60_000)
})

describe('a job that failed', () => {
  const failed = { job: '', server: '' }
  beforeAll(async () => {
    // Still connected where the tests above have run.
    p.node.agent.connect()
    p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
    const { jobId, serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'broken01' })
    await p.settle()
    Object.assign(failed, { job: jobId, server: serverId })
  })

  test('tells its owner the cause, the step, the data and the next button, and nothing of the node', async () => {
    await as('customer', async (page) => {
      await page.goto('/')
      await tabTo(page, 'Open server')
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/servers/${failed.server}`)
      await tabTo(page, 'Why it failed')
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/jobs/${failed.job}`)
      const card = page.locator('.fail')
      expect(await card.getByRole('heading').textContent()).toBe('The node reported an error.')
      expect((await card.locator('dd').allTextContents()).join(' | ')).toMatch(
        /^Step \d+ of \d+, Starting it \| This job deleted no data\. \| Try again\..* Your provider is being told\.$/,
      )
      const steps = page.locator('#steps li')
      expect(await steps.filter({ hasText: 'failed, rolled back' }).textContent()).toStartWith('Starting it')
      const main = (await page.locator('main').textContent())!
      expect(main).not.toContain('on purpose')
      expect(main).not.toContain('Technical details')
      await clean(page, 'own-job-failed')
      await tabTo(page, 'Reinstall')
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/servers/${failed.server}/settings`)
      await page.getByRole('button', { name: 'Reinstall', exact: true }).first().waitFor()
    })
  }, 120_000)

  test('shows staff the words of the node, folded', async () => {
    await as('staff', async (page) => {
      await page.goto(`/admin/jobs/${failed.job}`)
      const details = page.locator('#technical')
      expect(await details.locator('pre').isVisible()).toBe(false)
      await page.locator('#technical summary').focus()
      await page.keyboard.press('Enter')
      expect(await details.locator('pre').textContent()).toContain('vm.start fails on purpose')
      await clean(page, 'job-failed')
    })
  }, 60_000)
})

describe('on a phone', () => {
  const phone = screens.find(({ width, scheme }) => width === 390 && scheme === 'light')!

  test('the home shows attention, then servers, then the first steps, and nothing sticks out', async () => {
    await as(
      'customer',
      async (page) => {
        await page.goto('/')
        const tops = await page.evaluate(() =>
          ['attention', 'servers', 'checklist'].flatMap(
            (id) => document.getElementById(id)?.getBoundingClientRect().top ?? [],
          ),
        )
        expect(tops.length).toBeGreaterThanOrEqual(2)
        expect(tops).toEqual(tops.toSorted((a, b) => a - b))
        expect(await sticksOut(page)).toBe(false)
        await clean(page, 'phone-home')
      },
      phone,
    )
  }, 60_000)

  test('a server is three lines with one menu, and a choice sorts the list', async () => {
    await as(
      'customer',
      async (page) => {
        await page.goto('/servers')
        const row = page.locator('tbody tr', { hasText: 'db01' })
        const [name, state, address, pack, place, menu] = await Promise.all(
          ['.name > a', '.state .st', '.addr', '.a', '.b', '.more summary'].map(async (part) => {
            const box = await row.locator(part).boundingBox()
            return { middle: box!.y + box!.height / 2, bottom: box!.y + box!.height, left: box!.x, width: box!.width }
          }),
        )
        expect(Math.abs(name!.middle - state!.middle)).toBeLessThan(8)
        expect(address!.middle).toBeGreaterThan(name!.bottom)
        expect(pack!.middle).toBeGreaterThan(address!.bottom)
        expect(Math.abs(pack!.middle - place!.middle)).toBeLessThan(4)
        expect(place!.left).toBeGreaterThan(pack!.left)
        expect(menu!.left).toBeGreaterThan(300)
        expect(await row.locator('.more summary').count()).toBe(1)

        await page.getByLabel('Sort by').selectOption({ label: 'Server, reversed' })
        await page.waitForURL(/sort=-name/)
        const names = page.locator('tbody .name > a')
        const all = (await names.allTextContents()).toSorted().toReversed()
        for (let i = 0; i < 50 && !Bun.deepEquals(await names.allTextContents(), all); i++)
          await page.waitForTimeout(100)
        expect(await names.allTextContents()).toEqual(all)
        expect(await page.getByLabel('Sort by').inputValue()).toBe('-name')
        // A filter leaves the order as it is.
        await page.getByLabel('State', { exact: true }).selectOption('running')
        await page.waitForURL(/sort=-name.*state=running|state=running.*sort=-name/)

        await row.locator('.more summary').click()
        await row.getByRole('button', { name: 'Shut down' }).waitFor()
        expect(await sticksOut(page)).toBe(false)
        await clean(page, 'phone-servers')
      },
      phone,
    )
  }, 60_000)

  test('the navigation is behind one button, and the account behind another', async () => {
    await as(
      'staff',
      async (page) => {
        await page.goto('/admin/servers')
        expect(await page.locator('#nav').isVisible()).toBe(false)
        await page.getByRole('button', { name: 'Menu', exact: true }).click()
        await page.locator('#nav').getByRole('link', { name: 'Nodes' }).waitFor()
        await clean(page, 'phone-navigation')
        await page.keyboard.press('Escape')
        expect(await page.locator('#nav').isVisible()).toBe(false)
        // On a page on which it covers no field in part.
        await page.goto('/admin/controller')
        await page.locator('details.me > summary').click()
        await page.locator('details.me').getByRole('button', { name: 'Sign out' }).waitFor()
        await clean(page, 'phone-account')
      },
      phone,
    )
  }, 60_000)
})

test('the sort choice is not shown where titles of columns sort', async () => {
  await as('staff', async (page) => {
    await page.goto('/admin/servers')
    expect(await page.getByLabel('Sort by').isVisible()).toBe(false)
    await page.goto('/admin/servers?sort=-name')
    await page.getByLabel('State', { exact: true }).selectOption('stopped')
    await page.waitForURL(/state=stopped/)
    expect(page.url()).toContain('sort=-name')
  })
}, 60_000)

for (const [i, screen] of [screens[0]!, screens[3]!].entries())
  test(`billing's list is compared, and what differs is said and is a spreadsheet (${screen.width})`, async () => {
    const compare = async (page: Page) => {
      await page.getByRole('button', { name: 'Compare' }).click()
      await page.getByText('were compared').waitFor()
    }
    await as(
      'staff',
      async (page) => {
        await page.goto('/admin/reports')
        await page.getByRole('link', { name: 'Reconciliation' }).click()
        await page.waitForURL('**/admin/reports/reconciliation')
        await page.getByRole('button', { name: 'Compare' }).click()
        await page.getByText('is empty: it needs a head').first().waitFor()
        await page.getByLabel('Lines').fill('billingServiceId,colour\nshop:1,red')
        await page.getByRole('button', { name: 'Compare' }).click()
        await page.getByText('has a column that is none of').first().waitFor()
        await clean(page, `reconciliation-refused-${i}`)
        const csv = 'billingServiceId;state\nshop:1;active\n=1+1;active\n'
        // In the two encodings in which spreadsheet programs write text.
        const buffer = i ? Buffer.from(`\ufeff${csv}`, 'utf16le') : Buffer.from(`\ufeff${csv}`)
        await page.getByLabel('File').setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
        await page.waitForFunction((text) => document.querySelector('textarea')?.value === text, csv)
        await compare(page)
        const rows = page.locator('#differences tbody tr')
        expect(await rows.first().textContent()).toContain(
          'shop:1 is in the list and there is no such server or GPU instance here.',
        )
        const { length } = p.db.$client
          .query("SELECT id FROM workloads WHERE lifecycle <> 'terminated' AND reseller_id IS NULL")
          .all()
        expect(await rows.count()).toBe(length + 2)
        expect(await sticksOut(page)).toBe(false)
        // The header stays in view: at another place it would cover the button in the picture.
        await page.evaluate(() => scrollTo(0, 0))
        await clean(page, `reconciliation-${i}`)
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.locator('#differences').getByRole('link', { name: 'CSV' }).click(),
        ])
        const bytes = await Bun.file(await file.path()).bytes()
        expect(bytes.subarray(0, 3).toHex()).toBe('efbbbf')
        const sheet = new TextDecoder().decode(bytes).trim().split('\r\n')
        expect(sheet).toHaveLength(length + 3)
        expect(await rows.getByRole('link', { name: 'gpu_' }).first().getAttribute('href')).toStartWith('/gpu/gpu_')
        const place = rows.getByRole('link', { name: 'srv_' }).first()
        await place.click()
        await page.waitForURL('**/admin/servers/srv_*')
        expect(sheet[2]).toStartWith(
          `"'=1+1 is in the list and there is no such server or GPU instance here.","missing_here","2"`,
        )
      },
      screen,
    )
  }, 120_000)
