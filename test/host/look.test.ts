// Before it changes anything, an installation says all that is in its way at once.
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { install, placeProgram } from '../../host/install.ts'
import { lookBefore } from '../../host/look/look.ts'
import { nameProblems } from '../../host/look/names.ts'
import { networkProblems } from '../../host/look/network.ts'
import { portProblems } from '../../host/look/ports.ts'
import { needsOf, spaceProblems } from '../../host/look/space.ts'
import { uplinkProblems } from '../../host/look/uplink.ts'
import { place } from '../../host/machine/machine.ts'
import { Failed } from '../../host/machine/report.ts'
import { temporary } from '../agent/temporary.ts'
import { flags, machineWith } from './stand-in.ts'

const route = { 'ip -4 route': 'default via 192.0.2.254 dev eth0', 'ip -4 -o address show scope': '' }
const ss = (...lines: string[]) => ({ ...route, 'ss ': lines.map((line) => `LISTEN 0 511 ${line}\n`).join('') })
const nginx = (at: string) => `${at} 0.0.0.0:* users:(("nginx",pid=123,fd=6),("nginx",pid=124,fd=6))`
const problemsOf = (list: { problem: string }[]) => list.map(({ problem }) => problem)

describe('ports', () => {
  const found = (answers: Record<string, string>, words: string) =>
    problemsOf(portProblems(machineWith(answers), flags(words)))
  test('that others have are named with the process that has each', () => {
    expect(found(ss(nginx('0.0.0.0:8080'), nginx('[::]:443')), '--controller --domain panel.example.com')).toEqual([
      'Port 8080 is taken by nginx (process 123), so the panel cannot have it.',
      'Port 443 is taken by nginx (process 123), so Caddy cannot have it.',
    ])
    expect(found(ss('*:8080 *:*'), '--all-in-one')).toEqual([
      'Port 8080 is taken by the system, so the panel cannot have it.',
    ])
  })
  test('that Berth, its Caddy, or another address has are no trouble, and a node needs none', () => {
    const berth = '0.0.0.0:8080 0.0.0.0:* users:(("berth",pid=7,fd=3),("systemd",pid=1,fd=3))'
    const caddy = '*:443 *:* users:(("caddy",pid=9,fd=3))'
    expect(found(ss(berth, caddy), '--controller --domain panel.example.com')).toEqual([])
    expect(found(ss(nginx('192.0.2.9:8080')), '--controller --listen 127.0.0.1:8080')).toEqual([])
    expect(found(ss(nginx('0.0.0.0:8080')), '--agent --controller-url https://x')).toEqual([])
  })
  test('that systemd holds for a stopped controller are its own, and otherwise somebody else’s', () => {
    const held = ss('0.0.0.0:8080 0.0.0.0:* users:(("systemd",pid=1,fd=40))')
    expect(found(held, '--controller')).toHaveLength(1)
    const machine = machineWith(held)
    place(machine, `${machine.paths.settings}/controller.env`, 0o644, 'PANEL_LISTEN="0.0.0.0:8080"\n')
    expect(portProblems(machine, flags('--controller'))).toEqual([])
  })
})

describe('networks', () => {
  const found = (words: string, addresses = '') =>
    problemsOf(networkProblems(machineWith({ 'ip -4 -o address show': addresses }), flags(words)))
  test.each([
    ['--all-in-one', []],
    ['--all-in-one --pool-range 10.88.0.10-10.88.0.250', []],
    ['--all-in-one --pool-range 10.88.0.10-10.89.0.250', ['10.89.0.250 is not in 10.88.0.0/24']],
    ['--all-in-one --pool-range 10.88.0.20-10.88.0.10', ['ends before it begins']],
    ['--all-in-one --pool-range 10.88.0.1-10.88.0.255', ['has 10.88.0.1 and 10.88.0.255 in it']],
    ['--all-in-one --pool-range 10.88.0.300-10.88.0.9', ['10.88.0.300 is not in']],
    ['--all-in-one --subnet 300.1.1.0/24', ['300.1.1.0/24 is no network']],
    ['--all-in-one --subnet 10.99.0.0/24 --gateway 10.98.0.1', ['The gateway 10.98.0.1 is no address of 10.99.0.0/24']],
    ['--all-in-one --bridge nobr0 --pool-range 10.0.0.2-10.0.0.9', ['There is no bridge nobr0', 'no --subnet says']],
    ['--controller --pool-range 1.2.3.4-1.2.3.3', []],
  ])('%s', (words, expected) => {
    const problems = found(words)
    expect(problems).toHaveLength(expected.length)
    for (const [n, words] of expected.entries()) expect(problems[n]).toContain(words)
  })
  test('of the guests must not be one that the machine has already, but for their own bridge', () => {
    const own = '3: berthbr0    inet 10.88.0.1/24 scope global'
    expect(found('--all-in-one', `1: lo    inet 127.0.0.1/8 scope host\n${own}\n`)).toEqual([])
    expect(found('--all-in-one', `2: eth0    inet 10.88.3.4/16 brd 10.88.255.255\n${own}\n`)).toEqual([
      'The network of the guests, 10.88.0.0/24, overlaps with 10.88.3.4/16 of eth0 on this machine.',
    ])
  })
})

