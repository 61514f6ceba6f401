// Lists as people use them in Chromium: sorting, pages, filters, columns that stay in view.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { advanceBulkActions } from '../../../src/compute/bulk-actions/advance.ts'
import { launch, look, open, openMenu, type Screen } from '../../support/browser.ts'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { codeOf, password, person, withApp } from '../../support/second-factor.ts'
import { type Everything, everything } from '../../support/world/everything.ts'

let p: Everything
let staff: ReturnType<typeof pagesFor>
let browser: Browser
let page: Page
let complaints: string[]
beforeAll(async () => {
  p = await everything()
  staff = pagesFor(p, p.owner)
  browser = await launch()
  const opened = await open(browser, undefined, staff.url.origin)
  page = opened.page
  complaints = opened.complaints
  page.setDefaultTimeout(10_000)
}, 120_000)
afterAll(async () => {
  expect(complaints).toEqual([])
  await browser?.close()
  await staff?.stop(true)
  p?.close()
})

const namesShown = () => page.locator('tbody .name > a').allTextContents()
/** The list is redrawn in place: the address changes first. */
async function shows(names: string[]) {
  for (let i = 0; i < 50 && !Bun.deepEquals(await namesShown(), names); i++) await page.waitForTimeout(100)
  expect(await namesShown()).toEqual(names)
}

describe('a list', () => {
  test('is sorted by the title of a column, in reverse, and as it was', async () => {
    await page.goto('/admin/servers')
    const usual = await namesShown()
    const title = page.getByRole('columnheader', { name: 'Server' })
    await title.getByRole('link').click()
    await page.waitForURL(/sort=name/)
    await shows(usual.toSorted())
    expect(await title.getAttribute('aria-sort')).toBe('ascending')
    await title.getByRole('link').click()
    await page.waitForURL(/sort=-name/)
    await shows(usual.toSorted().toReversed())
    await title.getByRole('link').click()
    await page.waitForURL((url) => !url.search)
    await shows(usual)
  })

  test('says which rows a page has, and leads to the next and the previous one', async () => {
    await page.goto('/admin/servers?limit=3&sort=name')
    const all: string[] = []
    for (const range of ['1–3 of 8', '4–6 of 8', '7–8 of 8']) {
      expect(await page.locator('.tools [role=status]').textContent()).toBe(range)
      expect(await page.locator('.pager.end b').textContent()).toBe(range)
      all.push(...(await namesShown()))
      if (all.length < 8)
        await Promise.all([page.waitForNavigation(), page.getByRole('link', { name: 'Next page' }).click()])
    }
    expect(all).toEqual(all.toSorted())
    expect(new Set(all).size).toBe(8)
    for (const range of ['4–6 of 8', '1–3 of 8']) {
      await Promise.all([page.waitForNavigation(), page.getByRole('link', { name: 'Previous page' }).click()])
      expect(await page.locator('.pager.end b').textContent()).toBe(range)
    }
    expect(await page.getByRole('link', { name: 'Previous page' }).count()).toBe(0)
  })

  test('follows the text while one types: one entry in the history, the focus stays, one call at a time', async () => {
    await page.goto('/admin/servers')
    const usual = await namesShown()
    const calls: string[] = []
    const note = (request: { url(): string }) => void calls.push(request.url())
    page.on('request', note)
    const field = page.getByRole('searchbox', { name: 'Search servers' })
    await field.pressSequentially('rex01', { delay: 40 })
    await page.waitForURL(/q=rex01/)
    await shows(['rex01'])
    expect(await page.locator('.tools [role=status]').textContent()).toBe('1 server')
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)
    expect(await field.inputValue()).toBe('rex01')
    page.off('request', note)
    const asked = calls.filter((url) => url.includes('/admin/servers?q='))
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.length).toBeLessThan(4)
    await field.press('End')
    await field.pressSequentially('9', { delay: 40 })
    await page.waitForURL(/q=rex019/)
    await page.getByText('No server matches these filters.').waitFor()
    await page.goBack()
    await shows(usual)
    expect(await field.inputValue()).toBe('')
  })

  test('shows the filter that a link brought as a chip that removes it', async () => {
    await page.goto(`/admin/servers?ownerId=${p.people.reseller.id}&state=running`)
    expect(await namesShown()).toEqual(['rex01'])
    await page.getByRole('link', { name: 'Owner: Rex Remove filter' }).click()
    await page.waitForURL((url) => !url.searchParams.has('ownerId') && url.searchParams.get('state') === 'running')
    await page.getByRole('link', { name: 'Remove filter State' }).click()
    await page.waitForURL((url) => !url.search)
    await page.locator('tbody tr').nth(6).waitFor()
  })

  test('is a spreadsheet with the same filter and order', async () => {
    await page.goto('/admin/servers?state=running&sort=name')
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'CSV' }).click()])
    const text = await Bun.file(await file.path()).text()
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => line.split(',')[1]),
    ).toEqual(['"name"', '"db01"', '"help01"', '"rex01"'])
  })
})

