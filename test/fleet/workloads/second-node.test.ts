// A workload on two nodes: both report of their time with it, and the second one has rules and members before the
// workload runs there.
import { describe, expect, test } from 'bun:test'
import { snapshotsGb } from '../../../src/compute/snapshot-records/queries.ts'
import { capacityOf } from '../../../src/fleet/placement/capacity.ts'
import type { Nodes } from '../../../src/fleet/placement/placement.ts'
import { keepPools } from '../../../src/fleet/storage-pools/queries.ts'
import { workloadById } from '../../../src/fleet/workloads/queries.ts'
import { type Brought, judgeForMove } from '../../../src/fleet/workloads/stays/second-node.ts'
import { changeSpare, closeStay, openArriving, switchHome } from '../../../src/fleet/workloads/stays/stays.ts'
import { ApiError } from '../../../src/kernel/api/errors.ts'
import { day as DAY, hour } from '../../../src/kernel/db/clock.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { spreadAll } from '../../../src/network/private-networks/reconcile.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type World, world } from '../../support/world/panel.ts'

/** A server at home on the first node; a second one routes its pool. */
async function open() {
  const p = await world()
  const other = p.addNode(p.location, 'fra-02')
  p.attach(p.pool, other.id)
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, nodeId: p.node.id })
  await p.settle()
  return Object.assign(p, { other, id: serverId as string })
}
type Two = Awaited<ReturnType<typeof open>>
const arrive = (p: Two) =>
  write(p.db, (tx) => openArriving(tx, p.id, { nodeId: p.other.id, pool: 'local', spareDiskGb: 0 }, p.now()))
const atHomeThere = (p: Two) =>
  write(p.db, (tx) => switchHome(tx, p.id, { nodeId: p.other.id, locationId: p.location }))
const close = (p: Two, nodeId: string) => write(p.db, (tx) => closeStay(tx, p.id, nodeId, p.now()))
const misconduct = (p: World, nodeId: string) => p.controller.app.nodes.misconduct(nodeId).map(({ offence }) => offence)

describe('a second node', () => {
  const stays = (p: Two) =>
    p.db.$client
      .query('SELECT role, spare_disk_gb AS spareDiskGb FROM workload_stays WHERE workload_id = ? ORDER BY role')
      .all(p.id)
  const refusal = (work: () => unknown): string => {
    try {
      work()
    } catch (error) {
      if (error instanceof ApiError) return `${error.code}: ${error.message}`
      throw error
    }
    return 'accepted'
  }
  const GiB = 2 ** 30
  const pools = (p: Two, ...freeGb: number[]) =>
    write(p.db, (tx) => {
      const row = { kind: 'directory' as const, class: 'ssd', open: true, totalBytes: 100 * GiB }
      const found = freeGb.map((gb, i) => ({ name: `p${i}`, path: `/p${i}`, ...row, freeBytes: (gb + 5) * GiB }))
      keepPools(tx, p.other.id, found as never, p.now())
    })
  test('holds what comes along, and not a former disk that waits at home for its deletion', async () => {
    using p = await open()
    await p.call(p.customer, 'POST', `/servers/${p.id}/snapshots`, { name: 'a' })
    await p.settle()
    const snapshots = snapshotsGb(p.db, p.id)
    expect(snapshots).toBeGreaterThan(0)
    write(p.db, (tx) => {
      changeSpare(tx, p.id, 20)
      openArriving(tx, p.id, { nodeId: p.other.id, pool: 'local', spareDiskGb: snapshots }, p.now())
    })
    expect(stays(p)).toEqual([
      { role: 'arriving', spareDiskGb: snapshots },
      { role: 'home', spareDiskGb: snapshots + 20 },
    ])
    // Its deletion is of the node where it stands.
    write(p.db, (tx) => changeSpare(tx, p.id, -20, p.node.id))
    expect(stays(p).map((stay: any) => stay.spareDiskGb)).toEqual([snapshots, snapshots])
  })
  test('that does not route an address of the server is refused, and nothing is held there', async () => {
    using p = await open()
    await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id] })
    expect(refusal(() => arrive(p))).toBe(
      'no_addresses: The node has no pool with 203.0.113.10. Attach the pool to it, or choose another node.',
    )
    expect(stays(p)).toEqual([{ role: 'home', spareDiskGb: 0 }])
  })
  test('is judged in the words of placement', async () => {
    using p = await open()
    const judged = (brought: Partial<Brought> = {}, nodes: Nodes = p.controller.app.nodes) => {
      const all = { storageClass: null, spareDiskGb: 0, ...brought }
      const answer = judgeForMove(p.db, workloadById(p.db, p.id)!, all, nodes)(capacityOf(p.db, p.other.id))
      return 'disabledReason' in answer ? answer.disabledReason : [answer.pool, ...answer.volumes.map((v) => v.pool)]
    }
    const volumes = [10, 40].map((diskGb, i) => ({ volumeId: `vol_${i}`, storageClass: null, diskGb }))
    // Without the reserve of 5 %.
    pools(p, 25, 60)
    expect(judged({ volumes })).toEqual(['p1', 'p1', 'p0'])
    expect(judged({ spareDiskGb: 30, volumes: volumes.slice(0, 1) })).toEqual(['p1', 'p0'])
    expect(judged({ spareDiskGb: 30, volumes })).toBe('no disk left')
    expect(judged({ spareDiskGb: 100 })).toBe('no disk left')
    expect(judged({ storageClass: 'nvme' })).toBe('no nvme storage')
    p.db.$client.run("UPDATE nodes SET facts = json_remove(facts, '$.hardware') WHERE id = ?", [p.other.id])
    expect(judged({ hardware: { firmware: 'uefi', tpm: false } as never })).toBe('cannot run this image')
    const away = { ...p.controller.app.nodes, connected: () => false, isReconnecting: () => true } as Nodes
    expect(judged({}, away)).toBe('is reconnecting')
    p.db.$client.run('UPDATE nodes SET memory_mb = 2047 WHERE id = ?', [p.other.id])
    expect(judged()).toBe('no memory left')
    p.db.$client.run('UPDATE nodes SET memory_mb = 2048 WHERE id = ?', [p.other.id])
    await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id] })
    expect(judged()).toBe('no pool with 203.0.113.10')
    await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id, p.other.id] })
    expect(judged()).toEqual(['p1'])
    await p.admin('PATCH', `/admin/nodes/${p.other.id}`, { open: false })
    expect(judged()).toBe('closed')
    await p.admin('PATCH', `/admin/nodes/${p.other.id}`, { open: true })
    arrive(p)
    expect(judged()).toBe('has it already')
  })
})

