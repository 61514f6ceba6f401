// An installation decides addresses, settings of controller and agent, the first sign-in, and which guests it counts.
// No machine is set up; programs of the distribution are stand-ins.
import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { controllerSettings, localUrl } from '../../host/controller/settings.ts'
import { createStaff } from '../../host/controller/start.ts'
import { ownResolvers } from '../../host/first-server.ts'
import { flagsFrom } from '../../host/flags.ts'
import { Exec } from '../../host/machine/exec.ts'
import { place } from '../../host/machine/machine.ts'
import { Failed, Report } from '../../host/machine/report.ts'
import { addressIn, uplinkRules } from '../../host/node/bridge.ts'
import { writeAgentSettings } from '../../host/node/enrol.ts'
import { guestsOf } from '../../host/node/guests.ts'
import { runsInstances } from '../../host/node/identity.ts'
import { temporary } from '../agent/temporary.ts'
import { flags, machineWith } from './stand-in.ts'

describe('addresses', () => {
  test.each([
    ['10.88.0.0/24', 1, '10.88.0.1'],
    ['10.88.0.77/24', 0, '10.88.0.0'],
    ['10.88.0.0/24', -6, '10.88.0.250'],
    ['172.16.0.0/16', -1, '172.16.255.255'],
    ['192.168.255.240/28', 15, '192.168.255.255'],
    ['203.0.113.5/28', -6, '203.0.113.10'],
  ])('in %s number %d is %s', (cidr, n, address) => expect(addressIn(cidr, n)).toBe(address))
  test('leave the machine under its own, unless they stay in the subnet', () =>
    expect(uplinkRules('10.88.0.0/24')).toContain('ip saddr 10.88.0.0/24 ip daddr != 10.88.0.0/24 masquerade'))
  const servers = ['127.0.0.53', '192.0.2.1', 'fe80::1%eth0', '2001:db8::1']
  test('of name servers are those that guests reach', () =>
    expect(
      ownResolvers(['# nameserver 192.0.2.9', ...servers.map((server) => `nameserver ${server}`)].join('\n')),
    ).toEqual(['192.0.2.1', '2001:db8::1']))
})

describe('the settings of the controller', () => {
  const route = {
    'ip -4 route': 'default via 192.0.2.254 dev eth0',
    'ip -4 -o address': '2: eth0 inet 192.0.2.5/24 scope',
  }
  test('are a lab on every address at first', () =>
    expect(controllerSettings(machineWith(route), flags('--controller'))).toEqual({
      ...{ listen: '0.0.0.0:8080', publicUrl: 'http://192.0.2.5:8080', dataDir: '/var/lib/berth' },
      ...{ labCertificate: false, isInsecure: false },
    }))
  test('stay what an earlier run wrote, until they are said anew', () => {
    const machine = machineWith(route)
    place(
      machine,
      `${machine.paths.settings}/controller.env`,
      0o644,
      'PANEL_PUBLIC_URL="http://192.0.2.7:9000"\nPANEL_LISTEN="0.0.0.0:9000"\nPANEL_DATA_DIR="/srv/berth"\n',
    )
    const before = controllerSettings(machine, flags('--controller'))
    expect(before).toMatchObject({ listen: '0.0.0.0:9000', publicUrl: 'http://192.0.2.7:9000', dataDir: '/srv/berth' })
    const named = controllerSettings(machine, flags('--controller --domain panel.example.com'))
    expect(named).toMatchObject({
      listen: '127.0.0.1:9000',
      publicUrl: 'https://panel.example.com',
      dataDir: '/srv/berth',
    })
    const said = controllerSettings(machine, flags('--controller --listen [::]:81 --public-url http://a.example'))
    expect(said).toMatchObject({ listen: '[::]:81', publicUrl: 'http://a.example' })
  })
  test('let nodes join in the clear when that is said, and never under HTTPS', () => {
    const is = (text: string) => controllerSettings(machineWith(route), flags(text)).isInsecure
    expect(is('--controller --insecure')).toBe(true)
    expect(is('--controller --insecure --domain panel.example.com')).toBe(false)
    expect(is('--all-in-one')).toBe(false)
    expect(is('--all-in-one --listen 192.0.2.5:8080')).toBe(true)
    expect(is('--controller --listen 192.0.2.5:8080')).toBe(false)
  })
  test('lead this machine to its own controller', () =>
    expect(['0.0.0.0:8080', '[::]:81', '192.0.2.5:8080', '[2001:db8::1]:80'].map(localUrl)).toEqual([
      ...['http://127.0.0.1:8080', 'http://127.0.0.1:81', 'http://192.0.2.5:8080', 'http://[2001:db8::1]:80'],
    ]))
})

