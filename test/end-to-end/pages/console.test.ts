// The page of a console in Chromium, over a panel whose node is a fake host: keys, text, the way out, what a hostile
// guest writes, and connecting again.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { launch, look, open, screens, sticksOut } from '../../support/browser.ts'
import { consoles } from '../../support/console/consoles.ts'
import { type World, world } from '../../support/world/panel.ts'

let p: World
let c: ReturnType<typeof consoles>
let browser: Browser
let serverId: string
let nextNode: string

beforeAll(async () => {
  p = await world()
  nextNode = p.addNode(p.location, 'fra-02').id
  await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id, nextNode] })
  serverId = (await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, nodeId: p.node.id })).body.serverId
  await p.settle()
  c = consoles(p, p.customer)
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await c?.stop()
  p?.close()
})

const host = () => p.node.agent.host.consoles
const typed = () => host().typed.get(serverId) ?? ''
const forget = () => host().typed.delete(serverId)
const arrives = async (what: string) => {
  for (let i = 0; i < 400 && !typed().includes(what); i++) await Bun.sleep(20)
  expect(typed()).toContain(what)
}
const connected = (page: Page) => page.locator('[data-when=connected]').waitFor({ timeout: 10_000 })

async function visit(kind: 'vnc' | 'serial', screen = screens[0]!) {
  const opened = await open(browser, screen, c.url)
  opened.page.setDefaultTimeout(10_000)
  await opened.page.goto(`/servers/${serverId}/console${kind === 'serial' ? '?kind=serial' : ''}`)
  await connected(opened.page)
  forget()
  return opened
}
const close = async ({ context, complaints }: Awaited<ReturnType<typeof visit>>) => {
  await context.close()
  expect(complaints).toEqual([])
}
const paste = async (page: Page, text: string) => {
  await page.getByRole('button', { name: 'Paste text…' }).click()
  await page.getByLabel('Text', { exact: true }).fill(text)
  await page.getByRole('button', { name: 'Type', exact: true }).click()
}
const picture = (page: Page) => page.evaluate(() => document.querySelector('canvas')!.toDataURL())

describe('the screen', () => {
  test('shows the picture, and keys arrive by their place', async () => {
    const opened = await visit('vnc')
    const { page } = opened
    await page.waitForFunction(() => document.querySelector('canvas')?.width === 640)
    const before = await picture(page)
    await page.locator('canvas').click()
    await page.keyboard.press('KeyA')
    await arrives('1e ')
    for (let i = 0; i < 100 && (await picture(page)) === before; i++) await Bun.sleep(20)
    expect(await picture(page)).not.toBe(before)
    await page.getByRole('button', { name: 'Ctrl Alt Del' }).click()
    // Control, Alt and Delete by their scan codes.
    await arrives('1d 38 d3 ')
    await close(opened)
  }, 60_000)

  test('gives the keyboard back on Ctrl, Alt and Shift together', async () => {
    const opened = await visit('vnc')
    const { page } = opened
    await page.locator('canvas').click()
    await page.keyboard.down('Control')
    await page.keyboard.down('Alt')
    await page.keyboard.down('Shift')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Screen')
    for (const key of ['Shift', 'Alt', 'Control']) await page.keyboard.up(key)
    forget()
    await page.keyboard.press('KeyB')
    await Bun.sleep(100)
    expect(typed()).toBe('')
    await close(opened)
  }, 60_000)

  test('types a text for the keyboard that is chosen, and says what is not on it', async () => {
    const opened = await visit('vnc')
    const { page } = opened
    await paste(page, 'yz@')
    // Y, Z, and Shift with 2.
    await arrives('15 2c 2a 3 ')
    forget()
    await page.getByLabel('Keyboard of the server').selectOption('de')
    await paste(page, 'yz@')
    // The keys of the other two, and AltGr with Q.
    await arrives('2c 15 b8 10 ')
    forget()
    await paste(page, 'a→b')
    await page.getByRole('alert').filter({ hasText: 'left out: →' }).waitFor()
    await page.getByRole('button', { name: 'Type', exact: true }).click()
    await arrives('1e 30 ')
    await close(opened)
  }, 60_000)

  test('stays connected while the page around it is drawn again', async () => {
    const opened = await visit('vnc')
    const { page } = opened
    await page.evaluate(() => (document.querySelector('canvas')!.dataset['mine'] = 'yes'))
    await page.evaluate(() =>
      (globalThis as any).htmx.ajax('GET', location.pathname, { target: '#main', select: '#main', swap: 'outerMorph' }),
    )
    await Bun.sleep(300)
    expect(await page.locator('canvas[data-mine=yes]').count()).toBe(1)
    await page.locator('canvas').click()
    await page.keyboard.press('KeyC')
    await arrives('2e ')
    await close(opened)
  }, 60_000)
})

