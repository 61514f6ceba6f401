// The units of systemd: the files of packaging/ as they stand, and as they are fitted to a machine.
import { describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dropIns, packaged, renderUnit, type Unit, units, upgradeRequests } from '../../host/services/units.ts'
import { temporary } from '../agent/temporary.ts'

const folder = new URL('../../packaging/systemd/', import.meta.url).pathname
const names = Object.keys(units) as Unit[]
const elsewhere = { program: '/bin/true', docs: '/opt/berth/docs', dataDir: '/srv/berth', systemdVersion: 257 }

const systemdHere = Bun.which('systemd-analyze')
  ? Number(/\d+/.exec(Bun.spawnSync(['systemd-analyze', '--version']).stdout.toString())?.[0])
  : 0

/** Complaints of systemd about a unit with these drop-in files, but for programs that this machine does not have. */
function complaintsOf(unit: string, text: string, drops: readonly string[] = []): string[] {
  const dir = temporary('unit')
  writeFileSync(join(dir, `${unit}.service`), text)
  if (drops.length) mkdirSync(join(dir, `${unit}.service.d`))
  for (const [i, drop] of drops.entries()) writeFileSync(join(dir, `${unit}.service.d`, `${i}.conf`), drop)
  const { stderr } = Bun.spawnSync(['systemd-analyze', 'verify', '--man=no', join(dir, `${unit}.service`)])
  return stderr
    .toString()
    .split('\n')
    .filter((line) => line.includes(unit) && !/is not executable|Failed to add dependency/.test(line))
    .filter((line) => systemdHere >= 254 || !/Unknown key '(RestartSteps|RestartMaxDelaySec)'/.test(line))
}

/** Groups of systemd and single calls in SystemCallFilter= of a unit. */
const groupsAllowedBy = (unit: string) =>
  [...unit.matchAll(/^SystemCallFilter=(.*)$/gm)].flatMap(([, list]) => list!.split(' '))

/** The calls of a group of systemd, those of the groups in it too. */
function callsIn(name: string): string[] {
  if (!name.startsWith('@')) return [name]
  const { stdout } = Bun.spawnSync(['systemd-analyze', 'syscall-filter', name])
  const listed = stdout.toString().split('\n').slice(1)
  return listed
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith('#'))
    .flatMap(callsIn)
}

describe('the files of packaging/systemd', () => {
  test('are all in the program', () => {
    const known = [...names.map((name) => `${name}.service`), 'berth-low-port.conf', 'berth-agent-gpu.conf']
    const others = ['libvirt-guests.conf', upgradeRequests.name]
    expect(readdirSync(folder).toSorted()).toEqual([...known, ...others].toSorted())
    for (const name of names) expect(units[name]).toBe(readFileSync(`${folder}${name}.service`, 'utf8'))
  })
  test.skipIf(!Bun.which('systemd-analyze')).each(names)('systemd has nothing to say about %s', (name) => {
    expect(complaintsOf(name, units[name])).toEqual([])
    expect(complaintsOf(name, renderUnit(name, elsewhere))).toEqual([])
    expect(complaintsOf(name, renderUnit(name, { ...elsewhere, systemdVersion: 252 }))).toEqual([])
  })
  test.skipIf(!Bun.which('systemd-analyze'))('nor about the drop-in files', () => {
    for (const { unit, text } of [dropIns.lowPort, dropIns.gpu])
      expect(complaintsOf(unit, renderUnit(unit, elsewhere), [text])).toEqual([])
    const { unit, text } = dropIns.libvirtGuests
    expect(complaintsOf(unit, '[Service]\nType=oneshot\nExecStart=/bin/true\n', [text])).toEqual([])
    // Complaints are seen at all.
    expect(complaintsOf('berth', units.berth, ['[Service]\nProtectKernelLog=no\n'])).not.toEqual([])
  })
})

test('requests to be upgraded are looked for in the data directory of this machine', () => {
  const text = upgradeRequests.text('/opt/berth/docs', '/srv/berth')
  expect(text).toContain('PathExists=/srv/berth/upgrade/request.json\n')
  expect(text).not.toContain('/var/lib')
})

