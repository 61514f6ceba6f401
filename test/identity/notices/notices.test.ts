// Notices: what happened to a person's things without them, in a list and by mail.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { tellOverflow, tellPaused } from '../../../src/billing/webhooks/notices.ts'
import { webhookById } from '../../../src/billing/webhooks/queries.ts'
import { instanceById } from '../../../src/compute/gpu-instances/model.ts'
import { tellIdleStop } from '../../../src/compute/gpu-instances/use/notices.ts'
import { purgeDue } from '../../../src/compute/servers/life/terminate.ts'
import { tellAfter } from '../../../src/imports/messages/tell.ts'
import { minuteText } from '../../../src/kernel/db/clock.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { putSetting, removeSetting } from '../../../src/kernel/db/queries.ts'
import { settleTraffic } from '../../../src/network/traffic/limits.ts'
import { alertById } from '../../../src/platform/alerts/queries.ts'
import { tell } from '../../../src/platform/alerts/tell.ts'
import { sendMessages } from '../../../src/platform/messages/send.ts'
import { addMigrated } from '../../imports/report/moved.ts'
import { addDrain } from '../../support/nodes/drains.ts'
import { addGpuHost, addGpuOffer } from '../../support/nodes/gpus.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

let p: World
let cal: Who & { id: string }
/** Days later its session has ended. */
function laterDays(days: number) {
  p.turnClock(days * 86_400_000)
  cal = { ...p.signIn(p.customer.id), id: p.customer.id }
}
beforeAll(async () => {
  p = await world()
  cal = p.customer
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { trafficGb: 100 })
  const wide = { network: '198.51.100.0/24', gateway: '198.51.100.1', nodeIds: [p.node.id] }
  await p.admin('POST', '/admin/ip-pools', { name: 'wide', ...wide })
})
afterAll(() => p.close())

let gpuHost: ReturnType<typeof addGpuHost>
let failures = 0
let offerId: string
/** A GPU instance of the customer whose setup has ended. */
async function orderInstance(): Promise<string> {
  gpuHost ??= addGpuHost(p, p.location, 16)
  offerId ??= await addGpuOffer(p)
  const order = { ownerId: cal.id, offerId, nodeGroupId: p.location }
  const { instanceId } = await p.admin('POST', '/admin/gpu-instances', order)
  await p.settle()
  return instanceId
}
const nameOf = (id: string) =>
  p.db.$client.query<{ name: string }, [string]>('SELECT name FROM workloads WHERE id = ?').get(id)!.name

const ownerOf = (id: string) =>
  p.db.$client.query<{ owner: string }, [string]>('SELECT owner_id AS owner FROM workloads WHERE id = ?').get(id)!.owner

type Notice = { id: string; kind: string; subject: string; words: string; href: string; readAt: string | null }
const notices = async (who: Who, query = '') => (await p.call(who, 'GET', `/notices${query}`)).body
const newest = async (who: Who = cal): Promise<Notice> => (await notices(who)).data[0]
const mailsTo = (subject: string) => p.mailed().filter((mail) => mail.subject === subject).length

let orders = 0
/** A server of the customer that runs; its id and hostname. */
const order = () => orderFor(cal)
async function orderFor(owner: { id: string }) {
  const hostname = `notice${orders++}`
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ownerId: owner.id, hostname })
  await p.settle()
  return { id: serverId as string, hostname }
}
async function use(id: string, gb: number) {
  p.node.agent.flow(p.server(id).number, gb * 1e9, 0)
  p.turnClock(30_000)
  // After days without a sample the report is so long that it comes in several parts.
  const stored = p.db.$client.query<{ bytes: number }, [string]>(
    'SELECT coalesce(sum(tx_bytes), 0) AS bytes FROM traffic_days WHERE workload_id = ?',
  )
  const before = stored.get(id)!.bytes
  for (let i = 0; i < 100 && stored.get(id)!.bytes - before < gb * 1e9; i++) {
    await p.node.agent.meter()
    await Bun.sleep(20)
  }
  settleTraffic(p.db, p.controller.app)
}
const webhook = async () => {
  const { id } = (await p.call(cal, 'POST', '/webhooks', { url: 'https://hooks.example.com/', events: ['*'] })).body
  return webhookById(p.db, id)!
}

