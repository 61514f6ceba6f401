// How addresses of a guest are reached from its host: here a network of its own behind one end of a pair of cards.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { $ } from 'bun'
import { accepts } from '../../../agent/drivers/network/bridge.ts'
import { pinged } from '../../../agent/drivers/network/ping.ts'

const possible = process.getuid?.() === 0 && Bun.which('ip') !== null
if (!possible) console.error('left out: ping and TCP from a node (needs root and iproute2)')
const space = `bp${process.pid}`
const tap = `btp${process.pid % 100_000}`
/** A network that nothing else on the machine has (RFC 2544). */
const network = `198.18.${process.pid % 250}`
const [node, guest, silent] = [`${network}.1`, `${network}.10`, `${network}.11`]
const prefix = `2001:db8:be${(process.pid % 250).toString(16)}`

describe.skipIf(!possible)('a node', () => {
  let listener: Bun.Subprocess
  beforeAll(async () => {
    await $`ip netns add ${space}`
    await $`ip link add ${tap} type veth peer name eth0 netns ${space}`
    await $`ip addr add ${node}/24 dev ${tap}`
    await $`ip addr add ${prefix}::1/64 dev ${tap} nodad`
    await $`ip link set ${tap} up`
    await $`ip -n ${space} link set eth0 up`
    await $`ip -n ${space} link set lo up`
    await $`ip -n ${space} addr add ${guest}/24 dev eth0`
    await $`ip -n ${space} addr add ${prefix}::10/64 dev eth0 nodad`
    const listen = `Bun.listen({ hostname: '${guest}', port: 3389, socket: { data() {} } }); console.log('listens')`
    listener = Bun.spawn(['ip', 'netns', 'exec', space, process.execPath, '-e', listen], { stdout: 'pipe' })
    await (listener.stdout as ReadableStream).getReader().read()
  })
  afterAll(async () => {
    listener?.kill()
    await listener?.exited
    await $`ip link del ${tap}`.nothrow().quiet()
    await $`ip netns del ${space}`.nothrow().quiet()
  })

  test('pings addresses of both kinds, however they are written, and one that nobody has does not answer', async () => {
    const long = `${prefix.toUpperCase()}:0:0:0:0:10`
    const asked = [guest, silent, `${prefix}::10`, `${prefix}::11`, long]
    expect(await pinged(asked)).toEqual([guest, `${prefix}::10`, long])
  })
  test('waits no second for addresses that answer at once, and no longer than a second for the others', async () => {
    const began = performance.now()
    expect(await pinged([guest, `${prefix}::10`])).toHaveLength(2)
    expect(performance.now() - began).toBeLessThan(900)
    expect(await pinged([silent])).toEqual([])
    expect(performance.now() - began).toBeLessThan(3000)
  })
  test('gets no answer from a guest that drops pings, and reaches its open ports still', async () => {
    await $`ip netns exec ${space} sysctl -qw net.ipv4.icmp_echo_ignore_all=1`
    expect(await pinged([guest])).toEqual([])
    expect(await accepts(guest, 3389)).toBe(true)
    await $`ip netns exec ${space} sysctl -qw net.ipv4.icmp_echo_ignore_all=0`
    expect(await pinged([guest])).toEqual([guest])
  })
  test('says that a port is closed where it is refused, and where nothing answers', async () => {
    expect(await accepts(guest, 22)).toBe(false)
    expect(await accepts(silent, 22)).toBe(false)
  })
  test('takes no answer to somebody else for its own', async () => {
    // Another program pings at the same time; each sees only its own answers.
    const [one, other] = await Promise.all([pinged([silent, guest]), pinged([guest, silent])])
    expect([one, other]).toEqual([[guest], [guest]])
  })
})

test('nothing is sent where nothing is asked for', async () => {
  expect(await pinged([])).toEqual([])
  expect(await pinged(['no address'])).toEqual([])
})
