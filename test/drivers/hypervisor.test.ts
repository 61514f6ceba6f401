import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { domainXml, uuidOf } from '../../agent/drivers/hypervisor/domain-xml.ts'
import { FakeHypervisor } from '../../agent/drivers/hypervisor/fake.ts'
import { bootProbe, probe, signAgainstKvm } from '../../agent/drivers/hypervisor/kvm-probe.ts'
import { blocksIn, eventIn, Libvirt } from '../../agent/drivers/hypervisor/libvirt.ts'
import { FakeSeeds } from '../../agent/drivers/seed/fake.ts'
import { IsoSeeds } from '../../agent/drivers/seed/iso.ts'
import { FakePool } from '../../agent/drivers/storage/fake.ts'
import { run } from '../../agent/host/exec.ts'
import { seedOf, vmOf, volumeOf, workloadId } from '../agent/examples.ts'
import { temporary } from '../agent/temporary.ts'
import { hypervisorContract } from './hypervisor.contract.ts'
import { missing, note } from './tools.ts'

describe('the fake hypervisor', () => {
  hypervisorContract(async () => {
    const db = new Database(':memory:')
    const pool = new FakePool(db, 'local', 2e12)
    const seeds = new FakeSeeds(db)
    await pool.create(volumeOf(1), { id: 'img_1', format: 'qcow2', path: '/fake', virtualSizeBytes: 1 }, 1e9)
    await seeds.write(seedOf(1))
    const dropSeed = () => void seeds.remove(workloadId(1))
    return {
      hypervisor: new FakeHypervisor(db),
      vm: vmOf(1),
      disk: pool.disk(volumeOf(1)),
      seedPath: (await seeds.path(workloadId(1)))!,
      dropSeed,
    }
  })
})

describe.skipIf(note(await missing('virsh', 'qemu-img', 'xorriso', 'qemu-system-x86_64', 'ip'), 'libvirt'))(
  'libvirt',
  () => {
    const bridge = `brh${process.pid}`.slice(0, 15)
    const dir = temporary('libvirt')
    let n = process.pid * 100
    beforeAll(async () => {
      await run('ip', ['link', 'add', bridge, 'type', 'bridge'])
    })
    afterAll(async () => {
      await run('ip', ['link', 'del', bridge])
      rmSync(dir, { recursive: true, force: true })
    })
    hypervisorContract(async () => {
      n++
      const seeds = new IsoSeeds(join(dir, 'seeds'))
      const path = join(dir, `${n}.qcow2`)
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', path, '1M'])
      await seeds.write(seedOf(n))
      const vm = vmOf(n, {
        memoryMb: 64,
        network: { bridge, tap: `bth${n}`, mac: '52:54:00:12:34:56', portMbps: null },
      })
      return {
        hypervisor: new Libvirt(async () => 'emulation'),
        vm,
        disk: { kind: 'file', path, format: 'qcow2' },
        seedPath: (await seeds.path(workloadId(n)))!,
        dropSeed: () => rmSync(join(dir, 'seeds', `${workloadId(n)}.iso`)),
      }
    })
  },
)

describe('the definition of a vm', () => {
  const disk = { kind: 'file', path: '/var/lib/berth-agent/pools/local/disk.qcow2', format: 'qcow2' } as const
  const xml = domainXml(vmOf(1), disk, '/var/lib/berth-agent/seeds/seed.iso', 'emulation')

  test('equals the stored one', async () => {
    expect(xml).toBe(await Bun.file(join(import.meta.dir, 'golden/domain.xml')).text())
  })
  test('passes the host’s processor through with KVM', () => {
    expect(domainXml(vmOf(1), disk, undefined, 'kvm')).toContain('<cpu mode="host-passthrough"')
  })
  test('has no CD-ROM without a seed', () => {
    expect(domainXml(vmOf(1), disk, undefined, 'kvm')).not.toContain('cdrom')
  })
  test('S5: keeps its structure whatever the hostname is', () => {
    const withoutTitle = (text: string) =>
      JSON.stringify(Bun.XML.parse(text), (key, value) => (key === 'title' ? undefined : value))
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 253 }), (hostname) => {
        expect(
          withoutTitle(domainXml(vmOf(1, { hostname }), disk, '/var/lib/berth-agent/seeds/seed.iso', 'emulation')),
        ).toBe(withoutTitle(xml))
      }),
      { numRuns: 2000 },
    )
  })
  test('has a UUID that depends only on the workload', () => {
    expect(uuidOf(workloadId(1))).toBe(uuidOf(workloadId(1)))
    expect(uuidOf(workloadId(1))).not.toBe(uuidOf(workloadId(2)))
    expect(uuidOf(workloadId(1))).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})

