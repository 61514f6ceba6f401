// Pictures in docs/imports.md. `GOLDEN=write` takes them anew; without it, the pages must still be ones that can be
// taken, without complaints of the browser.
import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { artefacts, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import type { World } from '../../../support/world/panel.ts'

const docs = new URL('../../../../docs/', import.meta.url).pathname
const screen = { width: 1180, height: 760, scheme: 'light' } as const

/** Width and height of a PNG, from its header. */
const sizeOf = (file: string) => {
  const header = readFileSync(file)
  return { width: header.readUInt32BE(16), height: header.readUInt32BE(20) }
}

/** Takes the picture `name` of the page at `path`. Fails where the document does not show it in this size. */
export async function mustBePictured({ p, browser }: { p: World; browser: Browser }, name: string, path: string) {
  const staff = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, screen, staff.url.origin)
  try {
    await page.goto(path)
    await page.getByRole('heading').first().waitFor()
    const taken = `${artefacts}/docs-${name}.png`
    await page.screenshot({ path: taken })
    if (process.env['GOLDEN'] === 'write') await page.screenshot({ path: `${docs}${name}.png` })
    expect(complaints).toEqual([])
    expect(sizeOf(`${docs}${name}.png`)).toEqual(sizeOf(taken))
    expect(readFileSync(`${docs}imports.md`, 'utf8')).toContain(`(${name}.png)`)
  } finally {
    await context.close()
    await staff.stop(true)
  }
}
