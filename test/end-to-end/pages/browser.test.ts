// The main job as a person does it, in Chromium over the compiled program: first start, order, follow the log, power,
// terminate.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { registry } from '../../../src/app/features.ts'
import { launch, look, open, openAccountMenu, openMenu, screens, signIn, sticksOut } from '../../support/browser.ts'
import { emptyQcow2 } from '../../support/guest.ts'
import { addDrain, addRolling } from '../../support/nodes/drains.ts'
import { addTransfer } from '../../support/nodes/transfers.ts'
import { addRollOut } from '../../support/releases/roll-outs.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import type { World } from '../../support/world/panel.ts'
import { type Installation, installation } from '../../support/world/processes.ts'

let live: Installation
let browser: Browser
let page: Page
let complaints: string[]
let server = ''
const password = 'seven green bicycles'

beforeAll(async () => {
  live = await installation()
  await live.serve()
  browser = await launch()
  const opened = await open(browser, screens[0]!, live.url)
  page = opened.page
  complaints = opened.complaints
  page.setDefaultTimeout(15_000)
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await live?.close()
})

/** Axe and the console are clean. */
const clean = async (name: string) => {
  expect({ page: name, axe: await look(page, name) }).toEqual({ page: name, axe: [] })
  expect({ page: name, complaints }).toEqual({ page: name, complaints: [] })
}

type Person = { area: RegExp; cookies: Parameters<BrowserContext['addCookies']>[0]; ids: Record<string, string> }
let made: Person[] | undefined
/** One person of each kind and the pages that this person can open. Pages for everybody are opened as staff. */
async function people(): Promise<Person[]> {
  if (made) return made
  const first = async (operation: string) => (await live.admin(operation)).data[0].id
  const rita = await first('resellers.list')
  const location = await first('locations.list')
  const { token } = await live.admin('tokens.grant', {
    account: 'rita@example.com',
    name: 'tests',
    preset: 'reseller-billing',
  })
  const clara = (await live.api(token, 'POST', '/reseller/customers', { name: 'Clara', email: 'clara@example.com' }))
    .body.id
  const order = {
    ownerId: clara,
    packageId: await first('packages.list'),
    nodeGroupId: location,
    imageId: await first('images.list'),
  }
  const sold = (
    await live.api(token, 'POST', '/reseller/servers', { ...order, hostname: 'shop01', access: { mode: 'password' } })
  ).body
  const cookiesOf = async (email: string) => {
    await live.givePassword(email, password)
    const visit = await open(browser, screens[0]!, live.url)
    await signIn(visit.page, email, password)
    const cookies = await visit.context.cookies()
    await visit.context.close()
    return cookies
  }
  const hook = { url: 'https://billing.example.com/berth', events: ['*'] }
  const webhookOf = async (account: string) => {
    const scopes = ['webhooks:write']
    const { token } = await live.admin('tokens.grant', { account, name: 'webhooks', scopes })
    return (await live.api(token, 'POST', '/webhooks', hook)).body.id
  }
  const cal = (await live.admin('customers.list')).data.find((c: any) => c.email === 'cal@example.com').id
  const instances = await gpuInstances(location, { cal, clara })
  const content = '#!/bin/sh\ntrue\n'
  const scripts = (await live.admin('scripts.create', { id: cal, name: 'Web server', content })).id
  const groupOf = async (owner: string) =>
    (await live.admin('placement-groups.create', { id: owner, name: 'Web', policy: 'anti_affinity', hard: false })).id
  const node = await first('nodes.list')
  const group = await groupOf(cal)
  await live.admin('placement-groups.add-server', { id: group, serverId: server })
  const own = {
    'placement-groups': group,
    servers: server,
    jobs: (await live.admin('jobs.list')).data.find((j: any) => j.serverId === server).id,
  }
  await live.admin('packages.update', { id: order.packageId, volumeGb: 50 })
  await live.admin('volumes.create', { id: server, name: 'data', sizeGb: 1 })
  await eventually(async () => (await live.admin('servers.get', { id: server })).job === null)
  const demo = { kind: 'demo', address: 'https://demo-12.example:443', credentials: { token: 'any' } }
  const { id: imported } = await live.admin('imports.create', demo)
  await live.admin('imports.discover', { id: imported })
  await live.until('an import that was read', async () => {
    const { status } = await live.admin('imports.get', { id: imported })
    return status === 'mapping'
  })
  const disk = await live.admin('backup-targets.add-local', { name: 'Disk', address: '/srv/backups' })
  await live.admin('backup-targets.make-default', { id: disk.id })
  const backupOf = async (id: string): Promise<string> => {
    const isRunning = async () => (await live.admin('servers.get', { id })).status === 'running'
    await live.until('a server that is set up', isRunning)
    const { backupId } = await live.admin('backups.create', { id })
    await live.until('its backup', async () => (await live.admin('backups.get', { id: backupId })).state === 'ready')
    return backupId
  }
  const backups = await backupOf(server)
  await live.admin('snapshots.create', { id: server, name: 'before-update', comment: 'PHP 8.3' })
  made = [
    {
      area: /^\/(admin|account(?!\/(ssh-keys|webhooks|events))|login|search)/,
      cookies: await page.context().cookies(),
      ids: {
        ...own,
        backups,
        'gpu-instances': instances.cal,
        customers: await first('customers.list'),
        resellers: rita,
        nodes: node,
        'ip-pools': await first('pools.list'),
        images: order.imageId,
        roles: await first('roles.list'),
        webhooks: (await live.admin('webhooks.create', hook)).id,
        transfers: recorded((p) => addTransfer(p, server)),
        drains: recorded((p) => addDrain(p, node, server)),
        'rolling-maintenance': recorded((p) => addRolling(p, node, addDrain(p, node, server), 'cancelled')),
        'roll-outs': recorded((p) => addRollOut(p, node)),
        reference: 'servers',
        'bulk-actions': (await live.admin('servers.label-many', { ids: [server], add: ['checked'] })).id,
        messages: (await live.admin('messages.create', { subject: 'Work at night', text: 'Hello.' })).id,
        addresses: (await live.admin('servers.get', { id: server })).ipv4,
        'node-groups': location,
        imports: imported,
        'import-servers': (await live.admin('imports.servers', { id: imported })).data[0].id,
        enroll: (await live.admin('nodes.enroll', { locationId: location })).id,
      },
    },
    {
      area: /^\/reseller/,
      cookies: await cookiesOf('rita@example.com'),
      ids: {
        servers: sold.serverId,
        'placement-groups': await groupOf(clara),
        jobs: sold.jobId,
        backups: await backupOf(sold.serverId),
        gpu: instances.clara,
        customers: clara,
        webhooks: await webhookOf('rita@example.com'),
      },
    },
    {
      area: new RegExp(
        '^/($|servers|gpu|backup|placement-groups|jobs|team|usage|scripts|images|api-reference|' +
          'account/(ssh-keys|webhooks|event))',
      ),
      cookies: await cookiesOf('cal@example.com'),
      ids: {
        ...own,
        ...{ backups, gpu: instances.cal, webhooks: await webhookOf('cal@example.com'), scripts },
        'api-reference': 'servers',
      },
    },
  ]
  return made
}

