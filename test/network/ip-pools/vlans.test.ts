// Pools in VLANs: which nodes may route them, and that the card of a server is in one network, whatever happens to its
// addresses.
import { describe, expect, test } from 'bun:test'
import type { FakeHost } from '../../../agent/host/fake-host.ts'
import { vlanRangesOf } from '../../../agent/protocol/wire.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { chooseVlan, lackingAddresses, supplyOf } from '../../../src/network/ip-pools/allocate.ts'
import { lackingGiven, takeGiven } from '../../../src/network/ip-pools/given.ts'
import { transitReasons } from '../../../src/network/ip-pools/vlan/in-transit.ts'
import { type World, world } from '../../support/world/panel.ts'

const carrying = (vlans: string) => ({ uplink: { name: 'bond0', vlans } })
const addPool = (p: World, name: string, more: object) =>
  p.call(p.owner, 'POST', '/admin/ip-pools', { name, quarantineHours: 0, ...more })
const v4 = (third: number, vlan: number | null, nodeIds: string[], many = 10) => ({
  ...{ network: `198.51.${third}.0/24`, gateway: `198.51.${third}.1`, vlan, nodeIds },
  ...{ first: `198.51.${third}.10`, last: `198.51.${third}.${9 + many}` },
})
/** The node says from now on that it carries these. */
const carries = (p: World, nodeId: string, list: string) =>
  p.db.$client.run("UPDATE nodes SET facts = json_set(facts, '$.uplink', json(?)) WHERE id = ?", [
    JSON.stringify({ name: 'bond0', up: true, vlans: list === '' ? [] : vlanRangesOf(list)! }),
    nodeId,
  ])
const everything = (p: World) =>
  JSON.stringify(
    ['pools', 'pool_nodes', 'addresses', 'jobs', 'events', 'workloads'].map((table) =>
      p.db.$client.query(`SELECT * FROM ${table}`).all(),
    ),
  )

/** Two nodes that carry VLANs 20 to 29 and a pool in each of two VLANs, beside a node without. */
async function rig() {
  const p = await world()
  const a = p.addNode(p.location, 'fra-02', carrying('20-29'))
  const b = p.addNode(p.location, 'fra-03', carrying('20-29'))
  const made = async (name: string, more: object) => (await addPool(p, name, more)).body.id as string
  const twenty = await made('twenty', v4(20, 20, [a.id, b.id]))
  const thirty = await made('twenty-nine', v4(29, 29, [a.id]))
  const place = async (hostname: string, nodeId: string, more: object = {}) => {
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId, ...more })
    await p.settle()
    return serverId as string
  }
  return Object.assign(p, { a, b, twenty, thirty, place })
}
type Rig = Awaited<ReturnType<typeof rig>>
const ipsOf = async (p: World, id: string): Promise<string[]> =>
  (await p.admin('GET', `/servers/${id}/ips`)).data.map(({ address }: any) => address)
const bridgesOn = ({ agent }: { agent: { host: FakeHost } }) => [...agent.host.fakeVlans.bridges.keys()]

