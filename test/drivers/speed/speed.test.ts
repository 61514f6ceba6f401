// The limits of a port, measured with real traffic between a bridge and a guest in its own network namespace.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Bridges } from '../../../agent/drivers/network/bridge.ts'
import { lines, run } from '../../../agent/host/exec.ts'
import { unlimited } from '../../agent/examples.ts'
import { enterOwnNetwork } from '../namespace.ts'
import { missing, note } from '../tools.ts'
import { mbpsFrom, mbpsTo } from './flow.ts'

const GUEST = '10.99.0.2'
const PORT = 5001
const TAP = 'bth1'
const reason = (await missing('tc', 'ip')) ?? (process.getuid?.() === 0 ? undefined : 'not root')

describe.skipIf(note(reason, 'limits of speed'))('the speed of a port, in a network namespace', () => {
  const network = new Bridges()
  const stop = new AbortController()
  const guest = `bthspeed${process.pid}`
  let leave: (() => void) | undefined
  let counts: AsyncIterator<string>
  const ip = (...args: string[]) => run('ip', args)
  const limit = (inMbps: number | null, outMbps: number | null) =>
    network.limit({ tap: TAP, speed: { ...unlimited, inMbps, outMbps } })
  const queues = async () => (await run('tc', ['qdisc', 'show', 'dev', TAP])).out

  beforeAll(async () => {
    await ip('netns', 'add', guest)
    leave = enterOwnNetwork()
    await ip('link', 'add', 'br0', 'type', 'bridge')
    await ip('address', 'add', '10.99.0.1/24', 'dev', 'br0')
    await ip('link', 'add', TAP, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', guest)
    await ip('link', 'set', TAP, 'master', 'br0')
    for (const name of ['lo', 'br0', TAP]) await ip('link', 'set', name, 'up')
    await ip('-netns', guest, 'address', 'add', `${GUEST}/24`, 'dev', 'eth0')
    await ip('-netns', guest, 'link', 'set', 'eth0', 'up')
    const side = ['netns', 'exec', guest, process.execPath, `${import.meta.dir}/flow.ts`, GUEST, `${PORT}`]
    counts = lines('ip', side, stop.signal)[Symbol.asyncIterator]()
    expect((await counts.next()).value).toBe('ready')
  })
  afterAll(async () => {
    stop.abort()
    leave?.()
    await ip('netns', 'del', guest)
  })

  for (const mbps of [10, 100, 1000])
    test(`of ${mbps} Mbit/s is held within a tenth in each direction`, async () => {
      await limit(mbps, mbps)
      for (const measure of [() => mbpsTo(GUEST, PORT, counts), () => mbpsFrom(GUEST, PORT)]) {
        // A busy machine may not keep up with a high speed; more than the limit never passes.
        let found = await measure()
        for (let tries = 1; found < 0.9 * mbps && tries < 3; tries++) found = await measure()
        expect(Math.abs(found / mbps - 1)).toBeLessThan(0.1)
      }
    }, 60_000)
  test('is another for each direction, and changes under traffic without a gap', async () => {
    await limit(100, 30)
    const before = await queues()
    await Promise.all([Bun.sleep(200).then(() => limit(50, 10)), mbpsFrom(GUEST, PORT)])
    expect(Math.abs((await mbpsFrom(GUEST, PORT)) / 10 - 1)).toBeLessThan(0.1)
    // The same queue with another rate: it was changed in place and not made anew.
    expect(await queues()).toBe(before.replace('100Mbit', '50Mbit'))
  }, 60_000)
  test('is given again to a tap that was made anew, and taken away in one direction or both', async () => {
    await limit(20, 20)
    await limit(20, 20)
    expect((await run('tc', ['filter', 'show', 'dev', TAP, 'parent', 'ffff:'])).out.match(/mirred/g)).toHaveLength(1)
    await limit(20, null)
    expect(await queues()).toMatch(/tbf/)
    expect(await queues()).not.toMatch(/ingress/)
    await limit(null, null)
    expect(await queues()).not.toMatch(/tbf|ingress/)
    await limit(null, 20)
    await network.unlimit(TAP)
    await network.unlimit(TAP)
    expect(await queues()).not.toMatch(/tbf|ingress/)
    expect((await run('ip', ['-o', 'link'])).out).not.toMatch(/bti1/)
  })
})
