// A server comes over from a real hypervisor of another panel, by the compiled program and the agents of two nodes: its
// disk is copied while it runs, it is away for seconds, and it goes back when somebody says so.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { temporary } from '../../agent/temporary.ts'
import { note } from '../../drivers/tools.ts'
import { plan, SolusPanel, TOKEN, uuidOf } from '../../imports/simulators/solusvm2.ts'
import { beginCounting, counterIn, gapsIn, takeCounter } from '../../support/nodes/counting.ts'
import { type NodeName, nodeNames, noRealNodes, RealNodes } from '../../support/nodes/real-nodes.ts'
import { hypervisorBeside } from '../../support/source-hypervisors/beside-nodes.ts'
import { bootDisk, domainXml, usualOs } from '../../support/source-hypervisors/domains.ts'
import { contentOf, startGuest } from '../../support/source-hypervisors/guests.ts'
import { noSourceLab, ROOT_PASSWORD, type SourceHypervisor } from '../../support/source-hypervisors/lab.ts'

const HYPERVISOR = '10.78.0.30'
/** Inside the pool of the nodes, so that the server keeps it. */
const ADDRESS = '10.78.0.15'
const MAC = '02:00:5e:10:00:41'
const DOMAIN = uuidOf(1)
const DISK = '/var/lib/libvirt/images/1/0'
const MiB = 1 << 20

const UEFI = usualOs.replace(
  '</os>',
  "<loader readonly='yes' type='pflash'>/usr/share/OVMF/OVMF_CODE_4M.fd</loader></os>",
)

