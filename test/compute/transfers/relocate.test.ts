// Owners move their servers to another location, where the operator offers that; and the addresses that such a server
// had are held for it for some days.
import { expect, test } from 'bun:test'
import { freeHeld } from '../../../src/compute/transfers/readdressing/held.ts'
import { dayText } from '../../../src/kernel/db/clock.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import type { Who, World } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'
import { openTwo } from './two-locations.ts'
import { move, nodeNamed, order, where } from './world.ts'

const OLD = '203.0.113.10'
const NEW = '198.51.100.10'
const DAY_MS = 24 * 3_600_000

type Two = Awaited<ReturnType<typeof openTwo>>
/** Owners may move their servers from Frankfurt to Helsinki. */
async function openOffered(): Promise<Two> {
  const p = await openTwo()
  await p.admin('PUT', `/admin/node-groups/${p.location}/moves`, {
    ...{ locationIds: [p.helsinki], offeredIds: [p.helsinki] },
  })
  return p
}
const relocate = async (p: Two, who: Who, id: string, locationId = p.helsinki) =>
  p.call(who, 'POST', `/servers/${id}/actions/relocate`, { locationId })
/** As its owner, to the end. */
async function relocated(p: Two, id: string, locationId = p.helsinki) {
  const { status, body } = await relocate(p, p.customer, id, locationId)
  expect([status, body.error]).toEqual([202, undefined])
  await p.settle()
  return body
}
const options = async (p: World, id: string, who: Who = p.customer) =>
  (await p.call(who, 'GET', `/servers/${id}/relocations`)).body
const held = (p: World, id: string) =>
  p.db.$client
    .query<{ address: string }, [string]>(
      'SELECT address FROM addresses WHERE workload_id = ? ORDER BY version, is_primary DESC, place',
    )
    .all(id)
    .map(({ address }) => address)
const kept = (p: World) =>
  p.db.$client
    .query<{ address: string }, []>(
      "SELECT address FROM addresses WHERE reserved_for LIKE 'Held until %' ORDER BY version, address",
    )
    .all()
    .map(({ address }) => address)
const unchanged = ['audit', 'brake_counts']
/** The refusal of the owner's call, after which nothing is different. */
async function refusal(p: Two, id: string, who: Who = p.customer, locationId = p.helsinki) {
  const before = p.fingerprint(unchanged)
  const { status, body } = await relocate(p, who, id, locationId)
  expect(p.fingerprint(unchanged)).toBe(before)
  return `${status} ${body.error?.code}: ${body.error?.message}`
}

test('an owner reads what a move to another location changes, and moves the server', async () => {
  using p = await openOffered()
  const id = await order(p)
  expect(await options(p, id)).toMatchObject({
    ...{ location: { name: 'Frankfurt' }, notPossible: null, newIpv4: 1, newIpv6: [], left: 1 },
    locations: [{ location: { name: 'Helsinki' }, possible: true, getsBack: false, heldUntil: null }],
  })
  const started = await relocated(p, id)
  expect(started).toMatchObject({ location: { name: 'Helsinki' }, added: [NEW], removed: [OLD] })
  expect(JSON.stringify([started, await options(p, id)])).not.toMatch(/fra-0|hel-0/)
  expect(await where(p, id)).toMatchObject({ status: 'running', stays: ['home on hel-01'], running: 1, openJobs: [] })
  expect([held(p, id), kept(p)]).toEqual([[NEW], [OLD]])
  const [transfer] = (await p.admin('GET', '/admin/transfers')).data
  expect(transfer).toMatchObject({
    ...{ byOwner: true, startedBy: { id: p.customer.id }, addresses: { removed: [OLD], added: [NEW] } },
  })
  expect(p.now() + 7 * DAY_MS - Date.parse(transfer.addressesHeldUntil)).toBeLessThan(1000)
  const notices = p.db.$client
    .query<{ words: string }, []>("SELECT words FROM notices WHERE kind = 'server_readdressed' ORDER BY id")
    .all()
  expect(notices.map(({ words }) => [words.includes(OLD), words.includes(NEW)])).toEqual([
    [true, true],
    [true, true],
  ])
  expect(notices[0]!.words).toMatch(/Its plan and price stay/)
  expect(notices[0]!.words).not.toContain('Your provider moves')
  expect(notices[1]!.words).toMatch(/held for 7 days/)
})

