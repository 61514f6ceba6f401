// The answers of source hypervisors: those of a hypervisor of 2016, in the shells that are its `sh`, and those of one
// that lies.
import { describe, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Compile } from 'typebox/compile'
import { describedBy } from '../../../agent/drivers/source-host/domain/definition.ts'
import { driveFrom, type Found, volumesIn } from '../../../agent/drivers/source-host/domain/drives.ts'
import { qcow2Header } from '../../../agent/drivers/source-host/domain/qcow2-header.ts'
import { domainsScript, drivesScript } from '../../../agent/drivers/source-host/domain/script.ts'
import { questionsAbout, seenServers, serversFrom } from '../../../agent/drivers/source-host/domain/servers.ts'
import { factsFrom, hostScript } from '../../../agent/drivers/source-host/ssh/host-facts.ts'
import { sectionsIn } from '../../../agent/drivers/source-host/ssh/marks.ts'
import { SessionLimit } from '../../../agent/drivers/source-host/ssh/session-limit.ts'
import { Failure } from '../../../agent/failure.ts'
import { SourceHostFacts, SourceServer } from '../../../agent/protocol/values/source-hosts.ts'
import { temporary } from '../../agent/temporary.ts'
import { domainXml } from '../../support/source-hypervisors/domains.ts'

const NONCE = 'f'.repeat(32)
const GiB = 1024 ** 3
const isServer = Compile(SourceServer)
const shells = [['dash'], ['bash', '--posix'], ['busybox', 'sh']].filter(([name]) => Bun.which(name!))
const wanted = ['v1001', 'v1002', 'v1003'].map((domain) => ({ domain }))

/** Programs of 2016 before those of this machine. */
const tools = temporary('tools-of-2016')
const tool = (name: string, text: string) => {
  writeFileSync(join(tools, name), `#!/bin/sh\n${text}\n`)
  chmodSync(join(tools, name), 0o755)
}
copyFileSync(join(import.meta.dir, 'golden/virsh-2016'), join(tools, 'virsh'))
tool('lvs', "printf '  vg|vsv1001-abc|26843545600||\\n  vg|snap|1073741824|vsv1001-abc|12.50\\n'")
tool(
  'zfs',
  "case \"$*\" in *volume*) printf 'tank/v1002\\t10737418240\\t3221225472\\n' ;; *) printf 'tank/v1002@a\\n' ;; esac",
)
tool('ssh', "echo 'OpenSSH_6.6.1p1, OpenSSL 1.0.1e-fips 11 Feb 2013' >&2")

function answered(shell: readonly string[], script: string) {
  const path = `PATH=${tools}:/usr/local/sbin`
  const stdin = new TextEncoder().encode(script.replace('PATH=/usr/local/sbin', path))
  const { stdout } = Bun.spawnSync([...shell], { stdin, env: { HOME: '/root' }, stderr: 'ignore' })
  return sectionsIn(stdout.toString(), NONCE, 'it has no end')
}

describe.each(shells.map((shell) => ({ shell, name: shell.join(' ') })))(
  'a hypervisor of 2016 with $name',
  ({ shell }) => {
    test('tells its servers: running and off, and one that is not there', () => {
      const seen = seenServers(
        answered(
          shell,
          domainsScript(
            NONCE,
            wanted.map(({ domain }) => domain),
            'together',
          ),
        ),
        wanted,
      )
      expect(seen.map(({ state, isPersistent, snapshots }) => [state, isPersistent, snapshots])).toEqual([
        ['running', true, 1],
        ['off', true, 0],
        ['absent', null, 0],
      ])
      const [server] = serversFrom(seen, wanted, questionsAbout(seen), new Map())
      expect(server!.definition).toMatchObject({
        ...{ virtualization: 'kvm', osType: 'hvm', machine: 'pc-i440fx-rhel7.0.0', vcpus: 2, memoryMb: 2048 },
        ...{ cpuMode: 'custom', cpuModel: 'SandyBridge', cpuFeatures: ['vmx'], hasGuestAgent: false, driveCount: 1 },
        nics: [{ mac: '02:00:5e:10:00:01', model: 'virtio', bridge: 'viifbr0' }],
      })
      const apart = answered(shell, domainsScript(NONCE, ['v1001', 'v1009'], 'each'))
      expect(seenServers(apart, [wanted[0]!, { domain: 'v1009' }]).map(({ state }) => state)).toEqual([
        'running',
        'absent',
      ])
    })

    test('tells drives by their paths, whatever characters they have', () => {
      const dir = temporary('drives')
      mkdirSync(join(dir, 'a b'))
      const path = join(dir, 'a b', `it's "$(touch hacked)" \`id\` \\ *`)
      writeFileSync(path, Buffer.alloc(3 << 20))
      const sections = answered(shell, drivesScript(NONCE, [{ path }, { path: join(dir, 'gone') }, { path: dir }]))
      expect(sections.get('path 0')).toStartWith(`${path}\n`)
      expect(sections.get('stat 0')).toMatch(/^file 3145728 \d+ 512\n/)
      expect(sections.get('head 0')!.replace(/\s/g, '')).toBe('00'.repeat(1024))
      for (const n of [1, 2]) expect(sections.get(`head ${n}`)).toBeUndefined()
      expect(sections.get('lvs')).toContain('vsv1001-abc')
      expect(existsSync('hacked')).toBeFalse()
    })

    test('tells what it is', () => {
      const facts = factsFrom(answered(shell, hostScript(NONCE)), 940)
      expect(Compile(SourceHostFacts).Check(facts)).toBeTrue()
      expect(facts.tools).toMatchObject({ libvirt: '1.2.17', qemu: '1.5.3' })
      expect(facts.tools.ssh).toStartWith('OpenSSH_6.6.1p1')
      expect(facts).toMatchObject({ libvirtAnswers: true, linkMbps: 940 })
    })
  },
)

