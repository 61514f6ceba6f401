// The sentences of the specification about imports, as far as they are about reading the other panel.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { sources } from '../../../src/imports/sources/panels.ts'
import { solusvm2 } from '../../../src/imports/sources/solusvm2/source.ts'
import { osName } from '../../../src/imports/sources/values/os-name.ts'
import { virtualizor } from '../../../src/imports/sources/virtualizor/source.ts'
import { all, everything, failureOf, lookUp, solusReader, virtualizorReader } from '../simulators/reading.ts'
import { SolusPanel, TOKEN } from '../simulators/solusvm2.ts'
import { KEY, PASS, VirtualizorPanel } from '../simulators/virtualizor.ts'

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(`${tmpdir()}/sources-`)
})
afterAll(() => rmSync(dir, { recursive: true }))

const untrusting = { certificateSha256: null }
const token = { token: 'x' }
const pair = { key: 'k', pass: 'p' }

describe('Point 1', () => {
  test('Source panel: kind A is accessed with an API token.', async () => {
    expect(solusvm2.credentials.map(({ label }) => label)).toEqual(['API token'])
    const panel = new SolusPanel()
    await solusReader(panel).account()
    expect(panel.requests[0]!.headers['authorization']).toBe(`Bearer ${TOKEN}`)
    const wrong = solusvm2.connect('https://panel.test', token, untrusting, { send: panel.send })
    expect((await failureOf(() => wrong.account())).code).toBe('refused_sign_in')
    for (const bad of ['', ' ', 'a b', 'a\nb', 'ä', 'x'.repeat(5000)])
      expect((await failureOf(() => solusvm2.connect('https://panel.test', { token: bad }, untrusting))).code).toBe(
        'bad_credential',
      )
  })
  test('Kind B is accessed with an admin API key plus a pass.', async () => {
    expect(virtualizor.credentials.map(({ label }) => label)).toEqual(['Admin API key', 'Admin API pass'])
    for (const auth of ['pair-only', 'needs-apikey', 'hash-only'] as const) {
      const panel = new VirtualizorPanel({ auth })
      await virtualizorReader(panel).account()
      expect(panel.requests[0]!.query.get('adminapikey')).toBe(KEY)
      const wrong = { key: KEY, pass: 'wrong' }
      const reader = virtualizor.connect('https://panel.test', wrong, untrusting, { send: panel.send })
      expect((await failureOf(() => reader.account())).code).toBe('refused_sign_in')
    }
    for (const missing of [{ key: KEY }, { pass: PASS }] as Record<string, string>[])
      expect((await failureOf(() => virtualizor.connect('https://panel.test', missing, untrusting))).code).toBe(
        'bad_credential',
      )
  })
  test('The source address is entered with its port.', async () => {
    for (const [typed, kept] of [
      ['https://panel.test:443', 'https://panel.test'],
      ['https://panel.test:8443/', 'https://panel.test:8443'],
      ['https://panel.test:8443/api/v1/', 'https://panel.test:8443'],
      ['panel.test:8443', 'https://panel.test:8443'],
      ['https://panel.test', 'https://panel.test'],
      ['https://[2a00:1450::1]:8443', 'https://[2a00:1450::1]:8443'],
    ])
      expect([typed, solusvm2.connect(typed!, token, untrusting).address]).toEqual([typed, kept!])
    for (const [typed, kept] of [
      ['https://panel.test:443', 'https://panel.test'],
      ['https://panel.test:4085/index.php', 'https://panel.test:4085'],
      ['panel.test', 'https://panel.test:4085'],
      ['10.1.2.3:4443', 'https://10.1.2.3:4443'],
    ])
      expect([typed, virtualizor.connect(typed!, pair, untrusting).address]).toEqual([typed, kept!])
    const asked: string[] = []
    const send = async (url: URL) => {
      asked.push(url.host)
      return { status: 401, headers: {}, body: Buffer.from('') }
    }
    await failureOf(() => virtualizor.connect('https://panel.test:4443', pair, untrusting, { send }).account())
    expect(asked).toEqual(['panel.test:4443'])
    for (const bad of ['', 'x y', 'http://panel.test:4084', 'https://u:p@panel.test', 'https://panel.test/?a=b'])
      expect([bad, (await failureOf(() => virtualizor.connect(bad, pair, untrusting))).code]).toEqual([
        bad,
        'bad_address',
      ])
  })
  test('A private-network address is allowed; a link-local address is refused.', async () => {
    for (const host of ['10.1.2.3', '192.168.7.7', '172.16.0.9', '100.64.1.1', '[fd00::1]', '9.9.9.9'])
      expect(solusvm2.connect(`https://${host}:8443`, token, untrusting).address).toBe(`https://${host}:8443`)
    const refused = ['169.254.169.254', '[fe80::1]', '127.0.0.1', '[::1]', '0.0.0.0', '224.0.0.1', '[::ffff:10.0.0.1]']
    for (const host of refused)
      for (const source of [solusvm2, virtualizor]) {
        const connecting = () => source.connect(`https://${host}:4085`, { ...token, ...pair }, untrusting)
        expect([host, (await failureOf(connecting)).code]).toEqual([host, 'address_not_allowed'])
      }
    // The name is looked up for each request, and each of its addresses counts.
    const answers = [['169.254.1.1'], ['10.0.0.1', 'fe80::1'], ['127.0.0.1']]
    let asked = 0
    const reader = virtualizor.connect('https://panel.test:4085', pair, untrusting, {
      lookUp: async () => answers[asked++]!.map((address) => ({ address })),
    })
    for (const _ of answers) expect((await failureOf(() => reader.account())).code).toBe('address_not_allowed')
    expect(asked).toBe(answers.length)
  })
  test('If the key pair restricts callers by address, the controller’s address must be allowed.', async () => {
    const panel = new VirtualizorPanel({ callerIsAllowed: false })
    const failure = await failureOf(() => virtualizorReader(panel).account())
    expect(failure.code).toBe('refused_sign_in')
    expect(failure.message).toContain('that the pair allows calls from the address of this controller')
    expect(panel.requests.length).toBe(1)
  })
  test('Imports only read the source API and change nothing there.', async () => {
    const a = new SolusPanel()
    const b = new VirtualizorPanel()
    const before = JSON.stringify([a.servers, a.hypervisors, b.servers, b.hypervisors])
    await everything(solusReader(a))
    await everything(virtualizorReader(b))
    expect([...a.violations, ...b.violations]).toEqual([])
    expect(JSON.stringify([a.servers, a.hypervisors, b.servers, b.hypervisors])).toBe(before)
  })
})

