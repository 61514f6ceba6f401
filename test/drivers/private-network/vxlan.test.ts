// Private networks over two nodes, each node and each guest in a network namespace of its own.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Vxlans } from '../../../agent/drivers/private-network/vxlan.ts'
import { run } from '../../../agent/host/exec.ts'
import type { PrivateNetwork } from '../../../agent/protocol/wire.ts'
import { macOf, workloadId } from '../../agent/examples.ts'
import { enterNetwork } from '../namespace.ts'
import { missing, note } from '../tools.ts'

const reason =
  (await missing('nft', 'ip', 'bridge')) ??
  (process.getuid?.() === 0 ? undefined : 'not root') ??
  (Bun.which('ping') ? undefined : 'ping not installed')
type Node = 'a' | 'b' | 'stranger'
type Guest = { node: 'a' | 'b'; vni: number; n: number; address: string }
/** The third has the addresses of the second in another network; the fourth is on the first one's node. */
const guests: Guest[] = [
  { node: 'a', vni: 5001, n: 1, address: '10.5.0.2/24' },
  { node: 'b', vni: 5001, n: 2, address: '10.5.0.3/24' },
  { node: 'b', vni: 5002, n: 3, address: '10.5.0.9/24' },
  { node: 'a', vni: 5001, n: 4, address: '10.5.0.4/24' },
  { node: 'a', vni: 5002, n: 5, address: '10.5.0.2/24' },
]
const addresses = { a: '10.9.0.1', b: '10.9.0.2', stranger: '10.9.0.3' } as const