describe('the traffic that a node reports', () => {
  let seq = 0
  /** A report of 1,000 bytes for the day that is so many days ago; answers the bytes of that day. */
  async function bytesOf(p: Two, nodeId: string, daysAgo: number): Promise<number> {
    const day = Math.floor(p.now() / DAY) - daysAgo
    const sums = { workload: p.id, day, rxBytes: 1000, txBytes: 0, measuredSeconds: 1 }
    const meter = `${++seq}`.padStart(16, '0')
    p.controller.reports.take(nodeId, { type: 'traffic', meter, seq, days: [sums] } as never)
    await eventually(() => !p.controller.reports.isBehind)
    const sum = 'SELECT coalesce(sum(rx_bytes), 0) AS n FROM traffic_days WHERE workload_id = ? AND day = ?'
    return p.db.$client.query<{ n: number }, [string, number]>(sum).get(p.id, day)!.n
  }
  test('counts for the days of its stay, and for no other', async () => {
    using p = await open()
    expect(await bytesOf(p, p.other.id, 0)).toBe(0)
    expect(misconduct(p, p.other.id)).toEqual(['not_its_workload'])
    p.turnClock(10 * DAY)
    arrive(p)
    expect([await bytesOf(p, p.other.id, 0), await bytesOf(p, p.other.id, 5)]).toEqual([1000, 0])
    expect(await bytesOf(p, p.node.id, 5)).toBe(1000)
    p.turnClock(2 * DAY)
    atHomeThere(p)
    expect(await bytesOf(p, p.node.id, 0)).toBe(1000)
    close(p, p.node.id)
    p.turnClock(3 * DAY)
    // It tells late of the day on which the server left, and makes up the days since.
    expect(await bytesOf(p, p.node.id, 3)).toBe(2000)
    expect([await bytesOf(p, p.node.id, 1), await bytesOf(p, p.node.id, 0)]).toEqual([0, 0])
    expect(misconduct(p, p.node.id)).toEqual(['not_its_workload'])
    expect(await bytesOf(p, p.other.id, 0)).toBe(1000)
  })
  test('counts for each of several stays, and not for the time between', async () => {
    using p = await open()
    for (let stay = 0; stay < 2; stay++) {
      arrive(p)
      p.turnClock(hour)
      close(p, p.other.id)
      p.turnClock(3 * DAY - hour)
    }
    const told = [6, 5, 4, 3, 2, 1].map(async (daysAgo) => bytesOf(p, p.other.id, daysAgo))
    const [first, , between, second, , since] = await Promise.all(told)
    expect([first, between, second, since]).toEqual([1000, 0, 1000, 0])
  })
  test('counts until a terminated server is gone from its node', async () => {
    using p = await open()
    await p.admin('DELETE', `/servers/${p.id}?immediately=true`)
    await p.settle()
    p.turnClock(4 * DAY)
    expect(await bytesOf(p, p.node.id, 4)).toBe(1000)
    expect(await bytesOf(p, p.node.id, 1)).toBe(0)
  })
})