test.each([
  ['', 'panel.example.com', 'admin@panel.example.com'],
  ['me@example.com', 'panel.example.com', 'me@example.com'],
  ['', '', 'admin@localhost.localdomain'],
])('with --email "%s" and --domain "%s" the first staff sign-in is %s', (email, domain, made) => {
  const machine = machineWith({ hostname: 'machine\n', setpriv: '' })
  const given = flags([email && `--email ${email}`, domain && `--domain ${domain}`].join(' '))
  const { password = '', ...staff } = createStaff(machine, given)
  expect(staff).toEqual({ email: made, note: made })
  expect(password).toMatch(/^([A-Za-z0-9_-]{5}-){3}[A-Za-z0-9_-]{5}$/)
  const { line, input } = machine.calls.at(-1)!
  expect(line).toEndWith(`/usr/local/bin/berth admin create-staff --email ${made} --name Administrator`)
  expect(input).toBe(`${password}\n`)
  expect(readFileSync(`${machine.paths.settings}/staff`, 'utf8')).toBe(`${made}\n`)
  // Made once.
  expect(createStaff(machine, given)).toEqual({ email: made, note: `${made}, made earlier` })
})

test.each([
  ['all-in-one', '0.0.0.0:8080', '80,443,8080'],
  ['all-in-one', '[::]:9090', '80,443,9090'],
  ['agent', '', undefined],
] as const)('in the mode %s with the listener "%s" guests reach the panel: %s', (mode, listen, ports) => {
  const machine = machineWith()
  const { settings } = machine.paths
  if (listen) place(machine, `${settings}/controller.env`, 0o644, `PANEL_LISTEN="${listen}"\n`)
  writeAgentSettings(machine, { mode }, 'http://127.0.0.1:8080')
  const written = readFileSync(`${settings}/agent.env`, 'utf8')
  expect(/^PANEL_AGENT_HOST_PORTS="(.*)"$/m.exec(written)?.[1]).toBe(ports!)
  expect(written).toContain('PANEL_AGENT_INSECURE="1"\n')
})

test('instances count among the guests that keep a purge from deleting anything', () => {
  const id = (kind: string) => `${kind}_${'0'.repeat(26)}`
  const machine = machineWith({ virsh: `${id('srv')}\nother\n`, podman: `${id('gpu')}\nother\n` })
  expect(guestsOf(machine)).toEqual([id('srv')])
  const containers = `${machine.paths.agentState}/containers`
  mkdirSync(containers, { recursive: true })
  writeFileSync(`${containers}/containers.conf`, '')
  expect(guestsOf(machine)).toEqual([id('srv'), id('gpu')])
  expect(machine.calls.at(-1)?.env?.['CONTAINERS_CONF']).toBe(`${containers}/containers.conf`)
})

test('cards stay in force without being said again', () => {
  const { paths } = machineWith()
  expect([runsInstances(paths, false), runsInstances(paths, true)]).toEqual([false, true])
  writeFileSync(`${paths.settings}/gpu`, '')
  expect(runsInstances(paths, false)).toBe(true)
})

describe('a step', () => {
  const printing = () => {
    const dir = temporary('steps')
    const printed = { out: '', err: '' }
    const output = {
      out: (text: string) => void (printed.out += text),
      err: (text: string) => void (printed.err += text),
      isTerminal: false,
    }
    return { printed, report: new Report(`${dir}/log`, output), dir }
  }
  test('has one line with what it noted, and the time that it took', async () => {
    const { printed, report } = printing()
    await report.step('Quick', () => 'as before')
    await report.step('Slow', () => Bun.sleep(250))
    expect(printed.out).toMatch(/^✓ Quick: as before\n✓ Slow \(0\.[2-9] s\)\n$/)
  })
  test('that fails says why and what to do, or shows its last lines of the log', async () => {
    const { printed, report, dir } = printing()
    const ends = async (work: () => void) => report.failed(await report.step('Work', work).catch((error) => error))
    expect(
      await ends(() => {
        throw new Failed('It is broken.', 'Mend it.')
      }),
    ).toBe(1)
    expect(printed.err).toBe('✗ Work\n\nIt is broken.\nMend it.\n')
    printed.err = ''
    writeFileSync(`${dir}/fails`, '#!/bin/sh\nseq 40; exit 3\n')
    chmodSync(`${dir}/fails`, 0o755)
    expect(await ends(() => new Exec(`${dir}/log`).run(`${dir}/fails` as '/', []))).toBe(1)
    expect(printed.err).toContain(`✗ Work\n\nThe last lines of ${dir}/log:\n  27\n`)
    expect(printed.err).toContain('fails  ended with 3\nEverything is in')
  })
})

test('a flag that there is not is refused', () => {
  expect(() => flagsFrom(['--nonsense'], () => '')).toThrow('--nonsense')
  expect(flags('--agent --controller-url https://a --token-file -')).toMatchObject({ mode: 'agent', token: 'enr_x' })
})
