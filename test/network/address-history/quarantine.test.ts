import { describe, expect, test } from 'bun:test'
import { endDueRests } from '../../../src/network/ip-pools/quarantine/rest.ts'
import { type World, world } from '../../support/world/panel.ts'

const hour = 3_600_000
/** A world whose pool has only these addresses left, and lets freed ones rest for two hours. */
async function tight(free: number) {
  const p = await world()
  p.db.$client.run('UPDATE pools SET quarantine_hours = 2')
  p.db.$client.run("UPDATE addresses SET reserved_for = 'test' WHERE place >= ?", [free])
  return p
}
/** With a token, since a session would not live as long. */
const tryOrder = (p: World, hostname: string) =>
  p.call(p.token(p.owner.id), 'POST', '/admin/servers', { ...p.order, hostname })
const order = async (p: World, hostname: string): Promise<string> => {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname })
  await p.settle()
  return serverId
}
const end = async (p: World, id: string) => {
  await p.admin('DELETE', `/servers/${id}?immediately=true`)
  await p.settle()
}
const turn = async (p: World, ms: number) => {
  p.turnClock(ms)
  await endDueRests({ db: p.db, app: p.controller.app })
}
const counts = async (p: World) => {
  const { held, reserved, resting, free } = await p.admin('GET', `/admin/ip-pools/${p.pool}`)
  return { held, reserved, resting, free }
}

describe('a freed address', () => {
  test('rests for the time of its pool; an order that fails for this alone says so', async () => {
    using p = await tight(1)
    const id = await order(p, 'web01')
    await end(p, id)
    expect(await counts(p)).toEqual({ held: 0, reserved: 19, resting: 1, free: 0 })
    await turn(p, hour)
    const refused = await tryOrder(p, 'web02')
    expect([refused.status, refused.body.error.code]).toEqual([409, 'no_addresses'])
    expect(refused.body.error.message).toMatch(
      /no free IPv4 address \(1 that was freed rests, the first until \d+ [A-Z][a-z]+ 2027, /,
    )
    expect(await counts(p)).toEqual({ held: 0, reserved: 19, resting: 1, free: 0 })
    await turn(p, 1.1 * hour)
    expect((await tryOrder(p, 'web02')).status).toBe(201)
    const [, first] = (await p.admin('GET', '/admin/addresses/203.0.113.10/history')).data
    expect(Math.round((Date.parse(first.restedUntil) - Date.parse(first.to)) / hour)).toBe(2)
  })

  test('is given to none of many orders at once, and to exactly one when staff end its rest', async () => {
    using p = await tight(3)
    const ids = await Promise.all(['a1', 'a2', 'a3'].map((hostname) => order(p, hostname)))
    for (const id of ids) await end(p, id)
    const many = (n: number) =>
      Promise.all(Array.from({ length: 12 }, (_, i) => tryOrder(p, `b${n}-${i}`))).then((all) =>
        all.map(({ status }) => status).toSorted(),
      )
    expect(await many(1)).toEqual(Array(12).fill(409))
    const resting = (await p.admin('GET', `/admin/ip-pools/${p.pool}/addresses`)).data.filter(
      ({ state }: any) => state === 'resting',
    )
    expect(resting.length).toBe(3)
    expect((await p.call(p.customer, 'POST', `/admin/ip-addresses/${resting[0].id}/actions/end-rest`)).status).toBe(403)
    expect((await counts(p)).resting).toBe(3)
    await p.admin('POST', `/admin/ip-addresses/${resting[0].id}/actions/end-rest`)
    expect(await many(2)).toEqual([201, ...Array(11).fill(409)])
    await turn(p, 3 * hour)
    expect(await many(3)).toEqual([201, 201, ...Array(10).fill(409)])
  })

  test('that is floating rests too, and a longer time counts from the next one that is freed', async () => {
    using p = await tight(3)
    await order(p, 'web01')
    const reserve = () =>
      p.admin('POST', `/customers/${p.customer.id}/floating-ips`, { locationId: p.location, name: 'entry' })
    const { id } = await reserve()
    p.turnClock(hour)
    await p.admin('DELETE', `/floating-ips/${id}`)
    expect((await counts(p)).resting).toBe(1)
    const path = `/admin/ip-pools/${p.pool}/quarantine`
    const token = await p.call(p.token(p.owner.id), 'PUT', path, { quarantineHours: 0 })
    expect(token.body.error.code).toBe('token_not_allowed')
    expect((await p.admin('GET', `/admin/ip-pools/${p.pool}`)).quarantineHours).toBe(2)
    expect((await p.call(p.staff(), 'PUT', path, { quarantineHours: 6 })).body.quarantineHours).toBe(6)
    const second = await reserve()
    p.turnClock(hour)
    await p.admin('DELETE', `/floating-ips/${second.id}`)
    await turn(p, 1.1 * hour)
    expect((await counts(p)).resting).toBe(1)
    await turn(p, 5 * hour)
    expect((await counts(p)).resting).toBe(0)
  })
})
