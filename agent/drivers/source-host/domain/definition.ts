// Reads a domain's XML, as virsh of any age writes it. The source is a stranger: XML that is not as it should be makes
// the definition unreadable, and never breaks anything.
import {
  MOST_FEATURES,
  MOST_NICS,
  type SourceDefinition,
  type SourceDrive,
} from '../../../protocol/values/source-hosts.ts'
import { attributeOf, childOf, childrenOf, type Element, parseStrictXml } from '../../migration/strict-xml.ts'

/** A drive as the definition names it. `volume`: a volume of one of libvirt's storage pools, whose path it knows. */
export type NamedDrive = Pick<SourceDrive, 'target' | 'device' | 'bus' | 'path' | 'isReadOnly'> & {
  isNetwork: boolean
  protocol: string | null
  volume: { pool: string; volume: string } | null
  driver: string | null
  isEncrypted: boolean
}
export type Described = Omit<SourceDefinition, 'drives' | 'driveCount' | 'snapshots'> & {
  name: string
  drives: NamedDrive[]
}

const MAC = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const GUEST_AGENT = 'org.qemu.guest_agent.0'
const FIRMWARE_FILE = /OVMF|edk2|AAVMF/i
const BYTES: Readonly<Record<string, number>> = {
  ...{ b: 1, bytes: 1, k: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 },
  ...{ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 },
}

/** Throws an `Error` that says what is wrong with the text. */
export function describedBy(xml: string): Described {
  const { text, metadata } = withoutMetadata(xml.trim())
  const domain = parseStrictXml(text)
  if (domain.name !== 'domain') throw new Error('it is no domain')
  const os = childOf(domain, 'os')
  const cpu = childOf(domain, 'cpu')
  const devices = childOf(domain, 'devices')
  const list = (name: string) => (devices ? childrenOf(devices, name) : [])
  const uuid = childOf(domain, 'uuid')?.text ?? ''
  return {
    name: childOf(domain, 'name')?.text ?? '',
    uuid: UUID.test(uuid) ? uuid.toLowerCase() : null,
    virtualization: domain.attributes.get('type') ?? '',
    osType: (os && childOf(os, 'type')?.text) || '',
    firmware: os && isUefi(os) ? 'uefi' : 'bios',
    machine: (os && attributeOf(os, 'type', 'machine')) ?? null,
    arch: (os && attributeOf(os, 'type', 'arch')) ?? null,
    vcpus: Math.min(whole(childOf(domain, 'vcpu')?.text, 1), 65_536),
    memoryMb: Math.round(bytesOf(childOf(domain, 'memory')) / 2 ** 20),
    cpuMode: cpu?.attributes.get('mode') ?? null,
    cpuModel: (cpu && childOf(cpu, 'model')?.text) || null,
    cpuFeatures: cpu ? featuresOf(cpu) : [],
    drives: list('disk').map(driveOf),
    nics: list('interface').slice(0, MOST_NICS).flatMap(nicOf),
    hasGuestAgent: list('channel').some((channel) => attributeOf(channel, 'target', 'name') === GUEST_AGENT),
    hostDevices: list('hostdev').length,
    looksLikeWindows: metadata.includes('//microsoft.com/win') || looksLikeWindows(domain),
  }
}

/** It is free text of other programs, which libvirt passes on as it is. */
function withoutMetadata(xml: string) {
  const [from, to] = [xml.indexOf('<metadata'), xml.lastIndexOf('</metadata>')]
  if (from === -1 || to < from) return { text: xml, metadata: '' }
  return { text: xml.slice(0, from) + xml.slice(to + '</metadata>'.length), metadata: xml.slice(from, to) }
}

const isUefi = (os: Element) => {
  const loader = childOf(os, 'loader')
  return (
    os.attributes.get('firmware') === 'efi' ||
    loader?.attributes.get('type') === 'pflash' ||
    FIRMWARE_FILE.test(loader?.text ?? '') ||
    childOf(os, 'nvram') !== undefined
  )
}

/** Windows keeps the local time in the clock of its machine, and speaks with Hyper-V's interfaces. */
function looksLikeWindows(domain: Element): boolean {
  const clock = childOf(domain, 'clock')
  const features = childOf(domain, 'features')
  return (
    clock?.attributes.get('offset') === 'localtime' ||
    (features !== undefined && childOf(features, 'hyperv') !== undefined) ||
    (clock !== undefined && childrenOf(clock, 'timer').some((timer) => timer.attributes.get('name') === 'hypervclock'))
  )
}

const whole = (text: string | undefined, otherwise: number) =>
  text && /^[0-9]{1,15}$/.test(text) ? Number(text) : otherwise

function bytesOf(memory: Element | undefined): number {
  return whole(memory?.text, 0) * (BYTES[memory?.attributes.get('unit') ?? 'KiB'] ?? 2 ** 10)
}

/** Those that the guest has: `policy` is left out where the host has them anyway. */
const featuresOf = (cpu: Element) =>
  childrenOf(cpu, 'feature')
    .filter((one) => !['disable', 'forbid'].includes(one.attributes.get('policy') ?? ''))
    .flatMap((one) => one.attributes.get('name') ?? [])
    .slice(0, MOST_FEATURES)

const DEVICES = ['disk', 'cdrom', 'floppy', 'lun'] as const
function driveOf(disk: Element): NamedDrive {
  const kind = disk.attributes.get('type') ?? 'file'
  const device = disk.attributes.get('device') ?? 'disk'
  const source = childOf(disk, 'source')
  const from = (name: string) => source?.attributes.get(name) ?? null
  const [pool, volume] = [from('pool'), from('volume')]
  return {
    target: attributeOf(disk, 'target', 'dev') ?? '',
    device: DEVICES.find((known) => known === device) ?? 'other',
    bus: attributeOf(disk, 'target', 'bus') ?? null,
    isReadOnly: childOf(disk, 'readonly') !== undefined,
    path: kind === 'network' ? from('name') : (from('file') ?? from('dev')),
    isNetwork: !['file', 'block', 'volume'].includes(kind),
    protocol: from('protocol'),
    volume: kind === 'volume' && pool && volume ? { pool, volume } : null,
    driver: attributeOf(disk, 'driver', 'type') ?? null,
    isEncrypted: childOf(disk, 'encryption') !== undefined || (source && childOf(source, 'encryption')) !== undefined,
  }
}

function nicOf(nic: Element): SourceDefinition['nics'] {
  const mac = attributeOf(nic, 'mac', 'address')?.toLowerCase() ?? ''
  if (!MAC.test(mac)) return []
  const source = childOf(nic, 'source')?.attributes
  return [
    {
      mac,
      model: attributeOf(nic, 'model', 'type') ?? null,
      bridge: source?.get('bridge') ?? source?.get('network') ?? source?.get('dev') ?? null,
    },
  ]
}