/** A record that is written into the database of the installation; its id. */
function recorded(add: (p: Pick<World, 'db' | 'now'>) => string): string {
  const $client = new Database(`${live.dir}/berth.db`)
  $client.run('PRAGMA busy_timeout = 5000')
  try {
    return add({ db: { $client } as World['db'], now: Date.now })
  } finally {
    $client.close()
  }
}

/** A GPU instance of each of these accounts; their ids. */
async function gpuInstances<Name extends string>(location: string, owners: Record<Name, string>) {
  const reference = `registry.example.com/ml/pytorch@sha256:${'0'.repeat(64)}`
  const { id: imageId } = await live.admin('gpu-images.create', {
    name: 'PyTorch 2.9',
    reference,
    mostMb: 8192,
    jupyter: true,
    ports: [7860],
  })
  const size = { cards: 1, vcpus: 2, memoryMb: 2048, workspaceGb: 10, ports: 3, ownIpv4: false }
  const { id: offerId } = await live.admin('gpu-offers.create', {
    name: '1 × L4',
    model: 'NVIDIA L4',
    ...size,
    imageIds: [imageId],
    selfService: true,
    ...{ price: '0.79', currency: 'EUR', pricePer: 'hour' },
  })
  await live.until('cards that passed their check', async () =>
    (await live.admin('gpu-offers.list')).data[0].locations.some(({ free }: { free: number }) => free >= 2),
  )
  const [host] = (await live.admin('gpus.list')).data
  await live.admin('gpus.update-host', { id: host.nodeId, httpDomain: 'gpu1.example.com' })
  for (const id of Object.values<string>(owners)) await live.admin('customers.set-gpu-limit', { id, gpuLimit: 4 })
  const made = {} as Record<Name, string>
  for (const name of Object.keys(owners) as Name[]) {
    const order = { ownerId: owners[name], offerId, nodeGroupId: location, name: `train <b>${name}</b>` }
    made[name] = (await live.admin('gpu-instances.create', order)).instanceId
    await live.until('the instance with its names', async () => {
      const { sshCommand, httpPorts } = await live.admin('gpu-instances.get', { id: made[name] })
      return sshCommand && httpPorts.length
    })
  }
  return made
}