describe('a pool in a VLAN', () => {
  test('is attached only to nodes that carry it, and a refusal changes nothing', async () => {
    using p = await rig()
    const before = everything(p)
    const refused = [
      await addPool(p, 'more', v4(40, 20, [p.node.id, p.a.id])),
      await addPool(p, 'more', v4(40, 30, [p.a.id])),
      await p.call(p.owner, 'PUT', `/admin/ip-pools/${p.twenty}/nodes`, { nodeIds: [p.node.id] }),
      await p.call(p.owner, 'PUT', `/admin/ip-pools/${p.twenty}/vlan`, { vlan: 30 }),
    ]
    expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual(
      refused.map(() => [409, 'vlan_not_carried']),
    )
    expect(refused[0]!.body.error.message).toContain('fra-01 does not carry VLAN 20')
    for (const vlan of [0, 4095, '20', 1.5])
      expect((await addPool(p, 'more', { ...v4(40, 20, []), vlan })).status).toBe(422)
    expect(everything(p)).toBe(before)
    const free = await addPool(p, 'more', v4(40, null, [p.node.id, p.a.id]))
    expect([free.status, free.body.vlan, free.body.uncarried]).toEqual([201, null, []])
    const shown = await p.admin('GET', `/admin/ip-pools/${p.twenty}`)
    expect([shown.vlan, shown.uncarried]).toEqual([20, []])
  })

  test('has another VLAN while nothing uses its addresses, and keeps its own while something does', async () => {
    using p = await rig()
    const set = (vlan: number | null) => p.call(p.owner, 'PUT', `/admin/ip-pools/${p.twenty}/vlan`, { vlan })
    expect((await set(25)).body.vlan).toBe(25)
    expect((await set(20)).body.vlan).toBe(20)
    const id = await p.place('web01', p.b.id)
    const before = everything(p)
    const refused = await set(21)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'in_use'])
    expect(refused.body.error.message).toContain('1 of its addresses is in use')
    expect((await set(20)).status).toBe(200)
    expect(everything(p)).toBe(before)
    // A job keeps an address for a server that does not have it yet.
    p.db.$client.run('UPDATE addresses SET workload_id = NULL, is_primary = 0')
    p.db.$client.run('UPDATE addresses SET reserved_for = ? WHERE address = ?', [
      transitReasons.change(id),
      '198.51.20.12',
    ])
    expect((await set(21)).body.error.message).toContain('a server is about to get 198.51.20.12')
    // One that staff keep is nobody's.
    p.db.$client.run("UPDATE addresses SET reserved_for = 'Router of rack 4' WHERE address = '198.51.20.12'")
    expect((await set(21)).body.vlan).toBe(21)
    expect((await set(null)).body.vlan).toBeNull()
  })

  test('gives its servers a bridge in the VLAN on their node, and no others', async () => {
    using p = await rig()
    const one = await p.place('web01', p.b.id)
    expect(await ipsOf(p, one)).toEqual(['198.51.20.10'])
    expect(bridgesOn(p.b)).toEqual(['bvb20'])
    expect(p.b.agent.host.state.vlanOf(one)).toBe(20)
    const plain = await p.place('web02', p.node.id)
    expect(bridgesOn(p.node)).toEqual([])
    expect(p.node.agent.host.state.vlanOf(plain)).toBeUndefined()
  })

  test('gives nothing on a node that does not carry it any more, and Needs attention says so', async () => {
    using p = await rig()
    const attention = async () => JSON.stringify((await p.admin('GET', '/admin/overview')).attention)
    expect(await attention()).not.toContain('does not carry')
    carries(p, p.b.id, '29')
    expect(await attention()).toContain('fra-03 does not carry VLAN 20 of twenty.')
    expect((await p.admin('GET', `/admin/ip-pools/${p.twenty}`)).uncarried).toEqual([{ id: p.b.id, name: 'fra-03' }])
    const before = everything(p)
    const refused = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, nodeId: p.b.id })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'no_addresses'])
    expect(refused.body.error.message).toContain('it does not carry VLAN 20 of the pool twenty')
    expect(everything(p)).toBe(before)
    // The nodes stay as they are chosen, and more can be attached.
    const kept = await p.call(p.owner, 'PUT', `/admin/ip-pools/${p.twenty}/nodes`, { nodeIds: [p.b.id] })
    expect(kept.status).toBe(200)
    carries(p, p.b.id, 'all')
    expect(await attention()).not.toContain('does not carry')
  })
})

