// The pages of moves in Chromium: each on a desk and on a phone, in the light and in the dark.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { changeSwitch } from '../../../src/compute/readdressing/queries.ts'
import { wantSwitch } from '../../../src/compute/readdressing/switch.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { restoredBefore } from '../../compute/transfers/elsewhere/restored.ts'
import { openTwo } from '../../compute/transfers/two-locations.ts'
import { move, nodeNamed, open as openPanel, order } from '../../compute/transfers/world.ts'
import { launch, look, open, screens } from '../../support/browser.ts'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../support/pages/pages-on-screens.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import type { World } from '../../support/world/panel.ts'

const GIB = 1024 ** 3
let p: World
let browser: Browser
let paths: Record<string, string>
beforeAll(async () => {
  p = await openPanel()
  const id = await order(p)
  await p.admin('PATCH', `/admin/nodes/${nodeNamed(p, 'fra-03')}`, { open: false })
  await move(p, id)
  await p.settle()
  const [serverId, third] = await Promise.all(
    ['web02', 'web03'].map(async (hostname): Promise<string> => {
      return (await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId: p.node.id })).serverId
    }),
  )
  await p.settle()
  p.arm({
    failpoints: (moment) => {
      if (moment === 'move/receive:before') p.agents.get(nodeNamed(p, 'fra-02'))!.disconnect()
    },
  })
  const { jobId, transferId } = await move(p, serverId!, { nodeId: nodeNamed(p, 'fra-02'), maxMbps: 1000 })
  await Bun.sleep(100)
  const { liveCopies } = p.controller.app
  for (const copied of [0.4, 1.2, 2.3, 3.2, 4.3, 5.2, 6]) {
    liveCopies.take(jobId, { copiedBytes: copied * GIB, totalBytes: 12 * GIB })
    p.turnClock(10_000)
  }
  paths = {
    transfers: '/admin/transfers',
    transfer: `/admin/transfers/${transferId}`,
    move: `/admin/servers/${id}/move`,
    third: `/admin/servers/${third}`,
  }
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  p?.close()
})

for (const name of ['transfers', 'transfer', 'move'])
  for (const screen of screens)
    test(`${name} at ${titleOf(screen)}: nothing to complain about`, async () => {
      await mustLookRight({ p, browser, who: p.owner }, screen, { name, path: paths[name]! })
    })

test('the limit of a move is changed on its page, in a dialog that keeps what is typed', async () => {
  const staff = pagesFor(p, p.owner)
  for (const [i, screen] of [screens[0]!, screens[3]!].entries()) {
    const { page, context, complaints } = await open(browser, screen, staff.url.origin)
    page.setDefaultTimeout(10_000)
    try {
      await page.goto(paths['transfer']!)
      await page.getByRole('button', { name: 'Change limit' }).first().click()
      const dialog = page.getByRole('dialog', { name: 'Change limit' })
      const field = dialog.getByLabel('At most')
      await field.fill(`${400 + i}`)
      // The page around it is drawn again each second.
      await Bun.sleep(2500)
      expect(await field.inputValue()).toBe(`${400 + i}`)
      const found = await look(page, `transfer-limit-${screen.width}`)
      await page.keyboard.press('Enter')
      await page.getByText(`${400 + i} Mbit/s`, { exact: true }).waitFor()
      expect([found, complaints]).toEqual([[], []])
    } finally {
      await context.close()
    }
  }
  await staff.stop(true)
  const limits = p.db.$client.query('SELECT max_mbps AS mbps FROM transfers WHERE finished_at IS NULL').all()
  expect(limits).toEqual([{ mbps: 401 }])
})