test('what staff alone may do is neither shown to an owner nor done for one', async () => {
  using p = await openTwo()
  const id = await order(p)
  expect((await options(p, id)).locations).toEqual([])
  expect(await refusal(p, id)).toMatch(/^422 validation_failed/)
  await p.admin('PUT', `/admin/node-groups/${p.location}/moves`, {
    ...{ locationIds: [p.helsinki], offeredIds: [p.helsinki] },
  })
  const shown = await p.admin('GET', `/admin/node-groups/${p.helsinki}`)
  expect([shown.movesFrom, shown.movesTo]).toEqual([[p.location], []])
  // Without the new field those stay offered that were.
  await p.admin('PUT', `/admin/node-groups/${p.location}/moves`, { locationIds: [p.helsinki] })
  expect((await p.admin('GET', `/admin/node-groups/${p.location}`)).movesOffered).toEqual([p.helsinki])
  const wrong = await p.call(p.owner, 'PUT', `/admin/node-groups/${p.location}/moves`, {
    ...{ locationIds: [], offeredIds: [p.helsinki] },
  })
  expect([wrong.status, wrong.body.error.details.fields[0].field]).toEqual([422, 'offeredIds'])
  expect((await p.admin('GET', `/admin/node-groups/${p.location}`)).movesTo).toEqual([p.helsinki])
})

test('nobody gets the old addresses while they are held, and afterwards they are free', async () => {
  using p = await openOffered()
  const id = await order(p)
  await relocated(p, id)
  const { data } = await p.admin('GET', `/admin/ip-pools/${p.pool}/addresses`)
  const until = dayText(p.now() + 7 * DAY_MS)
  expect(data.find(({ address }: any) => address === OLD)).toMatchObject({ state: 'reserved' })
  expect(data.find(({ address }: any) => address === OLD).reservedFor).toStartWith(`Held until ${until}: `)
  const next = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02', nodeId: p.node.id })
  expect(next.ipv4).not.toBe(OLD)
  p.turnClock(7 * DAY_MS - 5000)
  freeHeld(p.controller)
  expect(kept(p)).toEqual([OLD])
  p.turnClock(5000)
  freeHeld(p.controller)
  expect(kept(p)).toEqual([])
  const [transfer] = (await p.admin('GET', `/admin/transfers?serverId=${id}`)).data
  expect(transfer.addressesHeldUntil).toBeNull()
})

test('a server goes back to the addresses that are held for it, as often as that is so', async () => {
  using p = await openOffered()
  const id = await order(p)
  await relocated(p, id)
  const back = await options(p, id)
  expect([back.left, back.locations]).toMatchObject([
    0,
    [{ possible: true, getsBack: true, heldUntil: expect.any(String) }],
  ])
  expect((await relocated(p, id, p.location)).added).toEqual([OLD])
  expect([held(p, id), kept(p)]).toEqual([[OLD], [NEW]])
  expect((await p.admin('GET', `/servers/${id}`)).location.name).toBe('Frankfurt')
  // The way there is a way back now, which does not count.
  await relocated(p, id)
  expect([held(p, id), kept(p)]).toEqual([[NEW], [OLD]])
})

test('a way back that fails leaves the addresses held', async () => {
  using p = await openOffered()
  const id = await order(p)
  await relocated(p, id)
  const to = p.node.agent
  let isThere = false
  p.arm({
    failpoints: (now) => {
      if (now !== 'move/stop:noted' || isThere) return
      isThere = true
      to.disconnect()
    },
  })
  const { transferId } = await move(p, id, { nodeId: p.node.id, readdress: true })
  await eventually(async () => isThere)
  expect(kept(p)).toEqual([])
  await p.admin('POST', `/admin/transfers/${transferId}/actions/cancel`, {})
  to.connect()
  for (let i = 0; i < 5; i++) await p.settle()
  expect([held(p, id), kept(p)]).toEqual([[NEW], [OLD]])
})