describe('the card of a server is in one network', () => {
  test('a further and another primary address are of its VLAN, or are refused', async () => {
    using p = await rig()
    const id = await p.place('web01', p.a.id)
    expect(await ipsOf(p, id)).toEqual(['198.51.20.10'])
    await p.admin('POST', `/servers/${id}/ips`, { version: 4 })
    await p.settle()
    expect(await ipsOf(p, id)).toEqual(['198.51.20.10', '198.51.20.11'])
    const changed = await p.call(p.owner, 'POST', `/servers/${id}/actions/change-primary-address`, { version: 4 })
    expect(changed.body.servers[0].added).toBe('198.51.20.12')
    await p.settle()
    // VLAN 29 has addresses there, and this server gets none of them.
    p.db.$client.run("UPDATE addresses SET reserved_for = 'x' WHERE pool_id = ? AND workload_id IS NULL", [p.twenty])
    const before = everything(p)
    for (const [path, body] of [
      ['ips', { version: 4 }],
      ['actions/change-primary-address', { version: 4 }],
    ] as const) {
      const refused = await p.call(p.owner, 'POST', `/servers/${id}/${path}`, body)
      expect([refused.status, refused.body.error.code]).toEqual([409, 'no_addresses'])
      expect(refused.body.error.message).toContain('VLAN 20')
    }
    expect(everything(p)).toBe(before)
    expect(bridgesOn(p.a)).toEqual(['bvb20'])
  })

  test('servers of different VLANs swap no addresses', async () => {
    using p = await rig()
    const one = await p.place('web01', p.a.id)
    p.db.$client.run("UPDATE addresses SET reserved_for = 'x' WHERE pool_id = ? AND workload_id IS NULL", [p.twenty])
    const other = await p.place('web02', p.a.id)
    expect(await ipsOf(p, other)).toEqual(['198.51.29.10'])
    const { options } = await p.admin('GET', `/servers/${one}/primary-address-options`)
    expect(options[0].swapWith).toEqual([])
    const before = everything(p)
    const refused = await p.call(p.owner, 'POST', `/servers/${one}/actions/swap-primary-addresses`, {
      ...{ serverId: other, version: 4 },
    })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'address_not_routed'])
    expect(everything(p)).toBe(before)
  })

  test('a floating address is reserved where servers of its owner are, and points to those alone', async () => {
    using p = await rig()
    const one = await p.place('web01', p.a.id)
    const plain = await p.place('web02', p.node.id)
    const reserve = (who = p.customer) =>
      p.call(who, 'POST', `/customers/${p.customer.id}/floating-ips`, { locationId: p.location })
    // The pool without a VLAN is full: what is left is in the VLAN of its first server.
    p.db.$client.run("UPDATE addresses SET reserved_for = 'x' WHERE pool_id = ? AND workload_id IS NULL", [p.pool])
    const ip = (await reserve()).body
    expect(ip.address).toStartWith('198.51.20.')
    const assign = (serverId: string) =>
      p.call(p.customer, 'POST', `/floating-ips/${ip.id}/actions/assign`, { serverId })
    p.db.$client.run('INSERT INTO pool_nodes (pool_id, node_id) VALUES (?, ?)', [p.twenty, p.node.id])
    carries(p, p.node.id, 'all')
    const before = everything(p)
    const refused = await assign(plain)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'address_not_routed'])
    expect(refused.body.error.message).toContain('in another network than web02')
    expect(everything(p)).toBe(before)
    expect((await assign(one)).status).toBe(202)
    await p.settle()
    expect(p.a.agent.host.state.floating(one)).toEqual([ip.address])
    const pool = await p.call(p.owner, 'PUT', `/admin/ip-pools/${p.twenty}/vlan`, { vlan: null })
    expect(pool.body.error.code).toBe('in_use')
  })

  test('all addresses of an order are in one VLAN, that which has them all', async () => {
    using p = await rig()
    await addPool(p, 'six', {
      ...{ network: '2001:db8:29::/48', gateway: 'fe80::1', vlan: 29, nodeIds: [p.a.id] },
    })
    const need = { ipv4: 2, ipv6Prefix: 64 }
    expect(chooseVlan(p.db, p.a.id, { ipv4: 1, ipv6Prefix: null })).toBe(20)
    expect(chooseVlan(p.db, p.a.id, need)).toBe(29)
    expect(lackingAddresses(p.db, need)(p.a.id)).toBeUndefined()
    expect(lackingAddresses(p.db, need)(p.b.id)?.words).toContain('no free IPv6 prefix of /64 in VLAN 20')
    const pack = await p.admin('POST', '/admin/packages', {
      ...{ name: 'Two', vcpus: 1, memoryMb: 512, diskGb: 20, ipv4: 2, ipv6Prefix: 64 },
    })
    const id = await p.place('web01', p.a.id, { packageId: pack.id })
    expect(await ipsOf(p, id)).toEqual(['198.51.29.10', '198.51.29.11', expect.stringContaining('2001:db8:29:')])
    expect(bridgesOn(p.a)).toEqual(['bvb29'])
    // Pools of another VLAN are no stock for it.
    const supply = supplyOf(p.db, need)
    expect(supply.attached.get(p.a.id)!.map(({ vlan, v4, v6 }) => [vlan, v4.length, v6.length])).toEqual([
      [20, 1, 0],
      [29, 1, 1],
    ])
  })

  test('what a node does for an instance is in no VLAN', async () => {
    using p = await rig()
    const need = { ipv4: 1, ipv6Prefix: null, vlan: null }
    expect(lackingAddresses(p.db, need)(p.a.id)?.words).toContain('no free IPv4 address')
    expect(lackingAddresses(p.db, need)(p.node.id)).toBeUndefined()
    expect(supplyOf(p.db, need).attached.get(p.a.id)).toBeUndefined()
  })

  test('a server brings along addresses of one VLAN that the node carries, and no others', async () => {
    using p = await rig()
    expect(lackingGiven(p.db, p.a.id, ['198.51.20.15', '198.51.20.16'])).toBeUndefined()
    expect(lackingGiven(p.db, p.a.id, ['198.51.20.15', '198.51.29.15'])?.words).toBe(
      'no network with both 198.51.20.15 (VLAN 20) and 198.51.29.15 (VLAN 29)',
    )
    const id = await p.place('web01', p.node.id)
    const before = everything(p)
    expect(() => write(p.db, (tx) => takeGiven(tx, id, [p.a.id], ['198.51.20.15', '198.51.29.15']))).toThrow(
      'Choose addresses of one network',
    )
    carries(p, p.b.id, '')
    expect(lackingGiven(p.db, p.b.id, ['198.51.20.15'])?.words).toBe('no VLAN 20, in which 198.51.20.15 is')
    expect(() => write(p.db, (tx) => takeGiven(tx, id, [p.b.id], ['198.51.20.15']))).toThrow('no VLAN 20')
    expect(everything(p)).toBe(before)
  })
})