test('a move to another location says that the addresses change, and waits for the typed name', async () => {
  const { id: helsinki } = await p.admin('POST', '/admin/node-groups', { name: 'Helsinki' })
  const { id: nodeId } = p.addNode(helsinki, 'hel-01')
  await p.admin('POST', '/admin/ip-pools', {
    ...{ name: 'hel', network: '198.51.100.0/24', gateway: '198.51.100.1', nodeIds: [nodeId] },
    ...{ first: '198.51.100.10', last: '198.51.100.12' },
  })
  const staff = pagesFor(p, p.owner)
  for (const screen of [screens[0]!, screens[3]!]) {
    const { page, context, complaints } = await open(browser, screen, staff.url.origin)
    page.setDefaultTimeout(10_000)
    try {
      await page.goto('/admin/node-groups')
      await page.getByRole('button', { name: 'Actions for Frankfurt' }).click()
      await page.getByRole('button', { name: 'Moves from' }).first().click()
      const boxes = page.getByRole('dialog').getByLabel('Helsinki')
      for (const box of [boxes.first(), boxes.last()]) await box.check()
      const found = await look(page, `locations-moves-${screen.width}`)
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.getByText('Servers may move to Helsinki').waitFor({ state: 'attached' })
      await page.getByRole('link', { name: 'Frankfurt' }).first().click()
      await page.getByRole('cell', { name: 'Staff and owners' }).waitFor()
      found.push(...(await look(page, `location-moves-${screen.width}`)))
      await page.goto(`${paths['third']}/move?nodeId=${nodeId}`)
      const submit = page.getByRole('button', { name: 'Move to hel-01' })
      await page.getByText('It gets new addresses.').waitFor()
      expect(await submit.isDisabled()).toBe(true)
      found.push(...(await look(page, `move-far-${screen.width}`)))
      await page.getByLabel('Type web03 to confirm').fill('web03')
      expect(await submit.isEnabled()).toBe(true)
      expect([found, complaints]).toEqual([[], []])
    } finally {
      await context.close()
    }
  }
  await staff.stop(true)
})

