import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { serialFiles } from '../../agent/drivers/console/libvirt.ts'
import { cpuModelsOfHost } from '../../agent/drivers/hypervisor/cpu-models.ts'
import { domainXml, uuidOf } from '../../agent/drivers/hypervisor/domain-xml.ts'
import { FakeHypervisor } from '../../agent/drivers/hypervisor/fake.ts'
import { hardwareOfHost, tpmPath, variablesPath } from '../../agent/drivers/hypervisor/firmware.ts'
import { bootProbe, probe, signAgainstKvm } from '../../agent/drivers/hypervisor/kvm-probe.ts'
import { blocksIn, eventIn, Libvirt, usageIn } from '../../agent/drivers/hypervisor/libvirt.ts'
import { FakeImages } from '../../agent/drivers/images/fake.ts'
import { FakeSeeds } from '../../agent/drivers/seed/fake.ts'
import { IsoSeeds } from '../../agent/drivers/seed/iso.ts'
import { FakePool } from '../../agent/drivers/storage/fake.ts'
import { run } from '../../agent/host/exec.ts'
import { firmwares, machines, osFamilies, usualMachine, type Vm } from '../../agent/protocol/wire.ts'
import { createPackage } from '../../src/catalog/packages/packages.ts'
import { imageSource, macOf, seedOf, vmOf, volumeOf, workloadId } from '../agent/examples.ts'
import { temporary } from '../agent/temporary.ts'
import { hypervisorContract } from './hypervisor.contract.ts'
import { missing, note } from './tools.ts'

const ISO = `iso_${'0'.repeat(26)}`

