// A vm's hardware as libvirt's domain XML. Every value is a typed field of the protocol or a path of the agent's, and a
// serialiser writes the XML, so no value can become structure.
import { createHash } from 'node:crypto'
import type { Vm } from '../../protocol/wire.ts'
import type { Disk } from '../storage/storage.ts'

export type Acceleration = 'kvm' | 'emulation'

/** The XML namespace of Berth's mark in a domain's metadata. */
export const MARK = 'https://berth.invalid/1'
/** The drive of the seed. On virtio-scsi, because Debian's cloud kernel has no driver for q35's SATA. */
export const SEED_DRIVE = 'sda'
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

/**
 * The complete definition of a vm. `seedPath` is attached as a CD-ROM; `acceleration` decides `kvm` or plain `qemu`.
 */
export function domainXml(vm: Vm, disk: Disk, seedPath: string | undefined, acceleration: Acceleration): string {
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
      os: { type: { '@arch': 'x86_64', '@machine': 'q35', '#text': 'hvm' }, boot: { '@dev': 'hd' } },
      features: { acpi: {}, apic: {}, ...(emulated && vm.memoryMb <= SMALL_VM_MB && smallCache) },
      cpu: { '@mode': emulated ? 'maximum' : 'host-passthrough', '@check': 'none' },
      clock: { '@offset': 'utc' },
      on_poweroff: 'destroy',
      on_reboot: 'restart',
      on_crash: 'restart',
      devices: devices(vm, disk, seedPath),
    },
  }
  return Bun.XML.stringify(document, null, 2) + '\n'
}

const smallCache = { tcg: { 'tb-cache': { '@unit': 'MiB', '#text': SMALL_CACHE_MIB } } }

const devices = (vm: Vm, disk: Disk, seedPath: string | undefined) => ({
  disk: [systemDisk(disk), ...(seedPath ? [seedDisk(seedPath)] : [])],
  ...(seedPath && { controller: { '@type': 'scsi', '@index': 0, '@model': 'virtio-scsi' } }),
  interface: {
    '@type': 'bridge',
    mac: { '@address': vm.network.mac },
    source: { '@bridge': vm.network.bridge },
    target: { '@dev': vm.network.tap },
    model: { '@type': 'virtio' },
  },
  // Without a log file: output of the guest must not fill the host's disk.
  serial: { '@type': 'pty', target: { '@port': 0 } },
  console: { '@type': 'pty', target: { '@type': 'serial', '@port': 0 } },
  channel: { '@type': 'unix', target: { '@type': 'virtio', '@name': 'org.qemu.guest_agent.0' } },
  // A socket file that only root can open, not a TCP port.
  graphics: { '@type': 'vnc', listen: { '@type': 'socket' } },
  video: { model: { '@type': 'vga' } },
  rng: { '@model': 'virtio', backend: { '@model': 'random', '#text': '/dev/urandom' } },
  memballoon: { '@model': 'virtio', stats: { '@period': 5 } },
})

/** The format is always given: the guest writes its disk, so detection by content would let the guest choose it. */
const systemDisk = ({ kind, path, format }: Disk) => ({
  '@type': kind,
  '@device': 'disk',
  driver: { '@name': 'qemu', '@type': format, '@cache': 'none', '@discard': 'unmap' },
  source: { [kind === 'file' ? '@file' : '@dev']: path },
  target: { '@dev': 'vda', '@bus': 'virtio' },
})

const seedDisk = (path: string) => ({
  '@type': 'file',
  '@device': 'cdrom',
  driver: { '@name': 'qemu', '@type': 'raw' },
  source: { '@file': path },
  target: { '@dev': SEED_DRIVE, '@bus': 'scsi' },
  readonly: {},
})
