// The pictures in docs/imports.md of what is decided.
import { afterAll, beforeAll, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { richImport } from '../../../imports/rich.ts'
import { begin, discovered } from '../../../imports/world.ts'
import { launch } from '../../../support/browser.ts'
import { mustBePictured } from './in-document.ts'

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

for (const [name, path] of [
  ['imports', () => `/admin/imports/${p.id}`],
  ['imports-owners', () => `/admin/imports/${p.id}/owners`],
  ['imports-certificate', () => `/admin/imports/${untrusted}`],
] as const)
  test(`${name}.png is a picture of the page, and the document shows it`, () =>
    mustBePictured({ p, browser }, name, path()))
