// Judges a server by what its node has found on the hypervisor: pure functions.
import {
  disksOf,
  type SourceDefinition,
  type SourceDrive,
  type SourceHostFacts,
  type SourceServer,
} from '../../../agent/protocol/values/source-hosts.ts'
import { bytes, count, exactGb } from '../../kernel/words.ts'
import { devicesFrom } from '../import-records/checks/devices.ts'
import { type Finding, finding } from '../import-records/checks/findings.ts'
import type { ImportCheck } from '../import-records/checks/queries.ts'
import type { ImportServer } from '../import-records/model.ts'
import type { SourceKind } from '../import-records/panels.ts'
import { estimate, type Speed } from './estimate.ts'

export type Judging = {
  server: Pick<ImportServer, 'domain' | 'mac' | 'power' | 'isSuspended' | 'isInRescue'>
  kind: SourceKind
  way: 'copy' | 'adopt'
  diskGb: number
  newIpv4: number
  speed: Speed
  facts?: SourceHostFacts | undefined
  node: string
  /** The node does not offer this CPU model. */
  lacksCpu(model: string): boolean
}
type Seen = Partial<ImportCheck>
export type Judged = { found: Finding[]; seen: Seen }

const GIB = 1024 ** 3
/** Files that an import can read: a disk behind a protocol of the hypervisor's own is none. */
const readable = ['file', 'lvm', 'zfs', 'rbd', 'device']
/** SolusVM 2 keeps no definition of a server that is off. */
const isTransient = (kind: SourceKind) => kind === 'solusvm2'

/** `answer`: undefined where the node has left the server out. */
export function judge(at: Judging, answer: SourceServer | undefined): Judged {
  const { server, kind } = at
  if (!answer) return { found: [finding('look_failed', 'the answer leaves it out')], seen: {} }
  const { state, definition, trouble } = answer
  if (state === 'absent')
    return {
      found: [
        isTransient(kind) && server.power !== 'running'
          ? finding('not_running')
          : finding('no_such_domain', server.domain ?? ''),
      ],
      seen: { isRunning: false },
    }
  if (!definition || state === 'unknown')
    return { found: [finding('look_failed', trouble ?? 'libvirt does not tell what it is')], seen: {} }
  const isRunning = state === 'running'
  const disk = judgeDisk(at, definition)
  const found = [
    ...power(at, state),
    ...machine(definition),
    ...disk.found,
    ...network(at, definition),
    ...remarks(at, definition),
  ]
  const size = disk.drive && { bytes: disk.drive.virtualBytes!, used: disk.drive.allocatedBytes }
  const times =
    size &&
    estimate({
      ...{ way: at.way, bytes: size.used ?? size.bytes, runs: isRunning, speed: at.speed, facts: at.facts },
      hasBacking: disk.drive?.backing !== null,
    })
  return {
    found,
    seen: {
      isRunning,
      machine: definition.machine,
      mac: definition.nics[0]?.mac ?? null,
      nicModel: definition.nics[0]?.model ?? null,
      ...(disk.drive && {
        diskPath: disk.drive.path,
        diskFormat: disk.drive.format,
        diskBus: disk.drive.bus,
        diskHolder: disk.drive.holder,
        diskBacking: disk.drive.backing,
        diskBytes: disk.drive.virtualBytes,
        usedBytes: disk.drive.allocatedBytes,
      }),
      ...times,
    },
  }
}

function power({ server, kind }: Judging, state: SourceServer['state']): Finding[] {
  return [
    ...(state === 'paused' ? [finding('paused')] : []),
    ...(state === 'off' ? [finding(isTransient(kind) ? 'not_running' : 'stopped')] : []),
    ...(server.isSuspended ? [finding('suspended')] : []),
    ...(server.isInRescue ? [finding('in_rescue')] : []),
  ]
}

const virtualizations = ['kvm', 'qemu']
const machine = ({ virtualization, osType, arch, firmware }: SourceDefinition): Finding[] => [
  ...(!virtualizations.includes(virtualization) || osType !== 'hvm' || (arch !== null && arch !== 'x86_64')
    ? [finding('other_machine')]
    : []),
  ...(firmware === 'uefi' ? [finding('uefi')] : []),
]

