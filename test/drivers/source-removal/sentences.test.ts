// Point 16 of imports in the specification: what the agent does, by sentence, on real files.
import { describe, expect, test } from 'bun:test'
import { lstatSync } from 'node:fs'
import {
  CRONTAB,
  defineInInterfaces,
  installSolusVm2,
  installVirtualizor,
  KEYS,
  OURS,
  PLACES,
} from '../../support/source-removal/installations.ts'
import { type Machine, noMachines, scopeOf, withMachine } from '../../support/source-removal/machine.ts'
import { note } from '../tools.ts'

const FOLDER = '/root/removed-20261126-094107'
const virtualizor = scopeOf('virtualizor')
const solusvm2 = scopeOf('solusvm2')
/** Every file, but of units and containers that were started again not the time of the stand-in's file. */
const stateful = (machine: Machine) =>
  Object.fromEntries(
    Object.entries(machine.files(...PLACES)).map(([path, seen]) => [
      path,
      /^\/run\/(?:units|containers)\//.test(path) ? seen.split(' ').at(-1)! : seen,
    ]),
  )
const everything = (machine: Machine) => ({ files: machine.files(...PLACES), root: machine.names('/root') })

describe.skipIf(note(noMachines(), 'removals on real files'))('source removal', () => {
  test('The agent-run removal changes nothing while libvirt still holds a server that is not the panel’s', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      machine.domain('v1001', { isRunning: false, bridge: 'viifbr0' })
      const before = everything(machine)
      const { error } = await machine.remove(virtualizor)
      expect(error).toMatchObject({ code: 'removal_foreign_domains' })
      expect(error!.message).toContain('v1001')
      expect(everything(machine)).toEqual(before)
      expect(machine.commands().filter((line) => !line.includes('is-active'))).toEqual([])
    }))

  test('It changes nothing where libvirt does not say which servers it holds', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      machine.write('/run/libvirt-is-silent', '')
      const before = everything(machine)
      expect((await machine.remove(virtualizor)).error).toMatchObject({ code: 'removal_libvirt_silent' })
      expect((await machine.look(virtualizor)).error).toMatchObject({ code: 'removal_libvirt_silent' })
      expect(everything(machine)).toEqual(before)
    }))

  test('It stops the source panel services and cron entries, keeping backup copies of the crontab', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      const before = machine.files('/var/spool/cron')
      await machine.remove(virtualizor)
      expect(machine.has('/run/units/virtualizor.service')).toBe(false)
      expect(machine.commands()).toContain('systemctl stop virtualizor.service')
      expect(machine.names('/etc/rc3.d')).toEqual([])
      expect(machine.names('/etc/cron.d')).toEqual(['own'])
      const left = CRONTAB.split('\n').filter((line) => !line.includes('/usr/local/'))
      expect(machine.read('/var/spool/cron/root')).toBe(left.join('\n'))
      expect(lstatSync(machine.at('/var/spool/cron/root')).mode & 0o777).toBe(0o600)
      const kept = machine.files(`${FOLDER}/var/spool/cron`)
      expect(kept[`${FOLDER}/var/spool/cron/root`]).toBe(before['/var/spool/cron/root']!)
    }))

  test('For kind A it keeps a copy of authorized_keys, and takes out exactly the control server’s line', () =>
    withMachine(async (machine) => {
      await installSolusVm2(machine)
      const before = machine.files('/root/.ssh')
      await machine.remove(solusvm2)
      const left = [KEYS.operator, '# a comment about solus', KEYS.support, KEYS.berth, '']
      expect(machine.read('/root/.ssh/authorized_keys')).toBe(left.join('\n'))
      const kept = machine.files(`${FOLDER}/root/.ssh`)
      expect(kept[`${FOLDER}/root/.ssh/authorized_keys`]).toBe(before['/root/.ssh/authorized_keys']!)
    }))

  test('It moves the source software folders to a timestamped folder under /root, and never deletes anything', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      const folders = ['/usr/local/virtualizor', '/usr/local/emps', '/var/virtualizor']
      const before = machine.files(...folders)
      const { output } = await machine.remove(virtualizor)
      expect(output?.folder).toBe(FOLDER)
      expect(lstatSync(machine.at(FOLDER)).mode & 0o7777).toBe(0o700)
      for (const folder of folders) expect(machine.has(folder)).toBe(false)
      const moved = machine.files(...folders.map((folder) => `${FOLDER}${folder}`))
      const renamed = Object.fromEntries(Object.entries(moved).map(([path, one]) => [path.slice(FOLDER.length), one]))
      expect(renamed).toEqual(before)
      expect(Object.keys(before).length).toBeGreaterThan(12)
    }))

  test('Folders on another file system than /root arrive whole, and come back whole', () =>
    withMachine(async (machine) => {
      await machine.must('mount', '-t', 'tmpfs', 'tmpfs', '/root')
      await machine.must('mkdir', '-m', '700', '/root/.ssh')
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      await machine.must('chmod', '4711', '/usr/local/emps/bin/php')
      const before = stateful(machine)
      const { output } = await machine.remove(virtualizor)
      expect(output).toBeDefined()
      expect(machine.has('/usr/local/emps')).toBe(false)
      expect(machine.read(`${FOLDER}/usr/local/virtualizor/universal.php`)).toContain('canary')
      await machine.restore()
      expect(stateful(machine)).toEqual(before)
      expect(machine.names('/usr/local').filter((name) => name.includes('.berth-'))).toEqual([])
    }))

  test('It then verifies that previously running servers still run, and restores everything otherwise', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      machine.write('/run/hooks/stop-virtualizor.service', `#!/bin/sh\nrm /run/domains/${OURS[1]}.running\n`, 0o755)
      machine.write('/run/hooks/start-virtualizor.service', `#!/bin/sh\n: >/run/domains/${OURS[1]}.running\n`, 0o755)
      const before = stateful(machine)
      const { error } = await machine.remove(virtualizor)
      expect(error).toMatchObject({ code: 'removal_undone' })
      expect(error!.message).toContain(`do not run any more: ${OURS[1]}`)
      const again = { [`/run/domains/${OURS[1]}.running`]: 'runs again' }
      expect({ ...stateful(machine), ...again }).toEqual({ ...before, ...again })
    }))

  test('It then verifies that their bridges exist, and restores everything otherwise', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      machine.write('/run/hooks/stop-virtualizor.service', '#!/bin/sh\nip link delete viifbr0\n', 0o755)
      const before = stateful(machine)
      const { error } = await machine.remove(virtualizor)
      expect(error).toMatchObject({ code: 'removal_undone' })
      expect(error!.message).toContain('the bridge viifbr0 of running servers is gone')
      expect(stateful(machine)).toEqual(before)
    }))

  test('A service that does not stop costs nothing: everything is restored', () =>
    withMachine(async (machine) => {
      await installSolusVm2(machine)
      machine.write('/run/hooks/stop-metrics-of-solus.service', '#!/bin/sh\necho busy >&2\nexit 1\n', 0o755)
      const before = stateful(machine)
      expect((await machine.remove(solusvm2)).error).toMatchObject({ code: 'removal_undone' })
      expect(stateful(machine)).toEqual(before)
    }))

  test('For kind B it turns off the source’s network service only when every bridge is in the node’s settings', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      const links = machine.names('/etc/rc3.d')
      expect(links).toContain('S20virtnetwork')
      await machine.remove(virtualizor)
      expect(machine.names('/etc/rc3.d')).toEqual([])
      // Its own stop takes the bridge down, so it only does not start at the next boot.
      expect(machine.commands().filter((line) => /(?:stop|start) virtnetwork/.test(line))).toEqual([])
      expect(await machine.must('ip', '-br', 'link', 'show', 'viifbr0')).toContain('viifbr0')
    }))

  test('Otherwise it leaves them and prints commands to write the bridge definition', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      machine.domain('srv_00000000000000000000000003', { bridge: 'viifbr1' })
      await machine.bridge('viifbr1', 'eno2')
      const preview = (await machine.look(virtualizor)).output!
      expect(preview.networkStays).toBe(true)
      const missing = preview.bridges.find(({ name }) => name === 'viifbr1')!
      expect(missing).toMatchObject({ definedIn: null, settings: '/etc/network/interfaces', servers: 1, exists: true })
      expect(missing.commands).toContain('[ -e /root/network-before-viifbr1 ] || cp -a /etc/network')
      const { output } = await machine.remove(virtualizor)
      expect(output!.left.map(({ name }) => name)).toEqual([
        ...['virtnetwork.service', '/usr/local/virtualizor', '/usr/local/emps', '/var/virtualizor'],
      ])
      expect(machine.names('/etc/rc3.d')).toEqual(['S20virtnetwork'])
      expect(machine.has('/usr/local/virtualizor/universal.php')).toBe(true)
      expect(machine.has('/usr/local/emps/bin/php')).toBe(true)
      expect(machine.has('/run/units/virtualizor.service')).toBe(false)
      expect(machine.names('/etc/cron.d')).toEqual(['own'])
    }))

  test('For kind A it finds leftovers by name: services, containers, cron jobs, the key line, its install folder', () =>
    withMachine(async (machine) => {
      await installSolusVm2(machine)
      const { output } = await machine.look(solusvm2)
      const names = output!.items.map(({ kind, name }) => `${kind} ${name}`)
      expect(names).toEqual([
        'cron_lines /etc/cron.d/mixed',
        'cron_file /etc/cron.d/solus-clean',
        'key_line /root/.ssh/authorized_keys',
        'service solus-agent.service',
        'service metrics-of-solus.service',
        'container solus_api_1 (registry.solus.io/api:2)',
        'container queue (registry.solus.io/rabbit)',
        'folder /usr/local/solus',
        'folder /etc/solus',
        'folder /var/log/solus',
      ])
      await machine.remove(solusvm2)
      expect(machine.read('/etc/cron.d/mixed')).toBe('PATH=/usr/bin\n3 4 * * * root /usr/bin/true\n')
      const fields = (id: string) => machine.read(`/run/containers/${id}`).trim().split('\t').slice(3, 6)
      expect(fields('c1')).toEqual(['false', 'no', '0'])
      expect(fields('c2')).toEqual(['false', 'no', '0'])
      expect(fields('c3')).toEqual(['true', 'unless-stopped', '0'])
      expect(machine.has('/etc/systemd/system/multi-user.target.wants/own-service.service')).toBe(true)
      await machine.restore()
      expect(fields('c1')).toEqual(['true', 'always', '0'])
      expect(fields('c2')).toEqual(['false', 'on-failure', '4'])
    }))

  test('It never touches libvirt, qemu, SSH, Docker itself, networking or the panel’s agent', () =>
    withMachine(async (machine) => {
      await installSolusVm2(machine)
      for (const unit of ['libvirtd', 'sshd', 'docker', 'containerd', 'NetworkManager', 'berth-agent'])
        machine.unit(unit, `/usr/sbin/${unit}`, { dir: '/usr/lib/systemd/system' })
      machine.write('/var/lib/berth-agent/identity.json', '{}')
      const untouched = [
        '/etc/ssh',
        '/etc/libvirt',
        '/etc/docker',
        '/etc/netplan',
        '/etc/network',
        '/usr/lib/systemd/system',
      ]
      const before = machine.files(...untouched)
      await machine.remove(solusvm2)
      expect(machine.files(...untouched)).toEqual(before)
      for (const unit of ['libvirtd', 'sshd', 'docker', 'containerd', 'NetworkManager', 'berth-agent']) {
        expect(machine.has(`/run/units/${unit}.service`)).toBe(true)
        expect(machine.has(`/etc/systemd/system/multi-user.target.wants/${unit}.service`)).toBe(true)
      }
      const acted = machine
        .commands()
        .filter((line) => /^(?:systemctl (?:stop|start)|docker (?:stop|update))/.test(line))
      expect(acted.every((line) => /solus|docker \w+ (?:--\S+ )*(?:\d+ )?c[12]$/.test(line))).toBe(true)
      expect(machine.read('/var/lib/berth-agent/identity.json')).toBe('{}')
    }))

  test('It never touches the data folder that holds adopted servers’ disks', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      machine.domain(OURS[0], { bridge: 'viifbr0', disk: '/var/virtualizor/disks/1.qcow2' })
      const before = machine.files('/var/virtualizor')
      const { output } = await machine.remove(virtualizor)
      expect(output!.left).toEqual([
        { name: '/var/virtualizor', why: `the server ${OURS[0]} uses /var/virtualizor/disks/1.qcow2` },
      ])
      expect(machine.files('/var/virtualizor')).toEqual(before)
      expect(machine.has('/usr/local/virtualizor')).toBe(false)
    }))

  test('Neither does it where a link leads there, where a file system is mounted, or where Berth has a pool', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      const whyStays = async (env?: Record<string, string>) =>
        (await machine.look(virtualizor, env)).output!.left.find(({ name }) => name === '/var/virtualizor')?.why
      expect(await whyStays()).toBeUndefined()
      expect(await whyStays({ PROTECTED: '/var/virtualizor/pool' })).toBe('Berth keeps /var/virtualizor/pool in it')
      machine.write('/var/virtualizor/disks/2.qcow2', 'a disk')
      machine.link('/srv/by-a-link.qcow2', '/var/virtualizor/disks/2.qcow2')
      machine.domain(OURS[1], { bridge: 'viifbr0', disk: '/srv/by-a-link.qcow2' })
      expect(await whyStays()).toContain('uses /var/virtualizor/disks/2.qcow2')
      machine.domain(OURS[1], { bridge: 'viifbr0' })
      await machine.must('mount', '-t', 'tmpfs', 'tmpfs', '/var/virtualizor/kvm')
      expect(await whyStays()).toBe('a file system is mounted at /var/virtualizor/kvm')
    }))

  test('Processes of the bundled programs end, and nothing else does', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      await machine.must('cp', '/bin/sleep', '/usr/local/emps/bin/mysqld')
      await machine.must('sh', '-c', '/usr/local/emps/bin/mysqld 300 >/dev/null 2>&1 & sleep 301 >/dev/null 2>&1 &')
      const processes = () => machine.must('sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')
      expect(await processes()).toContain('mysqld 300')
      const { output } = await machine.remove(virtualizor)
      expect(output!.items.find(({ kind }) => kind === 'processes')).toMatchObject({ now: 'mysqld', becomes: 'ended' })
      expect(await processes()).not.toContain('mysqld 300')
      expect(await processes()).toContain('sleep 301')
    }))

  test('More than one key that could be the control server’s is left to the operator, who may name it', () =>
    withMachine(async (machine) => {
      await installSolusVm2(machine)
      const second = KEYS.operator.replace('anna@laptop', 'solus-backup').replaceAll('ooo', 'ppp')
      const text = `${machine.read('/root/.ssh/authorized_keys')}${second}\n`
      machine.write('/root/.ssh/authorized_keys', text, 0o600)
      const { output } = await machine.look(solusvm2)
      expect(output!.items.some(({ kind }) => kind === 'key_line')).toBe(false)
      expect(output!.left).toEqual([
        {
          name: '/root/.ssh/authorized_keys',
          why: 'more than one key could be the control server’s: solus-control@master, solus-backup'.replace('’', "'"),
        },
      ])
      expect(output!.rootKeys.map(({ comment, isOurs }) => [comment, isOurs])).toContainEqual(['solus-backup', false])
      const { fingerprint } = output!.rootKeys.find(({ comment }) => comment === 'solus-backup')!
      const named = scopeOf('solusvm2', { controlKeys: [fingerprint] })
      await machine.remove(named)
      expect(machine.read('/root/.ssh/authorized_keys')).toBe(text.replace(`${second}\n`, ''))
    }))

  test('What somebody changed since is kept by a restore, and what has an old place again stays', () =>
    withMachine(async (machine) => {
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      await machine.remove(virtualizor)
      machine.write('/var/spool/cron/root', `${machine.read('/var/spool/cron/root')}1 1 * * * /root/new.sh\n`, 0o600)
      machine.write('/usr/local/emps/fresh', 'installed again')
      const { output } = await machine.restore()
      expect(output!.left).toEqual([
        {
          name: '/usr/local/emps',
          why: `something else is at /usr/local/emps now; it stays in ${FOLDER}/usr/local/emps`,
        },
      ])
      const crontab = machine.read('/var/spool/cron/root')
      for (const line of [...CRONTAB.split('\n').filter(Boolean), '1 1 * * * /root/new.sh'])
        expect(crontab).toContain(line)
      expect(machine.read('/usr/local/emps/fresh')).toBe('installed again')
      expect(machine.has(`${FOLDER}/usr/local/emps/bin/php`)).toBe(true)
    }))

  test('What cannot be put back is said, and put back by the next restore', () =>
    withMachine(async (machine) => {
      await installSolusVm2(machine)
      const before = stateful(machine)
      await machine.remove(solusvm2)
      machine.write('/run/hooks/start-solus-agent.service', '#!/bin/sh\nexit 1\n', 0o755)
      const { error } = await machine.restore()
      expect(error).toMatchObject({ code: 'removal_half_restored' })
      expect(error!.message).toContain('solus-agent.service')
      expect(machine.has('/usr/local/solus/bin/agent')).toBe(true)
      await machine.must('rm', '/run/hooks/start-solus-agent.service')
      expect((await machine.restore()).output!.left).toEqual([])
      expect(stateful(machine)).toEqual(before)
    }))

  test('The listed manual commands do the same as the agent', () =>
    withMachine(async (machine) => {
      await installSolusVm2(machine)
      const { output } = await machine.look(solusvm2)
      machine.write('/root/by-hand.sh', output!.commands!)
      await machine.must('sh', '-eu', '/root/by-hand.sh')
      expect((await machine.look(solusvm2)).output!.items).toEqual([])
      expect(machine.read('/root/.ssh/authorized_keys')).not.toContain('solus-control')
      const folder = machine.names('/root').find((name) => name.startsWith('removed-'))!
      expect(machine.read(`/root/${folder}/etc/solus/agent.json`)).toContain('canary')
      expect(lstatSync(machine.at(`/root/${folder}`)).mode & 0o7777).toBe(0o700)
    }))

  test('Scripts of SysV init are stopped and started again where no systemd runs', () =>
    withMachine(async (machine) => {
      await machine.must('rmdir', '/run/systemd/system')
      await installVirtualizor(machine)
      defineInInterfaces(machine)
      machine.script(
        'virtualizor',
        'case $1 in stop) rm -f /run/up;; start) : >/run/up;; status) test -e /run/up;; esac',
      )
      machine.write('/run/up', '')
      const before = stateful(machine)
      await machine.remove(virtualizor)
      expect(machine.has('/run/up')).toBe(false)
      expect(machine.names('/etc/rc3.d')).toEqual([])
      await machine.restore()
      expect(machine.has('/run/up')).toBe(true)
      expect(stateful(machine)).toEqual(before)
      expect(machine.commands().some((line) => line.startsWith('systemctl'))).toBe(false)
    }))

  for (const [panel, install] of [
    ['virtualizor', installVirtualizor],
    ['solusvm2', installSolusVm2],
  ] as const)
    test(`A restore puts back all of ${panel}: modes, owners, times, links, enabled states, restart policies`, () =>
      withMachine(async (machine) => {
        await install(machine)
        if (panel === 'virtualizor') defineInInterfaces(machine)
        const before = stateful(machine)
        expect((await machine.remove(scopeOf(panel))).output).toBeDefined()
        expect(stateful(machine)).not.toEqual(before)
        expect((await machine.restore()).output!.left).toEqual([])
        expect(stateful(machine)).toEqual(before)
      }))
})