describe('Point 2', () => {
  test(
    'Kind B uses a self-signed certificate by default: the SHA-256 fingerprint is displayed and the operator chooses ' +
      'to trust it.',
    async () => {
      const panel = new VirtualizorPanel()
      await using served = await panel.serve(dir)
      const at = (certificateSha256: string | null) =>
        virtualizor.connect(
          served.address,
          { key: KEY, pass: PASS },
          { certificateSha256 },
          { localNetworks: ['127.0.0.1/32'] },
        )
      const unknown = await failureOf(() => at(null).account())
      expect(unknown.code).toBe('certificate_unknown')
      expect(unknown.message).toContain(served.sha256)
      expect(panel.requests).toEqual([])
      await at(unknown.certificate!.sha256).account()
      expect(panel.requests.length).toBeGreaterThan(0)
    },
  )
})

describe('Point 10', () => {
  test('Kind B lists its own host as localhost / 127.0.0.1; the import then uses the panel’s address.', async () => {
    for (const masterIp of ['localhost', '127.0.0.1']) {
      const [master] = await all(virtualizorReader(new VirtualizorPanel({ masterIp }), { lookUp }).hypervisors())
      expect(master).toMatchObject({ id: '0', name: 'localhost', addresses: ['192.0.2.10'], isPanel: true })
    }
  })
})

describe('Point 14', () => {
  test(
    'Operating system display: the source’s template name is converted to a readable name, or Imported from ... when ' +
      'absent',
    async () => {
      for (const [template, name] of [
        ['almalinux-9-x86_64', 'AlmaLinux 9'],
        ['ubuntu-22.04-x86_64', 'Ubuntu 22.04'],
        ['debian-12-x86_64.img', 'Debian 12'],
        ['rocky-9.4-x86_64', 'Rocky Linux 9.4'],
        ['centos-7-x86_64', 'CentOS 7'],
        ['centos-stream-9-kvm', 'CentOS Stream 9'],
        ['fedora-40_64', 'Fedora 40'],
        ['opensuse-leap-15.6', 'openSUSE Leap 15.6'],
        ['freebsd-14.1-gpt', 'FreeBSD 14.1'],
        ['arch-x86_64', 'Arch Linux'],
        ['alpine-3.20', 'Alpine Linux 3.20'],
        ['windows-server-2019-standard', 'Windows Server 2019 Standard'],
        ['AlmaLinux 9', 'AlmaLinux 9'],
        ['our-own_base', 'our-own_base'],
      ])
        expect([template, osName(template)]).toEqual([template, name!])
      for (const absent of ['', ' ', null, undefined, Number.NaN, {}, []]) expect(osName(absent)).toBe(null)
      const panel = new VirtualizorPanel({ servers: 1 })
      panel.change(1, { os_name: '', osid: '0' })
      // The page adds the name of the panel.
      expect((await all(virtualizorReader(panel).servers([])))[0]!.osName).toBe(null)
      expect([...sources.values()].map(({ label }) => label)).toEqual(['SolusVM 2', 'Virtualizor', 'Demonstration'])
    },
  )
})

describe('Point 18', () => {
  test(
    'Per-server refusal messages: OpenVZ or LXC container (stays on source, containers cannot run on KVM); Windows ' +
      'guest (stays on source, not supported by imports)',
    async () => {
      const a = new SolusPanel({ servers: 3, hypervisors: 1 })
      a.change(1, { virtualization_type: 'vz' })
      a.change(2, { os_type: 'Windows' })
      const b = new VirtualizorPanel({ servers: 3 })
      b.change(1, { virt: 'lxc' })
      b.change(2, { os_name: 'windows-2022-x86_64' })
      for (const servers of [await all(solusReader(a).servers([])), await all(virtualizorReader(b).servers([]))])
        expect(servers.map(({ virtualization, isWindows }) => [virtualization, isWindows])).toEqual([
          ['container', false],
          ['kvm', true],
          ['kvm', false],
        ])
    },
  )
})