type JudgedDisk = { drive?: SourceDrive; found: Finding[] }
function judgeDisk({ way, diskGb }: Judging, definition: SourceDefinition): JudgedDisk {
  const disks = disksOf(definition)
  // Only the first drives of many are told.
  const unknown = definition.driveCount - definition.drives.length
  const [drive] = disks
  if (!drive || disks.length + Math.max(0, unknown) !== 1)
    return { found: [finding('disks', count(disks.length + Math.max(0, unknown), 'disk'))] }
  const { holder, format, trouble, virtualBytes, backing, bus, snapshots } = drive
  if (holder === 'network') return { found: [finding('disk_format', 'behind a network protocol')] }
  if (!readable.includes(holder)) return { found: [finding('disk_unreadable', trouble ?? 'it has no file')] }
  if (format === null)
    return { found: [finding('disk_unreadable', trouble ?? 'its definition and its content differ')] }
  if (format !== 'raw' && format !== 'qcow2') return { found: [finding('disk_format', format)] }
  if (virtualBytes === null) return { found: [finding('disk_unreadable', trouble ?? 'its size is not known')] }
  const found = [
    ...(virtualBytes > diskGb * GIB
      ? [finding('disk_too_large', `${bytes(virtualBytes)}, and its package ${exactGb(diskGb)}`)]
      : []),
    ...(backing !== null ? [finding(way === 'adopt' ? 'backing_file_adopted' : 'backing_file')] : []),
    ...devices(bus, definition.nics[0]),
    ...(snapshots + definition.snapshots > 0
      ? [
          finding(
            way === 'adopt' ? 'snapshots_adopted' : 'snapshots',
            count(Math.max(snapshots, definition.snapshots), 'snapshot'),
          ),
        ]
      : []),
  ]
  return { drive, found }
}

function devices(bus: string | null, nic: SourceDefinition['nics'][number] | undefined): Finding[] {
  const kept = devicesFrom({ diskBus: bus, nicModel: nic ? nic.model : 'virtio' })
  const bySource = [
    [bus, kept.diskBus, kept.diskBus === 'scsi' ? 'its disk on SCSI, which is virtio-scsi here' : `its disk on ${bus}`],
    [nic?.model ?? kept.nicModel, kept.nicModel, `its network card, a model ${nic?.model ?? kept.nicModel}`],
  ] as const
  const told = bySource.filter(([there, here]) => there !== null && (there !== 'virtio' || here !== 'virtio'))
  const [same, other] = [told.filter(([, here]) => here !== 'virtio'), told.filter(([, here]) => here === 'virtio')]
  const wordsOf = (some: typeof told) => some.map(([, , words]) => words).join(' and ')
  return [
    ...(same.length ? [finding('other_bus', wordsOf(same))] : []),
    ...(other.length ? [finding('no_such_device', wordsOf(other))] : []),
  ]
}

function network({ server, newIpv4 }: Judging, { nics, hasGuestAgent }: SourceDefinition): Finding[] {
  const [first] = nics
  return [
    ...(first ? [] : [finding('no_mac')]),
    ...(nics.length > 1 ? [finding('more_cards', count(nics.length, 'network card'))] : []),
    ...(first && server.mac !== null && server.mac !== first.mac.toLowerCase()
      ? [finding('other_mac', first.mac)]
      : []),
    ...(newIpv4 > 0 && !hasGuestAgent ? [finding('no_guest_agent')] : []),
  ]
}

function remarks({ way, node, lacksCpu }: Judging, definition: SourceDefinition): Finding[] {
  const { cpuMode, cpuModel, hostDevices, looksLikeWindows } = definition
  return [
    ...(way === 'copy' && cpuMode === 'custom' && cpuModel !== null && lacksCpu(cpuModel)
      ? [finding('other_cpu', `its CPU there, ${cpuModel}, is none that ${node} can offer; it gets that of the node`)]
      : []),
    ...(hostDevices > 0 ? [finding('host_devices', count(hostDevices, 'device'))] : []),
    ...(looksLikeWindows ? [finding('maybe_windows')] : []),
  ]
}
