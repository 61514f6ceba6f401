// Domains of both panels, as their libvirt has them. Their guests do nothing until their power button is pressed.
import { buttonSector } from '../../drivers/transfers/opened.ts'
import type { SourceHypervisor } from './lab.ts'

export type DriveOf = {
  path: string
  format?: string
  device?: 'disk' | 'cdrom'
  bus?: string
  isReadOnly?: boolean
  /** In place of the usual `<source>`, of a disk of this kind. */
  source?: { kind: string; xml: string }
}
export type DomainOf = {
  name: string
  uuid?: string
  mac?: string
  drives: readonly DriveOf[]
  /** In place of the usual `<os>`. */
  os?: string
  /** Behind the elements of the domain, and behind its devices. */
  more?: string
  devices?: string
  kind?: string
  memoryKib?: number
}

const GUEST_AGENT = "<channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>"
export const usualOs = "<os><type arch='x86_64' machine='pc'>hvm</type><boot dev='hd'/></os>"

export function domainXml(domain: DomainOf): string {
  const {
    name,
    uuid,
    mac = '02:00:5e:10:00:41',
    drives,
    os = usualOs,
    more = '',
    devices = GUEST_AGENT,
    kind = 'qemu',
    memoryKib = 32 << 10,
  } = domain
  const disks = drives.map(({ path, format = 'raw', device = 'disk', bus = 'virtio', isReadOnly, source }, i) => {
    const target = `${bus === 'virtio' ? 'vd' : bus === 'ide' ? 'hd' : 'sd'}${'abcdefgh'[i]}`
    const [type, from] = source ? [source.kind, source.xml] : ['file', `<source file='${path}'/>`]
    return `<disk type='${type}' device='${device}'><driver name='qemu' type='${format}'/>${from}
      <target dev='${target}' bus='${bus}'/>${isReadOnly ? '<readonly/>' : ''}</disk>`
  })
  return `<domain type='${kind}'><name>${name}</name>${uuid ? `<uuid>${uuid}</uuid>` : ''}
    <memory unit='KiB'>${memoryKib}</memory><vcpu>1</vcpu>${os}<features><acpi/></features>${more}
    <devices>${disks.join('\n')}
      <interface type='bridge'><mac address='${mac}'/><source bridge='br0'/><model type='virtio'/></interface>
      ${devices}</devices></domain>`
}

/** Makes the disk of a guest that boots, of so many bytes. */
export async function bootDisk(source: SourceHypervisor, path: string, format: 'raw' | 'qcow2', bytes: number) {
  const raw = format === 'raw' ? path : `${path}.raw`
  await source.write(raw, buttonSector())
  await source.must('truncate', '-s', String(bytes), raw)
  if (format === 'raw') return
  await source.must('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', raw, path)
  await source.must('rm', raw)
}

/** The drive with settings for cloud-init that the first panel makes. */
export async function cloudInitDrive(source: SourceHypervisor, path: string) {
  await source.write('/var/tmp/seed/meta-data', 'instance-id: i-1\n')
  await source.write('/var/tmp/seed/user-data', '#cloud-config\n')
  const seed = ['-as', 'mkisofs', '-quiet', '-V', 'cidata', '-J', '-r', '-o', path, '/var/tmp/seed']
  await source.must('xorriso', ...seed)
}