test('a server is moved from its page by the keyboard, and Escape leads back', async () => {
  const staff = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, screens[0]!, staff.url.origin)
  page.setDefaultTimeout(10_000)
  try {
    await p.admin('PATCH', `/admin/nodes/${nodeNamed(p, 'fra-03')}`, { open: true })
    await page.goto(paths['third']!)
    await page.getByLabel('More actions').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Move to another node' }).click()
    const dialog = page.getByRole('dialog', { name: 'Move web03' })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(`**${paths['third']}`)
    await page.goto(`${paths['third']}/move`)
    await dialog.getByRole('button', { name: /^Move to/ }).waitFor()
    await dialog.getByLabel('How').selectOption('cold')
    await dialog.getByText('Shut down', { exact: true }).first().waitFor()
    await dialog.getByLabel('At most').fill('200')
    await page.waitForURL('**maxMbps=200**')
    const before = page.url()
    const when = dialog.getByLabel('When')
    await when.fill('2027-01-16T03:00')
    await dialog.getByLabel('Best node').focus()
    await page.keyboard.press('ArrowDown')
    await page.waitForURL((url) => url.href !== before && url.searchParams.get('nodeId') !== '')
    expect([await dialog.getByLabel('At most').inputValue(), await when.inputValue()]).toEqual([
      '200',
      '2027-01-16T03:00',
    ])
    await dialog.getByRole('button', { name: /^Move to/ }).click()
    await page.waitForURL('**/admin/transfers/trf_*')
    await page.getByText('Waiting for its time').waitFor()
    expect(await look(page, 'transfer-later')).toEqual([])
    await page.getByRole('button', { name: 'Cancel move' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel move' }).click()
    await page.getByText('It was cancelled before its time.').waitFor()
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await staff.stop(true)
  }
})

test('an owner reads what a move to another location changes, types the name, and the move begins', async () => {
  const path = paths['third']!.replace('/admin', '')
  for (const screen of [screens[0]!, screens[3]!]) {
    const owner = pagesFor(p, p.customer)
    const { page, context, complaints } = await open(browser, screen, owner.url.origin)
    page.setDefaultTimeout(10_000)
    try {
      await page.goto(`${path}/settings`)
      await page.getByRole('button', { name: 'Move to another location' }).click()
      const dialog = page.getByRole('dialog', { name: 'Move web03 to another location?' })
      await dialog.getByText(/gets 1 IPv4 address instead/).waitFor()
      const submit = dialog.getByRole('button', { name: 'Move' })
      expect([await submit.isDisabled(), await dialog.getByLabel('Helsinki').isChecked()]).toEqual([true, true])
      const found = await look(page, `relocate-${screen.width}`)
      if (screen === screens[3]) {
        await dialog.getByLabel('Type web03 to confirm').fill('web03')
        await submit.click()
        await page.getByText('The move of web03 has begun').waitFor()
        const read = async () => (await p.call(p.customer, 'GET', `${path}/relocations`)).body
        await eventually(async () => (await read()).locations[0].getsBack)
        await page.goto(`${path}/settings`)
        await page.getByRole('button', { name: 'Move to another location' }).click()
        await page.getByText('Its former addresses are held for it until').waitFor()
        found.push(...(await look(page, `relocate-back-${screen.width}`)))
      }
      expect([found, complaints]).toEqual([[], []])
    } finally {
      await context.close()
      await owner.stop(true)
    }
  }
})

test('a server that runs elsewhere after a restore: staff say that it is there, from Needs attention on', async () => {
  using restored = await openPanel()
  const id = await order(restored)
  await restoredBefore(restored, () => move(restored, id))
  const who = restored.staff()
  const path = `/admin/servers/${id}/elsewhere`
  for (const screen of screens) await mustLookRight({ p: restored, browser, who }, screen, { name: 'elsewhere', path })
  const staff = pagesFor(restored, who)
  const { page, context, complaints } = await open(browser, screens[0]!, staff.url.origin)
  page.setDefaultTimeout(10_000)
  try {
    await page.goto('/admin')
    await page.getByRole('link', { name: 'Decide where it is' }).click()
    await page.getByRole('button', { name: 'It is on fra-02' }).click()
    const dialog = page.getByRole('dialog', { name: 'Is web01 on fra-02?' })
    const found = await look(page, 'elsewhere-asked')
    await dialog.getByRole('button', { name: 'It is there' }).click()
    await page.getByText('No other node says that it runs it.').waitFor()
    expect([found, complaints]).toEqual([[], []])
  } finally {
    await context.close()
    await staff.stop(true)
  }
})

test('an owner takes a move to another location back, and reads that the system lacks its new addresses', async () => {
  using moved = await openTwo()
  await moved.admin('PUT', `/admin/node-groups/${moved.location}/moves`, {
    ...{ locationIds: [moved.helsinki], offeredIds: [moved.helsinki] },
  })
  const id = await order(moved)
  moved.arm({
    failpoints: (moment) => {
      if (moment === 'move/receive:before') moved.agents.get(nodeNamed(moved, 'hel-01'))!.disconnect()
    },
  })
  const who = moved.customer
  await moved.call(who, 'POST', `/servers/${id}/actions/relocate`, { locationId: moved.helsinki })
  await Bun.sleep(100)
  write(moved.db, (tx) => {
    wantSwitch(tx, { serverId: id, leave: [], now: moved.now(), endsAt: null })
    changeSwitch(tx, id, { error: 'No guest agent answers.' })
  })
  for (const screen of shownScreens) {
    await mustLookRight({ p: moved, browser, who }, screen, { name: 'addresses-wait', path: `/servers/${id}` })
    await mustLookRight({ p: moved, browser, who }, screen, { name: 'on-its-way', path: `/servers/${id}/settings` })
  }
  const owner = pagesFor(moved, who)
  const { page, context, complaints } = await open(browser, screens[0]!, owner.url.origin)
  page.setDefaultTimeout(10_000)
  try {
    await page.goto(`/servers/${id}`)
    await page.getByText('Its system does not have its new addresses yet.').waitFor()
    await page.goto(`/servers/${id}/settings`)
    await page.getByRole('button', { name: 'Cancel the move' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Leave web01 in Frankfurt?' })
    await dialog.getByRole('button', { name: 'Cancel the move' }).click()
    await page.getByText('The move of web01 is cancelled').waitFor()
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await owner.stop(true)
  }
})
