// Firewalls with real traffic: network stacks in namespaces stand for guests, for the outside and for the node.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Nftables } from '../../../agent/drivers/firewall/nftables.ts'
import { run } from '../../../agent/host/exec.ts'
import type { FirewallRule, PortPolicy } from '../../../agent/protocol/firewall.ts'
import type { PortRules } from '../../../agent/protocol/wire.ts'
import { macOf, portRulesOf } from '../../agent/examples.ts'
import { enterOwnNetwork } from '../namespace.ts'
import { missing, note } from '../tools.ts'
import { peer, type Task } from './peer.ts'

/** Long enough for an answer on a busy machine, short enough to wait for one that does not come. */
const MS = 600
const [TCP, SSH, SMTP, UDP] = [8080, 22, 25, 5353]
const addresses = {
  guest: ['10.77.0.11', '2001:db8:77:1::5'],
  neighbour: ['10.77.0.12', '2001:db8:77:2::5'],
  outside: ['10.77.0.200', '2001:db8:77:f::200'],
  node: ['10.77.0.1', '2001:db8:77::1'],
} as const
type Name = keyof typeof addresses

const reason = (await missing('nft', 'ip')) ?? (process.getuid?.() === 0 ? undefined : 'not root')
describe.skipIf(note(reason, 'nftables'))('a firewall, with real traffic', () => {
  let leave: (() => void) | undefined
  const firewall = new Nftables(undefined, [443])
  const peers: Partial<Record<Name, Awaited<ReturnType<typeof peer>>>> = {}
  const namespaceOf = (name: string) => `berth-fw-${process.pid}-${name}`
  const ip = (...args: string[]) => run('ip', args)

  beforeAll(async () => {
    leave = enterOwnNetwork()
    await ip('link', 'add', 'br0', 'type', 'bridge')
    await ip('link', 'set', 'br0', 'up')
    for (const address of addresses.node)
      await ip('address', 'add', address + (address.includes(':') ? '/48' : '/24'), 'dev', 'br0', ...nodad(address))
    await plug('guest', 'bth1', macOf(1))
    await plug('neighbour', 'bth2', macOf(2))
    await plug('outside', 'up0', '52:54:00:00:aa:01')
    peers.node = await peer()
    for (const one of Object.values(peers))
      await one.tell({ do: 'listen', tcp: [TCP, SSH, SMTP, 443], udp: [UDP, 4789] })
  }, 60_000)
  afterAll(async () => {
    for (const one of Object.values(peers)) one.close()
    for (const name of ['guest', 'neighbour', 'outside'])
      await run('ip', ['netns', 'del', namespaceOf(name)], { mayFail: true })
    leave?.()
  })

  const nodad = (address: string) => (address.includes(':') ? ['nodad'] : [])
  async function plug(name: Name, port: string, mac: string) {
    const [space, far] = [namespaceOf(name), `far-${port}`]
    await ip('netns', 'add', space)
    await ip('link', 'add', port, 'type', 'veth', 'peer', 'name', far)
    await ip('link', 'set', far, 'address', mac, 'netns', space)
    const inside = (...args: string[]) => ip('-n', space, ...args)
    await inside('link', 'set', 'lo', 'up')
    await inside('link', 'set', far, 'up')
    for (const address of addresses[name])
      await inside('address', 'add', address + (address.includes(':') ? '/48' : '/24'), 'dev', far, ...nodad(address))
    await ip('link', 'set', port, 'master', 'br0')
    await ip('link', 'set', port, 'up')
    peers[name] = await peer(space)
  }

  const tell = (name: Name, task: Task) => peers[name]!.tell(task)
  /** The fates of one thing by IPv4 and by IPv6; one word where they are the same. */
  async function both(from: Name, to: Name, task: (host: string) => Task) {
    const fates = await Promise.all(addresses[to].map((host) => tell(from, task(host))))
    return fates[0] === fates[1] ? fates[0] : fates
  }
  const connect = (from: Name, to: Name, port = TCP) =>
    both(from, to, (host) => ({ do: 'connect', host, port, ms: MS }))
  const ask = (from: Name, to: Name, bytes = 10, port = UDP) =>
    both(from, to, (host) => ({ do: 'ask', host, port, bytes, ms: MS }))
  const ping = (from: Name, to: Name) => both(from, to, (host) => ({ do: 'ping', host }))

  let inForce: PortRules[] = []
  /** Gives the guest this policy; its neighbour has no firewall. */
  async function guestHas(policy: Partial<PortPolicy> = {}) {
    const all = {
      revision: 1,
      closedPorts: [],
      newConnectionsPerSecond: null,
      packetsPerSecond: null,
      firewall: null,
      ...policy,
    }
    const next = [
      { ...portRulesOf(1), policy: all },
      { ...portRulesOf(2), ipv6: ['2001:db8:77:2::/64'] },
    ]
    if (inForce.length) await firewall.change(inForce[0], next[0])
    else await firewall.load(next)
    inForce = next
  }
  const rule = (given: Partial<FirewallRule>): FirewallRule => ({
    id: 'one',
    direction: 'in',
    action: 'accept',
    protocol: 'any',
    ports: [],
    remotes: [],
    ...given,
  })
  const filter = (rules: FirewallRule[], inwards: 'accept' | 'drop' = 'drop', out: 'accept' | 'drop' = 'accept') =>
    guestHas({ firewall: { in: inwards, out, rules } })

  test('without one everything passes in both directions', async () => {
    await guestHas()
    expect(
      await Promise.all([
        connect('outside', 'guest'),
        connect('guest', 'outside'),
        ask('outside', 'guest'),
        ping('neighbour', 'guest'),
      ]),
    ).toEqual(['open', 'open', 'open', 'open'])
  })
  test('that drops by default lets in what a rule accepts, and the answers to what the guest asked', async () => {
    await filter([rule({ protocol: 'tcp', ports: [[SSH, SSH]] })])
    expect(await connect('outside', 'guest', SSH)).toBe('open')
    const others = (['outside', 'neighbour', 'node'] as const).map((from) => connect(from, 'guest'))
    const fates = await Promise.all([...others, ask('outside', 'guest'), ping('outside', 'guest')])
    expect(new Set(fates)).toEqual(new Set(['silent']))
    expect(await Promise.all([connect('guest', 'outside'), ask('guest', 'outside'), ping('guest', 'outside')])).toEqual(
      ['open', 'open', 'open'],
    )
    // An answer opens nothing for others: the other side cannot begin anything.
    expect(await Promise.all([ask('outside', 'guest'), ping('outside', 'guest')])).toEqual(['silent', 'silent'])
  })
  test('reads its rules in order, by source and protocol', async () => {
    await filter([
      rule({ id: 'not_them', action: 'drop', remotes: ['10.77.0.12/32', '2001:db8:77:2::/64'] }),
      rule({
        id: 'web',
        protocol: 'tcp',
        ports: [
          [80, 81],
          [8000, 9000],
        ],
        remotes: ['10.77.0.0/24', '10.0.0.0/8', '2001:db8:77::/48'],
      }),
      rule({ id: 'ping4', protocol: 'icmp' }),
    ])
    expect(await Promise.all([connect('outside', 'guest'), connect('neighbour', 'guest')])).toEqual(['open', 'silent'])
    expect(await connect('outside', 'guest', SSH)).toBe('silent')
    expect(await ping('outside', 'guest')).toEqual(['open', 'silent'])
  })
  test('limits what the guest sends, and lets it answer those whom it lets in', async () => {
    await filter(
      [
        rule({ protocol: 'tcp', ports: [[TCP, TCP]] }),
        rule({
          id: 'dns',
          direction: 'out',
          protocol: 'udp',
          ports: [[UDP, UDP]],
          remotes: ['10.77.0.200/32', '2001:db8:77:f::200/128'],
        }),
      ],
      'drop',
      'drop',
    )
    expect(await Promise.all([connect('outside', 'guest'), connect('guest', 'outside')])).toEqual(['open', 'silent'])
    expect(await Promise.all([ask('guest', 'outside'), ask('guest', 'neighbour')])).toEqual(['open', 'silent'])
  })
  test('lets a connection go on when a rule stops new ones, also when its own rules are changed', async () => {
    await filter([])
    expect(await tell('guest', { do: 'hold', host: addresses.outside[0], port: TCP, ms: MS })).toBe('open')
    await filter([rule({ protocol: 'tcp', ports: [[SSH, SSH]] })])
    expect(await tell('guest', { do: 'speak', ms: MS })).toBe('open')
  })
  test('lets through the later fragments of a large answer, which have no ports, and no others', async () => {
    await filter([])
    expect(await ask('guest', 'outside', 4000)).toBe('open')
    expect(await ask('outside', 'guest', 4000)).toBe('silent')
    await filter([rule({ protocol: 'udp', ports: [[UDP, UDP]] })])
    expect(await ask('outside', 'guest', 4000)).toBe('open')
  })
  test('counts what its rules decide and tells what was dropped', async () => {
    await filter([rule({ id: 'ssh', protocol: 'tcp', ports: [[SSH, SSH]] })])
    await connect('outside', 'guest', SSH)
    await tell('outside', { do: 'connect', host: addresses.guest[0], port: 3306, ms: 100 })
    const { rules, drops } = await firewall.look(inForce[0]!)
    expect(rules.find(({ id }) => id === 'ssh')!.packets).toBeGreaterThan(1)
    expect(rules.find(({ id }) => id === 'default_in')!.packets).toBeGreaterThan(0)
    expect(drops).toContainEqual({
      direction: 'in',
      remote: addresses.outside[0],
      protocol: 6,
      port: 3306,
      packets: expect.any(Number),
      secondsAgo: expect.any(Number),
    })
  })

  describe('every guest', () => {
    test('is kept from sending mail, from others’ private networks and from the ports of its node', async () => {
      await guestHas({ closedPorts: [SMTP] })
      expect(await Promise.all([connect('guest', 'outside', SMTP), connect('guest', 'neighbour', SMTP)])).toEqual([
        'silent',
        'silent',
      ])
      expect(await Promise.all([connect('guest', 'outside'), connect('outside', 'guest', SMTP)])).toEqual([
        'open',
        'open',
      ])
      expect(await ask('guest', 'outside', 10, 4789)).toBe('silent')
      expect(await Promise.all([connect('guest', 'node', SSH), ask('guest', 'node')])).toEqual(['silent', 'silent'])
      // The node is reached where its operator says so, and reaches its guests; others reach the node.
      expect(await Promise.all([connect('guest', 'node', 443), ping('guest', 'node')])).toEqual(['open', 'open'])
      expect(await Promise.all([connect('node', 'guest'), connect('outside', 'node', SSH)])).toEqual(['open', 'open'])
    })
    test('begins so many connections in a second and no more, and sends so many packets', async () => {
      await guestHas({ newConnectionsPerSecond: 20 })
      const opened = (await tell('guest', {
        do: 'burst',
        host: addresses.outside[0],
        port: TCP,
        count: 100,
        ms: 300,
      })) as number
      expect(opened).toBeGreaterThanOrEqual(20)
      expect(opened).toBeLessThan(60)
      await guestHas({ packetsPerSecond: 10 })
      expect(
        await tell('guest', { do: 'burst', host: addresses.outside[0], port: TCP, count: 50, ms: 300 }),
      ).toBeLessThan(20)
      await guestHas()
      expect(await tell('guest', { do: 'burst', host: addresses.outside[0], port: TCP, count: 50, ms: 2000 })).toBe(50)
    })
  })
})