describe('the holder of a disk', () => {
  const volumes = volumesIn(
    '  vg|vsv1001-abc|26843545600||\n  vg|snap|1073741824|[vsv1001-abc]|12.50\n  thin-vg|a-b|10737418240||25.00\n',
    'tank/v1002\t10737418240\t3221225472\n',
    'tank/v1002@a\ntank/v1002@b\n',
  )
  const drive = (path: string, bytes: number) => {
    const [named] = describedBy(domainXml({ name: 'v1', drives: [{ path }] })).drives
    const found: Found = (section) => ({ path, real: '/dev/dm-3', stat: `block ${bytes}` })[section as 'path']
    return driveFrom(named!, found, volumes, [])
  }
  test.each([
    ['/dev/vg/vsv1001-abc', { holder: 'lvm', pool: 'vg', allocatedBytes: 25 * GiB, snapshots: 1 }],
    ['/dev/mapper/vg-vsv1001--abc', { holder: 'lvm', pool: 'vg', snapshots: 1 }],
    ['/dev/mapper/thin--vg-a--b', { holder: 'lvm', pool: 'thin-vg', allocatedBytes: 2.5 * GiB }],
    ['/dev/zvol/tank/v1002', { holder: 'zfs', pool: 'tank', allocatedBytes: 3 * GiB, snapshots: 2 }],
    ['/dev/rbd/pool/v1002', { holder: 'rbd', pool: null, allocatedBytes: null }],
    ['/dev/sdb', { holder: 'device', pool: null }],
  ])('%s', (path, expected) => {
    expect(drive(path, 25 * GiB)).toMatchObject({ format: 'raw', virtualBytes: 25 * GiB, trouble: null, ...expected })
  })
})

