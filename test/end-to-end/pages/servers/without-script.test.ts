// A browser without script, or that presses a button before the script has loaded: signing in works, pages can be read,
// and every other button says why it did nothing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { artefacts, launch, type Screen, screens } from '../../../support/browser.ts'
import { emptyQcow2 } from '../../../support/guest.ts'
import { type Installation, installation } from '../../../support/world/processes.ts'

let live: Installation
let browser: Browser
let token = ''
let hostname = ''
const email = 'cal@example.com'
const password = 'seven green bicycles'

beforeAll(async () => {
  live = await installation()
  await live.serve()
  token = await live.ownerToken()
  const made = async (path: string, body: object) => {
    const answer = await live.api(token, 'POST', path, body)
    if (answer.status !== 201 && answer.status !== 202) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const location = (await made('/admin/node-groups', { name: 'Frankfurt' })).id
  live.agent(await live.enroll(location, 'fra-01', ['--fake'], { bootMs: 300, memoryMb: 65_536 }))
  const node = await live.until('the node', async () =>
    (await live.api(token, 'GET', '/admin/nodes')).body.data.find((n: any) => n.connected && n.load?.pools.length),
  )
  await made('/admin/ip-pools', { name: 'v4', network: '203.0.113.0/24', gateway: '203.0.113.1', nodeIds: [node.id] })
  const small = (await made('/admin/packages', { name: 'Small', vcpus: 1, memoryMb: 1024, diskGb: 10 })).id
  const cal = (await made('/admin/customers', { name: 'Cal', email })).id
  hostname = 'web01'
  await Bun.write(`${live.dir}/incoming/debian.qcow2`, emptyQcow2())
  const imageId = (await live.admin('images.import', { file: 'debian.qcow2', name: 'Debian 13', minDiskGb: 3 })).id
  const access = { mode: 'password' }
  await made('/admin/servers', { ownerId: cal, packageId: small, nodeGroupId: location, imageId, hostname, access })
  await live.until('the server', async () =>
    (await live.api(token, 'GET', '/admin/servers')).body.data.find((s: any) => s.status === 'running'),
  )
  await live.givePassword(email, password)
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await live?.close()
})

async function opened({ width, height, scheme }: Screen, hasScript: boolean) {
  const context = await browser.newContext({
    baseURL: live.url,
    viewport: { width, height },
    colorScheme: scheme,
    javaScriptEnabled: hasScript,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  // A script that is on its way and does not arrive.
  if (hasScript) await page.route(/\.m?js$/, (route) => route.abort())
  return page
}
async function keep(page: Page, name: string) {
  mkdirSync(artefacts, { recursive: true })
  await page.screenshot({ path: `${artefacts}/${name}.png`, fullPage: true })
}
/** How many jobs and changes there have been so far. */
const deeds = async () => {
  const [jobs, audit] = await Promise.all(
    ['/jobs', '/admin/audit'].map(async (path) => (await live.api(token, 'GET', path)).body.data),
  )
  return { jobs: jobs.length, changes: audit.filter((line: any) => !line.operation.startsWith('sessions.')).length }
}

describe.each([
  ['without script', false],
  ['before the script has loaded', true],
] as const)('a person at a browser %s', (when, hasScript) => {
  for (const screen of [screens[0]!, screens[3]!])
    test(`signs in, reads, and is told why a button did nothing (${screen.width}, ${screen.scheme})`, async () => {
      const name = `${when.replaceAll(' ', '-')}-${screen.width}-${screen.scheme}`
      const page = await opened(screen, hasScript)
      const note = page.locator('noscript .note')
      await page.goto('/servers')
      expect(await note.isVisible()).toBe(!hasScript)
      await page.getByLabel('E-mail address').fill(email)
      await page.getByLabel('Password').fill('wrong')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      expect(await page.getByRole('alert').textContent()).toContain('E-mail address or password is wrong.')
      expect(await page.getByLabel('E-mail address').inputValue()).toBe(email)
      expect(await page.getByLabel('Password').inputValue()).toBe('')
      await keep(page, `sign-in-refused-${name}`)
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      expect(new URL(page.url()).pathname).toBe('/servers')
      expect(await note.isVisible()).toBe(!hasScript)
      await keep(page, `servers-${name}`)

      await page.getByRole('link', { name: hostname }).first().click()
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain(hostname)
      const at = page.url()
      const before = await deeds()
      await page.getByRole('button', { name: 'Restart', exact: true }).first().click()
      // The browser itself opens the question and takes it away.
      const question = page.getByRole('dialog', { name: 'Restart' })
      await question.getByRole('button', { name: 'Keep it running' }).click()
      expect(await question.isVisible()).toBe(false)
      await page.getByRole('button', { name: 'Restart', exact: true }).first().click()
      await question.getByRole('button', { name: 'Restart', exact: true }).click()
      await page.getByRole('heading', { name: 'Nothing was changed' }).waitFor()
      expect(await page.getByText('This button needs JavaScript, which did not run.').isVisible()).toBe(true)
      await keep(page, `button-${name}`)
      expect(await deeds()).toEqual(before)
      await page.getByRole('link', { name: 'Back to the page' }).click()
      expect(page.url()).toBe(at)
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain(hostname)
      await page.context().close()
    }, 60_000)
})
