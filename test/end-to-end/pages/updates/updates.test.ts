// The page of updates in Chromium: on a desk and on a phone, in the light and in the dark.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { handOver } from '../../../../src/platform/updates/start.ts'
import { LATER, type Machine, machine, NEXT, ours, path, stranger, wentBack } from '../../../platform/updates/lab.ts'
import { writeRelease } from '../../../release/signed.ts'
import { launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'

const at = '/admin/controller/updates'
const notes = `## New
- **Servers move live between nodes.** With a plan for emptying a node
- **Who had an address, and when.** Kept for 400 days, also for terminated servers

## Before you update
- **Webhooks of transfers are new.** A receiver that refuses unknown events should be looked at first
`
let p: Machine
let browser: Browser
beforeAll(async () => {
  p = await machine()
  p.release(NEXT, { notes })
  p.release('8.0.0', { by: stranger })
  p.history({ to: '0.0.8', from: '0.0.7', by: 'command line' }, wentBack, { to: '0.1.0', from: '0.0.8' })
  await p.admin('PUT', `${path}/source`, { url: 'https://releases.example.com/berth-latest.release' })
  await p.call(p.owner, 'POST', `${path}/actions/check`, { version: NEXT })
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

for (const screen of shownScreens)
  test(`updates looks right at ${titleOf(screen)}`, async () => {
    await mustLookRight({ p, browser, who: p.owner }, screen, { name: 'updates', path: at })
  })

test('an update is begun on the page, which follows it to its end', async () => {
  const reader = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, shownScreens[0]!, reader.url.origin)
  try {
    await page.goto(at)
    await page.getByRole('button', { name: 'Check what would happen' }).click()
    await page.getByText('Checked', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Update the controller…' }).press('Enter')
    await page.getByRole('button', { name: `Update to ${NEXT}` }).press('Enter')
    const step = page.locator('li[aria-current=step]')
    await step.getByText('This machine takes the request').waitFor()
    handOver({ db: p.db, app: p.controller.app })
    expect(existsSync(p.request)).toBe(true)
    p.machineTakes()
    p.journal('trying')
    await step.getByText('on trial').waitFor()
    await page.reload()
    expect(await page.getByRole('heading', { name: `Update to ${NEXT}`, exact: true }).isVisible()).toBe(true)
    p.journal('went_back')
    p.history({ ...wentBack, reason: { code: 'not_started', words: 'It did not start.' } })
    await page.getByText('It did not start.').waitFor()
    await page.getByRole('button', { name: 'Update the controller…' }).waitFor()
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await reader.stop(true)
  }
})

test('a release is sent on the page: its progress, its end, and why another one is refused', async () => {
  const sent = await machine()
  const reader = pagesFor(sent, sent.owner)
  const { page, context, complaints } = await open(browser, shownScreens[0]!, reader.url.origin)
  try {
    const bytes = readFileSync(writeRelease(`${sent.dir}/made`, { by: ours, version: LATER, programBytes: 7 << 20 }))
    const forged = readFileSync(writeRelease(`${sent.dir}/forged`, { by: stranger, version: LATER }))
    const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/octet-stream', buffer })
    await page.goto(at)
    const form = page.locator('form[data-upload]')
    await form.getByLabel('File of a release').setInputFiles(file('forged.release', forged))
    await form.getByRole('button', { name: 'Send it' }).click()
    await form.getByRole('alert').getByText('forged.release was not taken. It names the key').waitFor()
    await form.getByLabel('File of a release').setInputFiles(file('next.release', bytes))
    await form.getByRole('button', { name: 'Send it' }).press('Enter')
    await form.getByText(`${LATER} is in the folder, and its signature counts.`).waitFor()
    await page.getByText(`${LATER} is available`).waitFor()
    expect(readFileSync(`${sent.incoming}/next.release`).equals(bytes)).toBe(true)
    // The refusal of the forged file is an answer of the API.
    expect(complaints.filter((line) => !line.includes('409'))).toEqual([])
  } finally {
    await context.close()
    await reader.stop(true)
    sent.close()
  }
}, 60_000)