describe('the use that a node reports', () => {
  test('counts while the server arrives there or is there, and not before or afterwards', async () => {
    using p = await open()
    const { metrics } = p.controller.app
    const taken = (nodeId: string) => {
      const before = metrics.recent.taken
      p.controller.reports.take(nodeId, {
        type: 'metrics',
        samples: [{ id: p.id, ms: 10_000, fast: [1000, 1, 1, 1, 1] }],
      } as never)
      return metrics.recent.taken - before
    }
    const both = () => [taken(p.node.id), taken(p.other.id)]
    expect(both()).toEqual([1, 0])
    arrive(p)
    expect(both()).toEqual([1, 1])
    atHomeThere(p)
    expect(both()).toEqual([1, 1])
    close(p, p.node.id)
    expect(both()).toEqual([0, 1])
  })
})

describe('a private network', () => {
  const onNode = (node: World['node']) => node.agent.host.state.privateNetworks()[0]
  const macsAt = (node: World['node']) => onNode(node)!.peers.map(({ macs }) => macs.length)
  const portsAt = (node: World['node']) => onNode(node)?.ports.map(({ workload }) => workload) ?? []
  test('has the card of a server on the node where it arrives, and frames for it go to its home', async () => {
    using p = await open()
    const third = p.addNode(p.location, 'fra-03')
    p.attach(p.pool, third.id)
    await p.settle()
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'b', nodeId: third.id })
    await p.settle()
    const body = { name: 'backend', locationId: p.location, ipv4: '10.20.0.0/24' }
    const { body: network } = await p.call(p.customer, 'POST', `/customers/${p.customer.id}/networks`, body)
    for (const id of [p.id, serverId])
      await p.call(p.customer, 'POST', `/networks/${network.id}/servers`, { serverId: id })
    const turn = async () => {
      spreadAll(p.db, p.now())
      await p.settle()
    }
    await turn()
    expect([portsAt(p.node), portsAt(p.other), macsAt(third)]).toEqual([[p.id], [], [1]])
    const before = onNode(p.node)!.ports
    arrive(p)
    await turn()
    // The second node hears what is for all; each MAC address is at one node.
    expect([portsAt(p.node), onNode(p.other)!.ports]).toEqual([[p.id], before])
    expect([macsAt(third).sort(), macsAt(p.other).sort()]).toEqual([
      [0, 1],
      [1, 1],
    ])
    atHomeThere(p)
    await turn()
    expect([portsAt(p.node), portsAt(p.other), macsAt(third).sort()]).toEqual([[p.id], [p.id], [0, 1]])
    close(p, p.node.id)
    await turn()
    expect([portsAt(p.node), portsAt(p.other), macsAt(third)]).toEqual([[], [p.id], [1]])
    const { members } = (await p.call(p.customer, 'GET', `/networks/${network.id}`)).body
    expect(members).toHaveLength(2)
  })
})

describe('a floating address', () => {
  test('is taken from a server on its home of that moment and on the node where it arrives', async () => {
    using p = await open()
    const { body: ip } = await p.call(p.customer, 'POST', `/customers/${p.customer.id}/floating-ips`, {
      locationId: p.location,
    })
    await p.call(p.customer, 'POST', `/floating-ips/${ip.id}/actions/assign`, { serverId: p.id })
    await p.settle()
    const floating = () => [p.node, p.other].map(({ agent }) => agent.host.state.floating(p.id).length)
    const unassign = () => p.call(p.customer, 'POST', `/floating-ips/${ip.id}/actions/unassign`)
    arrive(p)
    p.other.agent.host.state.keepFloating(p.id, [ip.address])
    expect(floating()).toEqual([1, 1])
    let isMoved = false
    p.arm({
      failpoints: (moment) => {
        if (moment !== 'floating_ip/plan:noted' || isMoved) return
        isMoved = true
        atHomeThere(p)
      },
    })
    await unassign()
    await p.settle()
    p.arm({})
    // Its former home does not run it any more.
    expect([isMoved, floating()]).toEqual([true, [1, 0]])
    close(p, p.node.id)
    p.node.agent.host.state.dropFloating(p.id, [ip.address])
    write(p.db, (tx) => openArriving(tx, p.id, { nodeId: p.node.id, pool: 'local', spareDiskGb: 0 }, p.now()))
    // As a move brings it along.
    p.db.$client.run('UPDATE addresses SET workload_id = ? WHERE address = ?', [p.id, ip.address])
    for (const { agent } of [p.node, p.other]) agent.host.state.keepFloating(p.id, [ip.address])
    await unassign()
    await p.settle()
    expect(floating()).toEqual([0, 0])
  })
})
