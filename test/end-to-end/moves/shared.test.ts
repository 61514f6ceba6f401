// A real guest on a real Ceph that two nodes reach: it moves without a copy, and no two nodes have its image open for
// writing. With BERTH_LONG alone, and with the packages of test/drivers/blocks/ceph/rbd.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { temporary } from '../../agent/temporary.ts'
import { type Ceph, cephMissing, startCeph } from '../../drivers/blocks/ceph/cluster.ts'
import { note } from '../../drivers/tools.ts'
import { beginCounting, counterIn, gapsIn, pinging, takeCounter } from '../../support/nodes/counting.ts'
import { type NodeName, noRealNodes, type Ordered, RealNodes } from '../../support/nodes/real-nodes.ts'
import { eventually } from '../../support/waiting/eventually.ts'

const reason = cephMissing() ?? (await noRealNodes())
const PORT = 3300
const addressOf = { a: '10.78.0.2', b: '10.78.0.3' } as const

describe.skipIf(note(reason, 'a server on a Ceph that two nodes reach'))('a real server on shared storage', () => {
  let ceph: Ceph
  const nodes = new RealNodes('sh', {
    async before() {
      const inside = nodes.spaces.inside('router')
      ceph = await startCeph(temporary('ceph'), PORT, { host: '10.78.0.1', inside })
    },
    onNode: (inside) => ceph.defineSecret(inside),
    pools: () => [
      { name: 'ceph', class: 'net', ...ceph.entry },
      { name: 'local', kind: 'file', path: '/var/lib/libvirt/images', class: 'own' },
    ],
    pack: { storageClass: 'net', volumeClass: 'own' },
  })
  let server: Ordered
  let image = ''
  let id = ''

  beforeAll(async () => {
    await nodes.open()
    server = await nodes.order()
    const images: string[] = await ceph.rbd('ls', ceph.pool)
    image = `${ceph.pool}/${images.find((name) => name.startsWith(server.serverId))}`
    id = (await ceph.rbd('info', image)).id
    await inGuest(takeCounter, await counterIn(nodes.live.dir))
    await inGuest(beginCounting)
  }, 500_000)
  afterAll(async () => {
    await nodes.close()
    await ceph?.stop()
  }, 60_000)

  const inGuest = (command: string, stdinFile?: string) => nodes.inGuest(server.ipv4, command, stdinFile)
  const powerOn = (name: NodeName) => nodes.powerOn(name, server.serverId)
  const move = (to: NodeName, body: object = {}) => nodes.move(server.serverId, to, body)
  const act = (action: string, body: object = {}) => nodes.act(server.serverId, action, body)
  const counted = async () => gapsIn(await inGuest('cat /root/counter'))
  /** The hosts that have the image open for writing, by their watches. */
  const openOn = async (): Promise<string[]> =>
    ((await ceph.rbd('status', image)).watchers ?? []).map(({ address }: any) => address.split(':')[0])
  /** It is the image that it was, and the only one. */
  const isSame = async () => {
    expect(await ceph.rbd('ls', ceph.pool)).toEqual([image.split('/')[1]])
    expect((await ceph.rbd('info', image)).id).toBe(id)
  }
  const without = { state: 'finished', error: null, bytesTotal: 0, bytesCopied: 0 }

  test('move-options know that nothing is copied', async () => {
    const { body } = await nodes.api('GET', `/admin/servers/${server.serverId}/move-options?mode=live`)
    expect(body.nodes[0]).toMatchObject({
      ...{ possible: true, mode: 'live', bytes: 0 },
      sharedStorage: 'Both nodes reach the storage of its disks: nothing is copied.',
    })
    expect(body.nodes[0].expectedDowntimeMs).toBeGreaterThan(0)
  })

  test('it moves with its memory alone: no write is lost, and one node has its image open', async () => {
    const { last } = await counted()
    const ping = pinging(nodes.spaces.inside('router'), server.ipv4)
    const began = performance.now()
    const transfer = await move('b', { mode: 'live' })
    const seconds = (performance.now() - began) / 1000
    const { silenceMs } = await ping.stop()
    process.stderr.write(
      `  live: told ${transfer.downtimeMs} ms, silence ${silenceMs} ms, ${seconds.toFixed(1)} s in all\n`,
    )
    expect(transfer).toMatchObject({ mode: 'live', ...without })
    expect([await powerOn('a'), await powerOn('b')]).toEqual(['', 'running'])
    expect(await openOn()).toEqual([addressOf.b])
    await eventually(async () => (await counted()).last > last + 100)
    expect((await counted()).gap).toBeUndefined()
    await nodes.isClear('a', server.serverId)
    await isSame()
  }, 600_000)

  test('it is shut down and started there, without a copy', async () => {
    const { last } = await counted()
    const transfer = await move('a', { mode: 'near_live' })
    const found = await counted()
    process.stderr.write(`  near-live: told ${transfer.downtimeMs} ms\n`)
    expect(transfer).toMatchObject({ mode: 'near_live', ...without })
    expect([found.gap, found.last >= last]).toEqual([undefined, true])
    expect([await powerOn('a'), await powerOn('b'), await openOn()]).toEqual(['running', '', [addressOf.a]])
    await nodes.isClear('b', server.serverId)
    await isSame()
  }, 600_000)

  test('it moves while it is off; a volume of its node alone is copied', async () => {
    const made = await nodes.api('POST', `/servers/${server.serverId}/volumes`, { name: 'data', sizeGb: 1 })
    await nodes.ended(made.body.jobId)
    await inGuest('dd if=/dev/urandom of=/root/kept bs=1M count=8 conv=fsync; dd if=/root/kept of=/dev/vdb conv=fsync')
    const [kept, volume] = ['sha256sum </root/kept', 'dd if=/dev/vdb bs=1M count=8 2>/dev/null | sha256sum']
    const before = await inGuest(kept)
    await act('power', { action: 'off' })
    const transfer = await move('b')
    expect(transfer).toMatchObject({ mode: 'cold', state: 'finished', error: null })
    expect(transfer.bytesCopied).toBeWithin(8 * 2 ** 20, 64 * 2 ** 20)
    await nodes.isClear('a', server.serverId)
    await act('power', { action: 'start' })
    expect([await inGuest(kept), await inGuest(volume)]).toEqual([before, before])
    expect(await openOn()).toEqual([addressOf.b])
    await isSame()
  }, 600_000)

  test('it moves with its memory and the volume that its nodes do not share', async () => {
    const transfer = await move('a', { mode: 'live' })
    expect(transfer).toMatchObject({ mode: 'live', state: 'finished', error: null })
    expect([await powerOn('a'), await powerOn('b'), await openOn()]).toEqual(['running', '', [addressOf.a]])
    const [kept, volume] = ['sha256sum </root/kept', 'dd if=/dev/vdb bs=1M count=8 2>/dev/null | sha256sum']
    expect(await inGuest(volume)).toBe(await inGuest(kept))
    await nodes.isClear('b', server.serverId)
    await isSame()
  }, 600_000)

  test('a node that still writes keeps it from starting elsewhere, and a dead one is waited for', async () => {
    await act('power', { action: 'off' })
    const { configFile, auth } = ceph.access
    const opened = `rbd:${image}:id=${auth!.user}:conf=${configFile}:keyring=${auth!.keyringFile}`
    const writer = Bun.spawn([...nodes.inside.b, 'qemu-io', '-f', 'raw', opened], { stdin: 'pipe', stdout: 'ignore' })
    writer.stdin.write('read 0 512\n')
    writer.stdin.flush()
    await eventually(async () => (await openOn()).includes(addressOf.b), 30)
    const refused = await act('power', { action: 'start' })
    expect(refused).toMatchObject({ state: 'failed', error: { code: 'disk_in_use' } })
    expect([await powerOn('a'), await openOn()]).toEqual(['shut off', [addressOf.b]])
    // It is killed as by a power cut: Ceph misses it half a minute later.
    await nodes.runOn('b', 'sh', '-c', 'kill -9 $(pgrep -x qemu-io)')
    await writer.exited
    expect(await act('power', { action: 'start' })).toMatchObject({ state: 'succeeded' })
    expect([await powerOn('a'), await openOn()]).toEqual(['running', [addressOf.a]])
    await inGuest('cat /root/kept >/dev/null')
  }, 600_000)

  for (const [what, kill] of [
    ['the agent of its node', () => nodes.killAgent('a').then(() => nodes.startAgent('a'))],
    ['the agent of the other node', () => nodes.killAgent('b').then(() => nodes.startAgent('b'))],
    ['the controller', () => nodes.restartController()],
  ] as const)
    test(`killed at the hand-over, ${what} leaves it on one node, and the next try succeeds`, async () => {
      const from: NodeName = (await powerOn('a')) === 'running' ? 'a' : 'b'
      const to: NodeName = from === 'a' ? 'b' : 'a'
      await inGuest(beginCounting)
      const { jobId } = await nodes.begin(server.serverId, to, { mode: 'live' })
      await nodes.atStep(jobId, 'Handing it over')
      await kill()
      const job = await nodes.ended(jobId)
      process.stderr.write(`  ${what}: ${job.state} ${job.error?.code ?? ''}\n`)
      const at: NodeName = job.state === 'succeeded' ? to : from
      const open = async () => [await powerOn(at), ...(await openOn())]
      await eventually(async () => (await open()).join() === `running,${addressOf[at]}`, 90)
      expect(await open()).toEqual(['running', addressOf[at]])
      const other: NodeName = at === 'a' ? 'b' : 'a'
      expect(await powerOn(other)).not.toBe('running')
      const { last } = await counted()
      await eventually(async () => (await counted()).last > last)
      expect((await counted()).gap).toBeUndefined()
      await nodes.isClear(other, server.serverId)
      expect(await move(other, { mode: 'live' })).toMatchObject({ state: 'finished' })
      expect(await openOn()).toEqual([addressOf[other]])
      await isSame()
    }, 600_000)

  test('a server that is deleted leaves nothing in the cluster', async () => {
    await nodes.api('DELETE', `/servers/${server.serverId}?immediately=true`)
    await eventually(async () => !(await ceph.rbd('ls', ceph.pool)).length, 120)
    expect(await ceph.rbd('ls', ceph.pool)).toEqual([])
  }, 600_000)
})
