// VLANs on the uplink of a node: the fake, and the kernel in a network namespace. A kernel without VLANs is tried with
// another kind of interface on the uplink, which carries one network alone and no tags.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { announceFrom } from '../../../agent/drivers/network/announce.ts'
import { FakeVlans } from '../../../agent/drivers/vlan/fake.ts'
import { type DeviceLine, LinuxVlans } from '../../../agent/drivers/vlan/linux.ts'
import { run } from '../../../agent/host/exec.ts'
import { enterOwnNetwork } from '../namespace.ts'
import { missing, note } from '../tools.ts'
import { UPLINK, vlansContract } from './contract.ts'

describe('the fake', () => {
  vlansContract(() => {
    const driver = new FakeVlans()
    return {
      driver,
      bridges: async () => [...driver.bridges.keys()],
      occupy: async (vlan, on) => void (on ? driver.used.add(`bvb${vlan}`) : driver.used.delete(`bvb${vlan}`)),
    }
  }, [20, 30, 4094])
})

const ip = (...args: string[]) => run('ip', args, { quietly: true, mayFail: true })
const reason = (await missing('nft', 'ip')) ?? (process.getuid?.() === 0 ? undefined : 'not root')
/** Has this kernel the kind of interface on an Ethernet interface? */
async function has(...kind: string[]): Promise<boolean> {
  if (reason) return false
  const leave = enterOwnNetwork()
  if (!leave) return false
  await ip('link', 'add', 'hv0', 'type', 'veth', 'peer', 'name', 'hv1')
  const { code } = await ip('link', 'add', 'link', 'hv0', 'name', 'hv0.5', 'type', ...kind)
  leave()
  return code === 0
}
const hasVlans = await has('vlan', 'id', '5')
note(hasVlans ? undefined : 'this kernel lacks 8021q', 'tags of VLANs')
const standIn: DeviceLine = (uplink, vlan) => `link add link ${uplink} name bvl${vlan} type macvlan mode passthru`
const line = hasVlans ? undefined : standIn
const lacking = reason ?? (hasVlans || (await has('macvlan', 'mode', 'passthru')) ? undefined : 'no macvlan either')

