// A vm's hardware as libvirt's domain XML. Every value is a typed field of the protocol or a path of the agent's, and a
// serialiser writes the XML, so no value can become structure.
import { createHash } from 'node:crypto'
import type { DiskSpeed, Vm } from '../../protocol/wire.ts'
import type { Disk } from '../storage/storage.ts'
import { firmwareXml } from './firmware.ts'
import type { Drives, ExtraDisk, Machine, Nic } from './hypervisor.ts'

export type Acceleration = 'kvm' | 'emulation'

/** The XML namespace of Berth's mark in a domain's metadata. */
export const MARK = 'https://berth.invalid/1'
/** The drive of the seed. On virtio-scsi, because Debian's cloud kernel has no driver for q35's SATA. */
export const SEED_DRIVE = 'sda'
/** The CD drive for ISOs: always there, because it cannot be added to a running machine. */
export const ISO_DRIVE = 'sdb'
/**
 * The PCI ports of a machine. Each device has a fixed one, so that a guest finds its devices at the same addresses
 * after every change of the definition: Windows takes a moved network card for a new one. vda is the disk at `disk`.
 */
const ports = { network: 1, scsi: 2, usb: 3, serialChannel: 4, disk: 5, balloon: 6, random: 7 }
/** A device that is added to a running machine needs a free port, and ports cannot be added while it runs. */
const SPARE_PORTS = 10
/** QEMU's cache of translated code takes up to 1 GiB by default, which a small vm does not need. */
const SMALL_VM_MB = 256
const SMALL_CACHE_MIB = 32

/**
 * The libvirt UUID of a workload, derived from its id: a repeated definition is the same domain, and a domain with the
 * name of a workload but another UUID is recognised as not ours.
 */