describe('the serial line', () => {
  test('shows what the guest writes and takes what is typed', async () => {
    const opened = await visit('serial')
    const { page } = opened
    await page.locator('.xterm-rows', { hasText: 'fake login' }).waitFor()
    await page.locator('.xterm-screen').click()
    await page.keyboard.type('root')
    await page.keyboard.press('Enter')
    await arrives('root\r')
    await page.locator('.xterm-rows', { hasText: 'fake login: root' }).waitFor()
    await page.keyboard.down('Control')
    await page.keyboard.down('Alt')
    await page.keyboard.down('Shift')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Serial line')
    await close(opened)
  }, 60_000)

  test('S43: gives a hostile guest no answer, no title, no link and no clipboard', async () => {
    const opened = await visit('serial')
    const { page } = opened
    const title = await page.title()
    const questions = [
      '\x1b[c',
      '\x1b[>c',
      '\x1b[=c',
      '\x1b[5n',
      '\x1b[6n',
      '\x1b[?6n',
      '\x1b[?1$p',
      '\x1b[4$p',
      '\x1b[18t',
      '\x1b]4;1;?\x07',
      '\x1b]10;?\x07',
      '\x1b]11;?\x07',
      '\x1b]12;?\x07',
      '\x1b]52;c;?\x07',
      '\x1bP$qm\x1b\\',
      '\x1b[?1003h\x1b[?1006h\x1b[?1004h',
    ]
    for (const question of questions) host().says(serverId, question)
    host().says(serverId, '\x1b]2;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b[38;2;1;2;3mtrue colour\x1b[0m ')
    host().says(serverId, '\x1b]8;;https://evil.test/\x07the link\x1b]8;;\x07 <img src=x onerror=alert(1)>')
    await page.locator('.xterm-rows', { hasText: '<img src=x' }).waitFor()
    const { x, y } = (await page.locator('.xterm-rows span', { hasText: 'the link' }).first().boundingBox())!
    await page.mouse.click(x + 4, y + 6)
    await page.mouse.move(300, 500)
    await page.mouse.move(320, 510)
    await Bun.sleep(200)
    expect(typed()).toBe('')
    expect(await page.title()).toBe(title)
    expect([opened.context.pages().length, await page.locator('.console img, .xterm a').count()]).toEqual([1, 0])
    await close(opened)
  }, 60_000)

  test('takes the escape characters out of a text that is pasted', async () => {
    const opened = await visit('serial')
    const { page } = opened
    host().says(serverId, '\x1b[?2004h')
    await Bun.sleep(100)
    await paste(page, 'echo one\x1b[201~\nrm -rf /')
    await arrives('\x1b[200~echo one[201~\rrm -rf /\x1b[201~')
    await close(opened)
  }, 60_000)

  test('fits the terminal to its place and tells the server', async () => {
    const opened = await visit('serial')
    await opened.page.getByRole('button', { name: 'Fit size' }).click()
    await arrives('stty cols ')
    expect(typed()).toMatch(/^stty cols \d{2,3} rows \d{2}\r$/)
    await close(opened)
  }, 60_000)
})

describe('a console that ends', () => {
  test('says why and connects again by itself once the server runs', async () => {
    const opened = await visit('serial')
    const { page } = opened
    await p.admin('POST', `/servers/${serverId}/actions/power`, { action: 'off' })
    await host().forget(serverId)
    await page.locator('[data-words]', { hasText: /web01 is stopped|The server is off/ }).waitFor()
    await p.settle()
    await p.admin('POST', `/servers/${serverId}/actions/power`, { action: 'start' })
    await p.settle()
    await page.getByRole('button', { name: 'Connect now' }).click()
    await connected(page)
    await page.locator('.xterm-rows', { hasText: 'fake login' }).waitFor()
    await opened.context.close()
  }, 60_000)

  test('says that the server moves, and goes on by itself on the new node', async () => {
    const opened = await visit('serial')
    const { page } = opened
    const words = page.locator('[data-words]', { hasText: 'The server moves to another node.' })
    const said = words.waitFor()
    await p.admin('POST', `/admin/servers/${serverId}/actions/move`, { nodeId: nextNode })
    await p.settle()
    await said
    await connected(page)
    await page.locator('.xterm-screen').click()
    await page.keyboard.type('here')
    const { consoles: there } = p.agents.get(nextNode)!.host
    for (let i = 0; i < 400 && !there.typed.get(serverId)?.includes('here'); i++) await Bun.sleep(20)
    expect([there.typed.get(serverId), typed()]).toEqual(['here', ''])
    await p.admin('POST', `/admin/servers/${serverId}/actions/move`, { nodeId: p.node.id })
    await p.settle()
    await close(opened)
  }, 60_000)
})

test('a server that is suspended has the page, its reason and no console', async () => {
  await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'overdue' })
  await p.settle()
  const { page, complaints, context } = await open(browser, screens[0]!, c.url)
  await page.goto(`/servers/${serverId}/console`)
  await page.getByText('There is no console now.').waitFor()
  await Bun.sleep(300)
  expect([complaints, await page.locator('[data-console]').count()]).toEqual([[], 0])
  await context.close()
  await p.admin('POST', `/servers/${serverId}/actions/unsuspend`)
  await p.settle()
}, 60_000)

for (const [kind, screen] of [
  ['vnc', screens[3]!],
  ['serial', screens[0]!],
] as const)
  test(`the page of the ${kind} console is clean and fits at ${screen.width} px, connected`, async () => {
    const opened = await visit(kind, screen)
    const name = `console-${kind}-${screen.width}-${screen.scheme}`
    expect([await look(opened.page, name), await sticksOut(opened.page)]).toEqual([[], false])
    await close(opened)
  }, 60_000)
