// Addresses of a node that is lost or removed: its guests run on until its agent hears of it. Nobody else gets an
// address before the node has said that they are stopped, or before the time of the setting is over.
import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { signatureOf } from '../../../agent/controller-link/identity.ts'
import { agentHeaders, agentPaths, PROTOCOL } from '../../../agent/protocol/wire.ts'
import { freeDue } from '../../../src/fleet/node-records/gone-addresses.ts'
import { type World, world } from '../../support/world/panel.ts'

const hour = 3_600_000

/** Two nodes and a pool of one address, which a server on the first node has. */
async function oneAddress() {
  const p = await world()
  p.db.$client.run('DELETE FROM pool_nodes')
  const other = p.addNode(p.location, 'fra-02')
  const pool = await p.admin('POST', '/admin/ip-pools', {
    ...{ name: 'small', network: '198.51.100.0/29', gateway: '198.51.100.1' },
    ...{ nodeIds: [p.node.id, other.id], quarantineHours: 0 },
  })
  await p.admin('POST', '/admin/ip-pools', {
    ...{ name: 'small 6', network: '2001:db8:7::/48', gateway: 'fe80::1' },
    ...{ nodeIds: [p.node.id, other.id], quarantineHours: 0 },
  })
  const { serverId, ipv4 } = await p.admin('POST', '/admin/servers', { ...p.order, nodeId: p.node.id })
  await p.settle()
  p.db.$client.run('UPDATE addresses SET reserved_for = ? WHERE workload_id IS NULL AND pool_id = ?', ['x', pool.id])
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  p.db.$client.run('UPDATE nodes SET public_key = ? WHERE id = ?', [publicKey.export({ format: 'jwk' }).x!, p.node.id])
  const another = () =>
    p.call(p.signIn(p.owner.id), 'POST', '/admin/servers', { ...p.order, hostname: 'web02', nodeId: other.id })
  return Object.assign(p, { other, serverId: serverId as string, ipv4: ipv4 as string, key: privateKey, another })
}
type One = Awaited<ReturnType<typeof oneAddress>>
const remove = async (p: One) => {
  const path = `/admin/nodes/${p.node.id}/actions/remove-with-workloads`
  expect((await p.call(p.owner, 'POST', path, { name: 'fra-01' })).status).toBe(200)
  await Bun.sleep(5)
  await p.settle()
}
const fetched = (p: World, path: string, init: RequestInit) =>
  p.controller.router.fetch(new Request(`http://localhost${path}`, { method: 'POST', ...init }))
/** The nonce in the refusal of a node that is gone; undefined: nothing is awaited of it. */
async function nonceOf(p: One): Promise<string | undefined> {
  const response = await fetched(p, agentPaths.challenge, {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ nodeId: p.node.id, protocol: PROTOCOL }),
  })
  expect(response.status).toBe(401)
  return ((await response.json()) as any).error.details.nonce
}
async function confirm(p: One, nonce: string, key: KeyObject = p.key) {
  const nodeId = p.node.id
  const response = await fetched(p, agentPaths.stopped, {
    headers: {
      [agentHeaders.node]: nodeId,
      [agentHeaders.nonce]: nonce,
      [agentHeaders.signature]: signatureOf({ nodeId, key } as never, nonce),
      [agentHeaders.protocol]: String(PROTOCOL),
    },
  })
  return response.status
}
const reservedFor = (p: One) =>
  p.db.$client
    .query<{ words: string | null }, [string]>('SELECT reserved_for AS words FROM addresses WHERE address = ?')
    .get(p.ipv4)!.words
const refusedOrder = async (p: One) => {
  const { status, body } = await p.another()
  const servers = p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM servers').get()!.n
  return [status, body.error?.code, servers]
}

