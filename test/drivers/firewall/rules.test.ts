import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FakeFirewall } from '../../../agent/drivers/firewall/fake.ts'
import { prefixOf } from '../../../agent/drivers/firewall/nft-text.ts'
import { Nftables } from '../../../agent/drivers/firewall/nftables.ts'
import { ruleset } from '../../../agent/drivers/firewall/ruleset.ts'
import { run } from '../../../agent/host/exec.ts'
import { macOf, portRulesOf } from '../../agent/examples.ts'
import { golden } from '../../support/golden.ts'
import {
  arp,
  ethernet,
  firstFragment,
  icmp6,
  icmp6WithOptions,
  openRawSocket,
  tagged,
  udp4,
  udp6,
  udp6Fragment,
} from '../frames.ts'
import { enterOwnNetwork } from '../namespace.ts'
import { missing, note } from '../tools.ts'
import { firewallContract, sshOnly } from './contract.ts'

describe('the fake firewall', () => {
  firewallContract(() => {
    const db = new Database(':memory:')
    return { firewall: new FakeFirewall(db), spoil: async () => void db.run('delete from rules') }
  })
})

describe('S41: the rules', () => {
  test('equal the stored ones', async () => {
    const all = [
      portRulesOf(2),
      { ...portRulesOf(10), ipv4: [], ipv6: [] },
      { ...portRulesOf(1), ipv4: ['10.77.0.11', '10.77.0.99'], policy: sshOnly },
    ]
    golden('test/drivers/golden/ruleset.nft', ruleset(all, [443]))
  })
  test('contain the bits of every prefix, in whatever notation it is given', () => {
    expect(prefixOf('fe80::/10')).toEqual({ bits: 10, value: 0x3fan })
    expect(prefixOf('2001:DB8:0:0:0:0:0:5/128')).toEqual({ bits: 128, value: 0x20010db8000000000000000000000005n })
    expect(prefixOf('::ffff:192.0.2.1/128').value).toBe(0xffffc0000201n)
    for (const wrong of ['10.0.0.0/8', '2001:db8::/129', '2001:db8::', 'x/64', ':::/1'])
      expect(() => prefixOf(wrong)).toThrow(
        expect.objectContaining({ code: 'invalid_address', message: expect.stringContaining('no IPv6 prefix') }),
      )
  })
})

