// Systems that boot here from the bus that they know: real guests, of which one is adopted while it runs.
// BERTH_GUEST_IMAGE names the image (see guest/); without one it is skipped.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Hardware, usualHardware, type Vm } from '../../../../agent/protocol/wire.ts'
import { macOf, portRulesOf, vmOf, volumeOf, workloadId } from '../../../agent/examples.ts'
import { guestImage } from '../../../support/guest.ts'
import { domainXml } from '../../../support/source-hypervisors/domains.ts'
import { noSourceLab } from '../../../support/source-hypervisors/lab.ts'
import { note } from '../../tools.ts'
import { type AdoptionsLab, adoptionsLab } from './adoptions-lab.ts'

const GUEST_SECONDS = 120
const MiB = 1 << 20
const long = process.env['BERTH_LONG'] === '1'
const image = existsSync(guestImage) ? guestImage : '/tmp/tiny.qcow2'
const reason = (await noSourceLab()) ?? (existsSync(image) ? undefined : `no guest image at ${image}`)

describe.skipIf(note(reason, 'systems on the bus that they know'))('a system that knows its bus', () => {
  let lab: AdoptionsLab
  beforeAll(async () => {
    lab = await adoptionsLab('kd')
  }, 60_000)
  afterAll(async () => {
    await lab?.end()
  })

  const define = async (vm: Vm) => {
    const { obey } = lab.rig
    const rules = portRulesOf(Number(vm.workload.slice(4)))
    await obey('vm.define', vm)
    await obey('firewall.allow', rules)
    await obey('vm.start', { workload: vm.workload })
    return rules
  }
  const defineAndStart = async (vm: Vm) => {
    const { obey } = lab.rig
    const rules = await define(vm)
    return obey('vm.await', { workload: vm.workload, address: rules.ipv4[0]!, limitSeconds: GUEST_SECONDS })
  }
  const vm = (n: number, hardware: Hardware, format: 'qcow2' | 'raw' = 'qcow2') =>
    vmOf(n, {
      volume: volumeOf(n, format),
      hardware,
      seeded: false,
      network: { bridge: 'br0', tap: `bth${n}`, mac: macOf(n) },
    })

  const placed = async (n: number, hardware: Partial<Hardware>) => {
    const { host, pathOf } = lab
    const one = vm(n, { ...usualHardware, machine: 'pc', ...hardware })
    await host.must('mkdir', '-p', join(host.dir, 'agent/pools/local'))
    await host.must('cp', '--sparse=always', image, pathOf(one))
    return one
  }
  const leave = async ({ workload }: Vm, graceSeconds: number) => {
    await lab.rig.obey('vm.stop', { workload, graceSeconds })
    await lab.rig.obey('vm.remove', { workload })
  }

  for (const diskBus of ['scsi', 'ide'] as const)
    test.skipIf(diskBus === 'ide' && !long)(
      `runs on ${diskBus}, and its disk grows and gets a layer there`,
      async () => {
        const { obey } = lab.rig
        const one = await placed(diskBus === 'scsi' ? 51 : 52, { diskBus, nicModel: 'e1000' })
        expect(await defineAndStart(one)).toEqual({ answered: 'agent' })
        const { volume } = one
        await obey('volume.grow', { volume, sizeBytes: 640 * MiB })
        const layered = { ...one, volume: { ...volume, layer: 1 } }
        expect((await obey('volume.snapshot', { vm: layered, from: 0 })).consistent).toBe(true)
        await obey('volume.merge', { vm: one, from: 1, into: 0 })
        expect(await obey('volume.look', volume)).toEqual({ sizeBytes: 640 * MiB })
        await leave(one, 60)
      },
      300_000,
    )

  // The kernel of the small guest has no driver for SATA.
  test('libvirt takes each bus and each card on both machines', async () => {
    const { host, rig } = lab
    let n = 70
    for (const machine of ['pc', 'q35'] as const)
      for (const [diskBus, nicModel] of [
        ['sata', 'e1000'],
        ['ide', 'rtl8139'],
        ['scsi', 'e1000'],
      ] as const) {
        const one = await placed(n++, { machine, diskBus, nicModel })
        await define(one)
        const xml = await host.virsh('dumpxml', one.workload)
        const bus = machine === 'q35' && diskBus === 'ide' ? 'sata' : diskBus
        expect(xml).toMatch(new RegExp(`<target dev='(sdc|hda)' bus='${bus}'/>\\s*<serial>system</serial>`))
        expect(xml).toContain(`<model type='${nicModel}'/>`)
        expect(await rig.state(one.workload)).toBe('running')
        const limits = { reads: 500, writes: null, readBytes: null, writtenBytes: null }
        const { workload } = one
        await rig.obey('vm.set-speed', { workload, speed: { ...one.speed, disk: limits } })
        expect(await host.virsh('dumpxml', workload)).toMatch(/<read_iops_sec>500</)
        await leave(one, 0)
      }
  })

  test.skipIf(!long)(
    'a server that runs on IDE is adopted, boots here from IDE, goes back and runs there again',
    async () => {
      const { definitionOf, host, info, pathOf, rig } = lab
      const { obey } = rig
      const domain = 'v2001'
      const path = join(host.dir, 'images/2001.qcow2')
      await host.must('install', '-d', join(host.dir, 'images'))
      await host.must('cp', '--sparse=always', image, path)
      const more = '<on_poweroff>destroy</on_poweroff>'
      const xml = domainXml({ name: domain, drives: [{ path, format: 'qcow2', bus: 'ide' }], more })
      await host.domain('define', xml.replace(/32768/, '131072'))
      await host.virsh('autostart', domain)
      await host.virsh('start', domain)
      const answers = async () => {
        const ping = [
          '/usr/bin/virsh',
          '-c',
          'qemu:///system',
          'qemu-agent-command',
          domain,
          '{"execute":"guest-ping"}',
        ]
        for (const end = Date.now() + GUEST_SECONDS * 1000; (await host.run(...ping)).code !== 0; await Bun.sleep(500))
          if (Date.now() > end) throw new Error(`the guest of ${domain} does not answer at its source`)
      }
      await answers()
      const [definition, kept] = [await definitionOf(domain), await info(domain)]
      const of = { host: null, domain }
      const seen = (await obey('own-servers.look', { servers: [{ domain }] })).servers[0]!.definition!
      expect(seen.drives[0]).toMatchObject({ bus: 'ide', path, format: 'qcow2' })
      const { virtualBytes } = seen.drives[0]!
      const drive = {
        path,
        format: 'qcow2' as const,
        holder: 'file' as const,
        virtualBytes: virtualBytes!,
        backing: null,
      }
      const n = 60
      const volume = volumeOf(n)
      const one = { domain, drive, volume }
      const saved = await obey('source-host.save', of)
      expect(saved).toMatchObject({ state: 'running', isPersistent: true })
      const began = Date.now()
      expect(await obey('source-host.stop', { ...of, graceSeconds: 60 })).toEqual({ wasRunning: true })
      const content = await rig.content(one)
      expect(await obey('source-host.adopt', { ...one, sizeBytes: virtualBytes! })).toEqual({
        ...{ format: 'qcow2', sizeBytes: virtualBytes! },
      })
      expect(await rig.content(one)).toBe(content)
      await obey('source-host.give-back', { ...one, definition: saved.definition })
      expect([await rig.content(one), await definitionOf(domain), await info(domain)]).toEqual([
        content,
        definition,
        kept,
      ])
      await obey('source-host.adopt', { ...one, sizeBytes: virtualBytes! })
      expect(
        await defineAndStart(vm(n, { ...usualHardware, machine: 'pc', diskBus: 'ide', nicModel: 'rtl8139' })),
      ).toEqual({
        answered: 'agent',
      })
      process.stderr.write(`  away for ${Date.now() - began} ms, with one adoption that went back\n`)
      const refused = await obey('source-host.give-back', { ...one, definition: saved.definition }).catch(
        (error) => error,
      )
      expect(refused).toMatchObject({ code: 'volume_in_use' })
      await obey('vm.stop', { workload: workloadId(n), graceSeconds: 60 })
      const here = (await host.must('sha256sum', pathOf(one))).split(' ')[0]!
      await obey('source-host.give-back', { ...one, definition: saved.definition })
      expect([await rig.content(one), await definitionOf(domain), await info(domain)]).toEqual([here, definition, kept])
      await obey('source-host.start', { ...of, definition: saved.definition })
      await answers()
      expect(await rig.state(domain)).toBe('running')
    },
    300_000,
  )
})