describe('the fake hypervisor', () => {
  hypervisorContract(async () => {
    const db = new Database(':memory:')
    const pool = new FakePool(db, 'local', 2e12)
    const seeds = new FakeSeeds(db)
    await pool.create(volumeOf(1), { id: 'img_1', format: 'qcow2', path: '/fake', virtualSizeBytes: 1 }, 1e9)
    await seeds.write(seedOf(1))
    const dropSeed = () => void seeds.remove(workloadId(1))
    const isos = new FakeImages(db, 1, 'isos')
    const iso = await isos.ensure({ ...imageSource, id: ISO })
    await pool.create(
      volumeOf(1, 'qcow2', 1),
      { id: 'img_1', format: 'qcow2', path: '/fake', virtualSizeBytes: 1 },
      1e9,
    )
    return {
      rescue: await pool.disk(volumeOf(1, 'qcow2', 1)),
      isoPath: iso.path,
      dropIso: () => void isos.remove(ISO),
      hypervisor: new FakeHypervisor(db),
      vm: vmOf(1),
      disk: await pool.disk(volumeOf(1)),
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
    const hypervisor = new Libvirt(async () => 'emulation', join(dir, 'serial'))
    /** The vm of the test; nothing of it stays, also when the test failed or took too long. */
    let vm: Vm
    beforeAll(async () => {
      await run('ip', ['link', 'add', bridge, 'type', 'bridge'])
    })
    afterAll(async () => {
      await run('ip', ['link', 'del', bridge])
      rmSync(dir, { recursive: true, force: true })
    })
    afterEach(async () => {
      await hypervisor.remove(vm.workload)
      await hypervisor.forgetFirmware(vm.volume)
    })
    hypervisorContract(async () => {
      n++
      const seeds = new IsoSeeds(join(dir, 'seeds'))
      const path = join(dir, `${n}.qcow2`)
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', path, '1M'])
      const rescue = join(dir, `${n}-1.qcow2`)
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', rescue, '1M'])
      const isoPath = join(dir, `${n}.iso`)
      writeFileSync(isoPath, new Uint8Array(64 << 10))
      await seeds.write(seedOf(n))
      vm = vmOf(n, {
        memoryMb: 64,
        network: { bridge, tap: `bth${n}`, mac: '52:54:00:12:34:56' },
      })
      return {
        hypervisor,
        vm,
        disk: { kind: 'file', path, format: 'qcow2' },
        seedPath: (await seeds.path(workloadId(n)))!,
        dropSeed: () => rmSync(join(dir, 'seeds', `${workloadId(n)}.iso`)),
        rescue: { kind: 'file', path: rescue, format: 'qcow2' },
        isoPath,
        dropIso: () => rmSync(isoPath),
      }
    })

    test('gives a vm a CPU model that the host has in full, and starts none with one that it has not', async () => {
      const models = await cpuModelsOfHost({ kind: 'emulation', reason: '' })
      expect(models).toContain('Nehalem')
      // QEMU's emulation of every release knows it, and offers it in part.
      const tooMuch = 'EPYC-Milan'
      expect(models).not.toContain(tooMuch)
      n++
      const path = join(dir, `${n}.qcow2`)
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', path, '1M'])
      const network = { bridge, tap: `bth${n}`, mac: '52:54:00:12:34:56' }
      vm = vmOf(n, { memoryMb: 64, network, cpuModel: 'Nehalem' })
      const disk = { kind: 'file', path, format: 'qcow2' } as const
      await hypervisor.define(vm, disk, undefined)
      await hypervisor.start(vm.workload)
      const { out } = await run('virsh', ['-c', 'qemu:///system', 'dumpxml', uuidOf(vm.workload)])
      expect(out).toMatch(/<cpu mode='custom' match='exact' check='full'>\s*<model fallback='forbid'>Nehalem<\/model>/)
      await hypervisor.stop(vm.workload, 0)
      await hypervisor.define({ ...vm, cpuModel: tooMuch }, disk, undefined)
      const started = hypervisor.start(vm.workload).then(
        () => 'started',
        () => 'refused',
      )
      expect([await started, await hypervisor.power(vm.workload)]).toEqual(['refused', 'stopped'])
    })

    test('defines the largest vm that a package may be, and none that is larger by its processors', async () => {
      const { properties } = createPackage.body as unknown as { properties: Record<string, { maximum: number }> }
      const largest = { vcpus: properties['vcpus']!.maximum, memoryMb: properties['memoryMb']!.maximum }
      n++
      const path = join(dir, `${n}.qcow2`)
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', path, '1M'])
      const network = { bridge, tap: `bth${n}`, mac: '52:54:00:12:34:56' }
      for (const machine of machines) {
        vm = vmOf(n, { ...largest, network, hardware: { ...usualMachine.hardware, machine } })
        await hypervisor.define(vm, { kind: 'file', path, format: 'qcow2' }, undefined)
        const { out } = await run('virsh', ['-c', 'qemu:///system', 'dominfo', uuidOf(vm.workload)])
        expect(out).toMatch(new RegExp(`CPU\\(s\\): +${largest.vcpus}\\n`))
        expect(out).toMatch(new RegExp(`Max memory: +${largest.memoryMb * 1024} KiB`))
        const larger = hypervisor.define(
          { ...vm, vcpus: largest.vcpus + 1 },
          { kind: 'file', path, format: 'qcow2' },
          undefined,
        )
        expect(
          await larger.then(
            () => 'defined',
            () => 'refused',
          ),
        ).toBe('refused')
        await hypervisor.remove(vm.workload)
      }
    }, 60_000)

    test('a vm starts with the limits of its disks, that of rescue too, and QEMU has each change at once', async () => {
      n++
      const paths = [0, 1].map((generation) => join(dir, `${n}-${generation}.qcow2`))
      for (const path of paths) await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', path, '1M'])
      const [disk, rescue] = paths.map((path) => ({ kind: 'file', path, format: 'qcow2' }) as const)
      const network = { bridge, tap: `bth${n}`, mac: '52:54:00:12:34:56' }
      const limits = { reads: 300, writes: 200, readBytes: 3 << 20, writtenBytes: 2 << 20 }
      const speed = { inMbps: null, outMbps: null, cpuPercent: null, disk: limits }
      vm = vmOf(n, { memoryMb: 64, network, speed, rescue: volumeOf(n, 'qcow2', 1) })
      const inForce = async (target: string) => {
        const { out } = await run('virsh', ['-c', 'qemu:///system', 'blkdeviotune', uuidOf(vm.workload), target])
        const of = (name: string) => Number(new RegExp(`^${name}_sec\\s*: (\\d+)$`, 'm').exec(out)?.[1])
        return [of('read_iops'), of('write_iops'), of('read_bytes'), of('write_bytes')]
      }
      await hypervisor.define(vm, disk!, undefined, { rescue: rescue! })
      await hypervisor.start(vm.workload)
      for (const target of ['vda', 'vdb']) expect(await inForce(target)).toEqual([300, 200, 3 << 20, 2 << 20])
      await hypervisor.limitDisks(vm.workload, { reads: null, writes: 50, readBytes: null, writtenBytes: null })
      for (const target of ['vda', 'vdb']) expect(await inForce(target)).toEqual([0, 50, 0, 0])
      await hypervisor.limitDisks(vm.workload, undefined)
      expect(await inForce('vdb')).toEqual([0, 0, 0, 0])
    }, 60_000)

    const { firmware, tpm } = hardwareOfHost()
    test.skipIf(!firmware.includes('uefi_secure') || !tpm)(
      'a vm with Secure Boot and a TPM starts, keeps what they store across definitions, and loses it when it goes',
      async () => {
        n++
        const path = join(dir, `${n}.qcow2`)
        await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', path, '1M'])
        const disk = { kind: 'file', path, format: 'qcow2' } as const
        const hardware = { machine: 'q35', firmware: 'uefi_secure', tpm: true } as const
        const network = { bridge, tap: `bth${n}`, mac: '52:54:00:12:34:56' }
        vm = vmOf(n, { memoryMb: 128, network, hardware })
        const stored = () => [variablesPath(vm.volume), tpmPath(uuidOf(workloadId(n)))].map((at) => existsSync(at))
        await hypervisor.define(vm, disk, undefined)
        await hypervisor.start(workloadId(n))
        expect(await hypervisor.power(workloadId(n))).toBe('running')
        expect(stored()).toEqual([true, true])
        // The firmware works: it tells on the serial line that it looks for a system on the drives.
        const { log } = serialFiles(join(dir, 'serial'), workloadId(n))
        const said = () => (existsSync(log) ? readFileSync(log, 'latin1') : '')
        for (const until = Date.now() + 90_000; !said().includes('BdsDxe') && Date.now() < until; ) await Bun.sleep(100)
        expect(said()).toMatch(/BdsDxe: failed to load Boot\d{4}/)
        await hypervisor.stop(workloadId(n), 0)
        // Rescue and back, with other hardware meanwhile: what the system stored stays.
        const rescue = join(dir, `${n}-1.qcow2`)
        await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', rescue, '1M'])
        const inRescue = { ...vm, hardware: usualMachine.hardware, rescue: volumeOf(n, 'qcow2', 1) }
        await hypervisor.define(inRescue, disk, undefined, { rescue: { ...disk, path: rescue } })
        await hypervisor.start(workloadId(n))
        await hypervisor.stop(workloadId(n), 0)
        expect(stored()).toEqual([true, true])
        await hypervisor.define(vm, disk, undefined)
        await hypervisor.start(workloadId(n))
        await hypervisor.define(inRescue, disk, undefined, { rescue: { ...disk, path: rescue } })
        await hypervisor.remove(workloadId(n))
        await hypervisor.forgetFirmware(vm.volume)
        expect(stored()).toEqual([false, false])
      },
      120_000,
    )
  },
)

describe('the definition of a vm', () => {
  const disk = { kind: 'file', path: '/var/lib/berth-agent/pools/local/disk.qcow2', format: 'qcow2' } as const
  const line = serialFiles('/var/lib/berth-agent/serial', workloadId(1))
  const xml = domainXml(vmOf(1), disk, '/var/lib/berth-agent/seeds/seed.iso', 'emulation', {}, line)

  test('equals the stored one', async () => {
    expect(xml).toBe(await Bun.file(join(import.meta.dir, 'golden/domain.xml')).text())
  })
  test('passes the host’s processor through with KVM', () => {
    expect(domainXml(vmOf(1), disk, undefined, 'kvm')).toContain('<cpu mode="host-passthrough"')
  })
  test('has the limits that its disks have, and no others', () => {
    const speed = { inMbps: null, outMbps: null, cpuPercent: null }
    const limits = { reads: 500, writes: null, readBytes: null, writtenBytes: 1000 }
    const text = domainXml(vmOf(1, { speed: { ...speed, disk: limits } }), disk, undefined, 'kvm')
    const tuned = [...text.matchAll(/<iotune>(.*?)<\/iotune>/gs)].map(([, of]) => of!.replace(/\s+/g, ''))
    const [reads, bytes] = ['<read_iops_sec>500</read_iops_sec>', '<write_bytes_sec>1000</write_bytes_sec>']
    expect(tuned).toEqual([`${reads}${bytes}`])
    expect(domainXml(vmOf(1, { speed }), disk, undefined, 'kvm')).not.toContain('iotune')
  })
  test('has no drive for a seed without one', () => {
    expect(domainXml(vmOf(1), disk, undefined, 'kvm')).not.toContain('dev="sda"')
  })
  test('has ten free ports for devices that are added while it runs, and its devices keep theirs', () => {
    const busesOf = (text: string) => [...text.matchAll(/<address type="pci"[^>]* bus="(\d+)"/g)].map(([, bus]) => bus)
    for (const seed of [undefined, '/seed.iso']) {
      const text = domainXml(vmOf(1), disk, seed, 'kvm')
      expect(busesOf(text).toSorted()).toEqual(['1', '2', '3', '4', '5', '6', '7'])
      expect(text.match(/model="pcie-root-port"/g)).toHaveLength(17)
    }
    expect(xml).toContain('<boot order="1"/>')
    expect(xml).not.toContain('<boot dev')
  })
  test('S5: keeps its structure whatever the hostname is', () => {
    const withoutTitle = (text: string) =>
      JSON.stringify(Bun.XML.parse(text), (key, value) => (key === 'title' ? undefined : value))
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 253 }), (hostname) => {
        expect(
          withoutTitle(
            domainXml(vmOf(1, { hostname }), disk, '/var/lib/berth-agent/seeds/seed.iso', 'emulation', {}, line),
          ),
        ).toBe(withoutTitle(xml))
      }),
      { numRuns: 2000 },
    )
  })
  test('in rescue the rescue disk is vda at the system disk’s address, and nothing else boots', () => {
    const rescue = { ...disk, path: '/rescue.qcow2' }
    const vm = vmOf(1, { rescue: volumeOf(1, 'qcow2', 1), bootFirst: 'cd' })
    const text = domainXml(vm, disk, undefined, 'kvm', { rescue, iso: '/some.iso' })
    const disks = [...text.matchAll(/<disk .*?<\/disk>/gs)].map(([one]) => one)
    const [first, second, cd] = disks
    expect(disks).toHaveLength(3)
    for (const part of ['/rescue.qcow2', 'dev="vda"', '<serial>rescue</serial>', '<boot order="1"/>', 'bus="5"'])
      expect(first).toContain(part)
    for (const part of [disk.path, 'dev="vdb"', '<serial>system</serial>']) expect(second).toContain(part)
    expect(`${second}${cd}`).not.toContain('<boot')
    expect(second).not.toContain('<address')
  })
  test('boots from the disk or the CD first, and an empty drive is there as well', () => {
    const orders = (text: string) =>
      [...text.matchAll(/<target dev="(\w+)"[^>]*>.*?<boot order="(\d)"/gs)].map(([, dev, n]) => `${dev} ${n}`)
    expect(orders(domainXml(vmOf(1), disk, undefined, 'kvm'))).toEqual(['vda 1', 'sdb 2'])
    const first = domainXml(vmOf(1, { bootFirst: 'cd' }), disk, undefined, 'kvm', { iso: '/some.iso' })
    expect(orders(first)).toEqual(['vda 2', 'sdb 1'])
    expect(first).toContain('<source file="/some.iso"/>')
  })
  test('has the firmware by name, a TPM, and on the old machine no ports', () => {
    const of = (hardware: Vm['hardware']) => domainXml(vmOf(1, { hardware }), disk, undefined, 'kvm')
    const secure = of({ machine: 'q35', firmware: 'uefi_secure', tpm: true })
    for (const part of [
      'OVMF_CODE_4M.ms.fd',
      'secure="yes"',
      '<smm state="on"/>',
      'tpm-crb',
      variablesPath(volumeOf(1)),
    ])
      expect(secure).toContain(part)
    const plain = of({ machine: 'q35', firmware: 'uefi', tpm: false })
    expect(plain).toContain('OVMF_CODE_4M.fd')
    for (const part of ['secure=', '<smm', '<tpm']) expect(plain).not.toContain(part)
    const old = of({ machine: 'pc', firmware: 'bios', tpm: false })
    expect(old).toContain('machine="pc"')
    for (const part of ['pcie-root-port', '<address', 'bus="sata"', '<loader']) expect(old).not.toContain(part)
  })
  test('has its own disk and public card as its system knows them, and everything else on virtio', () => {
    const drives = { volumes: [{ disk: { ...disk, path: '/extra.qcow2' }, serial: 'extra' }] }
    const of = (hardware: Partial<Vm['hardware']>, rescue: Vm['rescue'] = null, more: object = {}) =>
      domainXml(
        vmOf(1, { hardware: { ...usualMachine.hardware, ...hardware }, rescue }),
        disk,
        '/some/seed.iso',
        'kvm',
        { ...drives, ...more },
      )
    const targets = (text: string) =>
      [...text.matchAll(/<target dev="(\w+)" bus="(\w+)"\/>/g)].map(([, dev, bus]) => `${dev} ${bus}`)
    const usual = of({})
    expect(of({ diskBus: 'virtio', nicModel: 'virtio' })).toBe(usual)
    for (const [machine, diskBus, target, cd] of [
      ['pc', 'ide', 'hda ide', 'sdb ide'],
      ['q35', 'ide', 'sdc sata', 'sdb sata'],
      ['pc', 'sata', 'sdc sata', 'sdb ide'],
      ['q35', 'sata', 'sdc sata', 'sdb sata'],
      ['pc', 'scsi', 'sdc scsi', 'sdb ide'],
      ['q35', 'scsi', 'sdc scsi', 'sdb sata'],
    ] as const) {
      const text = of({ machine, diskBus })
      expect(targets(text)).toEqual([target, 'vdc virtio', 'sda scsi', cd])
      expect(text).toMatch(
        new RegExp(`<target dev="${target.split(' ')[0]}"[^>]*>\\s*<serial>system</serial>\\s*<boot`),
      )
    }
    for (const nicModel of ['e1000', 'rtl8139'] as const) {
      const text = of({ nicModel })
      expect(text.replace(`<model type="${nicModel}"/>`, '<model type="virtio"/>').replace(/\s+/g, ' ')).toBe(
        usual.replace(/<address type="pci" domain="0" bus="1" slot="0" function="0"\/>/, '').replace(/\s+/g, ' '),
      )
    }
    // A rescue system has drivers for virtio.
    const rescued = of({ ...usualMachine.hardware }, volumeOf(1, 'qcow2', 1), { rescue: { ...disk, path: '/rescue' } })
    expect(targets(rescued).slice(0, 2)).toEqual(['vda virtio', 'vdb virtio'])
  })
  test('for Windows has its clock, a tablet, and the seed where Windows needs no driver for it', () => {
    const hardware = { machine: 'q35', firmware: 'uefi', tpm: true, os: 'windows' } as const
    const of = (acceleration: 'kvm' | 'emulation', more: Partial<Vm['hardware']> = {}) =>
      domainXml(vmOf(1, { hardware: { ...hardware, ...more } }), disk, '/some/seed.iso', acceleration)
    const common = ['<clock offset="localtime">', '<timer name="rtc" tickpolicy="catchup"/>', '<input type="tablet"']
    const [kvm, emulated] = [of('kvm'), of('emulation')]
    for (const part of common) for (const text of [kvm, emulated]) expect(text).toContain(part)
    for (const part of ['<relaxed state="on"/>', '<spinlocks state="on" retries="8191"/>', 'name="hypervclock"']) {
      expect(kvm).toContain(part)
      expect(emulated).not.toContain(part)
    }
    expect(kvm).toContain('<target dev="sda" bus="sata"/>')
    expect(of('kvm', { machine: 'pc', firmware: 'bios' })).toContain('<target dev="sda" bus="ide"/>')
    const linux = of('kvm', { os: 'linux' })
    for (const part of ['localtime', 'hyperv', 'tablet']) expect(linux).not.toContain(part)
    expect(linux).toBe(
      domainXml(vmOf(1, { hardware: { machine: 'q35', firmware: 'uefi', tpm: true } }), disk, '/some/seed.iso', 'kvm'),
    )
  })
  test('S42: gives its process no more than libvirt’s own confinement leaves, whatever the machine is', () => {
    for (const machine of ['q35', 'pc'] as const)
      for (const firmware of machine === 'q35' ? firmwares : (['bios'] as const))
        for (const os of osFamilies)
          for (const tpm of [true, false]) {
            const hardware = { machine, firmware, tpm, os }
            const drives = {
              iso: '/some.iso',
              rescue: disk,
              nics: [{ tap: 'btp1', mac: macOf(2), bridge: 'bpb1', mtu: 1450 }],
            }
            const text = domainXml(vmOf(1, { hardware }), disk, '/seed.iso', 'kvm', drives, { socket: '/s', log: '/l' })
            // No words of QEMU's, no label of our own, no device of the host, no listening port, no detected format.
            for (const part of [
              'commandline',
              'qemu:',
              '<seclabel',
              '<hostdev',
              '<filesystem',
              "type='tcp'",
              'type="tcp"',
            ])
              expect(text).not.toContain(part)
            expect(text.match(/<listen [^>]*>/g)).toEqual(['<listen type="socket"/>'])
            const [drivesThere, typed] = [text.match(/<disk /g), text.match(/<driver name="qemu" type="(qcow2|raw)"/g)]
            expect(typed).toHaveLength(drivesThere!.length)
            // virtlogd writes it, and keeps a few files of a bounded size.
            expect(text).toContain('<log file="/l" append="on"/>')
          }
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
    const figures = {
      'cpu.time': 648135000,
      'net.count': 1,
      'net.0.rx.bytes': 12,
      'net.0.tx.bytes': 34,
      'net.0.rx.pkts': 3,
      'net.0.tx.pkts': 5,
    }
    const text =
      block(workloadId(1), { 'state.state': 1, 'state.reason': 5, ...figures }) +
      block('other', { 'state.state': 5, 'state.reason': 3 })
    expect(blocksIn(text)).toEqual([
      { id: workloadId(1), power: 'running', cpuMs: 648, rxBytes: 12, txBytes: 34, rxPackets: 3, txPackets: 5 },
      { id: 'other', power: 'crashed', off: 'crashed', cpuMs: 0, rxBytes: 0, txBytes: 0, rxPackets: 0, txPackets: 0 },
    ])
  })
  test('the use of disks is the sum of all, and memory that a guest invents is left out', () => {
    const block = (name: string, fields: Record<string, number>) =>
      [`Domain: '${name}'`, ...Object.entries(fields).map(([field, value]) => `  ${field}=${value}`), '', ''].join('\n')
    const disks = {
      'block.count': 2,
      'block.0.rd.reqs': 1,
      'block.0.rd.bytes': 10,
      'block.0.wr.reqs': 2,
      'block.0.wr.bytes': 20,
      'block.1.rd.reqs': 100,
      'block.1.rd.bytes': 1000,
    }
    const balloon = { 'balloon.maximum': 1_048_576, 'balloon.available': 1_000_000, 'balloon.usable': 795_200 }
    const sums = { readBytes: 1010, writtenBytes: 20, reads: 101, writes: 2 }
    expect(usageIn(block(workloadId(1), { ...disks, ...balloon }) + block('other', balloon))).toEqual([
      { id: workloadId(1), ...sums, memoryUsedMb: 200 },
    ])
    for (const invented of [
      { 'balloon.usable': 2_000_000 },
      { 'balloon.available': 9e15 },
      { 'balloon.available': -1 },
    ])
      expect(usageIn(block(workloadId(1), { ...disks, ...balloon, ...invented }))).toEqual([
        { id: workloadId(1), ...sums },
      ])
  })
  test('the reason why a domain is off', () => {
    const block = (name: string, fields: Record<string, number>) =>
      [`Domain: '${name}'`, ...Object.entries(fields).map(([field, value]) => `  ${field}=${value}`), '', ''].join('\n')
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
    expect(eventIn(line('Started Migrated'))?.power).toBe('paused')
    expect(eventIn(line('Resumed Unpaused'))?.power).toBe('running')
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