describe('an uplink', () => {
  const at = temporary('kernel')
  const kernel = { interfaces: `${at}/net`, vlans: `${at}/no-vlans`, modules: `${at}/modules` }
  mkdirSync(`${at}/net/br0/bridge`, { recursive: true })
  const interfaces = { eno1: '', bond0: 'DEVTYPE=bond\n', eno2: '', 'eno1.20': 'DEVTYPE=vlan\n', lo: '' }
  for (const [name, kind] of Object.entries(interfaces)) {
    mkdirSync(`${at}/net/${name}`)
    writeFileSync(`${at}/net/${name}/uevent`, `${kind}INTERFACE=${name}\nIFINDEX=2\n`)
  }
  mkdirSync(`${at}/net/eno2/bonding_slave`)
  symlinkSync('../bond0', `${at}/net/eno2/master`)
  const found = (words: string, of = kernel) => problemsOf(uplinkProblems(flags(`--agent ${words}`), of))
  test.each([
    ['', []],
    ['--uplink eno1', []],
    ['--uplink bond0', []],
    ['--uplink eno9', ['--uplink eno9 is no interface of this machine.']],
    ['--uplink br0', ['--uplink br0 is a bridge.']],
    ['--uplink eno1.20', ['--uplink eno1.20 is itself a VLAN of another interface.']],
    ['--uplink lo', ['--uplink lo is the loopback.']],
    ['--uplink eno2', ['--uplink eno2 is part of bond0.']],
    ['--uplink eno1 --vlans 20', ['The kernel of this machine has no VLANs: it lacks the module 8021q.']],
  ])('%s', (words, expected) => {
    expect(found(words)).toEqual(expected)
  })
  test('carries VLANs where the kernel has them, or could load them', () => {
    expect(found('--uplink eno1 --vlans 20', { ...kernel, vlans: `${at}/net` })).toEqual([])
    mkdirSync(kernel.modules)
    writeFileSync(`${kernel.modules}/modules.dep`, 'kernel/net/8021q/8021q.ko.xz: kernel/net/802/garp.ko.xz\n')
    expect(found('--uplink eno1 --vlans 20')).toEqual([])
  })
})

describe('space', () => {
  test('is added up for what lies on one file system', () => {
    const needs = [
      { path: '/usr/local/lib/berth', what: 'the program', mib: 300 },
      { path: '/usr', what: 'packages for a node', mib: 1500 },
      { path: '/var/lib/berth', what: 'the database', mib: 300 },
    ]
    const with1000 = (path: string) => ({ mib: 1000, fileSystem: path.startsWith('/var') ? 'var' : 'root' })
    expect(problemsOf(spaceProblems(needs, with1000))).toEqual([
      '/usr/local/lib/berth has 1000 MiB free, and the installation needs 1800 MiB there: the program (300), ' +
        'packages for a node (1500).',
    ])
    expect(spaceProblems(needs, () => ({ mib: 2100, fileSystem: 'one' }))).toEqual([])
  })
  test('is needed for the new program alone where all is set up', () => {
    const machine = machineWith(route)
    mkdirSync(machine.paths.agentState)
    writeFileSync(`${machine.paths.agentState}/agent.json`, '{}')
    const data = `${machine.paths.settings}/data`
    mkdirSync(data)
    writeFileSync(`${data}/berth.db`, '')
    expect(needsOf(machine, flags(`--all-in-one --data-dir ${data}`)).map(({ what }) => what)).toEqual(['the program'])
    expect(needsOf(machineWith(route), flags('--all-in-one'))).toHaveLength(5)
  })
  test('that is too small leaves no part of the program', () => {
    const machine = machineWith()
    const dir = machine.paths.settings
    const paths = { ...machine.paths, library: `${dir}/lib`, program: `${dir}/berth` }
    // A folder in its place: the copy fails after it began.
    mkdirSync(`${dir}/berth/x`, { recursive: true })
    expect(() => placeProgram({ ...machine, paths }, process.execPath)).toThrow()
    expect(existsSync(`${dir}/berth.new`)).toBe(false)
  })
})

test('the name of the packages’ server must be known, unless a proxy looks it up or none is missing', () => {
  const etc = `${machineWith().paths.settings}/apt`
  mkdirSync(`${etc}/sources.list.d`, { recursive: true })
  writeFileSync(`${etc}/sources.list.d/debian.sources`, 'Types: deb\nURIs: http://deb.example.org/debian\n')
  const found = (answers = {}, words = '--all-in-one') => nameProblems(machineWith(answers), flags(words), etc)
  expect(problemsOf(found())).toEqual([
    'No name server gives an address for deb.example.org, from which packages come.',
  ])
  expect(found({ 'getent ahosts deb.example.org': '192.0.2.1' })).toEqual([])
  expect(found({}, '--controller')).toEqual([])
  // A machine without a way to it has all of them.
  expect(found({ 'dpkg-query': 'ii ' })).toEqual([])
  writeFileSync(`${etc}/apt.conf`, 'Acquire::http::Proxy "http://proxy:3128";\n')
  expect(found()).toEqual([])
})

test('an installation that something is in the way of lists all of it, and changes nothing', async () => {
  const machine = machineWith({ ...ss(nginx('0.0.0.0:8080')), 'getent ahosts': 'x' })
  const words = flags('--all-in-one --bridge nobr0 --pool-range 10.0.0.2-10.0.0.9')
  const paths = { ...machine.paths, library: `${machine.paths.settings}/lib`, program: `${machine.paths.settings}/p` }
  const failed = await install({ ...machine, paths }, words).catch((error) => error)
  expect(failed).toBeInstanceOf(Failed)
  expect(failed.problem.split('\n').filter((line: string) => line.startsWith('- '))).toHaveLength(3)
  expect([existsSync(paths.library), existsSync(paths.program)]).toEqual([false, false])
  const began = performance.now()
  expect(() => lookBefore(machine, words)).toThrow(Failed)
  expect(performance.now() - began).toBeLessThan(1000)
})
