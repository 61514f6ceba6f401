// The pages of an import in Chromium: on a desk and on a phone, in the light and in the dark, and a walk from a new
// import to one in which everything is decided.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { richImport } from '../../../imports/rich.ts'
import { begin, discovered, settled, turn } from '../../../imports/world.ts'
import { launch, open } from '../../../support/browser.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'

let p: Awaited<ReturnType<typeof richImport>>
let browser: Browser
let paths: Record<string, string>
beforeAll(async () => {
  p = await richImport()
  const at = `/admin/imports/${p.id}`
  p.other.certificate = '7a410c9e5bd233f861ae0497cc1f882de650b37c19da45f1026b93ee58c40a77'
  const untrusted = await begin(p, { name: 'Helsinki, Virtualizor', kind: 'virtualizor' })
  await discovered(p, untrusted)
  const { asksFor } = await p.admin('GET', `/admin/migrations/${untrusted}`)
  const changed = await begin(p, { name: 'Trial with three servers' })
  await discovered(p, changed)
  await p.admin('POST', `/admin/migrations/${changed}/actions/trust`, { sha256: asksFor.sha256 })
  p.other.certificate = 'b0'.repeat(32)
  await discovered(p, changed)
  p.other.certificate = null
  const draft = await begin(p)
  const reading = await begin(p, { name: 'Being read' })
  p.db.$client.run(
    `UPDATE imports SET status = 'discovering', phase = 'reading', reading = 1,
       progress = '{"hypervisors":{"read":5,"total":null},"packages":{"read":21,"total":21},
         "servers":{"read":800,"total":2000}}' WHERE id = ?`,
    [reading],
  )
  const one = async (query: string) =>
    (await p.admin('GET', `/admin/migrations/${p.id}/servers?limit=1&${query}`)).data[0].id
  paths = {
    imports: '/admin/imports',
    'import-new': '/admin/imports/new',
    'import-draft': `/admin/imports/${draft}`,
    'import-reading': `/admin/imports/${reading}`,
    'import-certificate': `/admin/imports/${untrusted}`,
    'import-certificate-changed': `/admin/imports/${changed}`,
    import: at,
    'import-packages': `${at}/packages`,
    'import-like': `${at}/packages?like=3`,
    'import-ranges': `${at}/ranges`,
    'import-locations': `${at}/locations`,
    'import-owners': `${at}/owners`,
    'import-give': `${at}/owners?undecided=true&give=unknown`,
    'import-billing': `${at}/billing`,
    'import-file': `${at}/file`,
    'import-servers': `${at}/servers`,
    'import-server': `/admin/import-servers/${await one('state=waiting')}`,
    'import-server-refused': `/admin/import-servers/${await one('state=refused')}`,
    'import-log': `${at}/log`,
    'import-changes': `${at}/changes`,
  }
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  p?.close()
})

const shown = [
  ...['imports', 'import-new', 'import-draft', 'import-reading', 'import-certificate', 'import-certificate-changed'],
  ...['import', 'import-packages', 'import-like', 'import-ranges', 'import-locations', 'import-owners', 'import-give'],
  ...['import-billing', 'import-file', 'import-servers', 'import-server', 'import-server-refused', 'import-log'],
  'import-changes',
]
for (const name of shown)
  for (const screen of shownScreens)
    test(`${name} at ${titleOf(screen)}: nothing to complain about`, async () => {
      await mustLookRight({ p, browser, who: p.owner }, screen, { name, path: paths[name]! })
    })

/** A window of the owner; afterwards its console must have been silent. */
async function walk(work: (page: Page) => Promise<void>) {
  const reader = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, undefined, reader.url.origin)
  page.setDefaultTimeout(10_000)
  try {
    await work(page)
    expect(complaints).toEqual([])
  } finally {
    p.other.certificate = null
    await context.close()
    await reader.stop(true)
  }
}
/** Opens the tab of a part. */
const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Decisions' }).getByRole('link', { name }).press('Enter')
const get = (id: string) => p.admin('GET', `/admin/migrations/${id}`)
const rowsOf = async (id: string, part: string) =>
  (await p.admin('GET', `/admin/migrations/${id}/mapping/${part}`)).data