describe.skipIf(note(lacking, 'bridges of VLANs'))('the kernel, in a network namespace', () => {
  const [beyond, guest] = [`bvn${process.pid}`, `bvg${process.pid}`]
  let leave: (() => void) | undefined
  const driver = new LinuxVlans(line)
  const inside = (space: string, ...args: string[]) =>
    run('ip', ['netns', 'exec', space, ...args], { mayFail: true, quietly: true })
  const bridges = async () => {
    const { out } = await ip('-json', 'link', 'show', 'type', 'bridge')
    return (JSON.parse(out || '[]') as { ifname: string }[]).map(({ ifname }) => ifname)
  }
  const reaches = async (address: string) => (await inside(guest, 'ping', '-c', '1', '-W', '1', address)).code === 0
  /** A neighbour that was not there a moment ago is asked for again after a second. */
  async function comesToReach(address: string): Promise<boolean> {
    for (let n = 0; n < 5; n++) if (await reaches(address)) return true
    return false
  }

  beforeAll(async () => {
    leave = enterOwnNetwork()
    for (const space of [beyond, guest]) await run('ip', ['netns', 'add', space], { quietly: true })
    await run('ip', ['link', 'add', UPLINK, 'type', 'veth', 'peer', 'name', 'sw0', 'netns', beyond], { quietly: true })
    await ip('address', 'add', '10.44.0.9/24', 'dev', UPLINK)
    await ip('link', 'set', UPLINK, 'up')
    await ip('link', 'set', 'lo', 'up')
    await ip('-n', beyond, 'link', 'set', 'sw0', 'up')
  })
  afterEach(async () => {
    await ip('link', 'del', 'bth1')
    await driver.apply(undefined, [])
  })
  afterAll(async () => {
    for (const space of [beyond, guest]) await ip('netns', 'del', space)
    leave?.()
  })

  /** The device of a guest on a bridge, whose other end is the guest. */
  async function plug(vlan: number) {
    await run('ip', ['link', 'add', 'bth1', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', guest], { quietly: true })
    await run('ip', ['link', 'set', 'dev', 'bth1', 'master', `bvb${vlan}`, 'up'], { quietly: true })
    await ip('-n', guest, 'address', 'add', '10.44.0.2/24', 'dev', 'eth0')
    await ip('-n', guest, 'link', 'set', 'eth0', 'up')
  }
  /** A neighbour in a VLAN, behind the switch. */
  async function neighbour(vlan: number, cidr: string) {
    if (!hasVlans) return void (await ip('-n', beyond, 'address', 'add', cidr, 'dev', 'sw0'))
    await ip('-n', beyond, 'link', 'add', 'link', 'sw0', 'name', `sw0.${vlan}`, 'type', 'vlan', 'id', `${vlan}`)
    await ip('-n', beyond, 'address', 'add', cidr, 'dev', `sw0.${vlan}`)
    await ip('-n', beyond, 'link', 'set', `sw0.${vlan}`, 'up')
  }

  vlansContract(
    () => ({
      driver,
      bridges,
      occupy: (vlan, on) => (on ? plug(vlan) : ip('link', 'del', 'bth1').then(() => {})),
    }),
    hasVlans ? [20, 30, 4094] : [20],
  )

  test('a guest reaches its neighbours in the VLAN, and nobody there reaches the host', async () => {
    await driver.apply(UPLINK, [20])
    await plug(20)
    await neighbour(20, '10.44.0.1/24')
    expect(await comesToReach('10.44.0.1')).toBe(true)
    // The host has this address on its uplink, and answers for it on every interface that does not keep it from that.
    const isAnswered = async () => {
      await ip('-n', beyond, 'neighbour', 'flush', 'to', '10.44.0.9')
      await inside(beyond, 'ping', '-c', '1', '-W', '1', '-I', 'sw0.20', '10.44.0.9')
      return (await ip('-n', beyond, 'neighbour', 'show', 'to', '10.44.0.9', 'dev', 'sw0.20')).out.includes('lladdr')
    }
    if (hasVlans) expect(await isAnswered()).toBe(false)
    const { out } = await run('nft', ['list', 'table', 'bridge', 'berth_vlan'], { quietly: true })
    expect(out).toContain('iifname "bvl*"')
    expect((await inside(guest, 'ip', '-json', 'address', 'show', 'dev', 'eth0')).out).toContain('10.44.0.2')
    // Neither the bridge nor the interface of the VLAN has an address of the host.
    for (const device of ['bvb20', 'bvl20'])
      expect((await ip('-json', 'address', 'show', 'dev', device)).out).not.toContain('"local"')
    await run('nft', ['delete', 'table', 'bridge', 'berth_vlan'], { quietly: true })
    if (hasVlans) expect(await isAnswered()).toBe(true)
  })

  test('what another program takes away comes back, and a vm stays on its bridge', async () => {
    await driver.apply(UPLINK, [20])
    await plug(20)
    await neighbour(20, '10.44.0.1/24')
    await ip('link', 'del', 'bvl20')
    expect(await reaches('10.44.0.1')).toBe(false)
    await run('nft', ['delete', 'table', 'bridge', 'berth_vlan'], { quietly: true })
    await driver.apply(UPLINK, [20])
    expect(await comesToReach('10.44.0.1')).toBe(true)
    await ip('link', 'set', 'bvl20', 'down')
    await ip('link', 'set', 'bvl20', 'nomaster')
    await driver.apply(UPLINK, [20])
    expect(await comesToReach('10.44.0.1')).toBe(true)
    expect((await run('nft', ['list', 'table', 'bridge', 'berth_vlan'], { quietly: true })).out).toContain('bvl*')
  })

  test('neighbours in the VLAN are told where an address is now', async () => {
    await driver.apply(UPLINK, [20])
    await plug(20)
    await neighbour(20, '10.44.0.1/24')
    expect(await comesToReach('10.44.0.1')).toBe(true)
    // As after a move: the neighbour believes that the address is elsewhere.
    const device = hasVlans ? 'sw0.20' : 'sw0'
    await ip(
      '-n',
      beyond,
      'neighbour',
      'replace',
      '10.44.0.2',
      'lladdr',
      '52:54:00:00:00:99',
      'nud',
      'stale',
      'dev',
      device,
    )
    // The kernel takes no change of an entry in its first second.
    await Bun.sleep(1100)
    const { out } = await ip('-n', guest, '-json', 'link', 'show', 'eth0')
    const mac = (JSON.parse(out) as { address: string }[])[0]!.address
    announceFrom(['bvl20'], mac, ['10.44.0.2'])
    const known = async () => (await ip('-n', beyond, 'neighbour', 'show', '10.44.0.2')).out
    for (let n = 0; n < 50 && !(await known()).includes(mac); n++) await Bun.sleep(20)
    expect(await known()).toContain(mac)
  })

  test('an uplink that is not there makes no bridge with a way out, and says so', async () => {
    expect(await driver.apply('nowhere0', [20])).toEqual(new Map([[20, 'this node has no interface nowhere0']]))
    expect(await bridges()).toEqual([])
    expect(await driver.look({ name: 'nowhere0', vlans: [{ first: 20, last: 20 }] })).toEqual({
      ...{ name: 'nowhere0', up: false, vlans: [] },
      problem: 'this node has no interface nowhere0',
    })
  })

  test('the uplink is as it is now', async () => {
    const settings = { name: UPLINK, vlans: [] }
    expect(await driver.look(settings)).toEqual({ name: UPLINK, up: true, vlans: [] })
    await ip('-n', beyond, 'link', 'set', 'sw0', 'down')
    const isUp = async () => (await driver.look(settings)).up
    for (let n = 0; n < 100 && (await isUp()); n++) await Bun.sleep(20)
    expect(await isUp()).toBe(false)
    await ip('-n', beyond, 'link', 'set', 'sw0', 'up')
  })

  test.skipIf(hasVlans)('a kernel without VLANs carries none, and says so', async () => {
    const found = await driver.look({ name: UPLINK, vlans: [{ first: 20, last: 20 }] })
    expect(found).toMatchObject({ vlans: [], problem: expect.stringContaining('8021q') })
  })

  test.skipIf(!hasVlans)('a VLAN of the host itself is not touched, and not carried', async () => {
    await ip('link', 'add', 'link', UPLINK, 'name', `${UPLINK}.30`, 'type', 'vlan', 'id', '30')
    const vlans = [{ first: 20, last: 40 }]
    expect(await driver.look({ name: UPLINK, vlans })).toMatchObject({
      vlans: [
        { first: 20, last: 29 },
        { first: 31, last: 40 },
      ],
      problem: `VLAN 30 is ${UPLINK}.30 of the host itself`,
    })
    expect([...(await driver.apply(UPLINK, [30])).values()].join()).toContain('belongs to the host itself')
    expect(await bridges()).toEqual([])
    await ip('link', 'del', `${UPLINK}.30`)
  })

  test.skipIf(!hasVlans)(
    'two VLANs do not hear each other',
    async () => {
      await driver.apply(UPLINK, [20, 30])
      await plug(30)
      await neighbour(20, '10.44.0.1/24')
      await neighbour(30, '10.46.0.3/24')
      await ip('-n', guest, 'address', 'add', '10.46.0.2/24', 'dev', 'eth0')
      expect(await comesToReach('10.46.0.3')).toBe(true)
      expect(await reaches('10.44.0.1')).toBe(false)
    },
    20_000,
  )
})