describe('a person at a new installation', () => {
  test('makes the first staff account with the link from the journal, and only with it', async () => {
    await page.goto('/setup?token=guessed')
    await clean('setup-wrong-link')
    const link = /\/setup\?token=[\w-]+/.exec(await live.log('controller-0'))![0]
    await page.goto(link)
    await page.getByLabel('Name').fill('Ada')
    await page.getByLabel('E-mail address').fill('ada@example.com')
    await page.getByLabel('Password').first().fill('short')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await clean('setup-refused')
    await page.getByLabel('Password').first().fill(password)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/setup/second-factor')
    await clean('setup-second-factor')
    await page.getByRole('link', { name: 'Later' }).click()
    await page.waitForURL('**/admin')
    await clean('overview-empty')
  }, 120_000)

  test('signs out, and in again with the keyboard alone', async () => {
    await openAccountMenu(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/login**')
    await page.goto('/admin/servers')
    await page.waitForURL('**/login?next=%2Fadmin%2Fservers')
    // The page puts the cursor where typing begins; a person sees it there first.
    await page.locator('input[name=email]:focus').waitFor()
    await page.keyboard.type('ada@example.com')
    expect(await page.getByLabel('E-mail address').inputValue()).toBe('ada@example.com')
    await page.keyboard.press('Tab')
    await page.locator('input[name=password]:focus').waitFor()
    await page.keyboard.type('wrong password here')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await clean('login-refused')
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/admin/servers')
    await clean('servers-empty')
  }, 120_000)

  test('orders a server, is shown its root password once, and follows the log to its end', async () => {
    const location = (await live.admin('locations.create', { name: 'Frankfurt' })).id
    const home = await live.enroll(location, 'fra-01', ['--fake'], {
      bootMs: 2500,
      memoryMb: 65_536,
      cards: [1, 2].map((n) => ({ uuid: `GPU-0000000${n}`, model: 'NVIDIA L4', memoryMb: 23_034 })),
    })
    live.agent(home)
    const node = await live.until('the node', async () =>
      (await live.admin('nodes.list')).data.find((n: any) => n.connected && n.load?.pools.length),
    )
    await live.admin('pools.create', {
      name: 'Frankfurt IPv4',
      network: '203.0.113.0/24',
      gateway: '203.0.113.1',
      nodeIds: [node.id],
    })
    await live.admin('pools.create', {
      name: 'Frankfurt IPv6',
      network: '2001:db8:40::/48',
      gateway: 'fe80::1',
      nodeIds: [node.id],
    })
    await live.admin('packages.create', { name: 'KVM 2G', vcpus: 2, memoryMb: 2048, diskGb: 40, ipv6Prefix: 64 })
    await Bun.write(`${live.dir}/incoming/debian.qcow2`, emptyQcow2())
    await live.admin('images.import', { file: 'debian.qcow2', name: 'Debian 13', minDiskGb: 3 })
    await live.admin('customers.create', { name: 'Cal <b>Customer</b>', email: 'cal@example.com' })
    await live.admin('resellers.create', {
      name: 'Rita <b>Reseller</b>',
      email: 'rita@example.com',
      quotas: { customers: 1, servers: 10, gpus: 1 },
      packageIds: (await live.admin('packages.list')).data.map((p: any) => p.id),
      locationIds: [location],
    })

    await page.goto('/admin/servers/new')
    for (const choice of [/^Cal <b>/, /^KVM 2G/, /^Frankfurt/, /^Debian 13/])
      await page.getByRole('radio', { name: choice }).check()
    await page.getByLabel('Hostname').fill('web01')
    await clean('server-new')
    await page.getByRole('button', { name: 'Create server' }).click()
    const secret = page.locator('.secret').filter({ hasText: /^[A-Za-z2-9]{20}$/ })
    await secret.waitFor()
    await clean('root-password-once')
    await page.getByRole('button', { name: "I've saved it" }).click()
    await page.waitForURL(/\/admin\/(servers|jobs)\//)
    server = (await live.admin('servers.list-all')).data[0].id
    // A new node checks its cards by itself, so the newest job may be that.
    const job = (await live.admin('jobs.list')).data.find(({ title }: any) => title === 'Install web01').id
    await page.goto(`/admin/jobs/${job}`)
    await page.getByText('Waiting until it answers').first().waitFor()
    await page.getByText('Done.').first().waitFor({ timeout: 20_000 })
    expect((await live.admin('jobs.get', { jobId: job })).state).toBe('succeeded')
    await clean('job-done')
    await page.goto(`/admin/servers/${server}`)
    await page.locator('.st').filter({ hasText: 'Running' }).first().waitFor()
    await clean('server-running')
  }, 120_000)

  test('switches it off and on, and sees its state change without reloading', async () => {
    await openMenu(page, 'More actions')
    await page.getByRole('button', { name: 'Shut down' }).click()
    await page.locator('dialog[open]').getByRole('button', { name: 'Shut down' }).click()
    await page.locator('.st').filter({ hasText: 'Stopped' }).first().waitFor()
    await clean('server-stopped')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.locator('.st').filter({ hasText: 'Running' }).first().waitFor()
    expect((await live.admin('servers.get', { id: server })).status).toBe('running')
  }, 120_000)

  test('finds a server and a page from anywhere, with the keyboard alone', async () => {
    await page.goto('/admin')
    await page.keyboard.press('Control+k')
    // Before anything is typed it shows what can be done.
    await page.locator('#found a', { hasText: 'Create server' }).waitFor()
    await page.keyboard.type('web01')
    await page.locator('#found[data-for=web01] a').first().waitFor()
    await page.keyboard.press('ArrowDown')
    expect(await page.locator('dialog[open] input[role=combobox]').getAttribute('aria-activedescendant')).toBe(
      'found-0',
    )
    await clean('palette')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/admin/servers/${server}`)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('audit')
    // At once: it opens what is found by it, not what still stands there.
    await page.keyboard.press('Enter')
    await page.waitForURL('**/admin/audit')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('add location')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/admin/node-groups')
    await page.locator('dialog[open]').getByRole('heading', { name: 'Add location' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Escape')
    expect(await page.locator('dialog[open]').count()).toBe(0)
  }, 120_000)

  // Each page is seen on one of the four screens, by turns; the long run has all four.
  for (const [nth, screen] of screens.entries())
    test(`everybody finds every page of theirs clean at ${screen.width} px, ${screen.scheme}: axe, console, ` +
      'nothing sticks out', async () => {
      for (const { area, cookies, ids } of await people()) {
        const visit = await open(browser, screen, live.url)
        await visit.context.addCookies(cookies)
        for (const [i, { path }] of registry.pages.entries()) {
          if (!area.test(path) || !(i % screens.length === nth || process.env['BERTH_LONG'])) continue
          const at = path.replace(/([\w-]+)\/\{\w+\}/, (_, collection: string) => `${collection}/${ids[collection]}`)
          const answer = await visit.page.goto(at)
          expect(`${at} ${answer?.status()}`).toBe(`${at} 200`)
          const page = path.replace(/^\/|[{}]/g, '').replaceAll('/', '-') || 'own-overview'
          const name = `${page}-${screen.width}-${screen.scheme}`
          expect({ at, axe: await look(visit.page, name) }).toEqual({ at, axe: [] })
          expect({ at, sticksOut: await sticksOut(visit.page) }).toEqual({ at, sticksOut: false })
          expect({ at, complaints: visit.complaints }).toEqual({ at, complaints: [] })
        }
        await visit.context.close()
      }
    }, 300_000)

  test('tries a call in the reference, on what is there, by the keyboard', async () => {
    await page.goto('/admin/api/reference/servers#servers.get')
    // The call that the address names is open.
    const entry = page.locator('[id="servers.get"]')
    await entry.locator('details[open]').waitFor()
    await page.locator('#servers-get-id').focus()
    await page.keyboard.type(server)
    await page.keyboard.press('Enter')
    const answer = page.getByRole('status', { name: 'Response of servers.get' })
    await answer.filter({ hasText: '"hostname": "web01"' }).waitFor()
    expect(await answer.textContent()).toStartWith('200\n')
    await clean('reference-tried')
    await page.locator('#servers-get-id').fill(`srv_${'0'.repeat(26)}`)
    await page.getByRole('button', { name: 'Try it (servers.get)' }).click()
    await answer.filter({ hasText: 'server_not_found' }).waitFor()
  }, 120_000)

  test('terminates it only after typing its name, and it is gone', async () => {
    await page.goto(`/admin/servers/${server}/settings`)
    await page
      .getByRole('button', { name: /Terminate/ })
      .first()
      .click()
    const dialog = page.locator('dialog[open]')
    const confirm = dialog.getByRole('button', { name: /Terminate/ })
    expect(await confirm.isDisabled()).toBe(true)
    await clean('server-terminate')
    await dialog.getByRole('textbox').fill('web01')
    await confirm.click()
    await live.until(
      'its end',
      async () =>
        (await live.admin('jobs.list')).data[0].kind === 'terminate' &&
        (await live.admin('jobs.list')).data[0].state === 'succeeded',
    )
    await page.goto('/admin/servers')
    expect(await page.locator('tr').getByText('web01').count()).toBe(0)
    expect(complaints).toEqual([])
  }, 120_000)
})