test('where staff gave one of them back, there is no way back', async () => {
  using p = await openOffered()
  const id = await order(p)
  await relocated(p, id)
  const { id: addressId } = p.db.$client.query('SELECT id FROM addresses WHERE address = ?').get(OLD) as { id: string }
  await p.admin('PATCH', `/admin/ip-addresses/${addressId}`, { reservedFor: null })
  expect((await options(p, id)).locations).toEqual([])
  expect(await refusal(p, id, p.customer, p.location)).toMatch(/^422/)
})

test('an owner does not take back a move of staff, and staff do', async () => {
  using p = await openOffered()
  const id = await order(p)
  await move(p, id, { nodeId: nodeNamed(p, 'hel-01'), readdress: true })
  await p.settle()
  expect((await options(p, id)).locations).toEqual([])
  const { nodes } = await p.admin('GET', `/admin/servers/${id}/move-options`)
  expect(nodes.find(({ node }: any) => node.name === 'fra-01')).toMatchObject({ possible: true, getsBack: true })
  await move(p, id, { nodeId: p.node.id, readdress: true })
  await p.settle()
  expect(held(p, id)).toEqual([OLD])
})

test('with days at 0 the old addresses are free when the old node is cleared', async () => {
  using p = await openOffered()
  await p.admin('PUT', '/admin/settings/values', { name: 'transfers.held_days', value: 0 })
  const id = await order(p)
  await relocated(p, id)
  expect([held(p, id), kept(p)]).toEqual([[NEW], []])
  expect(p.db.$client.query('SELECT reserved_for AS r FROM addresses WHERE address = ?').get(OLD)).toEqual({ r: null })
})

test('a server with several addresses and prefixes gets as many others, and its primary ones back', async () => {
  using p = await openOffered()
  await p.admin('PUT', '/admin/settings/values', { name: 'transfers.relocations_a_day', value: 5 })
  const attached = { fra: [p.node.id], hel: [nodeNamed(p, 'hel-01')] }
  for (const [name, nodeIds, network] of [
    ['fra6', attached.fra, '2001:db8:1::/48'],
    ['hel6', attached.hel, '2001:db8:2::/48'],
  ] as const)
    await p.admin('POST', '/admin/ip-pools', { name, network, gateway: network.replace('/48', '1'), nodeIds })
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { ipv6Prefix: 64 })
  const id = await order(p)
  for (const version of [4, 6]) {
    await p.admin('POST', `/servers/${id}/ips`, { version })
    await p.settle()
  }
  const before = held(p, id)
  expect(before).toHaveLength(4)
  expect(await options(p, id)).toMatchObject({ newIpv4: 2, newIpv6: [64, 64] })
  await relocated(p, id)
  const there = held(p, id)
  expect(there.map((address) => address.replace(/\d+(::)?$/, ''))).toEqual([
    ...['198.51.100.', '198.51.100.', '2001:db8:2:', '2001:db8:2:'],
  ])
  expect(kept(p)).toEqual(before)
  // One less on the way back: of the held ones it gets its first.
  const extra = (await p.admin('GET', `/servers/${id}/ips`)).data.find(
    (a: any) => a.kind === 'extra' && a.version === 4,
  )
  await p.admin('DELETE', `/servers/${id}/ips/${extra.id}`)
  await p.settle()
  await relocated(p, id, p.location)
  expect(held(p, id)).toEqual(before.filter((address) => address !== before[1]))
  // Too few there for both prefixes.
  p.db.$client.run("UPDATE pools SET last = '2001:db8:2:2:ffff:ffff:ffff:ffff' WHERE name = 'hel6'")
  p.db.$client.run("UPDATE addresses SET reserved_for = 'tests' WHERE version = 6 AND workload_id IS NULL")
  expect(await refusal(p, id)).toMatch(/^409 no_addresses: Helsinki has no free addresses/)
})