/** An action of each kind of notice for the customer; it answers the subject and the page that the notice leads to. */
type Way = () => Promise<[subject: string, href: string]>
/** The last byte of the next network for a second location. */
let besides = 0
const ways: Record<string, Way> = {
  async server_ready() {
    const { id, hostname } = await order()
    return [`${hostname} is ready`, `/servers/${id}`]
  },
  async backup_failed() {
    const { id, hostname } = await order()
    const target = { name: hostname, address: `https://full.example/${hostname}/`, login: 'node1', secret: 'hidden-1' }
    const place = await p.admin('POST', '/admin/backup-targets/rest', target)
    await p.admin('POST', `/admin/backup-targets/${place.id}/actions/make-default`)
    await p.call(cal, 'POST', `/servers/${id}/backups`, {})
    await p.settle()
    return [`A backup of ${hostname} failed`, `/servers/${id}/backups`]
  },
  async maintenance_planned() {
    const { hostname } = await order()
    const startsAt = new Date(p.now() + (48 + orders) * 3_600_000).toISOString()
    const path = `/admin/nodes/${p.node.id}/actions/announce-maintenance`
    const { subject } = await p.admin('POST', path, { startsAt })
    expect((await newest()).words).toContain(`${hostname}: `)
    return [subject, '/servers']
  },
  async server_stopped_for_maintenance() {
    const first = await order()
    const drain = addDrain(p, p.node.id, first.id)
    const { name } = p.db.$client.query('SELECT name FROM nodes WHERE id = ?').get(p.node.id) as { name: string }
    const { stopping } = await p.admin('POST', `/admin/drains/${drain}/actions/evacuate`, { name })
    await p.settle()
    expect(p.server(first.id).status).toBe('stopped')
    expect((await newest()).words).toContain(first.hostname)
    const own = stopping.filter(({ id }: { id: string }) => ownerOf(id) === cal.id)
    const what = own.length === 1 ? `${first.hostname} is` : `${own.length} servers of yours are`
    return [`${what} stopped for maintenance`, '/servers']
  },
  async server_suspended() {
    const { id, hostname } = await order()
    await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'Invoice 7 is overdue' })
    expect((await newest()).words).toContain('Invoice 7 is overdue')
    return [`${hostname} is suspended`, `/servers/${id}`]
  },
  async server_unsuspended() {
    const { id, hostname } = await order()
    await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'Invoice 8 is overdue' })
    await p.admin('POST', `/servers/${id}/actions/unsuspend`)
    return [`${hostname} is no longer suspended`, `/servers/${id}`]
  },
  async server_received() {
    const { id, hostname } = await orderFor(p.account('customer', 'Before'))
    await p.admin('POST', `/servers/${id}/actions/change-owner`, { ownerId: cal.id })
    return [`${hostname} is yours`, `/servers/${id}`]
  },
  async server_left() {
    const { id, hostname } = await order()
    await p.admin('POST', `/servers/${id}/actions/change-owner`, { ownerId: p.account('customer', 'After').id })
    return [`${hostname} now belongs to somebody else`, '/servers']
  },
  async server_readdressed() {
    const { id, hostname } = await order()
    const { id: locationId } = await p.admin('POST', '/admin/node-groups', { name: `Beside ${hostname}` })
    const { id: nodeId } = p.addNode(locationId, `beside-${hostname}`)
    await p.admin('POST', '/admin/ip-pools', {
      ...{ name: `Beside ${hostname}`, network: `192.0.2.${besides}/26`, gateway: `192.0.2.${besides + 1}` },
      nodeIds: [nodeId],
    })
    await p.admin('PUT', `/admin/node-groups/${p.location}/moves`, { locationIds: [locationId] })
    await p.admin('POST', `/admin/servers/${id}/actions/move`, { nodeId, readdress: true })
    await p.settle()
    besides += 64
    return [`${hostname} is in Beside ${hostname} and has new addresses`, `/servers/${id}`]
  },
  async server_address_changed() {
    // One that a notice before this was about: the pool is small.
    const { id, hostname } = p.db.$client
      .query<{ id: string; hostname: string }, [string]>(
        "SELECT id, hostname FROM workloads WHERE owner_id = ? AND lifecycle = 'active' ORDER BY id DESC LIMIT 1",
      )
      .get(cal.id)!
    await p.admin('POST', `/servers/${id}/actions/change-primary-address`, { version: 4 })
    await p.settle()
    return [`${hostname} has another address`, `/servers/${id}`]
  },
  async server_imported() {
    // One that a notice before this was about.
    const { id, hostname } = p.db.$client
      .query<{ id: string; hostname: string }, [string]>(
        `SELECT w.id, w.name AS hostname FROM workloads w JOIN servers s ON s.id = w.id
         WHERE w.owner_id = ? AND w.lifecycle = 'active' LIMIT 1`,
      )
      .get(cal.id)!
    const migrated = addMigrated(p, [{ sourceId: '1', hostname, address: '203.0.113.22', workloadId: id }])
    await p.admin('PATCH', `/admin/migrations/${migrated.id}/messages`, { emailsOwners: true })
    const moved = { importServerId: migrated.ids['1']!, workloadId: id }
    write(p.db, (tx) => tellAfter(tx, p.controller.app, moved))
    return [`${hostname} has moved`, `/servers/${id}`]
  },
  async server_terminated() {
    const { id, hostname } = await order()
    await p.admin('DELETE', `/servers/${id}`)
    expect((await newest()).words).toContain(`until ${minuteText(p.now() + 24 * 3_600_000)}`)
    return [`${hostname} is terminated`, '/servers']
  },
  async server_undeleted() {
    const { id, hostname } = await order()
    await p.admin('DELETE', `/servers/${id}`)
    await p.admin('POST', `/servers/${id}/actions/undelete`)
    return [`${hostname} is back`, `/servers/${id}`]
  },
  async server_removed() {
    const { id, hostname } = await order()
    await p.admin('DELETE', `/servers/${id}`)
    laterDays(2)
    purgeDue(p.db, p.controller.app)
    return [`The disk of ${hostname} is deleted`, '/servers']
  },
  async traffic_near() {
    const { id, hostname } = await order()
    await p.node.agent.meter()
    await use(id, 85)
    return [`${hostname} has used 80 % of its traffic`, `/servers/${id}`]
  },
  async traffic_used() {
    const { id, hostname } = await order()
    await p.node.agent.meter()
    await use(id, 105)
    return [`${hostname} has used 100 % of its traffic`, `/servers/${id}`]
  },
  async gpu_instance_ready() {
    const id = await orderInstance()
    return [`${nameOf(id)} is ready`, `/gpu/${id}`]
  },
  async gpu_instance_failed() {
    gpuHost.agent.fault({ command: 'container.start', mode: 'fail', times: ++failures })
    const id = await orderInstance()
    expect((await newest()).words).toContain('billed until it is deleted')
    return [`${nameOf(id)} has failed`, `/gpu/${id}`]
  },
  async gpu_instance_suspended() {
    const id = await orderInstance()
    await p.admin('POST', `/admin/gpu-instances/${id}/suspend`, { reason: 'Invoice 9 is overdue' })
    expect((await newest()).words).toContain('Invoice 9 is overdue')
    return [`${nameOf(id)} is suspended`, `/gpu/${id}`]
  },
  async gpu_instance_unsuspended() {
    const id = await orderInstance()
    await p.admin('POST', `/admin/gpu-instances/${id}/suspend`, { reason: 'Invoice 9 is overdue' })
    await p.admin('POST', `/admin/gpu-instances/${id}/unsuspend`)
    return [`${nameOf(id)} is no longer suspended`, `/gpu/${id}`]
  },
  async gpu_instance_deleted() {
    const id = await orderInstance()
    await p.admin('DELETE', `/admin/gpu-instances/${id}`)
    await p.settle()
    return [`${nameOf(id)} is deleted`, '/gpu']
  },
  async gpu_instance_undeleted() {
    const id = await orderInstance()
    const eva = p.staff(undefined, 'Eva')
    write(p.db, (tx) => putSetting(tx, 'brake.limit', 1))
    for (const one of [await orderInstance(), id]) await p.call(eva, 'DELETE', `/admin/gpu-instances/${one}`)
    await p.settle()
    write(p.db, (tx) => removeSetting(tx, 'brake.limit'))
    const second = p.staff(undefined, 'Bea')
    const [{ id: brake }] = (await p.call(second, 'GET', '/admin/brakes')).body.data
    const refused = await p.call(second, 'POST', `/admin/brakes/${brake}/actions/refuse`)
    expect(refused.body.failed).toEqual([])
    return [`${nameOf(id)} is back`, `/gpu/${id}`]
  },
  async gpu_instance_idle() {
    const id = await orderInstance()
    write(p.db, (tx) => tellIdleStop(tx, p.controller.app, instanceById(tx, id)!, 30))
    expect((await newest()).words).toContain('for 30 minutes')
    return [`${nameOf(id)} is stopped: its cards were not used`, `/gpu/${id}`]
  },
  async alert() {
    const { id, hostname } = await order()
    const alert = await p.admin('POST', `/servers/${id}/alerts`, { kind: 'cpu' })
    write(p.db, (tx) => tell(tx, p.controller.app, alertById(tx, alert.id)!, true, p.now()))
    return [`${hostname}: CPU above 90 % for 5 minutes`, `/servers/${id}/metrics`]
  },
  provider_message: () => written({ isService: true }),
  provider_news: () => written({ isService: false }),
  async webhook_paused() {
    const hook = await webhook()
    write(p.db, (tx) => tellPaused(tx, p.controller.app, { ...hook, pauseReason: 'gone' }))
    return ['A webhook was paused', '/account/webhooks']
  },
  async webhook_overflow() {
    laterDays(2)
    write(p.db, (tx) => tellOverflow(tx, p.controller.app, cal.id))
    return ['Webhook deliveries were dropped', '/account/webhooks']
  },
}