const reason = (await missing('nft', 'ip')) ?? (process.getuid?.() === 0 ? undefined : 'not root')
describe.skipIf(note(reason, 'nftables'))('nftables, in a network namespace', () => {
  let leave: (() => void) | undefined
  let socket: ReturnType<typeof openRawSocket>
  const firewall = new Nftables()
  const ip = (...args: string[]) => run('ip', args)

  beforeAll(async () => {
    leave = enterOwnNetwork()
    await ip('link', 'add', 'br0', 'type', 'bridge')
    // The far end of the veth stands for the guest, the near end for its tap.
    await ip('link', 'add', 'bth1', 'type', 'veth', 'peer', 'name', 'guest')
    await ip('link', 'add', 'bth7', 'type', 'veth', 'peer', 'name', 'unknown')
    for (const far of ['guest', 'unknown']) await ip('link', 'set', far, 'addrgenmode', 'none')
    for (const tap of ['bth1', 'bth7']) await ip('link', 'set', tap, 'master', 'br0')
    for (const name of ['br0', 'bth1', 'bth7', 'guest', 'unknown']) await ip('link', 'set', name, 'up')
    await firewall.load([portRulesOf(1)])
    socket = openRawSocket(await indexOf('guest'))
  })
  afterAll(() => {
    socket?.close()
    leave?.()
  })

  const indexOf = async (name: string) =>
    (JSON.parse((await run('ip', ['-json', 'link', 'show', name])).out) as { ifindex: number }[])[0]?.ifindex ?? 0

  /** The comments of the rules that dropped packets, with the numbers of packets. */
  async function drops(): Promise<Record<string, number>> {
    const { out } = await run('nft', ['list', 'table', 'bridge', 'berth'])
    const all = [...out.matchAll(/counter packets (\d+) bytes \d+ drop comment "([^"]+)"/g)]
    return Object.fromEntries(
      all.filter(([, packets]) => packets !== '0').map(([, packets, comment]) => [comment, Number(packets)]),
    )
  }
  async function fate(frame: Buffer, through = socket): Promise<string> {
    await firewall.load([portRulesOf(1)])
    through.send(frame)
    const found = Object.keys(await drops())
    return found.length ? found.join(' and ') : 'passes'
  }

  firewallContract(() => {
    const firewall = new Nftables()
    return { firewall, spoil: async () => void (await run('nft', ['flush', 'table', 'bridge', 'berth'])) }
  })

  test('an agent that starts again finds its rules in force, and loads nothing', async () => {
    let digest: string | undefined
    const memory = { firewallDigest: () => digest, keepFirewallDigest: (next: string) => void (digest = next) }
    const [one, two] = [{ ...portRulesOf(1), policy: sshOnly }, portRulesOf(2)]
    const before = new Nftables(memory)
    await before.load([one])
    await before.change(undefined, two)
    expect(await before.intact([one, two])).toBe(true)
    expect(await new Nftables(memory).intact([one, two])).toBe(true)
    expect(await new Nftables(memory).intact([one])).toBe(false)
    expect(await new Nftables(memory, [443]).intact([one, two])).toBe(false)
    await run('nft', ['add', 'rule', 'bridge', 'berth', 'bth1_in', 'accept'])
    expect(await new Nftables(memory).intact([one, two])).toBe(false)
    expect(await before.intact([one, two])).toBe(false)
  })

  const mac = macOf(1)
  const own6 = '2001:db8:77:1::5'
  const linkLocal = 'fe80::5054:ff:fe00:1'
  const cases: [string, Buffer, string][] = [
    ['its IPv4 address', udp4(mac, '10.77.0.11'), 'passes'],
    ['an IPv4 address of another vm', udp4(mac, '10.77.0.12'), 'not its address'],
    ['its address from another MAC address', udp4(macOf(2), '10.77.0.11'), 'foreign MAC address'],
    ['a DHCP server’s answer', udp4(mac, '10.77.0.11', 67), 'DHCP server'],
    ['an ARP request of its own', arp({ mac, sender: '10.77.0.11' }), 'passes'],
    ['an ARP probe', arp({ mac, sender: '0.0.0.0', target: '10.77.0.11' }), 'passes'],
    ['an ARP answer for 0.0.0.0', arp({ mac, sender: '0.0.0.0', operation: 2 }), 'ARP for a foreign address'],
    ['ARP for the gateway', arp({ mac, sender: '10.77.0.1', operation: 2 }), 'ARP for a foreign address'],
    [
      'ARP with another MAC inside',
      arp({ mac, senderMac: macOf(2), sender: '10.77.0.11' }),
      'ARP with a foreign MAC address',
    ],
    ['any address of its IPv6 prefix', udp6(mac, own6), 'passes'],
    ['an IPv6 address next to its prefix', udp6(mac, '2001:db8:77:2::5'), 'not its address'],
    ['its link-local address', udp6(mac, linkLocal), 'passes'],
    ['a random link-local address', udp6(mac, 'fe80::abcd:1:2:3'), 'passes'],
    ['the link-local address of a router', udp6(mac, 'fe80::1'), 'link-local address of a router'],
    ['a DHCPv6 server’s answer', udp6(mac, own6, 547), 'DHCPv6 server'],
    ['a router advertisement', icmp6(mac, linkLocal, 134), 'router advertisement'],
    ['a router advertisement behind options', icmp6WithOptions(mac, linkLocal, 134), 'router advertisement'],
    ['a message whose header is in a later fragment', firstFragment(mac, linkLocal), 'fragment with options'],
    ['a fragment of a long message', udp6Fragment(mac, own6), 'passes'],
    ['a redirect', icmp6(mac, linkLocal, 137), 'router advertisement'],
    ['a ping', icmp6(mac, own6, 128), 'passes'],
    ['asking whether its address is free', icmp6(mac, '::', 135, own6), 'passes'],
    ['asking whether another’s address is free', icmp6(mac, '::', 135, '2001:db8:77:2::5'), 'not its address'],
    ['looking for a router before it has an address', icmp6(mac, '::', 133), 'passes'],
    ['a multicast report before it has an address', icmp6(mac, '::', 143), 'passes'],
    ['a ping from no address', icmp6(mac, '::', 128), 'not its address'],
    ['asking who has the gateway', icmp6(mac, linkLocal, 135, 'fe80::1'), 'passes'],
    ['saying that it has its address', icmp6(mac, own6, 136, own6), 'passes'],
    ['saying that it has its link-local address', icmp6(mac, linkLocal, 136, linkLocal), 'passes'],
    [
      'saying that it has another’s address',
      icmp6(mac, own6, 136, '2001:db8:77:2::5'),
      'neighbour advertisement for a foreign address',
    ],
    ['saying that it is the router', icmp6(mac, linkLocal, 136, 'fe80::1'), 'neighbour advertisement for a router'],
    ['a VLAN tag around its own traffic', tagged(udp4(mac, '10.77.0.11')), 'neither ARP nor IP'],
    ['spanning tree', ethernet(mac, 0x0026, Buffer.from('424203', 'hex')), 'neither ARP nor IP'],
    ['LLDP', ethernet(mac, 0x88cc, Buffer.alloc(20)), 'neither ARP nor IP'],
  ]
  for (const [what, frame, end] of cases) {
    test(`${what}: ${end}`, async () => {
      expect(await fate(frame)).toBe(end)
    })
  }
  test('a flood of ARP is limited', async () => {
    await firewall.load([portRulesOf(1)])
    for (let i = 0; i < 1000; i++) socket.send(arp({ mac, sender: '10.77.0.11' }))
    expect((await drops())['too much ARP']).toBeGreaterThan(500)
  })
  test('a tap with our prefix and no rules sends nothing', async () => {
    const unknown = openRawSocket(await indexOf('unknown'))
    expect(await fate(udp4(macOf(7), '10.77.0.17'), unknown)).toBe('no vm of this node')
    unknown.close()
  })
})
