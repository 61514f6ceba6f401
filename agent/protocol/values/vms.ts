// Vms in the protocol: the machine, its limits, its power.
import { type Static, Type as t } from 'typebox'
import { bridgeName, RestartPolicy, workloadId } from '../bounds.ts'
import { isoId, Volume } from './disks.ts'
import { mac, tap } from './ports.ts'
import { vlanId } from './vlans.ts'

export const machines = ['q35', 'pc'] as const
/** `uefi_secure` is UEFI with Secure Boot and Microsoft's keys. */
export const firmwares = ['bios', 'uefi', 'uefi_secure'] as const
/** Windows expects another clock and other devices than Linux, and reads another seed. */
export const osFamilies = ['linux', 'windows'] as const
export type OsFamily = (typeof osFamilies)[number]
/** The buses of a system's disk, and the models of its network card. A system has drivers for those that it knew. */
export const diskBuses = ['virtio', 'scsi', 'sata', 'ide'] as const
export type DiskBus = (typeof diskBuses)[number]
export const nicModels = ['virtio', 'e1000', 'rtl8139'] as const
export type NicModel = (typeof nicModels)[number]
/**
 * The machine that a system was installed on. UEFI needs `q35`, the newer machine. `tpm`: it has a TPM 2.0. `os` is the
 * family of the system, Linux where it is left out. `diskBus` and `nicModel` are of its own disk and its public card,
 * virtio where they are left out; everything else that a vm is given is virtio. `scsi` is virtio-scsi. IDE, whose four
 * places the CD drive shares, is a part of the machine `pc`: on `q35` it is SATA.
 */
export const Hardware = t.Object(
  {
    machine: t.Enum(machines),
    firmware: t.Enum(firmwares),
    tpm: t.Boolean(),
    os: t.Optional(t.Enum(osFamilies)),
    diskBus: t.Optional(t.Enum(diskBuses)),
    nicModel: t.Optional(t.Enum(nicModels)),
  },
  { title: 'Hardware' },
)
export type Hardware = Static<typeof Hardware>
/** The device that a vm tries first when it starts; the other one follows. */
export const bootFirsts = ['disk', 'cd'] as const
export type BootFirst = (typeof bootFirsts)[number]

/** The name of a CPU model of QEMU, such as `Westmere`. */
export const cpuModel = t.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$' })
export const MOST_CPU_MODELS = 300

/** The hardware of a vm whose image asks for nothing else. */
export const usualHardware: Hardware = { machine: 'q35', firmware: 'bios', tpm: false }
/** The fields of a vm with that hardware, without ISO, and not in rescue. */
export const usualMachine = { hardware: usualHardware, bootFirst: 'disk', iso: null, rescue: null } as const

const mbps = t.Union([t.Integer({ minimum: 1, maximum: 10_000_000 }), t.Null()])
const perSecond = t.Union([t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), t.Null()])
/** The limits of each disk of a vm, per second; null: none. */
export const DiskSpeed = t.Object({
  reads: perSecond,
  writes: perSecond,
  readBytes: perSecond,
  writtenBytes: perSecond,
})
export type DiskSpeed = Static<typeof DiskSpeed>
/**
 * The limits of a running vm; null: none. `inMbps` is traffic to the vm and `outMbps` from it, in megabit per second;
 * `cpuPercent` is processor time, 100 for one processor. Without `disk` its disks are not limited.
 */
export const Speed = t.Object({
  inMbps: mbps,
  outMbps: mbps,
  cpuPercent: t.Union([t.Integer({ minimum: 1, maximum: 51_200 }), t.Null()]),
  disk: t.Optional(DiskSpeed),
})
export type Speed = Static<typeof Speed>

/** A vm's hardware, independent of the hypervisor, and what the node does when it ends by itself. */
export const Vm = t.Object({
  workload: workloadId,
  hostname: t.String({ maxLength: 253 }),
  vcpus: t.Integer({ minimum: 1, maximum: 512 }),
  memoryMb: t.Integer({ minimum: 32, maximum: 2 ** 30 }),
  volume: Volume,
  hardware: Hardware,
  /** Left out: all that the CPU of the host has. */
  cpuModel: t.Optional(cpuModel),
  bootFirst: t.Enum(bootFirsts),
  /** The ISO in its CD drive. */
  iso: t.Union([isoId, t.Null()]),
  /** The disk of a rescue system: the vm boots from it, and its own disk is the second. */
  rescue: t.Union([Volume, t.Null()]),
  network: t.Object({
    bridge: bridgeName,
    /** Its card is in this VLAN of the uplink, and not on `bridge`. */
    vlan: t.Optional(vlanId),
    tap,
    mac,
  }),
  speed: Speed,
  /** True until the guest has booted once: the seed is attached as a CD-ROM. */
  seeded: t.Boolean(),
  /** In force at once, also for a running vm. */
  restartPolicy: RestartPolicy,
})
export type Vm = Static<typeof Vm>

/** A workload's power as the node reports it; `absent`: not defined on the node. A container is never paused. */
export const Power = t.Enum(['running', 'stopped', 'paused', 'crashed', 'absent'])
export type Power = Static<typeof Power>
