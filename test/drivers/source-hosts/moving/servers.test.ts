// A node stops servers at real source hypervisors, and starts them again: domains of libvirt, over SSH.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { loggingTo } from '../../../../agent/controller-link/job-log.ts'
import { SshSourceHosts } from '../../../../agent/drivers/source-host/ssh-source-hosts.ts'
import { SshSourceServers } from '../../../../agent/drivers/source-host/ssh-source-servers.ts'
import { temporary } from '../../../agent/temporary.ts'
import { bootDisk, cloudInitDrive, domainXml } from '../../../support/source-hypervisors/domains.ts'
import {
  noSourceLab,
  ROOT_PASSWORD,
  type SourceHypervisor,
  sourceLab,
} from '../../../support/source-hypervisors/lab.ts'
import { enterNetwork } from '../../namespace.ts'
import { note } from '../../tools.ts'
import { serversContract } from './servers-contract.ts'

const MiB = 1 << 20
const uuid = (n: number) => `6f9d3c4e-2f0b-4f0e-9a54-${String(n).padStart(12, '0')}`
const SECRET = 'canary42'
const graphics = `<graphics type='vnc' port='-1' autoport='yes' passwd='${SECRET}'/>`

describe.skipIf(note(await noSourceLab(), 'servers that are stopped at their source'))('at a real source', () => {
  let lab: Awaited<ReturnType<typeof sourceLab>>
  let source: SourceHypervisor
  let leave = () => {}
  const hosts = new SshSourceHosts(join(temporary('source-node'), 'source-hosts'))
  const node = new SshSourceServers(hosts)
  let made = 0

  beforeAll(async () => {
    lab = await sourceLab(['a'])
    source = lab.hypervisors[0]!
    leave = enterNetwork(lab.nodes)
    const keys = [{ nodeId: `nod_${'1'.repeat(26)}`, publicKey: await hosts.key(), from: [] }]
    await hosts.addKeys({ host: source.host, password: ROOT_PASSWORD, keys })
  }, 60_000)
  afterAll(async () => {
    leave()
    await lab?.end()
  })

  const states: Record<string, string> = { 'shut off': 'off', running: 'running', paused: 'paused' }
  const rig = {
    node,
    get host() {
      return source.host
    },
    async server(kind: 'transient' | 'persistent', more: Partial<Parameters<typeof domainXml>[0]> = {}) {
      const n = ++made
      const name = kind === 'transient' ? uuid(n) : `v${n}`
      const folder = `/var/lib/libvirt/images/${n}`
      await bootDisk(source, `${folder}/0`, 'qcow2', 16 * MiB)
      await cloudInitDrive(source, `${folder}/cloud-init.iso`)
      const drives = [
        { path: `${folder}/0`, format: 'qcow2' },
        { path: `${folder}/cloud-init.iso`, device: 'cdrom', bus: 'ide', isReadOnly: true } as const,
      ]
      const xml = domainXml({ name, uuid: uuid(n), drives, devices: graphics, ...more })
      await source.domain(kind === 'transient' ? 'create' : 'define', xml)
      if (kind === 'persistent') await source.virsh('start', name)
      // Until it listens to its power button.
      await Bun.sleep(1500)
      return name
    },
    async state(domain: string) {
      const { out, code } = await source.run('virsh', '-q', '-c', 'qemu:///system', 'domstate', domain)
      return code === 0 ? (states[out.trim()] ?? out.trim()) : 'absent'
    },
    async kept(domain: string) {
      const { out, code } = await source.run('cat', `/root/berth-import/${domain}.xml`)
      return code === 0 ? out : undefined
    },
    power: async (domain: string, to: 'on' | 'off') =>
      void (await source.virsh(to === 'on' ? 'start' : 'destroy', domain)),
  }
  serversContract(() => rig)

  test('the definition is kept with its secrets for root alone; the log has each command, and no secret', async () => {
    const domain = await rig.server('transient')
    const of = { host: source.host, domain }
    const told: string[] = []
    const job = { line: (level: string, text: string) => told.push(`${level}: ${text}`), progress: () => {} }
    const { definition, hostKey } = await loggingTo(job, () => node.save(of))
    expect(hostKey).toStartWith('ssh-ed25519 ')
    expect(definition).not.toContain(SECRET)
    expect(await rig.kept(domain)).toContain(`passwd='${SECRET}'`)
    expect(await source.must('stat', '-c', '%a %U', '/root/berth-import')).toBe('700 root\n')
    expect(await source.must('sh', '-c', 'cd /root/berth-import && stat -c "%a %U" *')).toMatch(/^(600 root\n)+$/)
    await loggingTo(job, () => node.stop(of, 30))
    await loggingTo(job, () => node.start(of, definition))
    // It has its password again.
    expect(await source.virsh('dumpxml', '--security-info', domain)).toContain(`passwd='${SECRET}'`)
    const log = told.join('\n')
    for (const words of [
      `info: Signed in as root at ${source.address} with the key of this node`,
      `command: $ virsh dumpxml --inactive --security-info --domain ${domain} >/root/berth-import/${domain}.xml.part`,
      `command: $ virsh shutdown --domain ${domain}`,
      `command: $ virsh create /root/berth-import/${domain}.xml`,
    ])
      expect(log).toContain(words)
    expect(log).toMatch(/info: exit 0, \d+\.\d s/)
    expect(log).not.toContain(SECRET)
    expect(log).not.toContain('<domain')
    await source.virsh('destroy', domain)
  })

  test('a guest that does not listen is ended when its grace is over', async () => {
    const domain = await rig.server('transient', { more: '' })
    const of = { host: source.host, domain }
    await node.save(of)
    await source.virsh('suspend', domain)
    expect(await node.stop(of, 30)).toEqual({ wasRunning: true })
    expect(await rig.state(domain)).toBe('absent')
  })

  test('a server that has left is not started at a boot of its source, and one that came back is again', async () => {
    const domain = await rig.server('persistent')
    await source.virsh('autostart', domain)
    const starts = async () => /^Autostart: +enable$/m.test(await source.virsh('dominfo', domain))
    const of = { host: source.host, domain }
    const { definition } = await node.save(of)
    await node.stop(of, 30)
    // Once more, as after a lost answer.
    await node.stop(of, 30)
    expect([await rig.state(domain), await starts()]).toEqual(['off', false])
    await node.start(of, definition)
    expect([await rig.state(domain), await starts()]).toEqual(['running', true])
    await node.stop(of, 30)
    await node.forget(of)
    expect([await rig.state(domain), await starts()]).toEqual(['off', false])
    expect((await source.run('ls', '/root/berth-import')).out).not.toContain(domain)
  })

  test('what is kept of another domain with the same name is never overwritten', async () => {
    const domain = await rig.server('persistent')
    const of = { host: source.host, domain }
    await node.save(of)
    const before = await rig.kept(domain)
    await source.virsh('destroy', domain)
    await source.virsh('undefine', domain)
    await source.domain('define', domainXml({ name: domain, uuid: uuid(999), drives: [] }))
    expect(node.save(of)).rejects.toMatchObject({ code: 'source_definition_not_kept' })
    await node.save(of).catch(() => {})
    expect(await rig.kept(domain)).toBe(before!)
    await source.virsh('undefine', domain)
  })

  test('a domain that cannot be started is told in the words of libvirt', async () => {
    const domain = await rig.server('transient')
    const of = { host: source.host, domain }
    const { definition } = await node.save(of)
    await node.stop(of, 30)
    await source.must('rm', `/var/lib/libvirt/images/${made}/0`)
    const error = await node.start(of, definition).catch((cause) => cause)
    expect(error).toMatchObject({ code: 'source_not_started' })
    expect(error.message).toContain(`/var/lib/libvirt/images/${made}/0`)
  })

  test('no libvirt answers, and a node whose key is missing is not let in', async () => {
    await source.write('/usr/local/bin/virsh', '#!/bin/sh\necho "error: no connection" >&2\nexit 1\n', '755')
    const of = { host: source.host, domain: 'v1' }
    try {
      expect(await node.save(of).catch((error) => error)).toMatchObject({ code: 'source_no_libvirt' })
    } finally {
      await source.must('rm', '/usr/local/bin/virsh')
    }
    const stranger = new SshSourceServers(new SshSourceHosts(join(temporary('source-node'), 'source-hosts')))
    expect(await stranger.save(of).catch((error) => error)).toMatchObject({ code: 'source_login_refused' })
  })
})