/** Last columns whose cells do not end inside of the page's surface, or that others cover. */
const outside = () =>
  page.evaluate(() => {
    const surface = document.querySelector('main')!.getBoundingClientRect()
    return [...document.querySelectorAll<HTMLElement>('.t tbody tr:first-child td')]
      .filter((cell) => cell.getBoundingClientRect().width > 0)
      .filter((cell) => {
        const inner = [cell, ...cell.querySelectorAll<HTMLElement>('a, b, span, code, summary')]
        return (
          inner.some((element) => element.getBoundingClientRect().right > surface.right + 1) &&
          cell.closest('.t') !== null
        )
      })
      .map((cell) => cell.dataset['l'])
  })

test('a list that is looked at is not sent again while nothing changes, and shows what changes', async () => {
  await page.goto('/admin/servers')
  await page.waitForResponse((r) => r.status() === 304, { timeout: 15_000 })
  p.db.$client.run("UPDATE workloads SET name = 'renamed', version = version + 1 WHERE hostname = 'db01'")
  await page.getByRole('link', { name: 'renamed' }).waitFor()
  expect(await page.locator('#offline').isVisible()).toBe(false)
  p.db.$client.run("UPDATE workloads SET name = 'db01', version = version + 1 WHERE hostname = 'db01'")
  await page.getByRole('link', { name: 'db01' }).waitFor()
})

