// A real guest that moves: the compiled program as controller and as two agents, each beside a libvirt and an SSH
// server of its own, with a router that calls the guest as its owner would.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { note } from '../drivers/tools.ts'
import { beginCounting, counterIn, gapsIn, pinging, takeCounter } from '../support/nodes/counting.ts'
import { type Equipment, type NodeName, noRealNodes, type Ordered, RealNodes } from '../support/nodes/real-nodes.ts'
import { eventually } from '../support/waiting/eventually.ts'

const SECONDS = 240

describe.skipIf(note(await noRealNodes(), 'a server that moves'))('a real server that moves', () => {
  const nodes = new RealNodes('mv')
  let server: Ordered
  let equipped: Equipment

  beforeAll(async () => {
    await nodes.open()
    server = await nodes.order()
    equipped = await nodes.equip(server)
  }, 400_000)
  afterAll(() => nodes.close(), 60_000)

  const inGuest = (command: string, stdinFile?: string) => nodes.inGuest(server.ipv4, command, stdinFile)
  const powerOn = (name: NodeName) => nodes.powerOn(name, server.serverId)
  const isClear = (name: NodeName) => nodes.isClear(name, server.serverId)
  const move = (to: NodeName, body: object = {}) => nodes.move(server.serverId, to, body)
  const act = (action: string, body: object = {}) => nodes.act(server.serverId, action, body)
  const counted = async () => gapsIn(await inGuest('cat /root/counter'))
  const kept = () => inGuest('sha256sum </root/kept')
  const volume = () => inGuest('dd if=/dev/vdb bs=1M count=16 2>/dev/null | sha256sum')
  let before = ''
  /** Its disks, cards, TPM and limits, as its node has them. */
  async function equipment(name: NodeName) {
    const on = (...command: string[]) => nodes.runOn(name, ...command)
    const sh = async (script: string) => (await on('sh', '-c', script, 'sh', server.serverId)).out
    const xml = (await on('virsh', '-c', 'qemu:///system', 'dumpxml', server.serverId)).out
    const uuid = /<uuid>(.*)<\/uuid>/.exec(xml)?.[1] ?? 'none'
    const taps = [...xml.matchAll(/<target dev='([^']*)'\/>\s*<model type='virtio'/g)].map(([, tap]) => tap!)
    return {
      disks: xml.match(/<disk type='(file|block)' device='disk'/g)?.length ?? 0,
      cards: [...xml.matchAll(/<mac address='([^']*)'/g)].map(([, mac]) => mac),
      // Its content differs from one moment to the next, because a TPM has a clock.
      tpm: (await on('test', '-s', `/var/lib/libvirt/swtpm/${uuid}/tpm2/tpm2-00.permall`)).code === 0,
      speed: /rate \S+/.exec(
        await sh(`for tap in ${taps.join(' ')}; do tc qdisc show dev $tap; tc class show dev $tap; done`),
      )?.[0],
      floatsAllowed: (await on('nft', 'list', 'ruleset')).out.includes(equipped.floating),
    }
  }

  test('it moves with its memory: no write is lost, and its downtime is told as pings see it', async () => {
    await inGuest(takeCounter, await counterIn(nodes.live.dir))
    await inGuest('dd if=/dev/urandom of=/root/kept bs=1M count=16 conv=fsync')
    before = await kept()
    await inGuest('dd if=/root/kept of=/dev/vdb bs=1M conv=fsync')
    const had = await equipment('a')
    expect(had).toEqual({
      ...{ disks: 2, cards: [expect.any(String), expect.any(String)], floatsAllowed: true },
      ...{ tpm: true, speed: expect.stringContaining('rate') },
    })
    await inGuest(beginCounting)
    const ping = pinging(nodes.spaces.inside('router'), server.ipv4)
    const transfer = await move('b', { mode: 'live' })
    const { silenceMs } = await ping.stop()
    process.stderr.write(`  live: told ${transfer.downtimeMs} ms, silence of pings ${silenceMs} ms\n`)
    expect(transfer).toMatchObject({ mode: 'live', state: 'finished', error: null })
    expect([await powerOn('a'), await powerOn('b')]).toEqual(['', 'running'])
    const { last } = await counted()
    await eventually(async () => (await counted()).last > last)
    expect((await counted()).gap).toBeUndefined()
    expect(await kept()).toBe(before)
    expect(await volume()).toBe(before)
    expect(await equipment('b')).toEqual(had)
    await isClear('a')
    const left = await nodes.runOn('a', 'sh', '-c', 'ls /var/lib/libvirt/swtpm /var/lib/libvirt/qemu/nvram')
    expect(left.out.replaceAll(/^.*:$|\s/gm, '')).toBe('')
    expect(transfer.downtimeMs).toBeWithin(1, silenceMs + 50)
  }, 600_000)

  test('it is copied while it runs, and has every write that it made until it was shut down', async () => {
    const { last } = await counted()
    const ping = pinging(nodes.spaces.inside('router'), server.ipv4)
    const transfer = await move('a', { mode: 'near_live' })
    const found = await counted()
    const { silenceMs } = await ping.stop()
    process.stderr.write(`  near-live: told ${transfer.downtimeMs} ms, silence of pings ${silenceMs} ms\n`)
    expect(transfer).toMatchObject({ mode: 'near_live', state: 'finished', error: null })
    expect(transfer.downtimeMs).toBeGreaterThan(0)
    expect(found.gap).toBeUndefined()
    expect(found.last).toBeGreaterThan(last)
    expect(await kept()).toBe(before)
    expect([await powerOn('a'), await powerOn('b')]).toEqual(['running', ''])
    await isClear('b')
  }, 600_000)

  test('it moves while it is off, and starts there', async () => {
    await act('power', { action: 'off' })
    expect(await move('b')).toMatchObject({ mode: 'cold', state: 'finished', error: null })
    await isClear('a')
    await act('power', { action: 'start' })
    expect(await kept()).toBe(before)
    expect([await powerOn('a'), await powerOn('b')]).toEqual(['', 'running'])
  }, 600_000)

  test('it is suspended at once while its next node is dead, and nothing is left there afterwards', async () => {
    await inGuest('echo stays >/root/kept && sync')
    const moving = await nodes.begin(server.serverId, 'a', { maxMbps: 8 })
    const transfer = () => nodes.transfer(moving.transferId)
    await nodes.live.until('its copy to begin', async () => (await transfer()).bytesCopied > 0, SECONDS)
    expect(await powerOn('a')).toBe('shut off')
    await nodes.killAgent('a')
    const isThere = () => nodes.isConnected('a')
    await nodes.live.until('node a to be away', async () => !(await isThere()))
    expect(await act('suspend', { reason: 'unpaid' })).toMatchObject({ state: 'succeeded' })
    expect([await powerOn('b'), await isThere()]).toEqual(['shut off', false])
    expect(await nodes.ended(moving.jobId)).toMatchObject({ state: 'failed', undoPending: true })
    expect((await transfer()).state).toBe('cancelled')
    expect(await act('unsuspend')).toMatchObject({ state: 'succeeded' })
    expect([await powerOn('b'), await inGuest('cat /root/kept')]).toEqual(['running', 'stays'])
    nodes.startAgent('a')
    await isClear('a')
    await nodes.live.until('its undo to be done', async () => !(await nodes.ended(moving.jobId)).undoPending)
  }, 600_000)

  test('it gets the addresses of its next node where that does not carry its own, and has them inside', async () => {
    await nodes.takeFromNetworks(server, equipped)
    await nodes.live.admin('pools.attach', { id: nodes.lan, nodeIds: [nodes.ids.b] })
    await nodes.live.admin('pools.create', {
      ...{ name: 'lan-a', network: '10.78.0.0/24', gateway: '10.78.0.1', first: '10.78.0.30', last: '10.78.0.31' },
      nodeIds: [nodes.ids.a],
    })
    const before = server.ipv4
    expect(await move('a', { readdress: true })).toMatchObject({ mode: 'near_live', state: 'finished', error: null })
    server = { ...server, ipv4: (await nodes.api('GET', `/servers/${server.serverId}`)).body.ipv4 }
    expect([before, server.ipv4]).toEqual(['10.78.0.10', '10.78.0.30'])
    expect(await inGuest('cat /root/kept; ip -4 -o address')).toMatch(/^stays[\s\S]*10\.78\.0\.30\/24/)
    expect(await inGuest('ip -4 -o address; ip route')).not.toContain(before)
    await isClear('b')
  }, 600_000)
})