export function uuidOf(workload: string): string {
  const bytes = createHash('sha256').update(`berth-workload\n${workload}`).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The files of a serial line; without them it leads nowhere. */
type SerialLine = { socket: string; log: string }

/**
 * The complete definition of a vm. `seedPath` is attached as a CD-ROM; `acceleration` decides `kvm` or plain `qemu`.
 */
export function domainXml(
  vm: Machine,
  disk: Disk,
  seedPath: string | undefined,
  acceleration: Acceleration,
  drives: Drives = {},
  serialLine?: SerialLine,
): string {
  const { machine, firmware } = vm.hardware
  const windows = vm.hardware.os === 'windows'
  const emulated = acceleration === 'emulation'
  const document = {
    domain: {
      '@type': emulated ? 'qemu' : 'kvm',
      name: vm.workload,
      uuid: uuidOf(vm.workload),
      title: vm.hostname.replace(/[^A-Za-z0-9.-]/g, ''),
      metadata: { 'berth:workload': { '@xmlns:berth': MARK, '@id': vm.workload } },
      memory: { '@unit': 'MiB', '#text': vm.memoryMb },
      vcpu: vm.vcpus,
      os: {
        type: { '@arch': 'x86_64', '@machine': machine, '#text': 'hvm' },
        ...firmwareXml(firmware, vm.rescue ?? vm.volume),
      },
      features: {
        acpi: {},
        apic: {},
        // Secure Boot: only code in system management mode may change the firmware's variables.
        ...(firmware === 'uefi_secure' && { smm: { '@state': 'on' } }),
        ...(emulated && vm.memoryMb <= SMALL_VM_MB && smallCache),
        ...(windows && !emulated && hyperV),
      },
      cpu: cpuXml(vm, emulated),
      clock: windows ? windowsClock(emulated) : { '@offset': 'utc' },
      on_poweroff: 'destroy',
      on_reboot: 'restart',
      on_crash: 'restart',
      devices: devices(vm, disk, seedPath, drives, serialLine),
    },
  }
  return Bun.XML.stringify(document, null, 2) + '\n'
}

/** A model is offered in full or the vm does not start: with less a system could not be moved on while it runs. */
const cpuXml = ({ cpuModel }: Machine, emulated: boolean) =>
  cpuModel === undefined
    ? { '@mode': emulated ? 'maximum' : 'host-passthrough', '@check': 'none' }
    : { '@mode': 'custom', '@match': 'exact', '@check': 'partial', model: { '@fallback': 'forbid', '#text': cpuModel } }

const smallCache = { tcg: { 'tb-cache': { '@unit': 'MiB', '#text': SMALL_CACHE_MIB } } }

/** Hyper-V's interface, by which Windows on KVM waits less for its processors. */
const hyperV = {
  hyperv: {
    '@mode': 'custom',
    relaxed: { '@state': 'on' },
    vapic: { '@state': 'on' },
    spinlocks: { '@state': 'on', '@retries': 8191 },
  },
}
/** Windows takes the hardware's clock for local time, and its ticks must not be lost. */
const windowsClock = (emulated: boolean) => ({
  '@offset': 'localtime',
  timer: [
    { '@name': 'rtc', '@tickpolicy': 'catchup' },
    { '@name': 'pit', '@tickpolicy': 'delay' },
    { '@name': 'hpet', '@present': 'no' },
    ...(emulated ? [] : [{ '@name': 'hypervclock', '@present': 'yes' }]),
  ],
})

const devices = (
  vm: Machine,
  disk: Disk,
  seedPath: string | undefined,
  drives: Drives,
  serialLine: SerialLine | undefined,
) => ({
  disk: [
    ...(drives.rescue ? rescueDisks(drives.rescue, disk) : [systemDisk(vm, disk)]).map((drive) => ({
      ...drive,
      ...diskLimits(vm.speed.disk),
    })),
    ...(drives.volumes ?? []).map((volume, i) => volumeXml(volume, volumeTargets[i]!, vm.speed.disk)),
    ...(seedPath ? [seedDisk(vm, seedPath)] : []),
    isoDrive(vm, drives),
  ].map((drive) => placed(vm, drive)),
  controller: [
    placed(vm, { '@type': 'scsi', '@index': 0, '@model': 'virtio-scsi', ...at('scsi') }),
    placed(vm, { '@type': 'usb', '@index': 0, '@model': 'qemu-xhci', ...at('usb') }),
    placed(vm, { '@type': 'virtio-serial', '@index': 0, ...at('serialChannel') }),
    ...(vm.hardware.machine === 'q35' ? rootPorts : []),
  ],
  interface: [
    ...(vm.network ? [placed(vm, networkCard(vm.network, vm.hardware))] : []),
    ...(drives.nics ?? []).map(nicXml),
  ],
  serial: serial(serialLine),
  channel: { '@type': 'unix', target: { '@type': 'virtio', '@name': 'org.qemu.guest_agent.0' } },
  // A socket file that only root can open, not a TCP port.
  graphics: { '@type': 'vnc', listen: { '@type': 'socket' } },
  video: { model: { '@type': 'vga' } },
  // With a mouse the pointer of Windows is not where that of the viewer is.
  ...(vm.hardware.os === 'windows' && { input: { '@type': 'tablet', '@bus': 'usb' } }),
  ...(vm.hardware.tpm && {
    tpm: { '@model': 'tpm-crb', backend: { '@type': 'emulator', '@version': '2.0' } },
  }),
  rng: placed(vm, {
    '@model': 'virtio',
    backend: { '@model': 'random', '#text': '/dev/urandom' },
    ...at('random'),
  }),
  memballoon: placed(vm, { '@model': 'virtio', stats: { '@period': 5 }, ...at('balloon') }),
})

/** The older models are no devices of PCI Express, so that libvirt has to find them a place. */
const networkCard = ({ mac, bridge, tap }: Vm['network'], { nicModel = 'virtio' }: Machine['hardware']) => ({
  '@type': 'bridge',
  mac: { '@address': mac },
  source: { '@bridge': bridge },
  target: { '@dev': tap },
  model: { '@type': nicModel },
  ...(nicModel === 'virtio' && at('network')),
})

/** virtlogd keeps four files of 2 MiB at most, so the output of a guest does not fill the host's disk. */
const serial = (line: SerialLine | undefined) =>
  line
    ? {
        '@type': 'unix',
        source: { '@mode': 'bind', '@path': line.socket },
        log: { '@file': line.log, '@append': 'on' },
        target: { '@port': 0 },
      }
    : { '@type': 'pty', target: { '@port': 0 } }

/** The serial line alone, as an element. */
export const serialXml = (line: SerialLine | undefined): string => Bun.XML.stringify({ serial: serial(line) })!

/** The address behind a port; devices take whole ports. */
const at = (port: keyof typeof ports) => ({
  address: { '@type': 'pci', '@domain': 0, '@bus': ports[port], '@slot': 0, '@function': 0 },
})

/** A machine of the type `pc` has one bus and no ports: there the addresses are left to libvirt. */
const placed = <D extends object>({ hardware }: Machine, device: D) =>
  hardware.machine === 'q35' ? device : { ...device, address: undefined }

/** Number 0 is the root itself, which libvirt adds. */
const rootPorts = Array.from({ length: Object.keys(ports).length + SPARE_PORTS }, (_, n) => ({
  '@type': 'pci',
  '@index': n + 1,
  '@model': 'pcie-root-port',
}))

/** A card on a private network, in any free port. Its MTU is the guest's too, where the guest's driver takes it. */
export const nicXml = ({ tap, mac, bridge, mtu }: Nic) => ({
  '@type': 'bridge',
  mac: { '@address': mac },
  source: { '@bridge': bridge },
  target: { '@dev': tap },
  model: { '@type': 'virtio' },
  mtu: { '@size': mtu },
})

/** The place of a device in the boot order; a rescue system is the only one that boots. */
function orderOf(vm: Machine, device: Vm['bootFirst']) {
  return vm.rescue ? {} : { boot: { '@order': vm.bootFirst === device ? 1 : 2 } }
}

/**
 * The names of a system's disk for libvirt, which gives it the place on its bus by them: beside the CD drives, and the
 * first of IDE, because old systems name disks by their places.
 */
const diskTargets = { virtio: 'vda', scsi: 'sdc', sata: 'sdc', ide: 'hda' }

function systemDisk(vm: Machine, disk: Disk) {
  const { machine, diskBus = 'virtio' } = vm.hardware
  const bus = diskBus === 'ide' && machine === 'q35' ? 'sata' : diskBus
  const drive = virtioDisk(disk, diskTargets[bus], 'system', orderOf(vm, 'disk'))
  if (bus === 'virtio') return drive
  return { ...drive, target: { ...drive.target, '@bus': bus }, address: undefined }
}

/**
 * The rescue disk takes the port of the system's disk: a guest names its disks by their addresses, and mounts its root
 * as vda. The system's disk gets a port behind all others.
 */
const rescueDisks = (rescue: Disk, disk: Disk) => [
  virtioDisk(rescue, 'vda', 'rescue', { boot: { '@order': 1 } }),
  { ...virtioDisk(disk, 'vdb', 'system', {}), address: undefined },
]

/** The names of extra volumes for libvirt: vdb may be the disk of a system in rescue. Guests name them otherwise. */
export const volumeTargets = [...'cdefghijklmnopqrstuvwxyz'].map((letter) => `vd${letter}`)

/** An extra volume, in any free port. */
export const volumeXml = ({ disk, serial }: ExtraDisk, target: string, limits: DiskSpeed | undefined) => ({
  ...virtioDisk(disk, target, serial, {}),
  ...diskLimits(limits),
  address: undefined,
})

/** The format is always given: the guest writes its disk, so detection by content would let the guest choose it. */
const virtioDisk = (disk: Disk, target: string, serial: string, boot: object) => ({
  '@type': disk.kind,
  '@device': 'disk',
  driver: {
    '@name': 'qemu',
    '@type': disk.format,
    '@cache': 'none',
    ...(disk.stopsWhenFull && { '@error_policy': 'stop' }),
    '@discard': 'unmap',
  },
  ...sourceOf(disk),
  target: { '@dev': target, '@bus': 'virtio' },
  serial,
  ...boot,
  ...at('disk'),
})

function sourceOf(disk: Disk) {
  if (disk.kind !== 'network') return { source: { [disk.kind === 'file' ? '@file' : '@dev']: disk.path } }
  const { configFile, auth } = disk.access
  return {
    ...(auth && { auth: { '@username': auth.user, secret: { '@type': 'ceph', '@uuid': auth.secretUuid } } }),
    source: { '@protocol': disk.protocol, '@name': disk.path, config: { '@file': configFile } },
  }
}

/** The order of the elements is free. */
function diskLimits(limits: DiskSpeed | undefined) {
  if (!limits) return {}
  const { reads, writes, readBytes, writtenBytes } = limits
  return {
    iotune: {
      ...(reads !== null && { read_iops_sec: reads }),
      ...(writes !== null && { write_iops_sec: writes }),
      ...(readBytes !== null && { read_bytes_sec: readBytes }),
      ...(writtenBytes !== null && { write_bytes_sec: writtenBytes }),
    },
  }
}

/** Windows reads it before it has any driver but its own, so it is on the machine's own bus there. */
const seedDisk = (vm: Machine, path: string) => ({
  '@type': 'file',
  '@device': 'cdrom',
  driver: { '@name': 'qemu', '@type': 'raw' },
  source: { '@file': path },
  target: { '@dev': SEED_DRIVE, '@bus': vm.hardware.os === 'windows' ? ownBus(vm) : 'scsi' },
  readonly: {},
})

const ownBus = ({ hardware }: Machine) => (hardware.machine === 'q35' ? 'sata' : 'ide')

/** On the machine's own bus, for which every installer has a driver. */
const isoDrive = (vm: Machine, { iso }: Drives) => ({
  '@type': 'file',
  '@device': 'cdrom',
  driver: { '@name': 'qemu', '@type': 'raw' },
  ...(iso && { source: { '@file': iso } }),
  target: { '@dev': ISO_DRIVE, '@bus': ownBus(vm) },
  readonly: {},
  ...orderOf(vm, 'cd'),
})