describe('the output of virsh', () => {
  test('domstats is parsed into the counters of every domain', () => {
    const block = (name: string, fields: Record<string, number>) =>
      [`Domain: '${name}'`, ...Object.entries(fields).map(([field, value]) => `  ${field}=${value}`), '', ''].join('\n')
    const figures = { 'cpu.time': 648135000, 'net.count': 1, 'net.0.rx.bytes': 12, 'net.0.tx.bytes': 34 }
    const text =
      block(workloadId(1), { 'state.state': 1, 'state.reason': 5, ...figures }) +
      block('other', { 'state.state': 5, 'state.reason': 3 })
    expect(blocksIn(text)).toEqual([
      { id: workloadId(1), power: 'running', cpuMs: 648, rxBytes: 12, txBytes: 34 },
      { id: 'other', power: 'crashed', off: 'crashed', cpuMs: 0, rxBytes: 0, txBytes: 0 },
    ])
    const off = (state: number, reason: number) =>
      blocksIn(block('one', { 'state.state': state, 'state.reason': reason }))[0]?.off
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8].map((reason) => off(5, reason))).toEqual([
      'unknown',
      'shutdown',
      'destroyed',
      'crashed',
      'unknown',
      'unknown',
      'crashed',
      'unknown',
      'crashed',
    ])
    expect([off(6, 0), off(1, 1), off(3, 1)]).toEqual(['crashed', undefined, undefined])
  })
  test('a lifecycle event of a workload of any kind becomes a change of power', () => {
    const line = (words: string) =>
      `2026-11-21 11:08:46.754+0000: event 'lifecycle' for domain '${workloadId(1)}': ${words}`
    expect(eventIn(line('Stopped Failed'))).toEqual({
      workload: workloadId(1),
      power: 'crashed',
      at: 1795259326754,
      reason: 'Stopped Failed',
    })
    expect(eventIn(line('Stopped Destroyed'))?.power).toBe('stopped')
    expect(eventIn(line('Shutdown Finished after host request'))).toBeUndefined()
    const of = (name: string) =>
      eventIn(`2026-11-21 11:08:46.754+0000: event 'lifecycle' for domain '${name}': Started Booted`)
    expect(of('theirs')).toBeUndefined()
    expect(of(`gpu_${'z'.repeat(26)}`)).toMatchObject({ workload: `gpu_${'z'.repeat(26)}`, power: 'running' })
  })
})

describe.skipIf(note(await missing('qemu-system-x86_64'), 'the KVM probe'))('the KVM probe', () => {
  test('boots its guest to 64-bit mode on an emulated processor', async () => {
    expect(await bootProbe(['-accel', 'tcg'])).toBeUndefined()
  })
  test('stops at a processor without virtualisation', async () => {
    expect(signAgainstKvm('flags\t\t: fpu vme sse2\n')).toContain('no vmx or svm flag')
    expect(signAgainstKvm('flags\t\t: fpu vmxx\n')).toContain('no vmx or svm flag')
  })
  test('returns the virtualisation of this host and the reason', async () => {
    const { kind, reason } = await probe(temporary('probe-test'), 'boot')
    expect(['kvm', 'emulation']).toContain(kind)
    expect(reason).toMatch(/\w+ \w+/)
  })
})
