// The pages of VLANs in Chromium: a pool in a VLAN that a node has lost, a node whose bond has lost a port, and the
// dialogs in which a VLAN is chosen.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { launch, look, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'
import { eventually } from '../../../support/waiting/eventually.ts'
import { type World, world } from '../../../support/world/panel.ts'

const bond = {
  mode: '802.3ad',
  ports: [
    { name: 'enp3s0f0', state: 'up' as const },
    { name: 'enp3s0f1', state: 'down' as const },
  ],
}
let p: World
let browser: Browser
let carrying: string
let pool: string
beforeAll(async () => {
  p = await world()
  const add = (name: string, vlans: string) =>
    p.addNode(p.location, name, { uplink: { name: 'bond0', vlans, bond } }).id
  carrying = add('fra-02', '20,100-199')
  const losing = add('fra-03', '20')
  const made = await p.admin('POST', '/admin/ip-pools', {
    ...{ name: 'Customers', network: '198.51.100.0/24', gateway: '198.51.100.1', vlan: 20 },
    nodeIds: [carrying, losing],
  })
  pool = made.id
  p.db.$client.run("UPDATE nodes SET facts = json_remove(facts, '$.uplink') WHERE id = ?", [losing])
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  p?.close()
})

for (const screen of shownScreens) {
  test(`a pool whose VLAN a node has lost at ${titleOf(screen)}: nothing to complain about`, async () => {
    await mustLookRight({ p, browser, who: p.owner }, screen, { name: 'pool-vlan', path: `/admin/ip-pools/${pool}` })
  })
  test(`a node whose bond has lost a port at ${titleOf(screen)}: nothing to complain about`, async () => {
    const path = `/admin/nodes/${carrying}`
    await mustLookRight({ p, browser, who: p.owner }, screen, { name: 'node-bond', path })
  })
  test(`the form of a new node at ${titleOf(screen)}: nothing to complain about`, async () => {
    await mustLookRight({ p, browser, who: p.owner }, screen, { name: 'enroll-uplink', path: '/admin/nodes/enroll' })
  })
}

test('the command of a new node names the uplink and the VLANs that were filled in', async () => {
  const pages = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, shownScreens[0], pages.url.origin)
  page.setDefaultTimeout(15_000)
  try {
    await page.goto('/admin/nodes/enroll')
    await page.getByLabel('VLANs').fill('20,4095')
    await page.getByLabel('Uplink').fill('bond0')
    await page.getByRole('button', { name: 'Create command' }).click()
    await page.getByRole('link', { name: 'must be all, or numbers and ranges' }).waitFor()
    await page.getByLabel('VLANs').fill('20, 100-199')
    await page.getByRole('button', { name: 'Create command' }).click()
    await page.getByText('--uplink bond0 --vlans 20,100-199').waitFor()
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
})

test('staff add a pool in a VLAN, take it out again, and are told which node does not carry another', async () => {
  const pages = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, shownScreens[0], pages.url.origin)
  page.setDefaultTimeout(15_000)
  const vlanOf = (name: string) =>
    p.db.$client.query<{ vlan: number | null }, [string]>('SELECT vlan FROM pools WHERE name = ?').get(name)?.vlan
  try {
    await page.goto('/admin/ip-pools')
    await page.getByRole('button', { name: 'Add pool' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mail')
    await page.getByRole('textbox', { name: 'Network' }).fill('198.51.101.0/24')
    await page.getByRole('textbox', { name: 'Gateway' }).fill('198.51.101.1')
    await page.getByLabel('VLAN').fill('150')
    await page.getByLabel('fra-02').check()
    expect(await look(page, 'add-pool-vlan')).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Add pool' }).click()
    await eventually(() => vlanOf('Mail') === 150)
    await page.waitForURL(/ip-pools\/pool_/)
    const set = async (vlan: string) => {
      await page.getByRole('button', { name: 'Set VLAN' }).click()
      await page.getByRole('dialog').getByRole('textbox', { name: 'VLAN' }).fill(vlan)
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^(Save|Set VLAN)/ })
        .click()
    }
    await set('300')
    await page.getByText('fra-02 does not carry VLAN 300').waitFor()
    expect(vlanOf('Mail')).toBe(150)
    await page.reload()
    await set('')
    await eventually(() => vlanOf('Mail') === null)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
})
