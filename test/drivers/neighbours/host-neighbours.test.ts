// The host of a bridge reaches an address at once where it is now, although it knew it at the card of another guest.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Bridges } from '../../../agent/drivers/network/bridge.ts'
import { run } from '../../../agent/host/exec.ts'
import { enterOwnNetwork } from '../namespace.ts'
import { missing, note } from '../tools.ts'

const reason =
  (await missing('ip')) ?? (Bun.which('ping') ? (process.getuid?.() === 0 ? undefined : 'not root') : 'no ping')
describe.skipIf(note(reason, 'neighbours of the host'))('the host, in a network namespace', () => {
  const guests = ['a', 'b'].map((name) => `bnb${process.pid}${name}`) as [string, string]
  let leave: (() => void) | undefined
  const ip = (...args: string[]) => run('ip', args, { quietly: true })
  const network = new Bridges()
  const reaches = (address: string) => Bun.spawnSync(['ping', '-c', '1', '-W', '1', address]).exitCode === 0
  const known = async (address: string): Promise<string> => {
    const { out } = await ip('-json', 'neighbour', 'show', 'to', address)
    return (JSON.parse(out || '[]') as { lladdr?: string }[])[0]?.lladdr ?? 'nowhere'
  }
  const macOf = async (guest: string): Promise<string> => {
    const { out } = await ip('-n', guest, '-json', 'link', 'show', 'eth0')
    return (JSON.parse(out) as { address: string }[])[0]!.address
  }

  beforeAll(async () => {
    leave = enterOwnNetwork()
    await ip('link', 'set', 'lo', 'up')
    await ip('link', 'add', 'br0', 'type', 'bridge')
    await ip('address', 'add', '10.45.0.1/24', 'dev', 'br0')
    await ip('address', 'add', '2001:db8:45::1/64', 'dev', 'br0', 'nodad')
    await ip('link', 'set', 'br0', 'up')
    for (const [n, guest] of guests.entries()) {
      await ip('netns', 'add', guest)
      await ip('link', 'add', `bth${n}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', guest)
      await ip('link', 'set', 'dev', `bth${n}`, 'master', 'br0', 'up')
      await ip('-n', guest, 'link', 'set', 'eth0', 'up')
    }
  })
  afterAll(async () => {
    for (const guest of guests) await run('ip', ['netns', 'del', guest], { mayFail: true, quietly: true })
    leave?.()
  })

  test.each([
    ['10.45.0.2', '24'],
    ['2001:db8:45::2', '64'],
  ])('asks again for %s, which another guest has now', async (address, bits) => {
    const [from, to] = guests
    const add = (guest: string) =>
      ip('-n', guest, 'address', 'add', `${address}/${bits}`, 'dev', 'eth0', ...(bits === '64' ? ['nodad'] : []))
    await add(from)
    for (let n = 0; n < 5 && !reaches(address); n++);
    expect(await known(address)).toBe(await macOf(from))
    await ip('-n', from, 'address', 'del', `${address}/${bits}`, 'dev', 'eth0')
    await add(to)
    // Its entry is good for some time yet, and leads to a card that has given the address up.
    expect(reaches(address)).toBe(false)
    await network.announce({ tap: 'bth1', mac: await macOf(to) }, [address, '10.45.0.77'])
    expect(reaches(address)).toBe(true)
    expect(await known(address)).toBe(await macOf(to))
  })
})
