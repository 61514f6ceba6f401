// The picture of the panel in README.md. `GOLDEN=write` takes it anew; without it, the page must still be one that can
// be taken, without complaints of the browser.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { artefacts, launch, open } from '../../support/browser.ts'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { type Everything, everything } from '../../support/world/everything.ts'

const PICTURE = new URL('../../../docs/panel.png', import.meta.url).pathname
const screen = { width: 1280, height: 800, scheme: 'light' } as const

let p: Everything
let browser: Browser
beforeAll(async () => {
  p = await everything()
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

/** Names as customers give them. */
const names = ['db01', 'mail', 'shop-staging', 'wiki', 'web01', 'web02', 'build', 'vpn', 'backup', 'monitor']

/** Width and height of a PNG, from its header. */
const sizeOf = (file: string) => {
  const header = readFileSync(file)
  return { width: header.readUInt32BE(16), height: header.readUInt32BE(20) }
}

test('the picture in the README is one of the list of servers', async () => {
  const staff = pagesFor(p, p.owner)
  const { page, complaints } = await open(browser, screen, staff.url.origin)
  try {
    p.db.$client.run('DELETE FROM saved_filters')
    const rename = p.db.$client.query('UPDATE workloads SET name = ?, version = version + 1 WHERE id = ?')
    const servers = p.db.$client.query<{ id: string }, []>("SELECT id FROM workloads WHERE kind = 'server' ORDER BY id")
    for (const [i, { id }] of servers.all().entries()) rename.run(names[i % names.length]!, id)
    await page.goto('/admin/servers')
    await page.getByRole('heading', { name: 'Servers' }).first().waitFor()
    const taken = `${artefacts}/readme.png`
    await page.screenshot({ path: taken })
    if (process.env['GOLDEN'] === 'write') await page.screenshot({ path: PICTURE })
    expect(complaints).toEqual([])
    expect(sizeOf(PICTURE)).toEqual(sizeOf(taken))
    expect(readFileSync('README.md', 'utf8').includes('docs/panel.png')).toBe(true)
  } finally {
    await staff.stop(true)
  }
})
