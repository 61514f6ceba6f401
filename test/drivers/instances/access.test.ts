import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { networkOf, networkOfAll } from '../../../agent/drivers/access/addresses.ts'
import { FakeAccess } from '../../../agent/drivers/access/fake.ts'
import { HostAccess } from '../../../agent/drivers/access/host-access.ts'
import { jupyterConfig } from '../../../agent/drivers/access/jupyter.ts'
import { fingerprintOf, writeInPlace } from '../../../agent/drivers/access/keys.ts'
import { mustBeFree } from '../../../agent/drivers/access/listening-ports.ts'
import { nameServersOfHost } from '../../../agent/drivers/access/name-servers.ts'
import { instanceRuleset } from '../../../agent/drivers/access/ruleset.ts'
import { containerOf, instanceId } from '../../agent/instances/examples.ts'
import { temporary } from '../../agent/temporary.ts'

describe('addresses of instances', () => {
  test('each instance has four addresses and a bridge of its own', () => {
    expect(networkOf(1)).toEqual({
      name: 'berth-1',
      interface: 'bgi1',
      subnet: '10.208.0.4/30',
      gateway: '10.208.0.5',
      address: '10.208.0.6',
      mac: '02:62:67:69:00:01',
    })
    expect(networkOf(59_999).subnet).toBe('10.211.169.124/30')
    expect(new Set(Array.from({ length: 60_000 }, (_, n) => networkOf(n).subnet)).size).toBe(60_000)
  })
  test.each(['10.208.0.0/16', '10.209.0.0/14', 'fd00::/14', 'x'])('%s is no network for them', (cidr) => {
    expect(() => networkOfAll(cidr)).toThrow(expect.objectContaining({ code: 'instance_network' }))
  })
  test('another network is as good', () => expect(networkOfAll('100.64.0.0/14').first).toBe(0x64400000))
})

test('an instance is removed while the network of all instances is set wrongly; what needs it fails', async () => {
  const dir = temporary('access')
  const [gone, stays] = [instanceId(1), instanceId(2)]
  const fileOf = (workload: string) => join(dir, 'instances', workload, 'rules.json')
  for (const [i, workload] of [gone, stays].entries()) {
    mkdirSync(dirname(fileOf(workload)), { recursive: true })
    const kept = { workload, kit: '/kit', network: networkOf(i + 1), address: null, ports: [] }
    writeFileSync(fileOf(workload), JSON.stringify(kept))
  }
  const access = new HostAccess(dir)
  const before = process.env['PANEL_AGENT_INSTANCE_NETWORK']
  process.env['PANEL_AGENT_INSTANCE_NETWORK'] = '10.0.0.0/8'
  try {
    await access.forget(gone)
    expect([existsSync(dirname(fileOf(gone))), existsSync(fileOf(stays))]).toEqual([false, true])
    await expect(access.open()).rejects.toMatchObject({ code: 'instance_network' })
  } finally {
    if (before === undefined) delete process.env['PANEL_AGENT_INSTANCE_NETWORK']
    else process.env['PANEL_AGENT_INSTANCE_NETWORK'] = before
  }
})

test('a key has the fingerprint that OpenSSH gives it, also behind options', () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me@example.com'
  const fingerprint = Bun.spawnSync(['ssh-keygen', '-lf', '-'], { stdin: Buffer.from(key) })
    .stdout.toString()
    .split(' ')[1]
  expect(fingerprintOf(key)).toBe(fingerprint!)
  expect(fingerprintOf(`no-pty,command="x" ${key}`)).toBe(fingerprint!)
  expect(fingerprintOf('# nothing')).toBeUndefined()
})

test('a file is written in place, longer and shorter', async () => {
  const path = join(temporary('keys'), 'file')
  writeFileSync(path, 'old and longer\n')
  const { ino } = statSync(path)
  for (const text of ['new\n', '', 'now longer than it was at first\n']) {
    writeInPlace(path, text)
    expect(await Bun.file(path).text()).toBe(text)
  }
  expect(statSync(path).ino).toBe(ino)
})

test('name servers are those that an instance can reach', () => {
  const dir = temporary('names')
  const [own, systemd] = [join(dir, 'resolv.conf'), join(dir, 'systemd.conf')]
  writeFileSync(own, '# nameserver 192.0.2.9\nnameserver 127.0.0.53\nnameserver ::1\n')
  writeFileSync(systemd, 'nameserver 192.0.2.53\nnameserver 2001:db8::53\nnameserver 192.0.2.53\n')
  expect(nameServersOfHost([own, systemd])).toEqual(['192.0.2.53'])
  expect(nameServersOfHost([own, join(dir, 'none')])).toEqual([])
})

test('a port on which a program of the host listens is refused', async () => {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  expect(() => mustBeFree([1, listener.port])).toThrow(expect.objectContaining({ code: 'port_taken' }))
  const { port } = listener
  listener.stop(true)
  mustBeFree([port])
})

test('the token of Jupyter is text to Python whatever is in it', () => {
  const config = jupyterConfig(`a'b"c\\d\n`)
  const python = Bun.spawnSync(
    ['python3', '-c', `${stub}exec(open(0).read())\nprint(repr(c.IdentityProvider.token), c.NotebookApp.port)`],
    {
      stdin: Buffer.from(config),
    },
  )
  expect(python.stdout.toString()).toBe(`'a\\'b"c\\\\d\\n' 8888\n`)
})
const stub = [
  'class C:',
  '  def __getattr__(self, name):',
  '    v = C(); setattr(self, name, v); return v',
  'made = C()',
  'get_config = lambda: made',
  '',
].join('\n')

describe('the rules of instances', () => {
  test('every rule is one that nft takes, also without any instance', async () => {
    const rules = { network: networkOf(3), address: '203.0.113.7', ports: [{ container: 22, host: 20_001 }] }
    for (const text of [
      instanceRuleset(
        [rules, { ...rules, network: networkOf(4), address: null, ports: [] }],
        ['192.0.2.53'],
        '10.208.0.0/14',
      ),
      instanceRuleset([], [], '10.208.0.0/14'),
    ]) {
      const { stderr, exitCode } = Bun.spawnSync(['nft', '--check', '-f', '-'], { stdin: Buffer.from(text) })
      expect([exitCode, stderr.toString()]).toEqual([0, ''])
    }
  })
})

describe('access on the fake host', () => {
  test('a port and an address lead to one instance, and are free when it is gone', async () => {
    const access = new FakeAccess(new Database(':memory:'), async () => 'running')
    const wanted = { address: '203.0.113.7', ports: [{ container: 22, host: 20_001 }] }
    for (const _ of [1, 2]) await access.fit(containerOf(1, wanted))
    await expect(access.fit(containerOf(2, { ...wanted, address: null }))).rejects.toMatchObject({ code: 'port_taken' })
    await expect(access.fit(containerOf(2, { ...wanted, ports: [] }))).rejects.toMatchObject({ code: 'port_taken' })
    await access.remove(instanceId(1))
    await access.fit(containerOf(2, wanted))
    expect(access.keys(instanceId(2))).toEqual(containerOf(2).authorizedKeys)
    for (const _ of [1, 2]) await access.forget(instanceId(2))
  })
  test('keys are replaced, and sessions of others ended in a running instance', async () => {
    const access = new FakeAccess(new Database(':memory:'), async () => 'running')
    await access.fit(containerOf(1, { authorizedKeys: ['a'] }))
    const ran: (readonly string[])[] = []
    await access.setKeys(instanceId(1), ['b'], async (command) => ran.push(command) && 0)
    expect([access.keys(instanceId(1)), ran.length]).toEqual([['b'], 1])
  })
})
