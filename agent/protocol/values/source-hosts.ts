// Hypervisors of another panel, from which servers are imported, in the protocol. All that one of them says is its own
// claim: it is bounded and shown, and nothing here is run because of it.
import { type Static, Type as t } from 'typebox'
import { counter, line, megabytes, timestamp, WORKLOAD_ID } from '../bounds.ts'
import { quoted } from '../shell-quote.ts'
import { address, mac } from './ports.ts'
import { sshHostKey, sshPublicKey } from './transfers.ts'

/** The most servers of one question: the answer must fit into a frame, whatever the source says. */
export const MOST_SOURCE_SERVERS = 100
export const MOST_DRIVES = 8
export const MOST_NICS = 8
export const MOST_FEATURES = 80
const MOST_ADDRESSES = 20

/**
 * A source hypervisor as nodes reach it: as root, by SSH. `hostKey`: the one that it had at the first contact, and must
 * still have; null: this is the first contact.
 */
export const SourceHost = t.Object({
  address,
  port: t.Integer({ minimum: 1, maximum: 65_535 }),
  hostKey: t.Union([sshHostKey, t.Null()]),
})
export type SourceHost = Static<typeof SourceHost>

/** The purpose for which the root password of a source hypervisor is encrypted for the node that signs in. */
export const sourcePasswordPurpose = (hostAddress: string) => `root password of ${hostAddress}`

const importNode = t.String({ pattern: '^nod_[0-9a-z]{26}$' })
/** The key of a node that copies, with the addresses from which the node comes; empty: from any. */
export const ImportKey = t.Object({
  nodeId: importNode,
  publicKey: sshPublicKey,
  from: t.Array(address, { maxItems: MOST_ADDRESSES }),
})
export type ImportKey = Static<typeof ImportKey>

/** The end of each line that an import adds to root's keys: a line is known by it again, and removed by it. */
export const importKeyMark = (nodeId: string) => `berth-import:${nodeId}`
/** SSH servers of 2014 know each of these words; `restrict` of 2016 makes an older one ignore the whole line. */
const NO_MORE = 'no-agent-forwarding,no-port-forwarding,no-pty,no-user-rc,no-X11-forwarding'
/** The line in root's `authorized_keys`. */
export const importKeyLine = ({ nodeId, publicKey, from }: ImportKey): string => {
  const only = from.length ? `from="${from.join(',')}",` : ''
  return `${only}${NO_MORE} ${publicKey} ${importKeyMark(nodeId)}`
}
/**
 * The command that a person runs as root on each source hypervisor, where the password lets nobody in. The line feed
 * before each line ends a last line that has none.
 */
export const manualKeyCommand = (keys: readonly ImportKey[]): string =>
  [
    '(umask 077; mkdir -p ~/.ssh; cd ~/.ssh || exit',
    `for key in ${keys.map(importKeyLine).map(quoted).join(' ')}`,
    'do grep -qxF "$key" authorized_keys 2>/dev/null || printf \'\\n%s\\n\' "$key" >>authorized_keys',
    'done',
    'restorecon -R ~/.ssh 2>/dev/null || true)',
  ].join('; ')

const text = (most: number) => t.Union([line(most), t.Null()])
const size = t.Union([counter, t.Null()])

/** The programs whose versions matter; null: it has none. */
export const sourceTools = ['libvirt', 'qemu', 'qemuImg', 'ssh', 'dd', 'sha1sum', 'lvm', 'zfs', 'python'] as const
export type SourceTool = (typeof sourceTools)[number]

/**
 * A source hypervisor as it describes itself. `now`: by its own clock. `hashMbps`: megabit per second that one of its
 * cores hashes; `linkMbps`: that came from it to this node; null: not measured.
 */
export const SourceHostFacts = t.Object({
  hostname: line(253),
  os: line(120),
  kernel: line(120),
  arch: line(20),
  now: timestamp,
  cpu: t.Object({ model: line(120), threads: t.Integer({ minimum: 0, maximum: 65_536 }) }),
  memoryMb: megabytes,
  tools: t.Object(
    Object.fromEntries(sourceTools.map((tool) => [tool, text(120)])) as Record<SourceTool, ReturnType<typeof text>>,
  ),
  /** libvirt answers, so servers can be looked for. */
  libvirtAnswers: t.Boolean(),
  /** Kinds of containers that its kernel or its tools have: `openvz`, `lxc`. */
  containers: t.Array(line(20), { maxItems: 4 }),
  /** Free space for disks: file systems, volume groups and ZFS pools. */
  space: t.Array(
    t.Object({ kind: t.Enum(['file', 'lvm', 'zfs']), name: line(255), freeBytes: counter, totalBytes: counter }),
    { maxItems: 40 },
  ),
  hashMbps: t.Union([t.Integer({ minimum: 0, maximum: 1_000_000 }), t.Null()]),
  linkMbps: t.Union([t.Integer({ minimum: 0, maximum: 1_000_000 }), t.Null()]),
})
export type SourceHostFacts = Static<typeof SourceHostFacts>

/** The name of a libvirt domain that an import asks for. It never looks like an option or a path. */
export const domainName = t.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}$' })
/**
 * A server by the name of its domain. `diskPaths`: the paths of its disks as the other panel tells them; empty: it does
 * not tell. A drive that is not among them may be the one for cloud-init.
 */