describe('a source that lies', () => {
  const xmlOf = (more: Partial<Parameters<typeof domainXml>[0]> = {}) =>
    domainXml({ name: 'v1', drives: [{ path: '/a' }], ...more })
  const serverFrom = (info: string, xml: string): SourceServer => {
    const sections = new Map([
      ['info 0', info],
      ['xml 0', xml],
    ])
    const asked = [{ domain: 'v1' }]
    const seen = seenServers(sections, asked)
    return serversFrom(seen, asked, questionsAbout(seen), new Map())[0]!
  }
  const running = 'State:          running\nPersistent:     yes\n'

  test('with the definition of another server, or with none, has no definition', () => {
    expect(serverFrom(running, xmlOf({ name: 'v2' }))).toMatchObject({ state: 'unknown', definition: null })
    for (const xml of ['', '<html>', '<domain>', `${xmlOf()}<x/>`, '<!DOCTYPE a [<!ENTITY b "c">]><domain/>', '<a/>'])
      expect(serverFrom(running, xml)).toMatchObject({
        state: 'running',
        definition: null,
        trouble: expect.any(String),
      })
  })

  test('fits into the schema, with escapes of terminals made harmless', () => {
    const odd = '\u001b[2J\u202e\u0007evil'
    expect(serverFrom(`error: ${odd}`, '').trouble).toBe('error: ?[2J??evil')
    const huge = 'x'.repeat(100_000)
    const many = Array.from({ length: 500 }, (_, n) => ({ path: `/disk-${n}-${huge.slice(0, 900)}` }))
    const server = serverFrom(running, xmlOf({ drives: many, devices: '<hostdev/>'.repeat(3000) }))
    expect(isServer.Check(server)).toBeTrue()
    expect(server.definition).toMatchObject({ driveCount: 500, hostDevices: 3000 })
    expect(server.definition!.drives).toHaveLength(8)
    expect(
      questionsAbout(
        seenServers(
          new Map([
            ['info 0', running],
            ['xml 0', xmlOf({ drives: [{ path: '/a\nb' }, { path: 'rel' }] })],
          ]),
          [{ domain: 'v1' }],
        ),
      ),
    ).toEqual([])
  })

  test('with deep, long and endless XML costs less than a second', () => {
    const began = performance.now()
    for (const xml of [
      `${'<a>'.repeat(40_000)}`,
      '<metadata '.repeat(12_000),
      `<domain ${'a="b" '.repeat(20_000)}/>`,
      `<domain>${'<b/>'.repeat(30_000)}</domain>`,
      `<domain>${'&lt;'.repeat(30_000)}</domain>`,
    ])
      expect(serverFrom(running, xml).definition).toBeNull()
    expect(performance.now() - began).toBeLessThan(1000)
  })

  test('never breaks the reading of 20,000 broken definitions', () => {
    const whole = readFileSync(join(import.meta.dir, 'golden/virsh-2016'), 'utf8')
    const from = whole.indexOf('<domain')
    const text = whole.slice(from, whole.indexOf('</domain>') + 9)
    let state = 7
    const random = (most: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return state % most
    }
    const words = ['<', '>', "'", '&', '</domain>', '<disk>', '\u0000', '\ud800', '9'.repeat(30), '-1', '$(id)']
    for (let n = 0; n < 20_000; n++) {
      const [at, length] = [random(text.length), random(40)]
      const broken = text.slice(0, at) + words[random(words.length)] + text.slice(at + length)
      const server = serverFrom(running, broken)
      if (!isServer.Check(server)) throw new Error(`not within the schema: ${broken}`)
    }
  })

  test('with sections that nobody asked for, a mark of its own or no end is refused', () => {
    expect(() => sectionsIn('', NONCE, 'no end')).toThrow('no end')
    expect(() => sectionsIn(`#${'0'.repeat(32)} end#\n`, NONCE, 'no end')).toThrow(Failure)
    const sections = sectionsIn(`Welcome\n#x end#\n#${NONCE} os#\nLinux\n#${NONCE} end#\n`, NONCE, 'no end')
    expect([...sections]).toEqual([
      ['os', 'Linux\n'],
      ['end', ''],
    ])
  })

  test('with a header of qcow2 that is cut, huge or points elsewhere', () => {
    const header = (change: (bytes: Buffer) => void) => {
      const bytes = Buffer.alloc(1024)
      bytes.writeUInt32BE(0x514649fb, 0)
      bytes.writeUInt32BE(3, 4)
      bytes.writeBigUInt64BE(BigInt(GiB), 24)
      change(bytes)
      return qcow2Header(bytes)
    }
    expect(header(() => {})).toEqual({ virtualBytes: GiB, backing: null, snapshots: 0, trouble: null })
    expect(header((bytes) => bytes.writeBigUInt64BE(2n ** 63n, 24))).toBeString()
    expect(header((bytes) => bytes.writeUInt32BE(9, 4))).toBeString()
    expect(header((bytes) => bytes.writeUInt32BE(0, 0))).toBeString()
    expect(qcow2Header(Buffer.alloc(10))).toBeString()
    expect(header((bytes) => bytes.writeUInt32BE(0xffffffff, 60))).toMatchObject({ snapshots: 65_536 })
    expect(header((bytes) => bytes.writeBigUInt64BE(2n ** 60n, 8))).toMatchObject({ backing: 'another file' })
    expect(header((bytes) => bytes.writeBigUInt64BE(4n, 72))).toMatchObject({
      trouble: 'it keeps its data in another file',
    })
    expect(header((bytes) => bytes.writeUInt32BE(1, 32))).toMatchObject({ trouble: 'it is encrypted' })
    expect(
      header((bytes) => {
        bytes.writeBigUInt64BE(200n, 8)
        bytes.writeUInt32BE(4, 16)
        bytes.write('/a\u001b0', 200)
      }),
    ).toMatchObject({ backing: '/a?0' })
  })
})

test('so many sessions of one source run at a time, and the others wait in their order', async () => {
  const limit = new SessionLimit(2)
  const [ends, began]: [(() => void)[], number[]] = [[], []]
  const work = (n: number) =>
    limit.take('a', () => {
      began.push(n)
      return new Promise<void>((end) => ends.push(end))
    })
  const all = [0, 1, 2, 3].map(work)
  const other = limit.take('b', async () => 'at once')
  expect(await other).toBe('at once')
  expect(began).toEqual([0, 1])
  ends[1]!()
  await all[1]
  await Bun.sleep(0)
  expect(began).toEqual([0, 1, 2])
  ends[0]!()
  ends[2]!()
  await Promise.all([all[0], all[2]])
  await Bun.sleep(0)
  expect(began).toEqual([0, 1, 2, 3])
  ends[3]!()
  await all[3]
})