describe('filters', () => {
  const select = () => page.getByLabel('State', { exact: true })
  /** Marks the document: a reload would lose it. */
  const mark = () => page.evaluate(() => void document.body.setAttribute('data-same', ''))
  const isSame = () => page.evaluate(() => document.body.hasAttribute('data-same'))

  test('change the list without a reload, keep the focus, and come back with Back', async () => {
    await page.goto('/admin/servers')
    await mark()
    await select().selectOption('running')
    await page.waitForURL(/state=running/)
    await page.locator('tbody tr').nth(3).waitFor({ state: 'detached' })
    expect((await namesShown()).toSorted()).toEqual(['db01', 'help01', 'rex01'])
    await select().selectOption('stopped')
    await page.waitForURL(/state=stopped/)
    await page.getByRole('link', { name: 'off01' }).waitFor()
    await page.goBack()
    await page.waitForURL(/state=running/)
    await page.getByRole('link', { name: 'db01' }).waitFor()
    expect([await select().inputValue(), await isSame()]).toEqual(['running', true])
    await page.goBack()
    await page.waitForURL((url) => !url.search)
    await page.getByRole('link', { name: 'held01' }).waitFor()
    expect(await select().inputValue()).toBe('')
    // From another page, too.
    await page.goto('/admin/servers?state=stopped')
    await page.getByRole('link', { name: 'off01' }).waitFor()
    await page.goto('/admin/jobs')
    await page.goBack()
    expect(await select().inputValue()).toBe('stopped')
  })

  test('leave somebody with a keyboard where they are, also while choices are passed', async () => {
    await page.goto('/admin/servers')
    await mark()
    await select().focus()
    const asked: string[] = []
    page.on('request', (r) => void (r.url().includes('state=') && asked.push(new URL(r.url()).search)))
    for (const _ of [1, 2, 3]) await page.keyboard.press('ArrowDown')
    await page.waitForURL(/state=running/)
    await page.locator('tbody tr').nth(3).waitFor({ state: 'detached' })
    expect([...new Set(asked)]).toEqual(['?state=running'])
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('q-state')
    expect(await isSame()).toBe(true)
    // A poll asks for the list as it is filtered now.
    await page.waitForRequest((r) => r.headers()['hx-request'] === 'true', { timeout: 6000 })
    expect((await namesShown()).length).toBe(3)
    page.removeAllListeners('request')
  })

  test('are saved under a name, found again as a chip, and removed', async () => {
    await page.goto('/admin/servers?state=stopped&sort=name')
    await page.getByRole('button', { name: 'Save filter', exact: true }).click()
    const dialog = page.locator('dialog[open]')
    await dialog.getByLabel('Name').fill('Off now')
    await dialog.getByRole('button', { name: 'Save filter' }).click()
    const chip = page.getByRole('navigation', { name: 'Saved filters' }).getByRole('link', { name: 'Off now' })
    await chip.and(page.locator('[aria-current=page]')).waitFor()
    await page.goto('/admin/servers')
    await chip.click()
    await page.waitForURL('**/admin/servers?sort=name&state=stopped')
    await shows(['off01'])
    expect(await look(page, 'servers-saved-filter')).toEqual([])
    await page.getByRole('button', { name: 'Remove saved filter' }).click()
    await chip.waitFor({ state: 'detached' })
  })

  test('sent with Enter leave the cursor in the field', async () => {
    await page.goto('/admin/servers')
    await mark()
    await page.getByLabel('Search servers', { exact: true }).fill('rex')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=rex/)
    await page.locator('tbody tr').nth(2).waitFor({ state: 'detached' })
    expect(page.url()).not.toContain('state=')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('q-q')
    expect(await isSame()).toBe(true)
  })
})

describe('a session that ended', () => {
  test('is opened again in a dialog, and the same call goes on with what was typed', async () => {
    const cal = person(p)
    using own = pagesFor(p, cal)
    await page.goto(`${own.url.origin}/account/ssh-keys`)
    await page.getByRole('button', { name: 'Add SSH key' }).first().click()
    await page.locator('dialog[open]').getByLabel('Name').fill('typed before')
    await page
      .getByLabel('Public key')
      .fill('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl')
    p.db.$client.run('DELETE FROM sessions WHERE account_id = ?', [cal.id])
    await page.locator('dialog[open]').getByRole('button', { name: 'Add SSH key' }).click()
    const dialog = page.locator('#again')
    await dialog.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    expect(await look(page, 'session-ended')).toEqual([])
    await dialog.getByLabel('E-mail address').fill(cal.email)
    await dialog.getByLabel('Password').fill('wrong bicycles')
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'typed before', exact: true }).waitFor()
    expect(await dialog.isVisible()).toBe(false)
  })

  test('asks for the second factor too, and sends nothing in the name of somebody else', async () => {
    const cal = person(p)
    using own = pagesFor(p, cal)
    const { secret } = await withApp(p, cal)
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    const end = () => p.db.$client.run('DELETE FROM sessions WHERE account_id = ?', [cal.id])
    const again = async (email: string) => {
      await page.locator('#again').getByLabel('E-mail address').fill(email)
      await page.locator('#again').getByLabel('Password').fill(password)
      await page.keyboard.press('Enter')
    }
    await page.goto(`${own.url.origin}/account`)
    await name.fill('Calvin')
    end()
    await page.getByRole('button', { name: 'Save' }).first().click()
    await again(cal.email)
    await page.locator('#again').getByLabel('Code from your authenticator app').fill(codeOf(p, secret))
    await page.keyboard.press('Enter')
    await page.locator('#toasts').getByText('Saved').waitFor()
    const nameOf = (id: string) =>
      p.db.$client.query('SELECT name FROM accounts WHERE id = ?').get(id) as { name: string }
    expect(nameOf(cal.id).name).toBe('Calvin')

    const other = person(p)
    await name.fill('Mallory')
    end()
    await page.getByRole('button', { name: 'Save' }).first().click()
    await again(other.email)
    await page.getByText('You signed in with another account. Nothing was sent.').waitFor()
    expect([nameOf(cal.id).name, nameOf(other.id).name]).toEqual(['Calvin', 'Cal'])
  })
})