describe('the address of a server on a node that is removed with it', () => {
  test('is given to another one only when the node has said that nothing runs on it', async () => {
    using p = await oneAddress()
    await remove(p)
    expect((await p.call(p.owner, 'GET', `/servers/${p.serverId}`)).body.status).toBe('terminated')
    expect(reservedFor(p)).toMatch(/^Until .* UTC: it may still be in use on fra-01, which was removed$/)
    expect(await refusedOrder(p)).toEqual([409, 'no_addresses', 1])
    expect(await confirm(p, (await nonceOf(p))!)).toBe(200)
    expect(reservedFor(p)).toBe(null)
    const { status, body } = await p.another()
    expect([status, body.ipv4]).toEqual([201, p.ipv4])
    // It is not asked again.
    expect(await nonceOf(p)).toBeUndefined()
  })
  test('is free without it when the time of the setting is over, and not before', async () => {
    using p = await oneAddress()
    await remove(p)
    p.turnClock(23.9 * hour)
    freeDue(p.db, p.controller.app.clock())
    expect(await refusedOrder(p)).toEqual([409, 'no_addresses', 1])
    p.turnClock(0.2 * hour)
    freeDue(p.db, p.controller.app.clock())
    expect((await p.another()).status).toBe(201)
  })
  test('is free at once where the setting says so', async () => {
    using p = await oneAddress()
    p.db.$client.run("INSERT INTO settings (name, value) VALUES ('nodes.address_hold_hours', '0')")
    await remove(p)
    expect((await p.another()).status).toBe(201)
  })
  test('stays held when somebody else than the node says so, or the node says it twice with one nonce', async () => {
    using p = await oneAddress()
    await remove(p)
    const stranger = generateKeyPairSync('ed25519').privateKey
    const nonce = (await nonceOf(p))!
    expect(await confirm(p, nonce, stranger)).toBe(401)
    expect(await confirm(p, nonce)).toBe(409)
    expect(await confirm(p, 'made.up.nonce')).toBe(409)
    expect(await refusedOrder(p)).toEqual([409, 'no_addresses', 1])
  })
  test('of a node that is there, nobody is asked and nothing is freed', async () => {
    using p = await oneAddress()
    expect(await confirm(p, 'made.up.nonce')).toBe(401)
    expect(reservedFor(p)).toBe(null)
    expect(await refusedOrder(p)).toEqual([409, 'no_addresses', 1])
  })
  test('staff free it on the page of the pool, and it stays free', async () => {
    using p = await oneAddress()
    await remove(p)
    const { id } = p.db.$client
      .query<{ id: string }, [string]>('SELECT id FROM addresses WHERE address = ?')
      .get(p.ipv4)!
    await p.admin('PATCH', `/admin/ip-addresses/${id}`, { reservedFor: null })
    expect((await p.another()).body.ipv4).toBe(p.ipv4)
    expect(await confirm(p, (await nonceOf(p))!)).toBe(200)
    expect(await refusedOrder(p)).toEqual([409, 'no_addresses', 2])
  })
})

test('a server of a lost node that confirmed gives its address back at once when it is terminated', async () => {
  using p = await oneAddress()
  p.node.agent.disconnect()
  const lose = () => p.call(p.owner, 'POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
  expect((await lose()).status).toBe(200)
  expect(await confirm(p, (await nonceOf(p))!)).toBe(200)
  expect(await refusedOrder(p)).toEqual([409, 'no_addresses', 1])
  await p.admin('DELETE', `/servers/${p.serverId}?immediately=true`)
  await p.settle()
  expect((await p.another()).body.ipv4).toBe(p.ipv4)
})
test('one of a lost node that says nothing keeps it reserved after its termination', async () => {
  using p = await oneAddress()
  p.node.agent.disconnect()
  await p.call(p.owner, 'POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
  await p.admin('DELETE', `/servers/${p.serverId}?immediately=true`)
  await p.settle()
  expect(reservedFor(p)).toMatch(/it may still be in use on fra-01, which is lost$/)
  expect(await refusedOrder(p)).toEqual([409, 'no_addresses', 1])
})