test('a person begins an import, reads the panel and decides everything, by the keyboard', async () => {
  await walk(async (page) => {
    await page.goto('/admin/imports')
    await page.getByRole('link', { name: 'New import' }).press('Enter')
    await page.getByRole('heading', { name: 'New import' }).waitFor()
    // Without credentials nothing is begun, and the person is told so.
    const before = p.fingerprint()
    await page.getByLabel('Address with port').fill('https://walk.source.test:443')
    await page.getByRole('button', { name: 'Save and continue' }).press('Enter')
    await page.getByRole('alert').waitFor()
    expect(p.fingerprint()).toBe(before)
    await page.getByLabel('Token').fill('canary-of-the-walk')
    await page.getByLabel('Name').fill('Walked')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Walked' }).waitFor()
    const id = page.url().split('/').at(-1)!
    expect(await get(id)).toMatchObject({ status: 'draft', name: 'Walked', address: 'https://walk.source.test:443' })
    expect(await page.content()).not.toContain('canary-of-the-walk')

    // A certificate that nobody vouches for is compared first.
    p.other.certificate = 'c4'.repeat(32)
    await page.getByRole('button', { name: 'Read the panel' }).first().press('Enter')
    await page.locator('.title .st', { hasText: 'Reading' }).waitFor()
    await turn(p)
    await page.getByRole('heading', { name: 'Is this your panel?' }).waitFor()
    expect(await page.locator('.print').textContent()).toContain('C4:C4')
    await page.getByRole('button', { name: 'Trust this certificate' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'They are the same: trust it' }).press('Enter')
    await page.getByRole('button', { name: 'Read the panel' }).first().press('Enter')
    await page.locator('.title .st', { hasText: 'Reading' }).waitFor()
    expect((await get(id)).trusted).toBe('c4'.repeat(32))
    await settled(p, id)
    await page.getByRole('heading', { name: 'Left to decide' }).waitFor()

    // Hypervisors: one choice for those that are ticked.
    await page.getByRole('link', { name: 'Decide hypervisors' }).press('Enter')
    for (const name of ['kvm-fra-01', 'kvm-fra-02', 'kvm-fra-03'])
      await page.getByRole('checkbox', { name: `Select ${name}` }).press('Space')
    await page.getByText('3 selected').waitFor()
    await page.getByLabel('Location').selectOption({ label: 'Helsinki' })
    await page.getByRole('button', { name: 'Apply' }).press('Enter')
    await page.getByText('3 of 3 decided.').waitFor()
    expect((await get(id)).left.hypervisors.rows).toBe(0)

    // Packages: one is made like the source with another name, one is left out by the choice in its row.
    await tab(page, 'Packages')
    await page.getByRole('link', { name: 'Make one like Reseller-XL, with other values' }).press('Enter')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('XL')
    await page.getByLabel('vCPU').fill('')
    await page.getByRole('button', { name: /^Make it/ }).press('Enter')
    await page.getByRole('alert').waitFor()
    await page.getByLabel('vCPU').fill('12')
    await page.getByRole('button', { name: /^Make it/ }).press('Enter')
    await page.getByText('Will be made').waitFor()
    await page.getByLabel('What happens to Old-512').selectOption({ label: 'Leave out of this import' })
    await page.locator('tr', { hasText: 'Old-512' }).getByText('Left out', { exact: true }).waitFor()
    const packages = await rowsOf(id, 'packages')
    expect(packages.map(({ choice }: { choice: string }) => choice)).toEqual(['own', 'own', 'like', 'leave_out'])
    expect(packages[2].like).toMatchObject({ name: 'XL', vcpus: 12, diskGb: 900 })

    // Ranges: the first that waits is decided below the list, the rest in its rows.
    await tab(page, 'Ranges')
    await page.getByRole('radio', { name: 'Keep the addresses' }).press('Space')
    await page.getByRole('button', { name: 'Decide', exact: true }).press('Enter')
    await page.getByRole('heading', { name: '203.0.113.0/25: what is right?' }).waitFor()
    for (const name of ['203.0.113.0/25', '10.0.40.0/24', '2001:db8:40::/48']) {
      const saved = page.waitForResponse((response) => response.request().method() === 'PATCH')
      await page
        .getByLabel(`What happens to ${name}`, { exact: true })
        .first()
        .selectOption('Give copies new addresses')
      expect((await saved).status()).toBe(200)
    }
    expect((await get(id)).left.ranges.rows).toBe(0)

    // Owners: a rule is previewed, which decides nothing, then applied; the others are chosen.
    await tab(page, 'Owners')
    const { mappingVersion } = await get(id)
    await page.getByRole('button', { name: 'Preview: Same e-mail, customer, not locked' }).press('Enter')
    await page.getByText('1 owner match; 1 would change.').waitFor()
    expect((await get(id)).mappingVersion).toBe(mappingVersion)
    await page.getByRole('button', { name: 'Apply: Same e-mail, customer, not locked' }).press('Enter')
    await page.getByText('1 of 1 decided.').waitFor()
    await page.getByLabel('What happens to J. Weber').selectOption('Into the client area')
    await page.getByLabel('What happens to Polder Media').selectOption('A separate account')
    await page.getByRole('link', { name: 'Choose a customer for Unknown owner' }).press('Enter')
    await page.getByRole('radio', { name: 'Cal' }).press('Space')
    await page.getByRole('button', { name: 'Give them the servers' }).press('Enter')
    await page.getByText('A customer that you choose.').first().waitFor()
    const owners = (await rowsOf(id, 'owners')).filter(({ sourceId }: { sourceId: string }) => !/^\d$/.test(sourceId))
    expect(owners.map(({ name, choice }: { name: string; choice: string }) => [name, choice])).toEqual([
      ['Halden Technik', 'merge'],
      ['J. Weber', 'client_area'],
      ['Polder Media', 'separate'],
      ['Unknown owner', 'existing'],
    ])

    await settled(p, id)
    await page.goto(`/admin/imports/${id}`)
    await page.locator('.title .st', { hasText: 'All decided' }).waitFor()
    await page.getByText('Everything is decided.').waitFor()
    expect((await get(id)).left.decisions).toBe(0)
  })
})

