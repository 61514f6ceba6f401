// The pictures in docs/imports.md. `GOLDEN=write` takes them anew; without it, the pages must still be ones that can be
// taken, without complaints of the browser.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { richImport } from '../../../imports/rich.ts'
import { begin, discovered } from '../../../imports/world.ts'
import { artefacts, launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/world/pages.ts'

const docs = new URL('../../../../docs/', import.meta.url).pathname
const screen = { width: 1180, height: 760, scheme: 'light' } as const

let p: Awaited<ReturnType<typeof richImport>>
let browser: Browser
let untrusted = ''
beforeAll(async () => {
  p = await richImport()
  p.other.certificate = '7a410c9e5bd233f861ae0497cc1f882de650b37c19da45f1026b93ee58c40a77'
  untrusted = await begin(p, { name: 'Helsinki, Virtualizor', kind: 'virtualizor' })
  await discovered(p, untrusted)
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

/** Width and height of a PNG, from its header. */
const sizeOf = (file: string) => {
  const header = readFileSync(file)
  return { width: header.readUInt32BE(16), height: header.readUInt32BE(20) }
}

for (const [name, path] of [
  ['imports', () => `/admin/imports/${p.id}`],
  ['imports-owners', () => `/admin/imports/${p.id}/owners`],
  ['imports-certificate', () => `/admin/imports/${untrusted}`],
] as const)
  test(`${name}.png is a picture of the page, and the document shows it`, async () => {
    const staff = pagesFor(p, p.owner)
    const { page, complaints } = await open(browser, screen, staff.url.origin)
    try {
      await page.goto(path())
      await page.getByRole('heading').first().waitFor()
      const taken = `${artefacts}/docs-${name}.png`
      await page.screenshot({ path: taken })
      if (process.env['GOLDEN'] === 'write') await page.screenshot({ path: `${docs}${name}.png` })
      expect(complaints).toEqual([])
      expect(sizeOf(`${docs}${name}.png`)).toEqual(sizeOf(taken))
      expect(readFileSync(`${docs}imports.md`, 'utf8')).toContain(`(${name}.png)`)
    } finally {
      await staff.stop(true)
    }
  })
