// An agent that runs as a process of its own is killed with SIGKILL while a member of staff looks at the panel in
// Chromium, in real time: within 90 seconds a mail, a webhook, a notice and red marks tell of it, and no page shows
// what is on the node as running. All of it is gone when the agent has been started again.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import type { Subprocess } from 'bun'
import type { Browser, Page } from 'playwright-core'
import { START_GRACE_MS } from '../../../../src/platform/outages/watch.ts'
import { launch, look, open, screens, signIn } from '../../../support/browser.ts'
import { emptyQcow2 } from '../../../support/guest.ts'
import { type Mailbox, mailbox } from '../../../support/services/mailbox.ts'
import { receiver } from '../../../support/services/receiver.ts'
import { eventually } from '../../../support/waiting/eventually.ts'
import { type Installation, installation } from '../../../support/world/processes.ts'

const SERVERS = 3
const ca = `/tmp/berth-killed-agent-${process.pid}.pem`
let live: Installation
let box: Mailbox
let hooks: Awaited<ReturnType<typeof receiver>>
let browser: Browser
let page: Page
let complaints: string[]
let startedAt: number
let home: string
let agent: Subprocess
let token: string
let server: string

beforeAll(async () => {
  box = await mailbox()
  hooks = await receiver()
  await Bun.write(ca, hooks.cert)
  live = await installation({ PANEL_WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8', PANEL_WEBHOOK_CA_FILE: ca })
  await live.serve()
  startedAt = Date.now()
  token = await live.ownerToken()
  await live.admin('mail.configure', { host: '127.0.0.1', port: box.port, plain: true, from: 'panel@berth.test' })
  const url = `https://127.0.0.1:${hooks.port}/outages`
  await live.admin('webhooks.create', { url, events: ['node.away', 'node.back'] })
  const location = (await live.admin('locations.create', { name: 'Frankfurt' })).id
  home = await live.enroll(location, 'fra-01')
  agent = live.agent(home)
  const node = await live.until('the node', async () => (await nodes()).find(({ connected }) => connected))
  const network = { network: '203.0.113.0/24', gateway: '203.0.113.1' }
  await live.admin('pools.create', { name: 'Frankfurt IPv4', ...network, nodeIds: [node.id] })
  const { id: packageId } = await live.admin('packages.create', { name: 'S', vcpus: 1, memoryMb: 512, diskGb: 3 })
  await Bun.write(`${live.dir}/incoming/tiny.qcow2`, emptyQcow2())
  await live.admin('images.import', { file: 'tiny.qcow2', name: 'Tiny' })
  const { id: imageId } = (await live.admin('images.list')).data[0]
  const { id: ownerId } = await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })
  const order = { ownerId, packageId, nodeGroupId: location, imageId, access: { mode: 'password' } }
  for (let n = 1; n <= SERVERS; n++) {
    const made = await live.api(token, 'POST', '/admin/servers', { ...order, hostname: `shop0${n}` })
    expect([made.status, made.body.error]).toEqual([201, undefined])
    server = made.body.serverId
  }
  await live.until('servers that run', async () => (await states()).every((state) => state === 'running'))
  browser = await launch()
  const opened = await open(browser, screens[0], live.url)
  page = opened.page
  complaints = opened.complaints
  await signIn(page, 'ada@example.com', 'seven green bicycles')
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await live?.close()
  hooks?.close()
  box?.close()
  rmSync(ca, { force: true })
})

const nodes = async (): Promise<{ id: string; connected: boolean }[]> =>
  (await live.api(token, 'GET', '/admin/nodes')).body.data
const states = async (): Promise<string[]> =>
  (await live.api(token, 'GET', '/admin/servers')).body.data.map(({ status }: { status: string }) => status)
const mails = () => box.taken.map(({ subject }) => subject).filter((subject) => subject.includes('fra-01'))
const events = () => hooks.received.map(({ body }) => JSON.parse(body)).map(({ type, data }) => ({ type, data }))

