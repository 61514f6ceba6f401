// Addresses that are never given out again: free ones at once, others when they are given back.
import { describe, expect, test } from 'bun:test'
import { write } from '../../../src/kernel/db/open.ts'
import { type World, world } from '../../support/world/panel.ts'

const order = async (p: World, hostname: string): Promise<string> => {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname })
  await p.settle()
  return serverId
}
const end = async (p: World, id: string) => {
  await p.admin('DELETE', `/servers/${id}?immediately=true`)
  await p.settle()
}
const addressOf = async (p: World, id: string): Promise<string> =>
  (await p.admin('GET', `/servers/${id}/ips`)).data[0].address
/** As the map of the pool has it. */
const onMap = async (p: World, address: string) =>
  (await p.admin('GET', `/admin/ip-pools/${p.pool}/addresses`)).data.find((one: any) => one.address === address)
const act = async (p: World, address: string, action: 'retire' | 'unretire', body?: object) =>
  p.admin('POST', `/admin/ip-addresses/${(await onMap(p, address)).id}/actions/${action}`, body)
const counts = async (p: World) => {
  const { held, reserved, resting, free, total } = await p.admin('GET', `/admin/ip-pools/${p.pool}`)
  return { held, reserved, resting, free, total }
}
/** A world whose pool lets freed addresses go at once. */
async function restless() {
  const p = await world()
  p.db.$client.run('UPDATE pools SET quarantine_hours = 0')
  return p
}
const WORDS = 'Never given out again: On block lists'

describe('an address that is never given out again', () => {
  test('is reserved at once where nobody has it, and free again when that is taken back', async () => {
    using p = await restless()
    const before = await counts(p)
    const answer = await act(p, '203.0.113.10', 'retire', { reason: 'On block lists' })
    expect(answer).toMatchObject({ address: '203.0.113.10', state: 'reserved', retiredFor: 'On block lists' })
    expect(await onMap(p, '203.0.113.10')).toMatchObject({ reservedFor: WORDS, retiredFor: 'On block lists' })
    expect(await counts(p)).toEqual({ ...before, free: before.free - 1, reserved: before.reserved + 1 })
    const id = await order(p, 'web01')
    expect(await addressOf(p, id)).not.toBe('203.0.113.10')
    await end(p, id)
    await act(p, '203.0.113.10', 'unretire')
    expect(await counts(p)).toEqual(before)
    expect(await addressOf(p, await order(p, 'web02'))).toBe('203.0.113.10')
    const { rows } = await p.admin('GET', '/admin/addresses/203.0.113.10')
    expect([rows[0].state, rows[0].retiredFor]).toEqual(['held', null])
  })

  test('stays with the server that has it, and no order gets it from when that has let go of it', async () => {
    using p = await restless()
    const id = await order(p, 'web01')
    const address = await addressOf(p, id)
    expect(await act(p, address, 'retire', { reason: 'On block lists' })).toMatchObject({ state: 'held' })
    expect(await addressOf(p, id)).toBe(address)
    expect(await onMap(p, address)).toMatchObject({ state: 'held', reservedFor: null, retiredFor: 'On block lists' })
    await end(p, id)
    expect(await onMap(p, address)).toMatchObject({ state: 'reserved', reservedFor: WORDS })
    expect(await addressOf(p, await order(p, 'web02'))).not.toBe(address)
  })

  test('stays so after a rest, as a floating address that is released, and whatever frees it', async () => {
    using p = await world()
    const floating = await p.admin('POST', `/customers/${p.customer.id}/floating-ips`, {
      locationId: (await order(p, 'web01')) && p.location,
      name: 'entry',
    })
    await act(p, floating.address, 'retire', { reason: 'On block lists' })
    expect(await onMap(p, floating.address)).toMatchObject({ reservedFor: 'Floating address' })
    await p.admin('DELETE', `/floating-ips/${floating.id}`)
    await p.settle()
    expect(await onMap(p, floating.address)).toMatchObject({ state: 'reserved', reservedFor: WORDS })
    write(p.db, (tx) => {
      tx.$client.run('UPDATE addresses SET reserved_for = NULL, rests_until = NULL WHERE address = ?', [
        floating.address,
      ])
    })
    expect(await onMap(p, floating.address)).toMatchObject({ state: 'reserved', reservedFor: WORDS })
  })

  test('keeps another reservation, and says the last reason when it is set again', async () => {
    using p = await restless()
    const at = '203.0.113.12'
    const { id } = await onMap(p, at)
    await p.admin('PATCH', `/admin/ip-addresses/${id}`, { reservedFor: 'Router of rack 4' })
    await act(p, at, 'retire', { reason: 'On block lists' })
    expect(await onMap(p, at)).toMatchObject({ reservedFor: 'Router of rack 4', retiredFor: 'On block lists' })
    await act(p, at, 'unretire')
    expect(await onMap(p, at)).toMatchObject({ reservedFor: 'Router of rack 4', retiredFor: null })
    await p.admin('PATCH', `/admin/ip-addresses/${id}`, { reservedFor: null })
    await act(p, at, 'retire', { reason: 'Report 118' })
    await act(p, at, 'retire', { reason: 'On block lists' })
    expect(await onMap(p, at)).toMatchObject({ reservedFor: WORDS, retiredFor: 'On block lists' })
    await act(p, at, 'unretire')
    expect(await onMap(p, at)).toMatchObject({ state: 'free', reservedFor: null })
  })

  test('is not released as a reservation is, nor by others; each change is in the audit log', async () => {
    using p = await restless()
    const { id } = await onMap(p, '203.0.113.10')
    const path = `/admin/ip-addresses/${id}`
    for (const who of [p.customer, p.staff(['customers.read'])])
      expect((await p.call(who, 'POST', `${path}/actions/retire`, { reason: 'x' })).status).toBe(403)
    expect((await onMap(p, '203.0.113.10')).retiredFor).toBeNull()
    await act(p, '203.0.113.10', 'retire', { reason: 'On block lists' })
    const before = p.fingerprint(['audit'])
    for (const reservedFor of [null, 'Router of rack 4'])
      expect((await p.call(p.owner, 'PATCH', path, { reservedFor })).body.error.code).toBe('address_retired')
    expect((await p.call(p.customer, 'POST', `${path}/actions/unretire`)).status).toBe(403)
    expect(p.fingerprint(['audit'])).toBe(before)
    await act(p, '203.0.113.10', 'unretire')
    const changes = async (operation: string) =>
      (await p.admin('GET', `/admin/audit?operation=${operation}`)).data.map((one: any) => [one.result, one.changes])
    expect(JSON.stringify(await changes('pools.retire-address'))).toContain('On block lists')
    expect((await changes('pools.unretire-address')).length).toBeGreaterThan(0)
  })
})