describe.skipIf(note(reason, 'private networks'))('private networks, in network namespaces', () => {
  const ip = (...args: string[]) => run('ip', args)
  const spaceOf = (name: string) => `bp${process.pid}${name}`
  const inside = (name: string, ...args: string[]) =>
    run('ip', ['netns', 'exec', spaceOf(name), ...args], { mayFail: true, quietly: true })
  const drivers = { a: new Vxlans(), b: new Vxlans(), stranger: new Vxlans() }
  const names = ['a', 'b', 'stranger', 'net', ...guests.map(({ n }) => `g${n}`)]

  const networkOn = (node: 'a' | 'b', vni: number): PrivateNetwork => {
    const members = guests.filter((guest) => guest.vni === vni)
    const other = node === 'a' ? 'b' : 'a'
    return {
      network: `net_${String(vni).padStart(26, '0')}`,
      vni,
      local: addresses[node],
      peers: [
        { address: addresses[other], macs: members.filter((member) => member.node === other).map(({ n }) => macOf(n)) },
      ],
      ports: members
        .filter((member) => member.node === node)
        .map(({ n, address }) => ({ workload: workloadId(n), tap: `btp${n}`, mac: macOf(n), addresses: [address] })),
    }
  }
  const both = (node: 'a' | 'b') => [networkOn(node, 5001), networkOn(node, 5002)]
  async function apply(node: Node, networks: PrivateNetwork[]) {
    const leave = enterNetwork(`/run/netns/${spaceOf(node)}`)
    try {
      await drivers[node].apply(networks)
    } finally {
      leave()
    }
  }
  const reaches = async (from: number, to: string, ...more: string[]) =>
    (await inside(`g${from}`, 'ping', '-c', '1', '-W', '1', ...more, to)).code === 0

  beforeAll(async () => {
    for (const name of names) await ip('netns', 'add', spaceOf(name))
    await ip('-netns', spaceOf('net'), 'link', 'add', 'br0', 'type', 'bridge')
    await ip('-netns', spaceOf('net'), 'link', 'set', 'br0', 'up')
    for (const node of ['a', 'b', 'stranger'] as const) {
      const port = ['name', 'up0', 'netns', spaceOf(node)]
      await ip('-netns', spaceOf('net'), 'link', 'add', 'name', `to-${node}`, 'type', 'veth', 'peer', ...port)
      await ip('-netns', spaceOf('net'), 'link', 'set', `to-${node}`, 'master', 'br0', 'up')
      await ip('-netns', spaceOf(node), 'address', 'add', `${addresses[node]}/24`, 'dev', 'up0')
      await ip('-netns', spaceOf(node), 'link', 'set', 'up0', 'up')
    }
    for (const node of ['a', 'b'] as const) await apply(node, both(node))
    for (const { node, vni, n, address } of guests) {
      const [host, guest] = [spaceOf(node), spaceOf(`g${n}`)]
      await ip(
        '-netns',
        host,
        'link',
        'add',
        `btp${n}`,
        'mtu',
        '1450',
        'type',
        'veth',
        'peer',
        'name',
        'eth1',
        'netns',
        guest,
      )
      await ip('-netns', host, 'link', 'set', `btp${n}`, 'master', `bpb${vni}`, 'up')
      await ip('-netns', guest, 'link', 'set', 'eth1', 'address', macOf(n), 'mtu', '1450')
      await ip('-netns', guest, 'address', 'add', address, 'dev', 'eth1')
      await ip('-netns', guest, 'link', 'set', 'eth1', 'up')
    }
  })
  afterAll(async () => {
    for (const name of names) await run('ip', ['netns', 'del', spaceOf(name)], { mayFail: true })
  })

  test('join guests over both nodes and on one, and nobody of another network with the same addresses', async () => {
    expect(await reaches(1, '10.5.0.3')).toBe(true)
    expect(await reaches(1, '10.5.0.4')).toBe(true)
    expect(await reaches(5, '10.5.0.9')).toBe(true)
    expect(await Promise.all([reaches(5, '10.5.0.3'), reaches(1, '10.5.0.9'), reaches(5, '10.5.0.4')])).toEqual([
      false,
      false,
      false,
    ])
  })
  test('carry frames of their whole MTU and no larger ones', async () => {
    expect(await reaches(1, '10.5.0.3', '-M', 'do', '-s', '1422')).toBe(true)
    expect(await reaches(1, '10.5.0.3', '-M', 'do', '-s', '1423')).toBe(false)
  })
  test('stay as they are when they are applied again, and come back when somebody removes their rules', async () => {
    const devices = async () =>
      (await inside('a', 'ip', '-o', 'link')).out.split('\n').map((line) => line.split(':').slice(0, 2).join())
    const before = await devices()
    await apply('a', both('a'))
    expect(await devices()).toEqual(before)
    await inside('a', 'nft', 'flush', 'ruleset')
    await apply('a', both('a'))
    expect((await inside('a', 'nft', 'list', 'table', 'bridge', 'berth_private')).out).toContain('jump btp1')
  })
  test('let no guest use the address or the MAC of another', async () => {
    await ip('-netns', spaceOf('g1'), 'address', 'add', '10.5.0.77/24', 'dev', 'eth1')
    expect(await reaches(1, '10.5.0.3', '-I', '10.5.0.77')).toBe(false)
    expect(await reaches(1, '10.5.0.3')).toBe(true)
    await ip('-netns', spaceOf('g4'), 'link', 'set', 'eth1', 'address', macOf(44))
    expect(await reaches(4, '10.5.0.3')).toBe(false)
  })
  test('lead no guest to the host, which answers for its addresses nowhere else', async () => {
    await ip('-netns', spaceOf('g1'), 'route', 'add', addresses.a, 'dev', 'eth1')
    expect(await reaches(1, addresses.a)).toBe(false)
    const dropped = (await inside('a', 'nft', 'list', 'chain', 'bridge', 'berth_private', 'host')).out
    expect(dropped).toMatch(/"btp\*" counter packets [1-9]/)
  })
  test('take VXLAN from their peers alone', async () => {
    const refused = async () =>
      Number(/packets (\d+) .*no peer/.exec((await inside('b', 'nft', 'list', 'ruleset')).out)?.[1])
    const before = await refused()
    const send = `
      const s = await Bun.udpSocket({}); s.send('x', 4789, '${addresses.b}'); await Bun.sleep(100); s.close()`
    await inside('stranger', process.execPath, '-e', send)
    expect(await refused()).toBe(before + 1)
  })
  test('follow a peer that has another address, and leave nothing when they are removed', async () => {
    await ip('-netns', spaceOf('b'), 'address', 'add', '10.9.0.22/24', 'dev', 'up0')
    const moved = { ...networkOn('b', 5001), local: '10.9.0.22' }
    const there = networkOn('a', 5001)
    await apply('b', [moved])
    await ip('-netns', spaceOf('b'), 'link', 'set', 'btp2', 'master', 'bpb5001')
    expect(await reaches(1, '10.5.0.3')).toBe(false)
    await apply('a', [{ ...there, peers: [{ ...there.peers[0]!, address: '10.9.0.22' }] }])
    expect(await reaches(1, '10.5.0.3')).toBe(true)
    await apply('a', [])
    await apply('a', [])
    expect((await inside('a', 'ip', '-o', 'link')).out).not.toMatch(/bp[xb]\d/)
    expect((await inside('a', 'nft', 'list', 'ruleset')).out).not.toContain('berth_private')
  })
})