let letters = 0
/** Staff write to the customer, who has servers. */
async function written(more: { isService: boolean }): Promise<[string, string]> {
  const subject = `Words ${letters++}`
  const { data } = await p.admin('GET', `/admin/servers?ownerId=${cal.id}&limit=1`)
  const audience = { serverIds: [data[0].id] }
  const message = await p.admin('POST', '/admin/messages', { audience, subject, text: 'T', ...more })
  await p.admin('POST', `/admin/messages/${message.id}/actions/send`)
  sendMessages(p.db, p.controller.app)
  return [subject, '/servers']
}

const declared = registry.features.flatMap(({ notices = {} }) => Object.entries(notices))
const forCustomers = declared.filter(([, { kinds }]) => kinds.includes('customer'))

test('every kind of notice that a customer can get has a way to it here', () => {
  expect(Object.keys(ways).sort()).toEqual(forCustomers.map(([kind]) => kind).sort())
})

for (const [kind, { mail }] of forCustomers)
  describe(kind, () => {
    test('stands in the list, unread, leads to its thing, and comes by mail', async () => {
      const mails = p.mailed().length
      const [subject, href] = await ways[kind]!()
      expect(await newest()).toMatchObject({ kind, subject, href, readAt: null })
      expect(mailsTo(subject)).toBeGreaterThan(0)
      expect(p.mailed().length).toBeGreaterThan(mails)
    })
    test(
      mail === 'optional' ? 'comes without a mail to who turned it off' : 'is mailed although all else is off',
      async () => {
        const kinds = forCustomers.map(([name]) => name)
        await p.call(cal, 'PUT', '/account/notice-choices', { inPanel: kinds, byMail: [] })
        const before = new Map(p.mailed().map(({ subject }) => [subject, mailsTo(subject)]))
        const [subject] = await ways[kind]!()
        expect((await newest()).subject).toBe(subject)
        expect(mailsTo(subject) - (before.get(subject) ?? 0)).toBe(mail === 'optional' ? 0 : 1)
        await p.call(cal, 'PUT', '/account/notice-choices', { inPanel: kinds, byMail: kinds })
      },
    )
  })

