// Webhooks of the compiled program while it is killed under load: no event is lost, none is skipped, and the events of
// each server arrive in their order.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import type { Subprocess } from 'bun'
import { emptyQcow2 } from '../../support/guest.ts'
import { receiver } from '../../support/services/receiver.ts'
import { type Installation, installation } from '../../support/world/processes.ts'
import { berth } from '../../support/world/program.ts'

const long = process.env['BERTH_LONG'] === '1'
const kills = 20
const events = long ? 10_000 : 600
const SERVERS = 12
/** A token has 1200 calls a minute. */
const TOKENS = long ? 16 : 4

let live: Installation
let at: Awaited<ReturnType<typeof receiver>>
let controller: Subprocess
const ca = `/tmp/berth-webhooks-${process.pid}.pem`
let token: string
const tokens: string[] = []
const servers: string[] = []

beforeAll(async () => {
  // Slow enough that each kill finds deliveries under way.
  at = await receiver(async (_, response) => {
    await Bun.sleep(Math.random() * 20)
    response.end()
  })
  await Bun.write(ca, at.cert)
  live = await installation({ PANEL_WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8', PANEL_WEBHOOK_CA_FILE: ca })
  controller = await live.serve()
  token = await live.ownerToken()
  for (let i = 0; i < TOKENS; i++) {
    const args = ['--account', 'ada@example.com', '--name', `t${i}`, '--scopes', 'servers:suspend,servers:create']
    tokens.push((await berth(['admin', 'create-token', ...args], live.env)).out)
  }
  const location = (await live.admin('locations.create', { name: 'Lab' })).id
  live.agent(await live.enroll(location, 'fra-01'))
  const node = await live.until('the node', async () =>
    (await live.admin('nodes.list')).data.find((n: any) => n.connected),
  )
  const pool = { name: 'v4', network: '198.51.100.0/24', gateway: '198.51.100.1', nodeIds: [node.id] }
  await live.admin('pools.create', pool)
  const pack = (await live.admin('packages.create', { name: 'S', vcpus: 1, memoryMb: 64, diskGb: 3 })).id
  await Bun.write(`${live.dir}/incoming/tiny.qcow2`, emptyQcow2())
  await live.admin('images.import', { file: 'tiny.qcow2', name: 'Tiny' })
  const customer = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
  await live.admin('webhooks.create', { url: `https://127.0.0.1:${at.port}/`, events: ['*'] })
  const order = { ownerId: customer, packageId: pack, nodeGroupId: location }
  for (let i = 0; i < SERVERS; i++) servers.push((await live.api(token, 'POST', '/admin/servers', order)).body.serverId)
}, 120_000)
afterAll(async () => {
  await live.close()
  at.close()
  rmSync(ca)
})

let killed = 0
/** The queue of the platform drops its oldest delivery beyond 5000: on a slow machine the load waits for it. */
let isFull = false
let isLoading = true
async function watchQueue() {
  for (; isLoading; await Bun.sleep(200)) {
    const reply = await live.api(token, 'GET', '/webhook-queue').catch(() => undefined)
    if (reply?.status === 200) isFull = reply.body.waiting > 3000
  }
}
/** Suspends and unsuspends one server in turn, `n` times and until the last kill; a dead controller is asked again. */
async function change(n: number, server: string, number: number) {
  for (let i = 0; i < n || killed < kills; ) {
    while (isFull) await Bun.sleep(100)
    const by = tokens[(number + i) % TOKENS]!
    const reply = await (i % 2 === 0
      ? live.api(by, 'POST', `/servers/${server}/actions/suspend`, { reason: `${i}` })
      : live.api(by, 'POST', `/servers/${server}/actions/unsuspend`)
    ).catch(() => undefined)
    const code = reply?.body?.error?.code
    // A call that was killed may have been carried out.
    if (reply && (reply.status < 300 || code === 'already_suspended' || code === 'not_suspended')) i++
    else await Bun.sleep(20)
  }
}

test(`${events} events arrive, in the order of each server, though it is killed ${kills} times`, async () => {
  const watching = watchQueue()
  const load = Promise.all(servers.map((id, i) => change(events / SERVERS, id, i)))
  while (killed < kills) {
    await Bun.sleep(60 + Math.random() * 300)
    controller.kill('SIGKILL')
    await controller.exited
    killed++
    controller = await live.serve()
  }
  await load
  isLoading = false
  await watching
  type Event = { id: string; type: string; data: any }
  const all: Event[] = []
  const list = async () => {
    for (;;) {
      const after = all.length ? `&after=${all.at(-1)!.id}` : ''
      const { body } = await live.api(
        token,
        'GET',
        `/events?limit=200${after}&type=server.suspended,server.unsuspended`,
      )
      if (!body.data.length) return
      all.push(...body.data)
    }
  }
  await list()
  expect(all.length).toBeGreaterThanOrEqual(events)
  await live.until(
    'the last delivery',
    async () => (await live.api(token, 'GET', '/webhook-queue')).body.waiting === 0,
    long ? 600 : 120,
  )
  expect((await live.api(token, 'GET', '/webhook-queue')).body.dropped).toBe(0)
  /** The first arrival of each event, in the order of arrival. */
  const arrived = [
    ...new Map(at.received.map(({ body }) => [JSON.parse(body).id as string, JSON.parse(body) as Event])),
  ]
    .map(([, event]) => event)
    .filter(({ type }) => /^server\.(un)?suspended$/.test(type))
  const idsOf = (list: readonly Event[], server: string) =>
    list.filter(({ data }) => data.server.id === server).map(({ id }) => id)
  expect(new Set(arrived.map(({ id }) => id))).toEqual(new Set(all.map(({ id }) => id)))
  // Some were under way at a kill, and came again.
  const sent = at.received.filter(({ headers }) => /^server\.(un)?suspended$/.test(headers['x-panel-event']!))
  expect(sent.length).toBeGreaterThan(all.length)
  for (const server of servers) expect(idsOf(arrived, server)).toEqual(idsOf(all, server))
}, 900_000)
