// Two servers of a Virtualizor with two hypervisors, by the compiled program and the agents of two nodes. One of the
// hypervisors is a node itself: its server is adopted where it is, with one restart. The other one's is copied. Both go
// back when somebody says so. It takes minutes: with BERTH_LONG alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporary } from '../../agent/temporary.ts'
import { note } from '../../drivers/tools.ts'
import { KEY, PASS, server, VirtualizorPanel } from '../../imports/simulators/virtualizor.ts'
import { beginCounting, counterIn, gapsIn, takeCounter } from '../../support/nodes/counting.ts'
import { type NodeName, nodeNames, noRealNodes, RealNodes } from '../../support/nodes/real-nodes.ts'
import { hypervisorBeside, hypervisorOn, ownRoot } from '../../support/source-hypervisors/beside-nodes.ts'
import { type SourceGuest, startGuest } from '../../support/source-hypervisors/guests.ts'
import { noSourceLab, ROOT_PASSWORD, type SourceHypervisor } from '../../support/source-hypervisors/lab.ts'
import { type Importing, importing } from './importing.ts'

const BESIDE = '10.78.0.30'
/** Of node b. */
const ADOPTING: NodeName = 'b'
const ITSELF = '10.78.0.3'
const copied = { id: 1, name: 'copied.example.com', address: '10.78.0.15', mac: '02:00:5e:10:00:51', serid: '2' }
const adopted = { id: 2, name: 'adopted.example.com', address: '10.78.0.16', mac: '02:00:5e:10:00:52', serid: '3' }
const both = [copied, adopted]
type One = (typeof both)[number]

function panelOf() {
  const panel = new VirtualizorPanel({ servers: 2 })
  const size = { space: '1', ram: '128', cores: '1', swap: '0' }
  Object.assign(panel.packages[0]!, size)
  Object.assign(panel.pools[0]!, { gateway: '10.78.0.1', netmask: '255.255.255.0' })
  panel.pools.length = 1
  const [, beside] = panel.hypervisors
  Object.assign(beside!, { ip: BESIDE, internal_ip: '' })
  panel.hypervisors.push({ ...beside, serid: '3', server_name: 'slave-3', ip: ITSELF })
  const [address] = panel.addresses
  panel.addresses.length = 0
  panel.prefixes.length = 0
  for (const [i, { id, name, address: ip, mac: mac_addr, serid }] of both.entries()) {
    const vpsid = String(1000 + id)
    panel.servers[i] = { ...server(id, {}), ...size, serid, hostname: name, mac: mac_addr, ips: { [id]: ip } }
    panel.addresses.push({ ...address, ipid: String(id), ip, vpsid, mac_addr })
  }
  return panel
}

