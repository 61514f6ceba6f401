// Every mail that Berth writes, taken by a real SMTP server: as text and as HTML, with its link in both, to the one it
// is for. A call of `mailTo`, `notify` or `notifyByMail` that is added without a way to it here fails.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { tellOverflow, tellPaused } from '../../../src/billing/webhooks/notices.ts'
import { webhookById } from '../../../src/billing/webhooks/queries.ts'
import { instanceById } from '../../../src/compute/gpu-instances/model.ts'
import { tellIdleStop } from '../../../src/compute/gpu-instances/use/notices.ts'
import { mailResetLinks } from '../../../src/identity/auth/sign-in/password-links.ts'
import { tellAfter } from '../../../src/imports/messages/tell.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { settleTraffic } from '../../../src/network/traffic/limits.ts'
import { alertById } from '../../../src/platform/alerts/queries.ts'
import { tell } from '../../../src/platform/alerts/tell.ts'
import { tellFailures } from '../../../src/platform/jobs/told.ts'
import { sendMessages } from '../../../src/platform/messages/send.ts'
import { START_GRACE_MS } from '../../../src/platform/outages/watch.ts'
import { insertRollOut, insertRollOutNode, rollOutById, rollOutNode } from '../../../src/platform/roll-outs/queries.ts'
import { stopAt } from '../../../src/platform/roll-outs/stop.ts'
import { addMigrated } from '../../imports/report/moved.ts'
import { known, pass } from '../../platform/outages/world.ts'
import { addDrain } from '../../support/nodes/drains.ts'
import { addGpuHost, addGpuOffer } from '../../support/nodes/gpus.ts'
import { withApp } from '../../support/second-factor.ts'
import { mailbox } from '../../support/services/mailbox.ts'
import { provider } from '../../support/services/provider.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const password = 'seven green bicycles'
const home = 'https://panel.test'
let p: World
let box: Awaited<ReturnType<typeof mailbox>>
beforeAll(async () => {
  box = await mailbox()
  p = await world()
  await box.serve(p)
})
afterAll(() => {
  p.close()
  box.close()
})

const addressOf = (id: string) =>
  p.db.$client.query<{ email: string }, [string]>('SELECT email FROM accounts WHERE id = ?').get(id)!.email