test('an owner is refused in words that name no node, and nothing happens', async () => {
  using p = await openOffered()
  const id = await order(p)
  const reset = async (method: string, path: string, body?: object) => {
    await p.admin(method, path, body)
    await p.settle()
  }
  await reset('POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
  expect(await refusal(p, id)).toMatch(/^409 server_suspended/)
  await reset('POST', `/servers/${id}/actions/unsuspend`)
  await reset('PUT', `/servers/${id}/protection`, { protected: true })
  expect(await refusal(p, id)).toMatch(/^409 server_protected/)
  expect((await options(p, id)).notPossible).toMatch(/protected/)
  await reset('PUT', `/servers/${id}/protection`, { protected: false })
  await reset('POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'overdue' })
  expect(await refusal(p, id)).toMatch(/^409 account_locked/)
  await reset('POST', `/customers/${p.customer.id}/actions/unlock`, {})
  await p.admin('POST', `/admin/servers/${id}/actions/move`, { startsAt: new Date(p.now() + DAY_MS).toISOString() })
  expect(await refusal(p, id)).toMatch(/^409 server_busy: Your provider has planned a move/)
  const [planned] = (await p.admin('GET', '/admin/transfers')).data
  await reset('POST', `/admin/transfers/${planned.id}/actions/cancel`, {})
  await reset('PATCH', `/admin/node-groups/${p.helsinki}`, { open: false })
  expect(await refusal(p, id)).toBe('409 location_closed: Helsinki takes no servers now.')
  await reset('PATCH', `/admin/node-groups/${p.helsinki}`, { open: true, reserve: 1, reserveUnit: 'nodes' })
  expect(await refusal(p, id)).toBe('409 no_capacity: Helsinki has no room for web01 now.')
  await reset('PATCH', `/admin/node-groups/${p.helsinki}`, { reserve: 0 })
  p.db.$client.run("UPDATE addresses SET reserved_for = 'tests' WHERE address LIKE '198.51.100.%'")
  expect(await refusal(p, id)).toBe('409 no_addresses: Helsinki has no free addresses for web01 now.')
  p.db.$client.run("UPDATE addresses SET reserved_for = NULL WHERE address LIKE '198.51.100.%'")
  const { id: floatingId } = await p.admin('POST', `/customers/${p.customer.id}/floating-ips`, {
    locationId: p.location,
  })
  await reset('POST', `/floating-ips/${floatingId}/actions/assign`, { serverId: id })
  expect(await refusal(p, id)).toMatch(/^409 not_movable: Helsinki .*floating addresses stay in its location/)
  await reset('POST', `/floating-ips/${floatingId}/actions/unassign`, {})
  p.node.agent.disconnect()
  await p.call(p.customer, 'POST', `/servers/${id}/actions/power`, { action: 'restart' })
  const busy = await relocate(p, p.customer, id)
  expect([busy.status, busy.body.error.code]).toEqual([409, 'server_busy'])
  expect((await p.admin('GET', '/admin/transfers')).data).toHaveLength(1)
  p.node.agent.connect()
  await eventually(async () => (await where(p, id)).openJobs.length === 0)
  await relocated(p, id)
})

test('one more move on the same day is refused, and the next day it is not', async () => {
  using p = await openOffered()
  await p.admin('PUT', `/admin/node-groups/${p.helsinki}/moves`, {
    ...{ locationIds: [p.location], offeredIds: [p.location] },
  })
  await p.admin('PUT', '/admin/settings/values', { name: 'transfers.held_days', value: 0 })
  const id = await order(p)
  await relocated(p, id)
  expect(await refusal(p, id, p.customer, p.location)).toMatch(/^422 limit_reached: web01 was moved 1 time in the last/)
  p.turnClock(DAY_MS + 1)
  Object.assign(p.customer, p.signIn(p.customer.id))
  await relocated(p, id, p.location)
})

test('the owner, who has its care or manages it may ask for it, and nobody else', async () => {
  using p = await openOffered()
  const [reseller, rival] = [p.account('reseller', 'Rita'), p.account('reseller', 'Rob')]
  for (const { id } of [reseller, rival])
    await p.admin('PATCH', `/resellers/${id}`, { packageIds: [p.pack], locationIds: [p.location] })
  const [owner, sibling] = [p.account('customer', 'Olga', reseller.id), p.account('customer', 'Sam', reseller.id)]
  const friends = {
    view: p.account('customer', 'V'),
    operate: p.account('customer', 'O'),
    manage: p.account('customer', 'M'),
  }
  const { serverId: id } = await p.admin('POST', '/admin/servers', { ...p.order, ownerId: owner.id, nodeId: p.node.id })
  await p.settle()
  for (const [role, friend] of Object.entries(friends)) await share(p, owner, friend, role as keyof typeof friends, id)
  expect(await refusal(p, id, rival)).toMatch(/^404/)
  expect(await refusal(p, id, sibling)).toMatch(/^404/)
  expect(await refusal(p, id, friends.view)).toMatch(/^403 forbidden/)
  expect(await refusal(p, id, friends.operate)).toMatch(/^403 forbidden/)
  expect(await refusal(p, id, p.owner)).toMatch(/^403/)
  expect(await refusal(p, id, p.token(owner.id, ['servers:read', 'servers:power']))).toMatch(/^403 missing_scope/)
  // Its reseller may not place servers there.
  for (const who of [owner, reseller, friends.manage])
    expect(await refusal(p, id, who)).toBe('409 location_not_allowed: Rita may not place servers in Helsinki.')
  await p.admin('PATCH', `/resellers/${reseller.id}`, { locationIds: [p.location, p.helsinki] })
  await p.admin('POST', `/resellers/${reseller.id}/actions/suspend`, { reason: 'overdue' })
  expect(await refusal(p, id, owner)).toMatch(/^409 reseller_suspended/)
  await p.admin('POST', `/resellers/${reseller.id}/actions/unsuspend`)
  await p.settle()
  const token = p.token(owner.id, ['servers:read', 'servers:settings'])
  for (const [who, locationId] of [
    [friends.manage, p.helsinki],
    [reseller, p.location],
    [token, p.helsinki],
  ] as const) {
    expect((await relocate(p, who, id, locationId)).status).toBe(202)
    await p.settle()
  }
  expect((await p.admin('GET', `/servers/${id}`)).location.name).toBe('Helsinki')
})

test('its owner takes a move back before its point of no return, and staff see that it was cancelled', async () => {
  using p = await openOffered()
  const id = await order(p)
  const cancel = (who: Who = p.customer) => p.call(who, 'POST', `/servers/${id}/actions/cancel-relocation`)
  expect((await cancel()).body.error.code).toBe('transfer_ended')
  // The node where it goes to is away, so the move waits.
  p.arm({
    failpoints: (moment) => {
      if (moment === 'move/receive:before') p.agents.get(nodeNamed(p, 'hel-01'))!.disconnect()
    },
  })
  const started = await relocate(p, p.customer, id)
  await Bun.sleep(100)
  expect((await options(p, id)).atWork).toMatchObject({ location: { name: 'Helsinki' }, cancellable: true })
  const stranger = p.account('customer', 'Eve')
  expect((await cancel(stranger)).status).toBe(404)
  const { status, body } = await cancel()
  expect([status, body]).toEqual([202, { jobId: started.body.jobId, serverId: id }])
  p.agents.get(nodeNamed(p, 'hel-01'))!.connect()
  await p.settle()
  expect(await where(p, id)).toMatchObject({ status: 'running', stays: ['home on fra-01'], running: 1 })
  expect([held(p, id), (await options(p, id)).atWork]).toEqual([[OLD], null])
  expect((await p.admin('GET', '/admin/transfers')).data[0]).toMatchObject({ state: 'cancelled' })
})

test("a move of staff is not its owner's to take back", async () => {
  using p = await openOffered()
  const id = await order(p)
  p.arm({
    failpoints: (moment) => {
      if (moment === 'move/receive:before') p.agents.get(nodeNamed(p, 'fra-02'))!.disconnect()
    },
  })
  await move(p, id)
  await Bun.sleep(100)
  expect((await options(p, id)).atWork).toBe(null)
  const { status, body } = await p.call(p.customer, 'POST', `/servers/${id}/actions/cancel-relocation`)
  expect([status, body.error.code]).toEqual([409, 'transfer_ended'])
  expect((await p.admin('GET', '/admin/transfers')).data[0].finishedAt).toBe(null)
})
