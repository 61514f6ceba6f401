// An import as far as its dry run, by the compiled program and the agents of two nodes: the panel is simulated, and its
// hypervisor has a real libvirt and a real SSH server.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { temporary } from '../agent/temporary.ts'
import { note } from '../drivers/tools.ts'
import { SolusPanel, TOKEN, uuidOf } from '../imports/simulators/solusvm2.ts'
import { noRealNodes, RealNodes } from '../support/nodes/real-nodes.ts'
import { bootDisk, cloudInitDrive, domainXml, usualOs } from '../support/source-hypervisors/domains.ts'
import {
  noSourceLab,
  ROOT_PASSWORD,
  type SourceHypervisor,
  startHypervisor,
} from '../support/source-hypervisors/lab.ts'

const ADDRESS = '10.78.0.30'
const MAC = '02:00:5e:10:00:41'
const MiB = 1 << 20
const usual = { hypervisors: 'copy', packages: 'like', ranges: 'keep', owners: 'create' } as const
const UEFI = usualOs.replace(
  '</os>',
  "<loader readonly='yes' type='pflash'>/usr/share/OVMF/OVMF_CODE_4M.fd</loader></os>",
)

const reason = (await noRealNodes()) ?? (await noSourceLab())
describe.skipIf(note(reason, 'a dry run at a real hypervisor'))('an import from a real hypervisor', () => {
  const nodes = new RealNodes('im')
  const panel = new SolusPanel({ servers: 4, hypervisors: 1 })
  panel.hypervisors[0]!['host'] = ADDRESS
  for (const [n, server] of panel.servers.entries())
    server['ip_addresses'] = { ipv4: [{ id: n, ip: `198.51.100.${20 + n}`, is_primary: true, issued_for: 'vm' }] }
  Object.assign(panel.servers[3]!, { status: 'stopped', real_status: 'stopped' })
  let source: SourceHypervisor
  let served: Awaited<ReturnType<SolusPanel['serve']>>
  let id = ''

  beforeAll(async () => {
    await nodes.open()
    const { spaces } = nodes
    await spaces.add('source')
    await spaces.wire(['source', 'up0'], ['switch', 'p3'])
    await spaces.ip('switch', 'link', 'set', 'p3', 'master', 'br0')
    await spaces.bridge('source', ['up0'])
    await spaces.ip('source', 'address', 'add', `${ADDRESS}/24`, 'dev', 'br0')
    source = await startHypervisor(spaces, 'source', ADDRESS)
    served = await panel.serve(temporary('panel'))
  }, 120_000)
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
  /** The import when it is not at work any more. */
  const settled = () =>
    nodes.live.until('the end of what the import does', async () => {
      const row = await api('GET', '')
      return !['discovering', 'checking'].includes(row.status) && row
    })
  /** Something that access says of each node. */
  const ofNodes = async (name: string) => (await api('GET', '/access')).data[0].nodes.map((node: any) => node[name])

  test('its panel is read, and everything is decided', async () => {
    const begun = { kind: 'solusvm2', address: served.address, credentials: { token: TOKEN } }
    id = (await nodes.api('POST', '/admin/migrations', begun)).body.id
    await api('POST', '/actions/discover')
    await api('POST', '/actions/trust', { sha256: (await settled()).asksFor.sha256 })
    await api('POST', '/actions/discover')
    await settled()
    const { data: locations } = await nodes.live.admin('locations.list')
    for (const part of ['hypervisors', 'packages', 'ranges', 'owners'] as const) {
      const { data } = await api('GET', `/mapping/${part}?limit=200`)
      const open = data.filter((row: any) => row.choice === null)
      const more = part === 'hypervisors' ? { locationId: locations[0].id } : {}
      if (open.length)
        await api('PATCH', '/mapping', {
          [part]: open.map((row: any) => ({ sourceId: row.sourceId, choice: usual[part], ...more })),
        })
    }
    const left = await api('GET', '/mapping')
    expect(Object.keys(usual).map((part) => left[part].rows)).toEqual([0, 0, 0, 0])
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
    const folder = `/var/lib/libvirt/images/1`
    await bootDisk(source, `${folder}/0`, 'qcow2', 16 * MiB)
    await cloudInitDrive(source, `${folder}/cloud-init.iso`)
    const seed = { path: `${folder}/cloud-init.iso`, device: 'cdrom', bus: 'ide', isReadOnly: true } as const
    const drives = [{ path: `${folder}/0`, format: 'qcow2' }, seed]
    await source.domain('create', domainXml({ name: uuidOf(1), uuid: uuidOf(1), mac: MAC, drives }))
    await bootDisk(source, '/var/lib/libvirt/images/2/0', 'raw', 16 * MiB)
    const uefi = { name: uuidOf(2), uuid: uuidOf(2), os: UEFI, drives: [{ path: '/var/lib/libvirt/images/2/0' }] }
    await source.domain('define', domainXml(uefi))

    await api('POST', '/actions/dry-run')
    expect((await settled()).status).toBe('ready')
    const { data } = await api('GET', '/servers?limit=200')
    const of = (sourceId: string) => data.find((server: any) => server.sourceId === sourceId)
    expect(of('1').check).toMatchObject({ mac: MAC, disk: { format: 'qcow2', bytes: 16 * MiB }, isRunning: true })
    expect(Object.values(nodes.ids)).toContain(of('1').check.node.id)
    expect(of('2').check.findings.map((found: any) => found.code)).toContain('uefi')
    // The first panel's domains are gone when they are off.
    expect(of('3').check.findings.map((found: any) => found.code)).toContain('no_such_domain')
    expect(of('4').check.findings.map((found: any) => found.code)).toContain('not_running')
    expect(await source.virsh('list', '--name')).toContain(uuidOf(1))
  }, 60_000)
})