const must = async (who: Who | undefined, method: string, path: string, body?: unknown) => {
  const reply = await p.call(who, method, path, body)
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`)
  return reply
}

/** A GPU instance of the customer, on a host of its own; its id. */
async function orderInstance(name: string): Promise<string> {
  addGpuHost(p, p.location, 1)
  const order = { ownerId: p.customer.id, offerId: await addGpuOffer(p), nodeGroupId: p.location, name }
  const { body } = await must(p.owner, 'POST', '/admin/gpu-instances', order)
  await p.settle()
  return body.instanceId
}

/** A node that went away and was told to staff. */
async function leaveNode(name = 'mailed-01') {
  const node = p.addNode(p.location, name)
  await known(p)
  p.turnClock(START_GRACE_MS)
  node.agent.disconnect()
  await pass(p, 70)
  return node
}

/** A message to the owners of the servers of this node, sent to its end. */
async function sentMessage(subject: string, how: object): Promise<[string, string, RegExp]> {
  const owner = p.account('customer', subject)
  const hostname = subject.replaceAll(' ', '-').toLowerCase()
  const { body: ordered } = await must(p.owner, 'POST', '/admin/servers', { ...p.order, ownerId: owner.id, hostname })
  await p.settle()
  const draft = { subject, text: 'Hello.', audience: { serverIds: [ordered.serverId] }, ...how }
  const { body } = await must(p.owner, 'POST', '/admin/messages', draft)
  await must(p.owner, 'POST', `/admin/messages/${body.id}/actions/send`)
  for (let i = 0; i < 4; i++) {
    sendMessages(p.db, p.controller.app)
    await p.settle()
  }
  return [subject, addressOf(owner.id), /^\/servers$/]
}

/**
 * The action that sends each mail. It answers the subject, the recipient and the address of the link, if the mail has
 * one.
 */
const ways: Record<string, () => Promise<[subject: string, to: string, leadsTo?: RegExp]>> = {
  'src/billing/webhooks/notices.ts paused': async () => {
    const { body } = await must(p.customer, 'POST', '/webhooks', { url: 'https://hooks.example.com/', events: ['*'] })
    write(p.db, (tx) => tellPaused(tx, p.controller.app, { ...webhookById(tx, body.id)!, pauseReason: 'gone' }))
    return ['A webhook was paused', addressOf(p.customer.id), /^\/account\/webhooks$/]
  },
  'src/billing/webhooks/notices.ts overflow': async () => {
    // A second time on one day writes nothing.
    for (let i = 0; i < 2; i++) write(p.db, (tx) => tellOverflow(tx, p.controller.app, p.customer.id))
    return ['Webhook deliveries were dropped', addressOf(p.customer.id), /^\/account\/webhooks$/]
  },
  'src/compute/servers/create.ts': async () => {
    const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
    const { body } = await must(p.owner, 'POST', '/admin/servers', waiting)
    return ['server1 is ready to be set up', addressOf(p.customer.id), new RegExp(`^/servers/${body.serverId}$`)]
  },
  'src/compute/drains/evacuate.ts': async () => {
    const id = addDrain(p, p.node.id, p.order.ownerId)
    const name = (p.db.$client.query('SELECT name FROM nodes WHERE id = ?').get(p.node.id) as { name: string }).name
    const { body } = await must(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'evacuated' })
    await p.settle()
    await must(p.owner, 'POST', `/admin/drains/${id}/actions/evacuate`, { name })
    await p.settle()
    expect(p.server(body.serverId).status).toBe('stopped')
    return ['evacuated is stopped for maintenance', addressOf(p.customer.id), /^\/servers$/]
  },
  'src/platform/jobs/told.ts': async () => {
    p.node.agent.fault({ command: 'vm.define', mode: 'fail', times: 99 })
    await must(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'fails01' })
    await p.settle()
    p.node.agent.fault()
    tellFailures(p.db, p.controller.app)
    return ['Install fails01 failed', addressOf(p.owner.id), /^\/admin\/jobs\//]
  },
  'src/compute/drains/announce.ts': async () => {
    await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'announced' })
    await p.settle()
    const startsAt = new Date(p.now() + 3_600_000).toISOString()
    const { body } = await must(p.owner, 'POST', `/admin/nodes/${p.node.id}/actions/announce-maintenance`, { startsAt })
    return [body.subject, addressOf(p.customer.id), /^\/servers$/]
  },
  'src/compute/drains/plan/moved.ts': async () => {
    await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'moved-drain' })
    await p.settle()
    const at = (hours: number) => new Date(p.now() + hours * 3_600_000).toISOString()
    const of = `/admin/nodes/${p.node.id}/actions`
    await must(p.owner, 'POST', `${of}/announce-maintenance`, { startsAt: at(24), endsAt: at(26), drain: true })
    await must(p.owner, 'POST', `${of}/schedule-drain`, { startsAt: at(48) })
    const { body } = await must(p.customer, 'GET', '/notices')
    await must(p.owner, 'DELETE', `/admin/nodes/${p.node.id}/scheduled-drain`)
    return [body.data[0].subject, addressOf(p.customer.id), /^\/servers$/]
  },
  'src/compute/transfers/readdressing/tell.ts': async () => {
    const { body } = await must(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'readdressed' })
    await p.settle()
    const { id: locationId } = await p.admin('POST', '/admin/node-groups', { name: 'Beside' })
    const { id: nodeId } = p.addNode(locationId, 'beside-01')
    const pool = { name: 'Beside', network: '192.0.2.0/26', gateway: '192.0.2.1', nodeIds: [nodeId] }
    await p.admin('POST', '/admin/ip-pools', pool)
    await p.admin('PUT', `/admin/node-groups/${p.location}/moves`, { locationIds: [locationId] })
    await must(p.owner, 'POST', `/admin/servers/${body.serverId}/actions/move`, { nodeId, readdress: true })
    await p.settle()
    const leadsTo = new RegExp(`^/servers/${body.serverId}$`)
    return ['readdressed is in Beside and has new addresses', addressOf(p.customer.id), leadsTo]
  },
  'src/imports/messages/tell.ts before': async () => {
    const { id } = addMigrated(p, [{ sourceId: '1', hostname: 'announced1', address: '203.0.113.21', ready: true }])
    p.db.$client.run("UPDATE import_owners SET choice = 'create' WHERE import_id = ?", [id])
    await must(p.owner, 'POST', `/admin/migrations/${id}/messages/actions/announce`)
    return ['We are about to move announced1', 'old@panel.test']
  },
  'src/imports/messages/messages.ts': async () => {
    const { id } = addMigrated(p, [{ sourceId: '3', hostname: 'tested1', address: '203.0.113.23', ready: true }])
    await must(p.owner, 'POST', `/admin/migrations/${id}/messages/actions/test`, { kind: 'before' })
    return ['Test: We are about to move tested1', addressOf(p.owner.id)]
  },
  'src/platform/messages/messages.ts': async () => {
    const { body } = await must(p.owner, 'POST', '/admin/messages', { subject: 'Work at night', text: 'Hello.' })
    await must(p.owner, 'POST', `/admin/messages/${body.id}/actions/test`)
    return ['Test: Work at night', addressOf(p.owner.id)]
  },
  'src/platform/messages/send.ts notice': () => sentMessage('A new kernel', { alsoNotice: true }),
  'src/platform/messages/send.ts mail': () => sentMessage('A new address', { alsoNotice: false }),
  'src/network/server-addresses/exchange/tell.ts': async () => {
    const { body } = await must(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'addressed1' })
    await p.settle()
    await must(p.owner, 'POST', `/servers/${body.serverId}/actions/change-primary-address`, { version: 4 })
    await p.settle()
    const leadsTo = new RegExp(`^/servers/${body.serverId}$`)
    return ['addressed1 has another address', addressOf(p.customer.id), leadsTo]
  },
  'src/platform/outages/tell.ts away': async () => {
    await leaveNode()
    return ['mailed-01 does not answer', addressOf(p.owner.id), /^\/admin\/nodes\/nod_\w+$/]
  },
  'src/platform/outages/tell.ts back': async () => {
    const { agent } = await leaveNode('mailed-02')
    agent.connect()
    await pass(p, 20)
    return ['mailed-02 is back after 1 min', addressOf(p.owner.id), /^\/admin\/nodes\/nod_\w+$/]
  },
  'src/platform/outages/storage.ts': async () => {
    p.db.$client.run('UPDATE storage_pools SET free_bytes = total_bytes / 100 WHERE node_id = ?', [p.node.id])
    await pass(p, 5)
    p.db.$client.run('UPDATE storage_pools SET free_bytes = total_bytes')
    const { subject } = p.db.$client
      .query<{ subject: string }, []>("SELECT subject FROM deliveries WHERE subject LIKE '%almost full%' LIMIT 1")
      .get()!
    return [subject, addressOf(p.owner.id), new RegExp(`^/admin/nodes/${p.node.id}/storage$`)]
  },
  'src/platform/roll-outs/stop.ts': async () => {
    const actor = { id: p.owner.id, name: 'Ada', via: 'session' } as const
    write(p.db, (tx) => {
      const now = p.now()
      insertRollOut(tx, {
        ...{ id: 'rlo_1', version: '1.1.0', state: 'running', wave: 0, watchUntil: null, watchSeconds: 900 },
        ...{ trialSeconds: 60, windows: [], failedNodeId: null, reason: null, pausedAt: null },
        ...{ startedBy: actor, createdAt: now, finishedAt: null },
      } as never)
      insertRollOutNode(tx, {
        ...{ rollOutId: 'rlo_1', nodeId: p.node.id, wave: 0, place: 0, state: 'updating', fromVersion: '1.0.0' },
      } as never)
      const failure = { state: 'went_back', code: 'not_started', reason: 'It did not start.' } as const
      stopAt(tx, p.controller.app, rollOutById(tx, 'rlo_1')!, rollOutNode(tx, 'rlo_1', p.node.id)!, failure)
    })
    return ['The roll-out of 1.1.0 stopped at fra-01', addressOf(p.owner.id), /^\/admin\/roll-outs\/rlo_1$/]
  },
  'src/imports/messages/tell.ts after': async () => {
    const { body } = await must(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'imported1' })
    await p.settle()
    const there = { sourceId: '2', hostname: 'imported1', address: '203.0.113.22', workloadId: body.serverId }
    const { id, ids } = addMigrated(p, [there])
    await must(p.owner, 'PATCH', `/admin/migrations/${id}/messages`, { emailsOwners: true })
    const moved = { importServerId: ids['2']!, workloadId: body.serverId }
    write(p.db, (tx) => tellAfter(tx, p.controller.app, moved))
    return ['imported1 has moved', addressOf(p.customer.id), new RegExp(`^/servers/${body.serverId}$`)]
  },
  'src/compute/backups/notices.ts': async () => {
    const target = { name: 'full', address: 'https://full.example/web/', login: 'node1', secret: 'hidden-1' }
    const { body: place } = await must(p.owner, 'POST', '/admin/backup-targets/rest', target)
    await p.admin('POST', `/admin/backup-targets/${place.id}/actions/make-default`)
    const { body } = await must(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'unsaved01' })
    await p.settle()
    await must(p.customer, 'POST', `/servers/${body.serverId}/backups`, {})
    await p.settle()
    const leadsTo = new RegExp(`^/servers/${body.serverId}/backups$`)
    return ['A backup of unsaved01 failed', addressOf(p.customer.id), leadsTo]
  },
  'src/compute/servers/notices.ts received': async () => {
    const [before, now] = [p.account('customer', 'Before'), p.account('customer', 'Now')]
    const given = { ...p.order, ownerId: before.id, hostname: 'given01' }
    const { body } = await must(p.owner, 'POST', '/admin/servers', given)
    await p.settle()
    await p.admin('POST', `/servers/${body.serverId}/actions/change-owner`, { ownerId: now.id })
    return ['given01 is yours', addressOf(now.id), new RegExp(`^/servers/${body.serverId}$`)]
  },
  'src/compute/servers/notices.ts left': async () => {
    const [before, now] = [p.account('customer', 'Before'), p.account('customer', 'Now')]
    const given = { ...p.order, ownerId: before.id, hostname: 'given02' }
    const { body } = await must(p.owner, 'POST', '/admin/servers', given)
    await p.settle()
    await p.admin('POST', `/servers/${body.serverId}/actions/change-owner`, { ownerId: now.id })
    return ['given02 now belongs to somebody else', addressOf(before.id), /^\/servers$/]
  },
  'src/compute/brake/feature.ts': async () => {
    const second = p.staff(['servers.see_all', 'servers.terminate'], 'Bea')
    await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: 1 })
    for (const hostname of ['held01', 'held02']) {
      const { body } = await must(p.owner, 'POST', '/admin/servers', { ...p.order, hostname })
      await p.settle()
      await must(p.token(p.owner.id), 'DELETE', `/servers/${body.serverId}`)
      await p.settle()
    }
    await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: null })
    return ['Requests from test (Ada) wait for a second person', addressOf(second.id), /^\/admin\/brakes$/]
  },
  'src/compute/workloads/notices.ts of a server': async () => {
    const { body } = await must(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'ready01' })
    await p.settle()
    return ['ready01 is ready', addressOf(p.customer.id), new RegExp(`^/servers/${body.serverId}$`)]
  },
  'src/compute/servers/notices.ts removed': async () => {
    const { body } = await must(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'gone01' })
    await p.settle()
    for (const query of ['', '?immediately=true']) await p.admin('DELETE', `/servers/${body.serverId}${query}`)
    return ['The disk of gone01 is deleted', addressOf(p.customer.id), /^\/servers$/]
  },
  'src/compute/workloads/notices.ts of a GPU instance': async () => {
    const id = await orderInstance('Training')
    return ['Training is ready', addressOf(p.customer.id), new RegExp(`^/gpu/${id}$`)]
  },
  'src/compute/gpu-instances/use/notices.ts': async () => {
    const id = await orderInstance('Idle')
    write(p.db, (tx) => tellIdleStop(tx, p.controller.app, instanceById(tx, id)!, 30))
    return ['Idle is stopped: its cards were not used', addressOf(p.customer.id), new RegExp(`^/gpu/${id}$`)]
  },
  'src/identity/resellers/notices.ts': async () => {
    const rita = p.account('reseller', 'Rita')
    p.account('customer', 'Clara', rita.id)
    await must(p.owner, 'PATCH', `/resellers/${rita.id}`, { quotas: { customers: 1 } })
    return ['A quota is nearly used up: Customers', addressOf(rita.id), /^\/reseller$/]
  },
  'src/network/traffic/limits.ts': async () => {
    await must(p.owner, 'PATCH', `/admin/packages/${p.pack}`, { trafficGb: 2000 })
    const { body } = await must(p.owner, 'POST', '/admin/servers', p.order)
    await p.settle()
    const { number } = p.server(body.serverId)
    await p.node.agent.meter()
    p.node.agent.flow(number, 1700e9, 0)
    p.turnClock(30_000)
    await p.node.agent.meter()
    await Bun.sleep(60)
    settleTraffic(p.db, p.controller.app)
    return ['web01 has used 80 % of its traffic', addressOf(p.customer.id), new RegExp(`^/servers/${body.serverId}$`)]
  },
  'src/platform/alerts/tell.ts': async () => {
    const { body } = await must(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'hot01' })
    await p.settle()
    const { id } = (await must(p.owner, 'POST', `/servers/${body.serverId}/alerts`, { kind: 'cpu' })).body
    write(p.db, (tx) => tell(tx, p.controller.app, alertById(tx, id)!, true, p.now()))
    const leadsTo = new RegExp(`^/servers/${body.serverId}/metrics$`)
    return ['hot01: CPU above 90 % for 5 minutes', addressOf(p.customer.id), leadsTo]
  },
  'src/identity/auth/passwords/change.ts welcome': async () => {
    await must(p.owner, 'POST', '/admin/customers', { name: 'Dee', email: 'dee@example.com', invite: true })
    return ['Your account is ready', 'dee@example.com', /^\/welcome\/[\w-]{43}$/]
  },
  'src/identity/auth/passwords/change.ts reset': async () => {
    await must(undefined, 'POST', '/password-resets', { email: addressOf(p.customer.id) })
    mailResetLinks(p.db, p.controller.app)
    return ['Choose a new password', addressOf(p.customer.id), /^\/reset\/[\w-]{43}$/]
  },
  'src/identity/auth/passwords/change.ts changed': async () => {
    await box.deliver(p)
    await must(undefined, 'POST', '/passwords', { token: box.tokenFor(addressOf(p.customer.id), '/reset/'), password })
    return ['Your password was changed', addressOf(p.customer.id)]
  },
  'src/identity/own-account/email-address.ts old address': async () => {
    const reply = await must(undefined, 'POST', '/sessions', { email: addressOf(p.customer.id), password })
    const { csrf } = p.db.$client
      .query<{ csrf: string }, []>('SELECT csrf FROM sessions ORDER BY rowid DESC LIMIT 1')
      .get()!
    const who = { cookie: reply.headers.get('Set-Cookie')!.split(/[=;]/)[1]!, csrf }
    await must(who, 'PUT', '/account/email', { email: 'new@example.com', password })
    return ['Your e-mail address is about to change', addressOf(p.customer.id)]
  },
  'src/identity/own-account/email-address.ts new address': async () => [
    'Confirm your e-mail address',
    'new@example.com',
    /^\/confirm-email\/[\w-]{43}$/,
  ],
  'src/identity/account-records/new-address.ts': async () => {
    const { id } = p.account('customer', 'Moved')
    const before = addressOf(id)
    await must(p.owner, 'PATCH', `/customers/${id}`, { email: 'moved@example.com' })
    return ['The e-mail address of your account was changed', before]
  },
  'src/identity/auth/second-factors/second-factors.ts': async () => {
    const cal = p.account('customer', 'Cal')
    await withApp(p, cal)
    return ['Your second factor was changed', addressOf(cal.id)]
  },
  'src/identity/tokens/model.ts': async () => {
    const cal = p.account('customer', 'Cal')
    await must(cal, 'POST', '/account/tokens', { name: 'Monitoring', scopes: ['servers:read'] })
    return ['An API token was created for your account', addressOf(cal.id), /^\/account\/api$/]
  },
  'src/identity/auth/second-factors/reset-factors.ts': async () => {
    p.db.$client.run("INSERT INTO passkeys VALUES ('pky_1', ?, 'AA', 'AA', 0, '[]', 'Key', 1, NULL, NULL)", [
      p.customer.id,
    ])
    await must(p.owner, 'POST', `/customers/${p.customer.id}/actions/reset-second-factor`, { reason: 'Lost phone' })
    return ['Your second factor was removed', addressOf(p.customer.id)]
  },
  'src/kernel/mail/owner-notice.ts': async () => {
    await must(p.owner, 'PUT', '/admin/settings/mail', {
      host: '127.0.0.1',
      port: 9,
      plain: true,
      from: 'p@example.com',
    })
    await box.serve(p)
    return ['A change that affects all owners', addressOf(p.owner.id), /^\/admin\/audit$/]
  },
  'src/identity/team/invite.ts': async () => {
    await must(p.account('customer', 'Host'), 'POST', '/team', { email: 'guest@example.com', role: 'view' })
    return ['Host invites you to their servers', 'guest@example.com', /^\/join\?token=[\w-]{43}$/]
  },
  'src/identity/auth/identity-provider/visit.ts': async () => {
    const idp = await provider(p.now)
    await must(p.owner, 'PUT', '/admin/settings/sign-in', { ...idp.settings, issuer: idp.issuer, for: ['customer'] })
    const cal = p.account('customer', 'Cal')
    const { body, headers } = await p.call(cal, 'POST', '/account/identities/begin')
    const back = new URL((await fetch(body.url, { redirect: 'manual' })).headers.get('Location')!).searchParams
    const Cookie = `__Host-panel=${cal.cookie}; ${headers.get('Set-Cookie')!.split(';')[0]}`
    const proof = { code: back.get('code'), state: back.get('state') }
    expect((await p.call(cal, 'POST', '/account/identities', proof, { Cookie })).status).toBe(201)
    idp.stop()
    return ['Another way to sign in to your account', addressOf(cal.id)]
  },
}

test('there is a way to every mail in the sources', async () => {
  const written = new Map<string, number>()
  for await (const file of new Bun.Glob('src/**/*.ts').scan('.')) {
    if (file === 'src/kernel/mail/mail.ts' || file === 'src/identity/notices/notify.ts') continue
    const calls = (await Bun.file(file).text()).match(/^(?! \*|export).*\b(mailTo|notify|notifyByMail)\(/gm)
    if (calls) written.set(file, calls.length)
  }
  const waysTo = Map.groupBy(Object.keys(ways), (name) => name.split(' ')[0]!)
  expect([...waysTo.keys()].toSorted()).toEqual([...written.keys()].toSorted())
  for (const [file, calls] of written) expect([file, waysTo.get(file)!.length >= calls]).toEqual([file, true])
})

for (const [name, write] of Object.entries(ways))
  test(`${name}: reaches whom it is for, as text and as HTML`, async () => {
    const [subject, to, leadsTo] = await write()
    await box.deliver(p)
    const mailContent = box.taken.findLast((l) => l.subject === subject)
    expect(mailContent?.to).toBe(to)
    const [, text = '', html = ''] =
      /Content-Type: text\/plain([\s\S]*)Content-Type: text\/html([\s\S]*)/.exec(mailContent!.text) ?? []
    const places = (found: RegExpMatchArray | readonly string[] | null) =>
      [...new Set(found)].map((url) => url.replace(home, ''))
    // Besides the one to follow, a mail names the panel and nothing else.
    const said = places(text.match(/https?:[^\s<>"]+/g)).filter((place) => place !== '')
    const linked = places([...html.matchAll(/href="([^"]*)"/g)].map(([, url]) => url!)).filter((place) => place !== '')
    expect(said.length).toBe(leadsTo ? 1 : 0)
    if (leadsTo) expect(said[0]).toMatch(leadsTo)
    expect(linked).toEqual(said)
    if (leadsTo) expect(html).toContain(`>${home}${said[0]}</a>`)
    expect(html).toContain('<')
    expect(text).not.toContain('<')
    // Rights are named in words: a scope like `servers:read` says nothing to a reader.
    for (const scope of Object.keys(p.controller.app.registry.scopes)) expect(text).not.toContain(scope)
  })

test(
  'whoever can lock somebody out cannot do it in silence: each change of a second factor, and each token, is ' +
    'mailed to its holder',
  async () => {
    const cal = p.account('customer', 'Kim')
    await withApp(p, cal)
    await must(cal, 'POST', '/account/recovery-codes')
    p.db.$client.run("INSERT INTO passkeys VALUES ('pky_2', ?, 'BB', 'BB', 0, '[]', 'Blue key', 1, NULL, NULL)", [
      cal.id,
    ])
    await must(cal, 'DELETE', '/account/totp')
    await p.admin('POST', '/admin/tokens', { account: addressOf(cal.id), name: 'Billing', scopes: ['servers:read'] })
    await box.deliver(p)
    const [added, codes, removed, token, ...more] = box.taken
      .filter((l) => l.to === addressOf(cal.id))
      .map((l) => l.text)
    expect(added).toContain('An authenticator app was added')
    expect(codes).toContain('New recovery codes')
    expect(removed).toContain('removed from your account')
    expect(token).toContain('It is called Billing')
    expect(more).toEqual([])
  },
)
