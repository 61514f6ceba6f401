// The kernel's counters of real taps: they count what was let through, and go on over everything but a new table.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { Nftables } from '../../agent/drivers/firewall/nftables.ts'
import { NftCounters } from '../../agent/drivers/traffic/nftables.ts'
import { run } from '../../agent/host/exec.ts'
import { macOf, portRulesOf } from '../agent/examples.ts'
import { openRawSocket, udp4 } from './frames.ts'
import { enterOwnNetwork } from './namespace.ts'
import { missing, note } from './tools.ts'

/** An IPv4 packet without payload, with its UDP header: neither the Ethernet header nor its padding counts. */
const UDP_DATAGRAM_BYTES = 28

const reason = (await missing('nft', 'ip')) ?? (process.getuid?.() === 0 ? undefined : 'not root')
describe.skipIf(note(reason, 'nftables'))('the traffic of taps, in a network namespace', () => {
  let leave: (() => void) | undefined
  const counters = new NftCounters()
  const firewall = new Nftables()
  const ip = (...args: string[]) => run('ip', args)
  const plug = async (n: number) => {
    await ip('link', 'add', `bth${n}`, 'type', 'veth', 'peer', 'name', `guest${n}`)
    await ip('link', 'set', `guest${n}`, 'addrgenmode', 'none')
    await ip('link', 'set', `bth${n}`, 'master', 'br0')
    for (const name of [`bth${n}`, `guest${n}`]) await ip('link', 'set', name, 'up')
  }
  const indexOf = async (name: string) =>
    (JSON.parse((await run('ip', ['-json', 'link', 'show', name])).out) as { ifindex: number }[])[0]!.ifindex
  /** Sends frames from vm `from`, which may or may not use this address. */
  const send = async (from: number, frames: number, address: string) => {
    const socket = openRawSocket(await indexOf(`guest${from}`))
    for (let i = 0; i < frames; i++) socket.send(udp4(macOf(from), address))
    socket.close()
    await Bun.sleep(100)
  }

  beforeAll(async () => {
    leave = enterOwnNetwork()
    // Otherwise the kernel says a few words of its own on every interface, at any moment.
    writeFileSync('/proc/sys/net/ipv6/conf/default/disable_ipv6', '1')
    // Nor does the bridge join the group of those that snoop.
    await ip('link', 'add', 'br0', 'type', 'bridge', 'mcast_snooping', '0')
    await ip('link', 'set', 'br0', 'up')
    await plug(1)
    await plug(2)
    await plug(3)
    await firewall.load([portRulesOf(1), portRulesOf(2)])
    await counters.read()
  })
  afterAll(() => leave?.())

  const own = () => portRulesOf(1).ipv4[0]!
  test('is counted for sender and receiver, in bytes of frames that were let through', async () => {
    await send(1, 10, own())
    const { ports } = await counters.read()
    // Each frame once, however many ports it is flooded to.
    expect(ports.get('bth1')!.sentBytes).toBe(10 * UDP_DATAGRAM_BYTES)
    const [sent, received] = [ports.get('bth1')!.sentBytes, ports.get('bth2')!.receivedBytes]
    expect(received).toBeGreaterThanOrEqual(sent)
    expect(received).toBeLessThan(2 * sent)
    await send(1, 10, '10.99.99.99')
    const after = (await counters.read()).ports
    expect(after.get('bth1')).toEqual(ports.get('bth1')!)
    expect(after.get('bth2')!.receivedBytes - received).toBeLessThan(10 * UDP_DATAGRAM_BYTES)
  })
  test('goes on when the rules are loaded anew and when the vm gets another tap of the same name', async () => {
    const before = await counters.read()
    await firewall.load([portRulesOf(2)])
    await firewall.load([portRulesOf(1), portRulesOf(2)])
    await ip('link', 'del', 'bth1')
    await plug(1)
    await send(1, 10, own())
    const { epoch, ports } = await counters.read()
    expect(epoch).toBe(before.epoch)
    expect(ports.get('bth1')!.sentBytes).toBe(2 * before.ports.get('bth1')!.sentBytes)
  })
  test('is forgotten for one tap, and the other goes on', async () => {
    const { ports } = await counters.read()
    await counters.forget('bth2')
    const after = (await counters.read()).ports
    expect(after.get('bth2')).toBeUndefined()
    expect(after.get('bth1')).toEqual(ports.get('bth1')!)
  })
  test('begins another epoch when its table was removed', async () => {
    const { epoch } = await counters.read()
    await run('nft', ['delete', 'table', 'bridge', 'berth_traffic'])
    const after = await counters.read()
    expect(after.epoch).not.toBe(epoch)
    expect(after.ports.size).toBe(0)
  })
})