const reason = process.env['BERTH_LONG'] ? ((await noRealNodes()) ?? (await noSourceLab())) : 'BERTH_LONG is not set'
describe.skipIf(note(reason, 'an import from Virtualizor'))('an import from Virtualizor', () => {
  const nodes = new RealNodes('iv', { onNode: ownRoot })
  const panel = panelOf()
  const sources = new Map<One, SourceHypervisor>()
  const paths = new Map<One, string>()
  let served: Awaited<ReturnType<VirtualizorPanel['serve']>>
  let of: Importing
  const before = new Map<One, string>()

  beforeAll(async () => {
    await nodes.open()
    sources.set(copied, await hypervisorBeside(nodes, BESIDE))
    sources.set(adopted, hypervisorOn(nodes, ADOPTING, ITSELF))
    paths.set(copied, '/var/lib/virtualizor/v1.qcow2')
    // In the file system of the pool of its node, so that it can be renamed.
    paths.set(adopted, join(temporary('virtualizor'), 'v2.qcow2'))
    for (const one of both) {
      const network = { address: `${one.address}/24`, gateway: '10.78.0.1', mac: one.mac }
      const disk = { path: paths.get(one)!, format: 'qcow2', how: 'define' } as const
      const guest: SourceGuest = { domain: `v${one.id}`, ...network, publicKey: nodes.key.publicKey, ...disk }
      await startGuest(sources.get(one)!, guest)
    }
    served = await panel.serve(temporary('panel'))
    of = await importing(nodes, {
      ...({ kind: 'virtualizor', credentials: { key: KEY, pass: PASS } } as const),
      address: served.address,
    })
  }, 180_000)
  afterAll(async () => {
    await served?.[Symbol.asyncDispose]()
    await sources.get(copied)?.end()
    await nodes.close()
  }, 60_000)

  const domainsOn = async (one: One) => (await sources.get(one)!.virsh('list', '--name')).split('\n')
  const runsThere = async (one: One) => (await domainsOn(one)).includes(`v${one.id}`)
  /** How many run the guest: there and on both nodes. */
  async function running(one: One) {
    const { workloadId } = (await of.moveOf(one.name)) ?? {}
    const here = workloadId
      ? await Promise.all(nodeNames.map(async (name) => (await nodes.powerOn(name, workloadId)) === 'running'))
      : []
    return Number(await runsThere(one)) + here.filter(Boolean).length
  }

  test('its panel is read, a hypervisor that is a node is known by its address, and both are decided', async () => {
    await of.read()
    const { data } = await of.api('GET', '/mapping/hypervisors?limit=200')
    const offered = (sourceId: string) =>
      data.find((row: any) => row.sourceId === sourceId).offers.find((one: any) => one.choice === 'adopt').isOffered
    expect([offered('2'), offered('3')]).toEqual([false, true])
    await of.decide({ 0: 'leave_out', 3: 'adopt' })
    await of.letIn('2', ROOT_PASSWORD)
  }, 120_000)

  test('a dry run has looked at both of them from the node that will do the work', async () => {
    await of.api('POST', '/actions/dry-run')
    const { data } = await of.settled().then(() => of.api('GET', '/servers?limit=200'))
    const checks = data.map(({ hostname, way, check }: any) => [hostname, way, check.findings])
    expect(checks.toSorted()).toEqual([
      [adopted.name, 'adopt', []],
      [copied.name, 'copy', []],
    ])
    expect((await of.api('GET', '')).status).toBe('ready')
  }, 120_000)

  test('the guests count at their sources', async () => {
    const counter = await counterIn(nodes.live.dir)
    for (const one of both) {
      await nodes.inGuest(one.address, takeCounter, counter)
      await nodes.inGuest(one.address, 'dd if=/dev/urandom of=/root/data bs=1M count=8 2>/dev/null; sync')
      before.set(one, await nodes.inGuest(one.address, 'sha256sum /root/data'))
      await nodes.inGuest(one.address, beginCounting)
    }
    for (const words of before.values()) expect(words).toMatch(/^[0-9a-f]{64} /)
  }, 180_000)

  /** It runs once, has its address and card, and all that it wrote. */
  async function mustBeWhole(one: One) {
    expect(await running(one)).toBe(1)
    expect(await nodes.inGuest(one.address, 'sha256sum /root/data')).toBe(before.get(one)!)
    expect(await nodes.inGuest(one.address, 'cat /sys/class/net/eth0/address')).toBe(one.mac)
    const { gap, last } = gapsIn(await nodes.inGuest(one.address, 'cat /root/counter'))
    expect([gap, last > 100]).toEqual([undefined, true])
  }

  test('one is copied and one adopted with one restart, and neither ever runs twice', async () => {
    const inode = await sources.get(adopted)!.must('stat', '-c', '%i', paths.get(adopted)!)
    await of.api('POST', '/actions/start', {})
    const most = new Map(both.map((one) => [one, 0]))
    await nodes.live.until('the end of both', async () => {
      for (const one of both) most.set(one, Math.max(most.get(one)!, await running(one)))
      return (await of.api('GET', '')).status === 'verifying'
    })
    expect([...most.values()]).toEqual([1, 1])
    const moves = await Promise.all(both.map(({ name }) => of.moveOf(name)))
    expect(moves.map(({ state, way, whereItRuns, failure }) => [state, way, whereItRuns, failure])).toEqual([
      ['moved', 'copy', 'here', null],
      ['moved', 'adopt', 'here', null],
    ])
    const [, { workloadId, node }] = moves
    expect(node.id).toBe(nodes.ids[ADOPTING])
    // The disk is the same file, under another name.
    const file = await sources
      .get(adopted)!
      .must('sh', '-c', `find / -xdev -inum ${inode.trim()} -name '${workloadId}*'`)
    expect(file.trim()).toContain(workloadId)
    expect((await sources.get(adopted)!.run('test', '-e', paths.get(adopted)!)).code).not.toBe(0)
    for (const one of both) await mustBeWhole(one)
    const away = moves.map(({ hostname, downtimeMs }) => `${hostname} ${downtimeMs} ms`)
    process.stderr.write(`  away: ${away.join(', ')}\n`)
  }, 400_000)

  test('both go back: the copy is removed, and the original definition is restored', async () => {
    for (const one of both) {
      const { serverId, hostname } = await of.moveOf(one.name)
      const { jobId } = await of.act(serverId, 'roll-back', { hostname })
      expect(await nodes.ended(jobId)).toMatchObject({ state: 'succeeded' })
    }
    for (const one of both) {
      expect((await of.moveOf(one.name)).state).toBe('rolled_back')
      expect(await runsThere(one)).toBe(true)
      const info = await sources.get(one)!.virsh('dominfo', `v${one.id}`)
      expect(info).toMatch(/^Persistent:\s+yes$/m)
      await sources.get(one)!.must('test', '-s', paths.get(one)!)
      await nodes.live.until('what was here to be removed', async () => (await running(one)) === 1)
      await mustBeWhole(one)
    }
  }, 400_000)
})
