// The page of what becomes of the other panel's software on adopted nodes, in Chromium.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { changeImport } from '../../../../src/imports/import-records/queries.ts'
import { write } from '../../../../src/kernel/db/open.ts'
import { hypervisor, server } from '../../../imports/panel-in-memory.ts'
import { choose, type Finished, finished, look } from '../../../imports/source-removal/finished.ts'
import { launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'

let p: Finished
let browser: Browser
let paths: Record<string, string>
beforeAll(async () => {
  const servers = Array.from({ length: 9 }, (_, n) => server(n + 1, { hypervisorId: String((n % 3) + 1) }))
  const hypervisors = ['1', '2', '3'].map((id) => hypervisor(id, { isPanel: id === '3' }))
  p = await finished({ listed: { hypervisors, servers: [...servers, server(10, { hypervisorId: '9' })] }, nodes: 3 })
  write(p.db, (tx) => changeImport(tx, p.id, { name: 'Helsinki, Virtualizor' }))
  const [first, second, third] = p.adopting
  second!.agent.host.sourceRemovals.describe({ undefinedBridges: ['viifbr1'] })
  const rootKeys = ['anna@laptop', '', 'berth-import:nod_1'].map((comment, n) => ({
    ...{ type: 'ssh-ed25519', comment, fingerprint: `SHA256:${'a1b'[n]!.repeat(43)}`, isOurs: n === 2 },
  }))
  third!.agent.host.sourceRemovals.describe({ holds: ['vps-901'], rootKeys })
  await choose(p, 'agent', first!.id)
  await choose(p, 'manual', second!.id)
  await choose(p, 'keep', third!.id)
  const page = `/admin/imports/${p.id}/clean-up`
  paths = {
    'import-clean-up': page,
    'import-clean-up-by-hand': `${page}?node=${second!.id}`,
    'import-clean-up-blocked': `${page}?node=${third!.id}`,
  }
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

for (const name of ['import-clean-up', 'import-clean-up-by-hand', 'import-clean-up-blocked'])
  for (const screen of shownScreens)
    test(`${name} at ${titleOf(screen)}: nothing to complain about`, async () => {
      await mustLookRight({ p, browser, who: p.owner }, screen, { name, path: paths[name]! })
    })

async function walk(work: (page: Page) => Promise<void>) {
  const reader = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, undefined, reader.url.origin)
  page.setDefaultTimeout(10_000)
  try {
    await work(page)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await reader.stop(true)
  }
}

test('a person reads what would be touched, removes it, and puts everything back', async () => {
  const [node] = p.adopting
  const { preview } = await look(p, node!.id)
  await walk(async (page) => {
    await page.goto(paths['import-clean-up']!)
    for (const { name } of preview.items) await page.getByText(name, { exact: true }).waitFor()
    await page.getByRole('button', { name: /^Remove from fra-01/ }).click()
    await page.getByRole('button', { name: 'Remove it' }).click()
    await page.getByText('Everything is in /root/removed-').waitFor()
    await page.getByRole('button', { name: /^Put everything back/ }).click()
    await page.getByRole('button', { name: 'Put it back' }).click()
    await page.getByRole('button', { name: /^Remove from fra-01/ }).waitFor()
  })
  expect(await look(p, node!.id)).toMatchObject({ state: 'restored', preview })
})

test('the steps of the finished import lead there', async () => {
  await walk(async (page) => {
    await page.goto(`/admin/imports/${p.id}`)
    await page.getByRole('link', { name: 'Clean up' }).click()
    await page.getByRole('heading', { name: 'Clean up' }).waitFor()
  })
})

test('a choice is saved as soon as it is made, and changes what can be done', async () => {
  const [node] = p.adopting
  await walk(async (page) => {
    await page.goto(paths['import-clean-up']!)
    await page.getByLabel('What happens on fra-01').selectOption('keep')
    await page.getByRole('button', { name: /^Remove from fra-01/ }).waitFor({ state: 'detached' })
    expect((await look(p, node!.id)).choice).toBe('keep')
    await page.getByLabel('What happens on fra-01').selectOption('agent')
    await page.getByRole('button', { name: /^Remove from fra-01/ }).waitFor()
  })
})

test('the master and a node with a strange server cannot be started, and say why', async () => {
  const [, , third] = p.adopting
  await choose(p, 'agent', third!.id)
  await walk(async (page) => {
    await page.goto(paths['import-clean-up-blocked']!)
    const button = page.getByRole('button', { name: /^Remove from/ })
    await button.waitFor()
    expect(await button.isDisabled()).toBe(true)
    await page.getByText('1 server on other hypervisors still depends on the master.').first().waitFor()
    await page.getByText('libvirt there holds 1 domain that is not Berth’s: vps-901.').first().waitFor()
  })
  expect((await look(p, third!.id)).state).toBe('idle')
})
