// The units on a real systemd: install.sh on a Debian 13 in namespaces (systemd-machine.sh), with BERTH_LONG=1.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/waiting/eventually.ts'
import { program } from '../support/world/program.ts'
import { checkout, spawn } from './clean-machine.ts'
import * as systemd from './systemd-machine.ts'

setDefaultTimeout(240_000)
const [built = ''] = program
const possible = systemd.possible && program.length === 1
if (!possible) console.error('left out: the units under systemd (needs BERTH_LONG=1, root, mmdebstrap, the program)')

const oomKills = () => Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1])
/** Puts the processes of this control group into one that has nearly no memory to give; undefined where none can be. */
function limitMemory(unit: string): string | undefined {
  const group = `/sys/fs/cgroup/memory/berth-test-${process.pid}`
  if (!existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes')) return undefined
  const isOurs = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cgroup`, 'utf8')
        .split('\n')
        .some((line) => line.endsWith(`/${unit}`))
    } catch {
      return false
    }
  }
  mkdirSync(group)
  writeFileSync(`${group}/memory.limit_in_bytes`, String(1 << 20))
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOurs(name)))
    writeFileSync(`${group}/cgroup.procs`, pid)
  return group
}

describe.skipIf(!possible)('under systemd', () => {
  const machine = new systemd.SystemdMachine()
  const { run, must, admin, property } = machine
  const bootOf = () => machine.bootOf()
  const succeeds = async (jobId: string) => {
    let job = { state: '', error: null }
    await eventually(async () => {
      job = await admin('jobs.get', { jobId })
      return ['succeeded', 'failed'].includes(job.state)
    }, 120)
    expect(job).toMatchObject({ state: 'succeeded', error: null })
  }
  const units = ['berth', 'berth-agent'] as const
  let serverId = ''
  let boot = ''

  beforeAll(async () => {
    await machine.make(built)
    expect(await run('/opt/berth/install.sh --all-in-one --no-first-guest')).toMatchObject({ code: 0, err: '' })
  }, 600_000)
  afterAll(() => machine.remove())

  test('controller and agent run within their limits, and are confined as much as they can be', async () => {
    for (const [unit, most] of [
      ['berth', 1.5],
      ['berth-agent', 6],
    ] as const) {
      expect(await property(unit, 'ActiveState')).toBe('active')
      expect(await property(unit, 'Restart')).toBe('on-failure')
      expect(await property(unit, 'Type')).toBe('notify')
      expect(await property(unit, 'WatchdogUSec')).toBe('30s')
      const score = /: (\d+\.\d)/.exec(await must(`systemd-analyze security ${unit} --no-pager | grep Overall`))
      expect(Number(score?.[1])).toBeLessThanOrEqual(most)
    }
    expect(await property('berth', 'MemoryMax')).toBe(String(2 ** 30))
    expect(await property('berth-agent', 'OOMPolicy')).toBe('continue')
    expect(await property('berth', 'NFileDescriptorStore')).toBe('1')
  })

  test('the agent writes where disks and backups may be, and to no part of the system', async () => {
    const pid = await property('berth-agent', 'MainPID')
    const write = (folder: string) => run(`nsenter -t ${pid} -m touch ${folder}/made`)
    for (const folder of ['/srv', '/mnt', '/var/lib', '/run']) expect((await write(folder)).code).toBe(0)
    for (const folder of ['/usr', '/etc', '/boot', '/root']) expect((await write(folder)).err).toContain('Read-only')
  })

  test('a server that is ordered answers SSH', async () => {
    serverId = await machine.orderServer()
    boot = await bootOf()
  })

  test('a backup into a folder beside /var is made, and its files are read', async () => {
    await must('mkdir /srv/backups && touch /srv/backups/.berth-backups')
    const target = await admin('backup-targets.add-local', { name: 'Disk', address: '/srv/backups' })
    await admin('backup-targets.make-default', { id: target.id })
    const { jobId, backupId } = await admin('backups.create', { id: serverId })
    await succeeds(jobId)
    const listed = await admin('backups.list-files', { id: backupId, query: { path: '/etc' } })
    expect(listed.entries.map(({ name }: { name: string }) => name)).toContain('hostname')
  })

  test('killed, both come back; stopped, they end within 20 s; and the server does not notice', async () => {
    for (const unit of ['berth', 'berth-agent']) {
      const before = await property(unit, 'MainPID')
      await must(`kill -9 ${before}`)
      await eventually(async () => !['0', before].includes(await property(unit, 'MainPID')))
      await must(`timeout 20 systemctl stop ${unit} && systemctl start ${unit}`)
    }
    expect(await bootOf()).toBe(boot)
  })

  test('stopped with SIGSTOP, both are started again by their watchdog; the server does not notice', async () => {
    const before = Object.fromEntries(
      await Promise.all(units.map(async (unit) => [unit, await property(unit, 'MainPID')] as const)),
    )
    for (const unit of units) await must(`kill -STOP ${before[unit]}`)
    for (const unit of units) {
      await eventually(async () => {
        const pid = await property(unit, 'MainPID')
        return !['0', before[unit]].includes(pid) && (await property(unit, 'ActiveState')) === 'active'
      }, 90)
      expect(await must(`journalctl -u ${unit} -o cat --no-pager`)).toContain('Watchdog timeout')
    }
    expect(await bootOf()).toBe(boot)
  })

  test('killed because memory ran out, the controller is started again, and the server does not notice', async () => {
    const before = await property('berth', 'MainPID')
    const kills = oomKills()
    const group = limitMemory(`${machine.group}/system.slice/berth.service`)
    if (!group) return console.error('left out: a controller without memory (needs memory groups of version 1 here)')
    // Memory that it takes from now on counts, and there is none.
    for (let i = 0; i < 50 && (await property('berth', 'MainPID')) === before; i++)
      await run('curl -sS -m 2 -o /dev/null http://127.0.0.1:8080/api/v1/status')
    await eventually(async () => {
      const pid = await property('berth', 'MainPID')
      return !['0', before].includes(pid) && (await property('berth', 'ActiveState')) === 'active'
    }, 90)
    expect(oomKills()).toBeGreaterThan(kills)
    rmdirSync(group)
    expect(await bootOf()).toBe(boot)
  })

  test('a setting that cannot work is not tried again', async () => {
    await must(`echo 'PANEL_LISTENS="x"' >/etc/berth/controller.local.env`)
    // The call waits until the service works, so it tells that it does not.
    expect(await run('systemctl restart berth')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Job for berth'),
    })
    await eventually(async () => (await property('berth', 'ActiveState')) === 'failed')
    expect(await property('berth', 'NRestarts')).toBe('0')
    await must('rm /etc/berth/controller.local.env; systemctl start berth')
  })

  test('guests are shut down together with the machine, after the agent', async () => {
    expect(await property('berth-agent', 'After')).toContain('libvirt-guests.service')
    await must('timeout 150 systemctl stop libvirt-guests')
    expect(await must('virsh list --name')).toBe('')
    expect(await must('journalctl -u libvirt-guests -o cat --no-pager')).toContain('guests to shut down, 120 seconds')
  })

  test('the Debian package takes the place of that, says that it works, and is watched as well', async () => {
    await must('/opt/berth/install.sh --uninstall')
    expect(await spawn([join(checkout, 'install.sh'), '--deb'])).toMatchObject({ code: 0 })
    const [file] = [...new Bun.Glob('berth_*.deb').scanSync({ cwd: join(checkout, 'dist'), absolute: true })]
    cpSync(file!, machine.at('/opt/berth/berth.deb'))
    await must('dpkg -i /opt/berth/berth.deb && systemctl enable --now berth berth-agent')
    for (const unit of units) {
      expect(await property(unit, 'ActiveState')).toBe('active')
      expect(await property(unit, 'FragmentPath')).toBe(`/usr/lib/systemd/system/${unit}.service`)
      expect(await property(unit, 'WatchdogUSec')).toBe('30s')
    }
    expect((await admin('nodes.list')).data).toHaveLength(1)
    // A newer one restarts what runs.
    const before = await property('berth', 'MainPID')
    await must('dpkg -i /opt/berth/berth.deb')
    await eventually(async () => !['0', before].includes(await property('berth', 'MainPID')))
    await must('dpkg -r berth')
    expect(await property('berth', 'ActiveState')).toBe('inactive')
  })
})