test('a spreadsheet is compared before anything is decided, and lines that cannot be used are named', async () => {
  await walk(async (page) => {
    await page.goto(`/admin/imports/${p.id}/file`)
    const { mappingVersion } = await get(p.id)
    await page
      .getByLabel('Lines', { exact: true })
      .fill('part,id,choice,target\npackages,4,leave_out,\nowners,99,mrge,\n')
    await page.getByRole('button', { name: 'See difference' }).press('Enter')
    await page.getByText('1 decision would change').waitFor()
    await page.getByRole('cell', { name: 'owners 99 is not in this import' }).waitFor()
    expect((await get(p.id)).mappingVersion).toBe(mappingVersion)
    await page.getByRole('button', { name: 'Decide so' }).press('Enter')
    await page.getByRole('heading', { name: 'Left to decide' }).waitFor()
    expect((await rowsOf(p.id, 'packages'))[3].choice).toBe('leave_out')
  })
})

test('a choice that is refused is taken back on the page, and one server alone is left out', async () => {
  await walk(async (page) => {
    await page.goto(`/admin/imports/${p.id}/locations`)
    const choice = page.getByLabel('What happens to kvm-fra-02')
    await choice.waitFor()
    // Meanwhile the panel is read again: nothing can be decided.
    p.db.$client.run("UPDATE imports SET status = 'discovering', phase = 'reading' WHERE id = ?", [p.id])
    const before = p.fingerprint(['audit'])
    await choice.selectOption('Leave out of this import')
    await page.locator('.toast.bad', { hasText: 'is being read or checked' }).waitFor()
    expect(await choice.locator('option:checked').textContent()).toBe('Choose…')
    expect(p.fingerprint(['audit'])).toBe(before)
    p.db.$client.run("UPDATE imports SET status = 'mapping', phase = NULL WHERE id = ?", [p.id])

    await page.goto(paths['import-server']!)
    await page.getByRole('button', { name: /^Leave out/ }).press('Enter')
    await page.locator('.title .st', { hasText: 'Left out' }).waitFor()
    await page.getByRole('button', { name: /^Take in again/ }).press('Enter')
    await page.getByRole('button', { name: /^Leave out/ }).waitFor()
  })
})

test('cancelling says what is deleted, and leads back to the list', async () => {
  const id = await begin(p, { name: 'To be cancelled' })
  await discovered(p, id)
  await walk(async (page) => {
    await page.goto(`/admin/imports/${id}`)
    await page.getByRole('button', { name: 'More actions' }).press('Enter')
    await page.getByRole('button', { name: 'Cancel import' }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The stored credentials of SolusVM 2 are deleted.').waitFor()
    await dialog.getByText('All that was read is deleted: 62 servers with their owners and addresses.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel import' }).press('Enter')
    await page.waitForURL('**/admin/imports')
    await turn(p)
    expect((await p.call(p.owner, 'GET', `/admin/migrations/${id}`)).status).toBe(404)
  })
})