describe('a server in a VLAN that moves', () => {
  const move = (p: Rig, id: string, nodeId: string, more: object = {}) =>
    p.call(p.owner, 'POST', `/admin/servers/${id}/actions/move`, { nodeId, ...more })

  test('goes to a node that carries it, and leaves no bridge behind', async () => {
    using p = await rig()
    const id = await p.place('web01', p.a.id)
    expect((await move(p, id, p.b.id)).status).toBe(202)
    await p.settle()
    expect([bridgesOn(p.a), bridgesOn(p.b)]).toEqual([[], ['bvb20']])
    expect(p.server(id).nodeId).toBe(p.b.id)
  })

  test('is refused on a node that does not carry it, and nothing happens', async () => {
    using p = await rig()
    const id = await p.place('web01', p.a.id)
    carries(p, p.b.id, '29')
    const before = everything(p)
    const refused = await move(p, id, p.b.id)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'no_addresses'])
    expect(refused.body.error.message).toContain('no VLAN 20, in which 198.51.20.10 is')
    expect(everything(p)).toBe(before)
  })

  test('gets new addresses in another VLAN where they change, and its card is in that one', async () => {
    using p = await rig()
    const other = p.addNode(p.location, 'fra-04', carrying('100'))
    await addPool(p, 'hundred', v4(100, 100, [other.id]))
    const id = await p.place('web01', p.a.id)
    expect((await move(p, id, other.id, { readdress: true })).status).toBe(202)
    await p.settle()
    expect(await ipsOf(p, id)).toEqual(['198.51.100.10'])
    expect([bridgesOn(p.a), bridgesOn(other)]).toEqual([[], ['bvb100']])
    expect((await move(p, id, p.a.id, { readdress: true })).status).toBe(202)
    await p.settle()
    expect(await ipsOf(p, id)).toEqual(['198.51.20.10'])
    expect([bridgesOn(p.a), bridgesOn(other)]).toEqual([['bvb20'], []])
  })
})