test('a kind comes by mail alone to who turned it off in the panel, and not at all to who wants neither', async () => {
  const own = p.account('customer', 'Flo')
  const ready = async () => {
    const { id, hostname } = await orderFor(own)
    await p.admin('DELETE', `/servers/${id}?immediately=true`)
    await p.settle()
    const subject = `${hostname} is ready`
    const listed = (await notices(own)).data.filter((notice: Notice) => notice.subject === subject)
    return [mailsTo(subject), listed.length]
  }
  await p.call(own, 'PUT', '/account/notice-choices', { inPanel: [], byMail: ['server_ready'] })
  expect(await ready()).toEqual([1, 0])
  await p.call(own, 'PUT', '/account/notice-choices', { inPanel: [], byMail: [] })
  expect(await ready()).toEqual([0, 0])
})

describe('the list', () => {
  test('shows an account its own notices only', async () => {
    await order()
    const other = p.account('customer', 'Dora')
    expect((await notices(other)).total).toBe(0)
    expect((await notices(cal)).total).toBeGreaterThan(0)
  })
  test('marks as read up to the newest one that the reader saw', async () => {
    const [first, second] = [await order(), await order()]
    const seen = (await notices(cal, '?unread=true')).data.find(({ subject }: Notice) =>
      subject.startsWith(first.hostname),
    )
    expect((await p.call(cal, 'POST', '/notices/actions/read', { upTo: seen.id })).body.marked).toBeGreaterThan(0)
    const left = (await notices(cal, '?unread=true')).data.map(({ subject }: Notice) => subject)
    expect(left).toEqual([`${second.hostname} is ready`])
    expect((await p.call(cal, 'POST', '/notices/actions/read', {})).body).toEqual({ marked: 1 })
    expect((await notices(cal, '?unread=true')).total).toBe(0)
  })
  test('lets nobody mark the notices of another account as read', async () => {
    await order()
    const { id } = await newest()
    const other = p.account('customer', 'Emma')
    expect((await p.call(other, 'POST', '/notices/actions/read', { upTo: id })).body).toEqual({ marked: 0 })
    expect((await newest()).readAt).toBe(null)
  })
  test('forgets notices after 90 days', async () => {
    await order()
    laterDays(91)
    await p.deleteExpired()
    expect((await notices(cal)).total).toBe(0)
  })
})