test('access by keys cannot be chosen for a customer without a key, and says where to add one', async () => {
  const keyless = p.account('customer', 'Keyless')
  await page.goto(`/admin/servers/new?ownerId=${keyless.id}`)
  const keys = page.getByRole('radio', { name: 'SSH keys' })
  await page.getByRole('link', { name: 'Add a key first' }).waitFor()
  expect(await keys.isDisabled()).toBe(true)
  expect(await page.getByRole('radio', { name: 'Password' }).isChecked()).toBe(true)
  expect(await look(page, 'order')).toEqual([])
  // Also one who is not among the few that are shown.
  await page.goto(`/admin/servers/new?ownerId=${p.customer.id}`)
  expect(await page.locator('.sum').textContent()).toContain('Cal')
  await page.getByRole('radio', { name: 'SSH keys' }).check()
  await page.locator('.keys input').first().waitFor()
  expect(await page.getByRole('link', { name: 'Add a key first' }).count()).toBe(0)
})

test('a package is edited in a form over the list, which keeps its order; one form is there for all', async () => {
  const { name } = p.db.$client.query<{ name: string }, []>('SELECT name FROM packages ORDER BY name LIMIT 1').get()!
  await page.goto('/admin/packages?sort=-name')
  expect(await page.locator('[data-call="packages.update"] [name=vcpus]').count()).toBe(0)
  await openMenu(page, `Actions for ${name}`)
  await page.getByRole('link', { name: `Edit ${name}` }).click()
  const form = page.getByRole('dialog', { name: `Edit ${name}` })
  await form.waitFor()
  const nameField = form.getByRole('textbox', { name: 'Name', exact: true })
  expect([await nameField.inputValue(), await nameField.evaluate((e) => e === document.activeElement)]).toEqual([
    name,
    true,
  ])
  expect(await look(page, 'package-edit')).toEqual([])
  await page.keyboard.press('Escape')
  await page.waitForURL((url) => url.search === '?sort=-name')
  expect(await form.count()).toBe(0)

  await page.goto(new URL(`?sort=-name&edit=${p.pack}`, page.url()).href)
  const title = await page.getByRole('dialog').getByRole('heading').first().textContent()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name', exact: true }).fill('Renamed here')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL((url) => url.search === '?sort=-name')
  await page.getByText('Renamed here', { exact: true }).first().waitFor()
  expect(title).toMatch(/^Edit /)
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { name: title!.slice('Edit '.length) })
})

