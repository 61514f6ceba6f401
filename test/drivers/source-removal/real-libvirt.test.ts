// A removal on a hypervisor with a real libvirt, real guests and a real bridge, whose folders lie on different file
// systems: /usr and /root are two there.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { RemovalPreview, Removed, Restored } from '../../../agent/protocol/values/source-removal.ts'
import { bootDisk, domainXml } from '../../support/source-hypervisors/domains.ts'
import { noSourceLab, type SourceHypervisor, sourceLab } from '../../support/source-hypervisors/lab.ts'
import { type Answer, scopeOf } from '../../support/source-removal/machine.ts'
import { note } from '../tools.ts'

const scope = scopeOf('virtualizor')
const support = join(import.meta.dir, '../../support/source-removal')
const OURS = 'srv_00000000000000000000000001'

describe.skipIf(note(await noSourceLab(), 'removals beside a real libvirt'))('beside a real libvirt', () => {
  let lab: Awaited<ReturnType<typeof sourceLab>>
  let host: SourceHypervisor
  beforeAll(async () => {
    lab = await sourceLab(['removal'], 'sr')
    host = lab.hypervisors[0]!
    await host.write('/usr/local/sbin/systemctl', await Bun.file(`${support}/programs/systemctl`).text(), '755')
    await host.must('mkdir', '-p', '/run/systemd/system', '/run/units', '/run/hooks')
    await host.must('rm', '-rf', '/etc/netplan', '/etc/network')
    await host.write('/usr/local/virtualizor/universal.php', 'canary', '600')
    await host.write('/usr/local/emps/bin/php', 'php', '755')
    await host.write('/etc/cron.d/virtualizor', '* * * * * root /usr/local/emps/bin/php\n')
    await host.write('/usr/sbin/ifup', '', '755')
    await host.must('mkdir', '-p', '/etc/systemd/system/multi-user.target.wants')
    await host.must('ln', '-sf', '/x', '/etc/systemd/system/multi-user.target.wants/networking.service')
    await host.write('/etc/network/interfaces', 'auto br0\niface br0 inet dhcp\n  bridge_ports up0\n')
    const path = '/var/lib/libvirt/images/1.raw'
    await bootDisk(host, path, 'raw', 8 << 20)
    await host.domain('define', domainXml({ name: OURS, drives: [{ path }] }))
    await host.virsh('start', OURS)
  }, 60_000)
  afterAll(() => lab?.end())

  async function call<T>(method: string, ...given: unknown[]): Promise<Answer<T>> {
    return JSON.parse(await host.must(process.execPath, `${support}/run.ts`, method, JSON.stringify(given)))
  }

  test('it sees the guests, their bridge, and a domain that is not ours', async () => {
    await host.domain('define', domainXml({ name: 'v1001', mac: '02:00:5e:10:00:42', drives: [] }))
    const { output } = await call<RemovalPreview>('look', scope)
    expect(output).toMatchObject({ foreign: ['v1001'], runningServers: 1, networkStays: false })
    expect(output!.bridges).toMatchObject([
      { name: 'br0', servers: 2, exists: true, definedIn: '/etc/network/interfaces' },
    ])
    expect((await call('remove', 'none', scope)).error).toMatchObject({ code: 'removal_foreign_domains' })
    expect(await host.read('/usr/local/virtualizor/universal.php')).toBe('canary')
    await host.virsh('undefine', 'v1001')
  })

  test('it removes and restores while the guest runs', async () => {
    const { output, error } = await call<Removed>('remove', 'first', scope)
    expect(error).toBeUndefined()
    expect(output!.verified).toEqual({ servers: 1, bridges: 1 })
    expect(await host.read(`${output!.folder}/usr/local/virtualizor/universal.php`)).toBe('canary')
    expect((await host.run('ls', '/usr/local/virtualizor')).code).not.toBe(0)
    expect((await host.virsh('domstate', OURS)).trim()).toBe('running')
    expect((await call<Restored>('restore', 'first')).output).toEqual({ restored: output!.items.length, left: [] })
    expect(await host.must('stat', '-c', '%a', '/usr/local/virtualizor/universal.php')).toBe('600\n')
  })

  test('a guest that goes off in between is noticed, and everything is put back', async () => {
    await host.must('sh', '-c', 'mkdir -p /etc/init.d && : >/run/units/virtualizor.service')
    await host.write('/etc/init.d/virtualizor', '#!/bin/sh\n', '755')
    const off = `#!/bin/sh\nvirsh -c qemu:///system destroy ${OURS} >/dev/null\n`
    await host.write('/run/hooks/stop-virtualizor.service', off, '755')
    const { error } = await call('remove', 'second', scope)
    expect(error).toMatchObject({ code: 'removal_undone' })
    expect(error!.message).toContain(OURS)
    expect(await host.read('/usr/local/virtualizor/universal.php')).toBe('canary')
    expect(await host.read('/etc/cron.d/virtualizor')).toContain('/usr/local/emps')
  })
})
