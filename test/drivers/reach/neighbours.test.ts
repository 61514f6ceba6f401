// Asking a card for its addresses at its tap: here one end of a pair, whose other end is in a network of its own.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { $ } from 'bun'
import { answerIn, answeringAt, question } from '../../../agent/drivers/network/neighbours.ts'

const possible = process.getuid?.() === 0 && Bun.which('ip') !== null
if (!possible) console.error('left out: ARP and neighbour discovery at a tap (needs root and iproute2)')
const space = `bt${process.pid}`
const tap = `btn${process.pid % 100_000}`
const mac = '02:00:00:00:00:2a'

describe.skipIf(!possible)('the addresses of a card', () => {
  beforeAll(async () => {
    await $`ip netns add ${space}`
    await $`ip link add ${tap} type veth peer name eth0 netns ${space} address ${mac}`
    await $`ip link set ${tap} up`
    await $`ip -n ${space} link set eth0 up`
    await $`ip -n ${space} addr add 203.0.113.10/24 dev eth0`
    await $`ip -n ${space} addr add 198.51.100.7/32 dev eth0`
    await $`ip -n ${space} addr add 2001:db8:7:1::1/64 dev eth0 nodad`
  })
  afterAll(async () => {
    await $`ip link del ${tap}`.nothrow().quiet()
    await $`ip netns del ${space}`.nothrow().quiet()
  })

  test('are seen by ARP and neighbour discovery, and one that it has not is not', async () => {
    const sold = ['203.0.113.10', '203.0.113.11', '198.51.100.7', '2001:db8:7:1::1', '2001:db8:7:1::2']
    const answering = await answeringAt({ tap, mac }, sold)
    expect(answering).toEqual(['203.0.113.10', '198.51.100.7', '2001:db8:7:1::1'])
  })
  test('are all there at once, without waiting out the second', async () => {
    const began = performance.now()
    expect(await answeringAt({ tap, mac }, ['203.0.113.10', '2001:db8:7:1::1'])).toHaveLength(2)
    expect(performance.now() - began).toBeLessThan(900)
  })
  test('are not believed of another card', async () => {
    expect(await answeringAt({ tap, mac: '02:00:00:00:00:2b' }, ['203.0.113.10'])).toEqual([])
  })
  test('are none where there is no tap', async () => {
    expect(await answeringAt({ tap: 'bth99999999', mac }, ['203.0.113.10'])).toEqual([])
  })
})

test('a frame that is too short, or a question, is no answer', () => {
  for (const address of ['203.0.113.10', '2001:db8::1'])
    for (const bytes of [question(address), question(address).subarray(0, 14), new Uint8Array(0)])
      expect(answerIn(bytes, '02:be:27:00:00:01')).toBeUndefined()
})