const reason = (await noRealNodes()) ?? (await noSourceLab())
describe.skipIf(note(reason, 'an import of a real guest'))('an import of a real guest', () => {
  const nodes = new RealNodes('ic')
  const panel = new SolusPanel({ servers: 4, hypervisors: 1, ipv6: 'none' })
  const size = { disk: 1, ram: 128 * MiB, vcpu: 1 }
  panel.hypervisors[0]!['host'] = HYPERVISOR
  panel.packages.splice(0, 2, plan(7, 'KVM 2', { params: { ...size, swap: 0 } }))
  const block = { gateway: '10.78.0.1', netmask: '255.255.255.0', from: '10.78.0.10', to: '10.78.0.20' }
  panel.ranges.splice(0, 3, { ...panel.ranges[0], ...block })
  panel.addresses.clear()
  for (const [n, server] of panel.servers.entries())
    Object.assign(server, {
      specifications: size,
      ip_addresses: { ipv4: [{ id: n, ip: `10.78.0.${15 + n}`, is_primary: true, issued_for: 'vm' }] },
    })
  Object.assign(panel.servers[3]!, { status: 'stopped', real_status: 'stopped' })
  let source: SourceHypervisor
  let served: Awaited<ReturnType<SolusPanel['serve']>>
  let id = ''
  let serverId = ''
  let home: NodeName = 'a'
  let before = ''

  beforeAll(async () => {
    await nodes.open()
    source = await hypervisorBeside(nodes, HYPERVISOR)
    const network = { address: `${ADDRESS}/24`, gateway: '10.78.0.1', mac: MAC }
    const { publicKey } = nodes.key
    const disk = { path: DISK, format: 'qcow2', how: 'create' } as const
    await startGuest(source, { domain: DOMAIN, uuid: DOMAIN, ...network, publicKey, ...disk })
    served = await panel.serve(temporary('panel'))
  }, 180_000)
  afterAll(async () => {
    await served?.[Symbol.asyncDispose]()
    await source?.end()
    await nodes.close()
  }, 60_000)

  const api = async (method: string, path: string, body?: object) => {
    const answer = await nodes.api(method, `/admin/migrations/${id}${path}`, body)
    if (answer.status > 299) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  /** Something that access says of each node. */
  const ofNodes = async (name: string) => (await api('GET', '/access')).data[0].nodes.map((node: any) => node[name])
  /** The import when it is not at work any more. */
  const settled = () =>
    nodes.live.until('the end of what the import does', async () => {
      const row = await api('GET', '')
      return !['discovering', 'checking', 'migrating'].includes(row.status) && row
    })
  /** How many run the guest: there and on both nodes. */
  async function running() {
    const there = (await source.virsh('list', '--name')).split('\n').filter((name) => name === DOMAIN).length
    const here = serverId
      ? await Promise.all(nodeNames.map(async (name) => (await nodes.powerOn(name, serverId)) === 'running'))
      : []
    return there + here.filter(Boolean).length
  }

  test('its panel is read, and everything is decided', async () => {
    const begun = { kind: 'solusvm2', address: served.address, credentials: { token: TOKEN } }
    id = (await nodes.api('POST', '/admin/migrations', begun)).body.id
    await api('POST', '/actions/discover')
    await api('POST', '/actions/trust', { sha256: (await settled()).asksFor.sha256 })
    await api('POST', '/actions/discover')
    await settled()
    const { data: locations } = await nodes.live.admin('locations.list')
    const wanted = { hypervisors: 'copy', packages: 'like', ranges: 'pool', owners: 'create' } as const
    for (const [part, choice] of Object.entries(wanted)) {
      const { data } = await api('GET', `/mapping/${part}?limit=200`)
      const more = part === 'hypervisors' ? { locationId: locations[0].id } : {}
      const poolId = part === 'ranges' ? { poolId: nodes.lan } : {}
      const open = data.filter((row: any) => row.choice === null)
      if (open.length)
        await api('PATCH', '/mapping', {
          [part]: open.map((row: any) => ({ sourceId: row.sourceId, choice, ...more, ...poolId })),
        })
    }
    const left = await api('GET', '/mapping')
    expect(Object.keys(wanted).map((part) => left[part].rows)).toEqual([0, 0, 0, 0])
  }, 60_000)

  test('one node signs in once with the root password, and then every node is let in by its key', async () => {
    await nodes.live.until('both nodes to have a key', async () => (await ofNodes('hasKey')).join() === 'true,true')
    const { jobId } = await api('POST', '/actions/add-keys', { hypervisorId: '1', password: ROOT_PASSWORD })
    expect((await nodes.ended(jobId)).state).toBe('succeeded')
    await nodes.live.until('both nodes to be let in', async () => (await ofNodes('login')).join() === 'works,works')
    const lines = (await source.read('/root/.ssh/authorized_keys')).split('\n').filter(Boolean)
    expect(lines.map((line) => line.replace(/.* berth-import:/, '')).toSorted()).toEqual(
      Object.values(nodes.ids).toSorted(),
    )
    expect(source.sshLog().match(/Accepted password/g)?.length).toBe(1)
    const { jobId: again } = await api('POST', '/actions/add-keys', { hypervisorId: '1', password: 'not the password' })
    expect(await nodes.ended(again)).toMatchObject({ state: 'failed', error: { code: 'source_password_refused' } })
  }, 60_000)

  test('a dry run tells of each server whether it can come, where it goes, and why one stays', async () => {
    await bootDisk(source, '/var/lib/libvirt/images/2/0', 'raw', 16 * MiB)
    const uefi = { name: uuidOf(2), uuid: uuidOf(2), os: UEFI, drives: [{ path: '/var/lib/libvirt/images/2/0' }] }
    await source.domain('define', domainXml(uefi))

    await api('POST', '/actions/dry-run')
    expect(await settled()).toMatchObject({ status: 'ready', servers: { ready: 1 } })
    const { data } = await api('GET', '/servers?limit=200')
    const of = (sourceId: string) => data.find((server: any) => server.sourceId === sourceId)
    expect(of('1').check).toMatchObject({ mac: MAC, disk: { format: 'qcow2', bytes: 1024 * MiB }, isRunning: true })
    expect(Object.values(nodes.ids)).toContain(of('1').check.node.id)
    const codesOf = (sourceId: string) => of(sourceId).check.findings.map((found: any) => found.code)
    expect(codesOf('2')).toContain('uefi')
    // The first panel's domains are gone when they are off.
    expect(codesOf('3')).toContain('no_such_domain')
    expect(codesOf('4')).toContain('not_running')
    expect(await source.virsh('list', '--name')).toContain(DOMAIN)
  }, 60_000)

  test('the guest counts at its source', async () => {
    await nodes.inGuest(ADDRESS, takeCounter, await counterIn(nodes.live.dir))
    await nodes.inGuest(ADDRESS, 'dd if=/dev/urandom of=/root/data bs=1M count=8 2>/dev/null; sha256sum /root/data')
    await nodes.inGuest(ADDRESS, beginCounting)
    before = await nodes.inGuest(ADDRESS, 'sha256sum /root/data')
    expect(before).toMatch(/^[0-9a-f]{64} /)
  }, 120_000)

  test('it comes over, is away for seconds, has its address and all that it wrote, and runs only once', async () => {
    await api('POST', '/actions/start', {})
    const most: number[] = []
    const watched = nodes.live.until('the end of the copy', async () => {
      most.push(await running())
      return (await api('GET', '')).status === 'verifying'
    })
    await watched
    expect(Math.max(...most)).toBeLessThanOrEqual(1)
    const { data } = await api('GET', '/moves')
    const [move] = data
    expect(move).toMatchObject({ state: 'moved', whereItRuns: 'here', method: 'short_stop', failure: null })
    serverId = move.workloadId
    home = nodeNames.find((name) => nodes.ids[name] === move.node.id)!
    expect(await running()).toBe(1)
    expect(await nodes.powerOn(home, serverId)).toBe('running')
    expect(await nodes.inGuest(ADDRESS, 'sha256sum /root/data')).toBe(before)
    expect(await nodes.inGuest(ADDRESS, 'cat /sys/class/net/eth0/address')).toBe(MAC)
    const { gap, last } = gapsIn(await nodes.inGuest(ADDRESS, 'cat /root/counter'))
    expect(gap).toBeUndefined()
    expect(last).toBeGreaterThan(100)
    process.stderr.write(`  away for ${move.downtimeMs} ms, ${last} numbers counted at the source\n`)
    // A system that is emulated takes its time to shut down; the rest of the time is the copy.
    expect(move.downtimeMs).toBeLessThan(120_000)
  }, 300_000)

  test('every command that ran at the source is in the log of its job, and no password', async () => {
    const [move] = (await api('GET', '/moves')).data
    const { lines } = (await nodes.api('GET', `/jobs/${move.jobId}/log?after=0`)).body
    const text = lines.map((line: any) => line.text).join('\n')
    for (const command of ['virsh dumpxml', 'virsh shutdown']) expect(text).toContain(command)
    expect(text).not.toContain('passwd')
    expect(text).not.toContain(ROOT_PASSWORD)
  })

  test('its disk at the source is as it was when it stopped, and it can go back', async () => {
    const kept = await contentOf(source, DISK, 'qcow2')
    const { serverId: ofImport, hostname } = (await api('GET', '/moves')).data[0]
    const path = `/admin/migration-servers/${ofImport}/actions/roll-back`
    expect((await nodes.api('POST', path, { hostname })).status).toBe(202)
    await nodes.live.until('the guest to run at its source again', async () => {
      const [move] = (await api('GET', '/moves')).data
      return move.state === 'rolled_back'
    })
    expect(await running()).toBe(1)
    // The way back is certain before its copy here is removed.
    await nodes.live.until('its copy to be removed', async () => (await nodes.powerOn(home, serverId)) === '')
    expect(await nodes.inGuest(ADDRESS, 'sha256sum /root/data')).toBe(before)
    expect(kept).toMatch(/^[0-9a-f]{64}/)
    const { gap, last } = gapsIn(await nodes.inGuest(ADDRESS, 'cat /root/counter'))
    expect([gap, last > 100]).toEqual([undefined, true])
  }, 240_000)
})
