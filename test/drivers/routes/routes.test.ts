// The prefix of a vm is routed to its guest: an address behind the guest answers, with the vm's rules in force, and
// routes that are not ours stay.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { parseCommand } from '../../../agent/commands/index.ts'
import { Nftables } from '../../../agent/drivers/firewall/nftables.ts'
import { Bridges } from '../../../agent/drivers/network/bridge.ts'
import { FakeNetwork } from '../../../agent/drivers/network/fake.ts'
import { run } from '../../../agent/host/exec.ts'
import { openFakeHost } from '../../../agent/host/fake-host.ts'
import { guestAddressIn } from '../../../agent/protocol/guest-address.ts'
import { macOf, portRulesOf } from '../../agent/examples.ts'
import { dataDir } from '../../agent/run.ts'
import { enterOwnNetwork } from '../namespace.ts'
import { missing, note } from '../tools.ts'
import { other, own, routesContract } from './contract.ts'

test('a guest has the second address of its prefix, whatever its length', () => {
  for (const [first, second] of [
    ['2001:db8:77:1::', '2001:db8:77:1::1'],
    ['2001:db8::5:0', '2001:db8::5:1'],
    ['2001:db8::ffff', '2001:db8::1:0'],
  ] as const)
    expect(guestAddressIn(first)).toBe(second)
})

describe('the fake network', () => {
  routesContract(() => {
    const network = new FakeNetwork(['br0'])
    return { network, routed: async () => network.routed.map(({ prefix, nextHop }) => `${prefix} ${nextHop}`) }
  })
})

test('the prefixes of a vm are routed with its rules, follow a change of them, and go with the vm', async () => {
  const host = openFakeHost(dataDir())
  const network = host.network as FakeNetwork
  const obey = (name: 'firewall.allow' | 'firewall.forget', input: object) => parseCommand(name, input).work(host)
  const rules = portRulesOf(1)
  await obey('firewall.allow', { ...rules, ipv6: [...rules.ipv6, '2001:db8:f::7/128'] })
  expect(network.routed).toEqual([own])
  await obey('firewall.allow', portRulesOf(2))
  await obey('firewall.allow', { ...rules, ipv6: ['2001:db8:77:9::/64'] })
  expect(network.routed).toEqual([{ prefix: '2001:db8:77:9::/64', nextHop: '2001:db8:77:9::1' }, other])
  await obey('firewall.forget', { workload: rules.workload })
  expect(network.routed).toEqual([other])
  // A node that cannot set a route says so, and its vm works.
  network.route = () => Promise.reject(new Error('no ip here'))
  await obey('firewall.allow', rules)
  expect(host.state.portRules()).toHaveLength(2)
  host.close()
})

const reason =
  (await missing('nft', 'ip')) ?? (Bun.which('ping') ? (process.getuid?.() === 0 ? undefined : 'not root') : 'no ping')
describe.skipIf(note(reason, 'routes of prefixes'))('the kernel, in a network namespace', () => {
  let leave: (() => void) | undefined
  const guest = `brg${process.pid}`
  const ip = (...args: string[]) => run('ip', args, { quietly: true })
  const inGuest = (...args: string[]) => ip('-n', guest, ...args)
  const network = new Bridges()
  const routed = async () => {
    const { out } = await ip('-6', '-json', 'route', 'show', 'proto', '158')
    return (JSON.parse(out || '[]') as { dst: string; gateway?: string; dev: string }[]).flatMap((route) =>
      route.gateway ? [`${route.dst} ${route.gateway}`] : [],
    )
  }

  beforeAll(async () => {
    leave = enterOwnNetwork()
    writeFileSync('/proc/sys/net/ipv6/conf/default/accept_dad', '0')
    await ip('link', 'set', 'lo', 'up')
    await ip('link', 'add', 'br0', 'type', 'bridge')
    await ip('link', 'set', 'br0', 'up')
    await ip('address', 'add', '2001:db8:77::1/48', 'dev', 'br0', 'nodad')
    // A private network's bridge is no link of theirs, whatever addresses somebody gave it.
    await ip('link', 'add', 'bpb1', 'type', 'bridge')
    await ip('link', 'set', 'bpb1', 'up')
    await ip('address', 'add', '2001:db8:77:4000::1/50', 'dev', 'bpb1', 'nodad')
    await ip('netns', 'add', guest)
    await ip('link', 'add', 'bth1', 'type', 'veth', 'peer', 'name', 'eth0', 'address', macOf(1), 'netns', guest)
    await ip('link', 'set', 'bth1', 'master', 'br0', 'up')
    await inGuest('link', 'set', 'lo', 'up')
    await inGuest('link', 'set', 'eth0', 'up')
    await inGuest('address', 'add', `${own.nextHop}/64`, 'dev', 'eth0', 'nodad')
    await inGuest('-6', 'route', 'add', 'default', 'via', '2001:db8:77::1', 'dev', 'eth0', 'onlink')
    // A container has an address of the prefix, not on the card that would answer for it.
    await inGuest('address', 'add', '2001:db8:77:1:c::2/128', 'dev', 'lo')
    await new Nftables().load([portRulesOf(1)])
  })
  afterEach(() => network.route([]))
  afterAll(async () => {
    leave?.()
    await run('ip', ['netns', 'delete', guest], { mayFail: true, quietly: true })
  })

  routesContract(() => ({ network, routed }))

  const answers = async (address: string, tries: number) => {
    for (let i = 0; i < tries; i++)
      if ((await Bun.spawn(['ping', '-6', '-n', '-c', '1', '-W', '1', address], { stdout: 'ignore' }).exited) === 0)
        return true
    return false
  }
  test('every address of the prefix reaches the guest, past the checks of what it sends', async () => {
    expect(await answers(own.nextHop, 10)).toBe(true)
    // The guest does not answer for its container on the link.
    expect(await answers('2001:db8:77:1:c::2', 1)).toBe(false)
    await network.route([own])
    expect(await answers('2001:db8:77:1:c::2', 10)).toBe(true)
    expect(await answers(own.nextHop, 10)).toBe(true)
  })
  test('a prefix that is not on a link of a bridge, and a route that is not ours, stay as they are', async () => {
    await ip('-6', 'route', 'add', '2001:db8:77:8::/64', 'dev', 'br0', 'proto', 'static')
    await network.route([own, { prefix: '2001:db8:99:1::/64', nextHop: '2001:db8:99:1::1' }])
    expect(await routed()).toEqual([`${own.prefix} ${own.nextHop}`])
    await network.route([{ prefix: '2001:db8:77:4001::/64', nextHop: '2001:db8:77:4001::1' }])
    const { out } = await ip('-6', '-json', 'route', 'show', 'proto', '158')
    expect(JSON.parse(out).map(({ dev }: { dev: string }) => dev)).toEqual(['br0', 'br0'])
    await network.route([])
    expect((await ip('-6', 'route', 'show', '2001:db8:77:8::/64')).out).toContain('dev br0 proto static')
    // A bridge that went down and up has lost them.
    await network.route([own])
    await ip('link', 'set', 'br0', 'down')
    await ip('link', 'set', 'br0', 'up')
    await ip('address', 'replace', '2001:db8:77::1/48', 'dev', 'br0', 'nodad')
    await network.route([own])
    expect(await routed()).toEqual([`${own.prefix} ${own.nextHop}`])
  })
})