/** The state of things as a person reads it on the pages. */
async function shown() {
  await page.goto('/admin/node-groups')
  const row = page.locator('main tbody tr', { hasText: 'Frankfurt' })
  const [location, green] = [(await row.locator('.state').allInnerTexts()).join(), await row.locator('.st.ok').count()]
  const mark = page.locator('#mark-nodes')
  const marked = (await mark.isVisible()) ? (await mark.allInnerTexts()).join().trim() : ''
  const unread = await page.locator('#unread b').count()
  await page.goto('/admin/servers?state=unreachable')
  await page.locator('#list').waitFor()
  const unreachable = await page.locator('#list tbody tr').count()
  await page.goto('/admin/servers?state=running')
  const running = await page.locator('#list tbody tr').count()
  await page.goto(`/admin/servers/${server}`)
  const stale = await page.locator('main .stale', { hasText: 'CPU' }).count()
  const title = (await page.locator('main .title .st').allInnerTexts()).join()
  return { location, green, marked, unread, unreachable, running, stale, title }
}

test('a killed agent is told of within 90 seconds and shown as away on every page, and nothing of it is left when it ' +
  'has been started again', async () => {
  const healthy = await shown()
  expect(healthy).toMatchObject({
    location: expect.stringMatching(/^Open\b/),
    green: 1,
    marked: '',
    unread: 0,
    unreachable: 0,
    running: SERVERS,
    stale: 0,
  })
  expect(healthy.title).toBe('Running')
  expect([mails(), events()]).toEqual([[], []])
  const node = expect.objectContaining({ name: 'fra-01' })
  // For as long after its start a controller lets nodes come back, and tells of none.
  await Bun.sleep(Math.max(0, startedAt + START_GRACE_MS - 60_000 - Date.now()))

  await page.goto('/admin')
  const red = page.locator('#attention li.soft.bad', { hasText: 'fra-01 does not answer.' })
  expect(await red.count()).toBe(0)
  process.kill(agent.pid, 'SIGKILL')
  const killedAt = Date.now()
  await agent.exited
  expect(agent.signalCode).toBe('SIGKILL')
  // At once, and without a reload.
  await page.locator('#mark-nodes').getByText('1 away').waitFor({ timeout: 20_000 })
  await eventually(() => mails().length > 0 && events().length > 0, 90 - (Date.now() - killedAt) / 1000)
  const seconds = (Date.now() - killedAt) / 1000
  expect(seconds).toBeLessThan(90)
  expect(mails()).toEqual([`fra-01 does not answer: ${SERVERS} servers of 1 customer`])
  expect(events()).toEqual([{ type: 'node.away', data: expect.objectContaining({ node, servers: SERVERS }) }])
  await red.waitFor({ timeout: 15_000 })
  await page.locator('#unread b').waitFor({ timeout: 15_000 })
  expect(Date.now() - killedAt).toBeLessThan(105_000)
  expect(await look(page, 'killed-agent-overview')).toEqual([])

  const away = await shown()
  expect(away).toMatchObject({ green: 0, marked: '1 away', unread: 1, unreachable: SERVERS, running: 0, stale: 1 })
  expect([away.location, away.title]).toEqual([
    expect.stringMatching(/^Its node is away/),
    expect.stringMatching(/^Unreachable/),
  ])
  await page.goto('/account/notifications')
  const notice = page.locator('#notices li.soft.bad', { hasText: 'fra-01 does not answer' })
  await notice.waitFor()

  live.agent(home)
  await page.locator('#notices li', { hasText: 'fra-01 is back' }).waitFor({ timeout: 45_000 })
  expect(await notice.count()).toBe(0)
  await eventually(() => mails().length > 1 && events().length > 1, 15)
  expect(mails()[1]).toMatch(/^fra-01 is back after [12] min$/)
  expect(events()[1]).toMatchObject({ type: 'node.back', data: { node } })
  expect(await shown()).toEqual(healthy)
  await page.goto('/admin')
  await page.locator('#attention').waitFor({ state: 'attached' })
  expect(await red.count()).toBe(0)
  expect(complaints).toEqual([])
}, 240_000)