describe.each(['berth', 'berth-agent'] as const)('%s.service', (name) => {
  test('is prepared by the last good program outside of its sandbox, and a package’s is not', () => {
    const places = { ...elsewhere, agentProgram: '/bin/agent', hostProgram: '/usr/local/lib/berth/berth-host' }
    const text = renderUnit(name, places)
    expect(text).toContain(`\nExecStartPre=+/usr/local/lib/berth/berth-host host before-start ${name}\nExecStart=`)
    expect(text).toContain(name === 'berth' ? '\nExecStart=/bin/true serve' : '\nExecStart=/bin/agent agent run')
    expect(renderUnit(name, elsewhere)).not.toContain('ExecStartPre')
  })
  const lines = renderUnit(name, elsewhere).split('\n')
  test('is watched, is given the time that its start takes, and is started again without end', () => {
    for (const line of [
      ...['Type=notify', 'NotifyAccess=main', 'TimeoutStartSec=infinity', 'WatchdogSec=30', 'WatchdogSignal=SIGKILL'],
      ...['Restart=on-failure', 'RestartSec=2', 'StartLimitIntervalSec=0', 'RestartPreventExitStatus=2'],
      ...['RestartSteps=8', 'Documentation=file:/opt/berth/docs/install.md'],
    ])
      expect(lines.filter((other) => other === line)).toEqual([line])
    expect(lines.filter((line) => /^ExecStart=\/bin\/true (serve|agent run)$/.test(line))).toHaveLength(1)
  })
  test('keeps growing pauses where the version of systemd is not known', () => {
    expect(renderUnit(name, { ...elsewhere, systemdVersion: 0 }).split('\n')).toEqual(lines)
  })
  test('has no growing pauses where systemd does not know them', () => {
    const old = renderUnit(name, { ...elsewhere, systemdVersion: 252 })
    expect(old).not.toMatch(/RestartSteps|RestartMaxDelaySec|growing/)
    expect(lines.filter((line) => !old.split('\n').includes(line))).toHaveLength(3)
  })
})

describe('a unit', () => {
  test('of the controller writes to the data directory that it has', () => {
    expect(renderUnit('berth', elsewhere)).toContain('ReadWritePaths=/srv/berth\n')
    expect(renderUnit('berth', { ...packaged, systemdVersion: 257 })).toBe(units.berth)
  })
  test('of an agent with cards sees their errors and writes their list, by one drop-in file', () => {
    expect(units['berth-agent']).toContain('ProtectKernelLogs=yes\n')
    expect(units['berth-agent']).not.toMatch(/nvidia|cdi/)
    expect(dropIns.gpu.text.split('\n').filter((line) => /^[A-Z]/.test(line))).toEqual([
      'After=nvidia-persistenced.service',
      'ExecStartPre=-+/usr/bin/nvidia-modprobe -c 0 -u',
      'ReadWritePaths=-/etc/cdi',
      'ProtectKernelLogs=no',
      'CapabilityBoundingSet=CAP_SYSLOG',
    ])
  })
  test.skipIf(!Bun.which('systemd-analyze'))('of an agent allows what programs of cards ask of the kernel', () => {
    const unit = units['berth-agent']
    const allowed = new Set(['@default', ...groupsAllowedBy(unit)].flatMap(callsIn))
    const asked = readFileSync(new URL('../drivers/cards/recorded/system-calls.txt', import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
    expect(asked).toContain('get_mempolicy')
    // Where namespaces are restricted, systemd answers clone3 as a kernel without it does, and clone is taken.
    expect(asked.filter((call) => !allowed.has(call) && call !== 'clone3')).toEqual([])
    expect(allowed.has('clone') && !allowed.has('reboot')).toBe(true)
    // These would keep it from the cards, or from compiling its own code.
    expect(unit + dropIns.gpu.text).not.toMatch(/^(PrivateDevices|DevicePolicy|DeviceAllow|MemoryDenyWriteExecute)=/m)
  })
  test('of the container engine lets instances outlive it', () => {
    const engine = 'ExecStart=/usr/bin/podman system service --time=0 unix:///run/berth/podman.sock\n'
    expect(units['berth-containers']).toContain(engine)
    expect(units['berth-containers']).toContain('KillMode=process\n')
  })
  test('of the proxy of HTTP names needs no agent and reads its keys by systemd alone', () => {
    for (const line of [
      'User=caddy',
      'LoadCredential=caddy.json:/var/lib/berth-agent/http-names/caddy.json',
      'ExecStart=/usr/bin/caddy run --config %d/caddy.json',
      'Restart=always',
      'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
    ])
      expect(units['berth-http-proxy']).toContain(`\n${line}\n`)
  })
})