export const WantedServer = t.Object({
  domain: domainName,
  diskPaths: t.Optional(t.Array(t.String({ maxLength: 1024 }), { maxItems: 16 })),
})
export type WantedServer = Static<typeof WantedServer>

export const driveHolders = ['file', 'lvm', 'zfs', 'rbd', 'device', 'network', 'none'] as const
/**
 * A drive of a server at its source. `format`: as the definition says, checked against the header; `null`: the two
 * differ, or it could not be read. `isSeed`: it carries settings for cloud-init, and is no disk of the server.
 */
export const SourceDrive = t.Object({
  target: line(20),
  device: t.Enum(['disk', 'cdrom', 'floppy', 'lun', 'other']),
  bus: text(20),
  holder: t.Enum(driveHolders),
  path: text(512),
  format: text(20),
  isReadOnly: t.Boolean(),
  isSeed: t.Boolean(),
  /** The size that the guest sees, and what it takes at the source. */
  virtualBytes: size,
  allocatedBytes: size,
  /** The volume group or ZFS pool. */
  pool: text(120),
  /** The file that a qcow2 disk continues. */
  backing: text(512),
  /** Snapshots inside the file or of the volume. */
  snapshots: t.Integer({ minimum: 0, maximum: 1_000_000 }),
  /** Why something of it is not known. */
  trouble: text(300),
})
export type SourceDrive = Static<typeof SourceDrive>

export const sourceStates = ['running', 'paused', 'off', 'absent', 'unknown'] as const
/** The part of a domain's definition that decides whether and how it can run here. */
export const SourceDefinition = t.Object({
  uuid: text(36),
  /** `kvm`, `qemu`, `xen`, `lxc`, … */
  virtualization: line(20),
  osType: line(20),
  firmware: t.Enum(['bios', 'uefi']),
  machine: text(60),
  arch: text(20),
  vcpus: t.Integer({ minimum: 0, maximum: 65_536 }),
  memoryMb: megabytes,
  cpuMode: text(30),
  cpuModel: text(60),
  cpuFeatures: t.Array(line(40), { maxItems: MOST_FEATURES }),
  drives: t.Array(SourceDrive, { maxItems: MOST_DRIVES }),
  /** How many it has; `drives` has the first of them. */
  driveCount: t.Integer({ minimum: 0, maximum: 100_000 }),
  nics: t.Array(t.Object({ mac, model: text(30), bridge: text(60) }), { maxItems: MOST_NICS }),
  hasGuestAgent: t.Boolean(),
  /** Devices of the host that were given to it. */
  hostDevices: t.Integer({ minimum: 0, maximum: 100_000 }),
  /** Its definition has settings that only Windows needs. */
  looksLikeWindows: t.Boolean(),
  /** Snapshots that libvirt knows. */
  snapshots: t.Integer({ minimum: 0, maximum: 1_000_000 }),
})
export type SourceDefinition = Static<typeof SourceDefinition>

/** `absent`: libvirt has no such domain. `isPersistent`: it is still there when it is off; null: not known. */
export const SourceServer = t.Object({
  domain: domainName,
  state: t.Enum(sourceStates),
  isPersistent: t.Union([t.Boolean(), t.Null()]),
  definition: t.Union([SourceDefinition, t.Null()]),
  /** Why it could not be looked at, in the words of the source. */
  trouble: text(300),
})
export type SourceServer = Static<typeof SourceServer>

/** The drives that count as disks of the server. An import takes exactly one. */
export const disksOf = ({ drives }: Pick<SourceDefinition, 'drives'>): SourceDrive[] =>
  drives.filter(({ device, isSeed }) => (device === 'disk' || device === 'lun') && !isSeed)

/** The copy of one server's disk, by the id of whoever ordered it. A second attempt has another one. */
export const sourceCopyId = t.String({ pattern: `^${WORKLOAD_ID}$` })
export const MOST_DEFINITION_BYTES = 128 << 10
/** The XML of a domain without its passwords. */
export const keptDefinition = t.String({ minLength: 1, maxLength: MOST_DEFINITION_BYTES, title: 'any text' })
/** The one disk of a server at its source, as it was looked at: the part of `SourceDrive` that a copy needs. */
export const SourceDisk = t.Object({
  path: t.String({ minLength: 1, maxLength: 512, pattern: '^/[^\\u0000-\\u001f]*$' }),
  format: t.Enum(['raw', 'qcow2']),
  holder: SourceDrive.properties.holder,
  virtualBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  backing: SourceDrive.properties.backing,
})
export type SourceDisk = Static<typeof SourceDisk>
/**
 * A pass of a copy. `totalBytes`: of the file or the device; `copiedBytes`: that came from the source in this pass;
 * holes count as nothing. `blocks`: of all, `changedBlocks`: those that came in this pass. `ms`: the time that it took.
 */
export const SourceCopied = t.Object({
  totalBytes: counter,
  copiedBytes: counter,
  blocks: counter,
  changedBlocks: counter,
  ms: counter,
})
export type SourceCopied = Static<typeof SourceCopied>