describe('many servers', () => {
  const jobs = (kind: string) =>
    p.db.$client.query<{ n: number }, [string]>('SELECT count(*) AS n FROM jobs WHERE kind = ?').get(kind)!.n

  test('are planned on a page that names those that cannot; it leads to the result of each', async () => {
    const before = jobs('power')
    await page.goto('/admin/servers?sort=name')
    await page.getByRole('checkbox', { name: 'All on this page' }).check()
    await page.getByRole('button', { name: 'Restart selected' }).click()
    await page.getByRole('heading', { name: 'Restart 8 servers?' }).waitFor()
    expect((await page.locator('#reasons li').allInnerTexts()).map((words) => words.split('\n')).toSorted()).toEqual([
      [expect.stringMatching(/^held01 is suspended/), 'held01'],
      ['off01 is stopped.', 'off01'],
      [expect.stringMatching(/^server2 is waiting for its setup/), 'server2, server3, server4'],
    ])
    expect(await look(page, 'bulk-plan')).toEqual([])
    expect(jobs('power')).toBe(before)

    await page.getByRole('button', { name: 'Restart: 3 servers' }).click()
    await page.waitForURL(/bulk-actions\/blk_/)
    for (let i = 0; i < 6; i++) {
      advanceBulkActions(p.db, p.controller.app)
      await p.settle()
    }
    await page.reload()
    await page.getByText('Done', { exact: true }).first().waitFor()
    expect(await page.locator('.stats').textContent()).toContain('Done3 of 8')
    expect(await look(page, 'bulk-action')).toEqual([])
    await page.getByRole('link', { name: 'Refused' }).click()
    await page.waitForURL(/state=refused/)
    expect(await page.locator('#servers tbody tr').count()).toBe(5)
    expect(jobs('power') - before).toBe(3)
  })

  test('all that match the filters are chosen over all pages of the list', async () => {
    await page.goto('/admin/servers?limit=2&status=pending_setup')
    await page.getByRole('checkbox', { name: 'All on this page' }).check()
    await page.getByRole('button', { name: 'All 3 that match' }).click()
    expect(await page.locator('[data-chosen-count]').textContent()).toBe('3 selected')
    await page.getByRole('button', { name: 'Label selected' }).click()
    await page.getByRole('heading', { name: 'Change labels of 3 servers?' }).waitFor()
    expect(page.url()).toContain('status=pending_setup')
  })

  test('of a node have one plan from the page of the node', async () => {
    await page.goto(`/admin/nodes/${p.node.id}`)
    await openMenu(page, 'Actions for all 8 servers of this node')
    await page.getByRole('link', { name: 'Shut down all' }).click()
    await page.getByRole('heading', { name: 'Shut down 8 servers?' }).waitFor()
    expect(new URL(page.url()).searchParams.get('nodeId')).toBe(p.node.id)
  })

  test('of a reseller are asked for in a dialog that says who cannot', async () => {
    using reseller = pagesFor(p, p.people.reseller)
    await page.goto(`${reseller.url.origin}/reseller/servers`)
    await page.getByRole('checkbox', { name: 'All on this page' }).check()
    await page.getByRole('button', { name: 'Start selected', exact: true }).click()
    const dialog = page.locator('#bulk')
    expect(await dialog.getByRole('heading').textContent()).toBe('Start: not possible for these 3 servers')
    expect(await dialog.locator('li').count()).toBeGreaterThan(0)
    expect(await dialog.getByRole('button', { name: 'Start', exact: true }).count()).toBe(0)
    expect(await look(page, 'bulk')).toEqual([])
  })
})

test('a reseller switches many, and a member of staff without the right sees no tick', async () => {
  using reseller = pagesFor(p, p.people.reseller)
  using reader = pagesFor(p, p.staff(['servers.see_all']))
  const ticks = async (origin: string, path: string) => {
    await page.goto(origin + path)
    return [await page.locator('[data-tick]').count(), await page.locator('[data-press]').count()]
  }
  expect(await ticks(reseller.url.origin, '/reseller/servers')).toEqual([3, 6])
  expect(await ticks(reader.url.origin, '/admin/servers')).toEqual([0, 0])
})

describe('columns', () => {
  beforeAll(() => {
    const { $client } = p.db
    const triggers = $client.query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'",
    )
    for (const { name } of triggers.all()) $client.run(`DROP TRIGGER ${name}`)
    $client.run(`UPDATE audit SET from_address = '2001:0db8:85a3:1234:5678:8a2e:0370:7334',
      result = 'second_factor_required'`)
    $client.run("UPDATE workloads SET name = 'a-very-long-name-of-a-server-that-somebody-chose-for-it.example.com'")
  })
  const widths: Screen[] = [1280, 1024, 820].map((width) => ({ width, height: 900, scheme: 'light' }))
  for (const { width, height } of widths)
    test(`stay on the page at ${width} px, whatever a row holds`, async () => {
      await page.setViewportSize({ width, height })
      for (const path of ['/admin/audit', '/account/activity', '/admin/servers', '/admin/jobs', '/admin/customers']) {
        await page.goto(path)
        expect([path, await outside()]).toEqual([path, []])
        const wide = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        )
        expect([path, wide]).toEqual([path, 0])
      }
    })
})

test('a sorted and filtered list is clean for axe', async () => {
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.goto('/admin/servers?limit=2&sort=owner&status=running')
  expect(await look(page, 'list')).toEqual([])
})
