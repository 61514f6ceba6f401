// The pages of a server as its owner and staff see them: what leads nowhere is not offered, and what is said is true.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { FILE_SYSTEMS } from '../../../../agent/drivers/guest-agent/fake.ts'
import { launch, look, open, screens } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { type Who, type World, world } from '../../../support/world/panel.ts'
import { share } from '../../../support/world/team.ts'

const GIB = 2 ** 30
let p: World
let browser: Browser
let id = ''
let held = ''

beforeAll(async () => {
  p = await world()
  const order = async (hostname: string) =>
    (await p.admin('POST', '/admin/servers', { ...p.order, hostname })).serverId as string
  id = await order('web01')
  held = await order('held01')
  await p.settle()
  const floating = await p.admin('POST', `/customers/${p.customer.id}/floating-ips`, { locationId: p.location })
  await p.admin('POST', `/floating-ips/${floating.id}/actions/assign`, { serverId: id })
  await p.admin('POST', `/servers/${held}/actions/suspend`, { reason: 'Invoice 2041 is overdue' })
  await p.settle()
  const { vcpus } = p.server(id)
  for (const end = p.now() + 20 * 60_000; p.now() < end; ) {
    p.turnClock(10_000)
    const fast = [2500 * vcpus, 10_000_000, 2_000_000, 0, 0]
    p.node.agent.say({ type: 'metrics', samples: [{ id, ms: 10_000, fast }] })
    await p.controller.app.metrics.advance()
  }
  const disks = [
    { path: '/', device: 'vda1', kind: 'ext4', usedBytes: 18 * GIB, totalBytes: 20 * GIB },
    { path: '/srv/media', device: 'vdb', kind: 'xfs', usedBytes: 2 * GIB, totalBytes: 5 * GIB },
  ]
  p.node.agent.host.guestAgent.answer(id, FILE_SYSTEMS, { code: 0, output: JSON.stringify(disks) })
  const { app, hub } = p.controller
  await app.guestWatch.turn({ db: p.db, app, hub })
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

/** The reader's page, of which axe and the console have no complaint at the end. */
async function read(who: Who & { id: string }, path: string, done: (page: Page) => Promise<void>, name?: string) {
  const reader = pagesFor(p, who as World['owner'])
  const { page, context, complaints } = await open(browser, screens[0]!, reader.url.origin)
  page.setDefaultTimeout(10_000)
  try {
    await page.goto(path)
    await page.getByRole('heading').first().waitFor()
    await done(page)
    if (name) expect(await look(page, name)).toEqual([])
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await reader.stop(true)
  }
}
const tabs = (page: Page) => page.getByRole('navigation', { name: 'Server' }).getByRole('link').allTextContents()

describe('the pages of a server', () => {
  test('are eight at most, for its owner and for staff, and former addresses lead to what they had', async () => {
    for (const [who, area] of [
      [p.customer, ''],
      [p.owner, '/admin'],
    ] as const)
      await read(who, `${area}/servers/${id}`, async (page) => {
        expect(await tabs(page)).toEqual([
          'Overview',
          'Console',
          'Metrics',
          'Network',
          'Disks & backups',
          'Access',
          'Settings',
          'Activity',
        ])
        for (const [former, now] of [
          ['snapshots', 'backups#snapshots'],
          ['volumes', 'backups#volumes'],
          ['rescue', 'access#rescue'],
        ] as const) {
          await page.goto(`${area}/servers/${id}/${former}`)
          expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe(`${area}/servers/${id}/${now}`)
          await page.locator(`#${former}`).waitFor()
        }
      })
  }, 120_000)

  test('tell each address as the system has it: a floating one is routed and has no gateway', async () => {
    const { addresses } = (await p.call(p.customer, 'GET', `/servers/${id}`)).body
    const [own, floating] = addresses.filter(({ version }: any) => version === 4)
    expect([own.kind, own.prefixLength, own.gateway]).toEqual(['primary', 24, '203.0.113.1'])
    expect([floating.kind, floating.prefixLength, floating.gateway]).toEqual(['floating', 32, null])
    await read(
      p.customer,
      `/servers/${id}`,
      async (page) => {
        const words = (await page.locator('#connect dl > div').allTextContents()).map((text) => text.trim())
        expect(words).toContain(`IPv4${own.address} /24, gateway 203.0.113.1`)
        expect(words).toContain(`Floating IPv4${floating.address} /32, routed, no gateway`)
        expect(await page.locator('#connect .command code').textContent()).toBe(`ssh root@${own.address}`)
        // The lines of the last hours, said in words.
        const lines = page.locator('.stats svg.spark')
        expect(await lines.first().getAttribute('aria-label')).toBe('CPU over 6 hours, between 25 % and 25 %')
        expect(await lines.count()).toBeGreaterThanOrEqual(2)
        // As wide as its figure: its end is now.
        const [line, figure] = [
          await lines.first().boundingBox(),
          await page.locator('.stats > *').first().boundingBox(),
        ]
        expect(line!.width).toBeGreaterThan(figure!.width * 0.8)
        const disk = page.locator('.stats > *', { hasText: 'Disk' })
        expect(await disk.locator('b').textContent()).toBe('18 GiB of 20 GiB')
        await page.locator('#file-systems tr', { hasText: '/srv/media' }).getByText('3 GiB').waitFor()
        expect(await page.locator('.stats meter').first().getAttribute('value')).toBe('0.25')
      },
      'server-page-overview',
    )
  }, 60_000)

  test('say of a suspended server why, as its mail does, and offer nothing that cannot work', async () => {
    await read(
      p.customer,
      `/servers/${held}`,
      async (page) => {
        await page.locator('#suspended', { hasText: 'Invoice 2041 is overdue.' }).waitFor()
        expect(await tabs(page)).not.toContain('Console')
        expect(await page.getByRole('link', { name: 'Console' }).count()).toBe(0)
        expect(await page.locator('.command').count()).toBe(0)
        expect(await page.getByRole('button', { name: /^(Restart|Start|Unsuspend)$/ }).count()).toBe(0)
      },
      'server-page-suspended',
    )
    await read(p.customer, `/servers/${held}/settings`, async (page) => {
      await page.locator('.note', { hasText: 'Suspended. Invoice 2041 is overdue. Its disk and addresses' }).waitFor()
    })
    // A member of the team is not told the reason.
    const guest = p.account('customer', 'Gast')
    await share(p, p.customer, guest, 'view', held)
    await read(guest, `/servers/${held}`, async (page) => {
      await page.locator('#suspended', { hasText: 'Its owner knows the reason.' }).waitFor()
      expect(await page.content()).not.toContain('2041')
    })
    await read(p.owner, `/admin/servers/${held}`, async (page) => {
      await page.locator('#suspended').getByRole('button', { name: 'Unsuspend' }).waitFor()
    })
  }, 120_000)

  test('ask before a running server is restarted, and leave the focus on the button', async () => {
    const before = p.server(id)
    await read(p.customer, `/servers/${id}`, async (page) => {
      const restart = page.locator('.title').getByRole('button', { name: 'Restart' })
      await restart.focus()
      await page.keyboard.press('Enter')
      const dialog = page.locator('dialog[open]')
      await dialog.getByText('web01 shuts down and starts again.').waitFor()
      expect(p.server(id)).toEqual(before)
      await dialog.getByRole('button', { name: 'Restart' }).focus()
      await page.keyboard.press('Enter')
      await page.locator('#toasts', { hasText: 'Restart: under way' }).waitFor()
      await p.settle()
      await page.locator('#done', { hasText: 'Restarted' }).waitFor()
      const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
      expect(await focused()).toBe('Restart')
      // A button that is off is another element: the focus is on it all the same.
      p.node.agent.disconnect()
      p.turnClock(4 * 60_000)
      await page.locator('.title [aria-disabled=true]', { hasText: 'Restart' }).waitFor()
      expect(await focused()).toBe('Restart')
      p.node.agent.connect()
    })
  }, 60_000)

  test('lead from the menu to the reinstallation, which asks there', async () => {
    await read(p.customer, `/servers/${id}`, async (page) => {
      await page.locator('.head .menu > summary').click()
      await page.getByRole('link', { name: 'Reinstall…' }).click()
      await page.waitForURL(`**/servers/${id}/settings#reinstall`)
      await page.locator('#reinstall').getByRole('button', { name: 'Reinstall' }).waitFor()
      expect(await page.locator('dialog[open]').count()).toBe(0)
    })
  }, 60_000)

  test('ask once for all of their parts, and are sent nothing while nothing changes', async () => {
    await read(p.customer, `/servers/${id}`, async (page) => {
      await p.settle()
      await page.waitForTimeout(6_000)
      const answers: number[] = []
      page.on('response', (response) => void answers.push(response.status()))
      await page.waitForTimeout(9_000)
      expect([...new Set(answers)]).toEqual([304])
      expect(answers.length).toBeLessThanOrEqual(3)
    })
  }, 60_000)

  test('change in every part with the one answer', async () => {
    await read(p.customer, `/servers/${id}`, async (page) => {
      await p.call(p.customer, 'PATCH', `/servers/${id}/name`, { name: 'shop' })
      await page.locator('h1', { hasText: 'shop' }).waitFor()
      await page.locator('#done li', { hasText: 'Renamed' }).waitFor()
    })
  }, 60_000)

  test('keep an open dialog and what is typed in it, while the parts behind it change', async () => {
    await read(p.customer, `/servers/${id}/settings`, async (page) => {
      await page.getByRole('button', { name: 'Rename' }).click()
      const name = page.locator('dialog[open]').getByLabel('Name')
      await name.fill('half typed')
      await p.call(p.customer, 'POST', `/servers/${id}/labels`, { labels: ['production'] })
      await page.locator('#manage', { hasText: 'production' }).waitFor({ state: 'attached' })
      await page.locator('#general small', { hasText: 'production.' }).waitFor()
      expect(await name.inputValue()).toBe('half typed')
      expect(await page.locator('dialog[open]').count()).toBe(1)
    })
  }, 60_000)
})