test('a kind that the account does not get is refused, and nothing changes', async () => {
  const before = (await p.call(cal, 'GET', '/account/notice-choices')).body
  expect(before.kinds.map(({ kind }: { kind: string }) => kind)).not.toContain('quota_near')
  for (const given of [
    { inPanel: ['quota_near'], byMail: [] },
    { inPanel: [], byMail: ['quota_near'] },
  ]) {
    const { status, body } = await p.call(cal, 'PUT', '/account/notice-choices', given)
    expect([status, body.error.code]).toEqual([422, 'validation_failed'])
  }
  expect((await p.call(cal, 'GET', '/account/notice-choices')).body).toEqual(before)
})

test('an owner is told when there is no undelete window, and when it ends early', async () => {
  const [first, second] = [await order(), await order()]
  await p.admin('DELETE', `/servers/${first.id}?immediately=true`)
  expect((await newest()).words).toContain('it cannot be brought back')
  await p.admin('DELETE', `/servers/${second.id}`)
  await p.admin('DELETE', `/servers/${second.id}?immediately=true`)
  const told = (await notices(cal)).data.slice(0, 3).map(({ subject }: Notice) => subject)
  expect(told).toEqual([
    `The disk of ${second.hostname} is deleted`,
    `${second.hostname} is terminated`,
    `${first.hostname} is terminated`,
  ])
})

test('an owner whose server is suspended for its traffic is told once, by the notice of its traffic', async () => {
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { overTraffic: 'suspend' })
  const { id, hostname } = await order()
  await p.node.agent.meter()
  await use(id, 105)
  expect(p.server(id).status).toBe('suspended')
  const told = (await notices(cal)).data.filter(({ href }: Notice) => href === `/servers/${id}`)
  expect(told.map(({ subject }: Notice) => subject)).toEqual([
    `${hostname} has used 100 % of its traffic`,
    `${hostname} is ready`,
  ])
})
