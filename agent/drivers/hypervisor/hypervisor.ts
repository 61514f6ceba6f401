import type { DiskSpeed, Power, Vm, Volume } from '../../protocol/wire.ts'
import type { ServedDisk } from '../backup/backup.ts'
import type { Disk } from '../storage/storage.ts'

/**
 * State and counters of one vm: `cpuMs` is processor time. Counters are totals since its start, seen from the vm (`rx`
 * is received by it).
 */
export type Figures = { id: string; power: Power; cpuMs: number; rxBytes: number; txBytes: number }
/**
 * Why a vm is off. `shutdown`: its guest shut it down; `destroyed`: it was switched off; `crashed`: it ended by itself,
 * was killed or did not start; `unknown`: the hypervisor has started since, after a boot of the host or alone.
 */
export type OffReason = 'shutdown' | 'destroyed' | 'crashed' | 'unknown'
export type Seen = Figures & { off?: OffReason; rxPackets: number; txPackets: number }
/** Totals of all disks of a running vm since its start, and the memory in use where its guest tells it. */
export type Usage = {
  id: string
  readBytes: number
  writtenBytes: number
  reads: number
  writes: number
  memoryUsedMb?: number
}
/** A change of power; `at` in milliseconds, `reason` in the hypervisor's words. */
export type PowerEvent = { workload: string; power: Power; at: number; reason: string }

/** A vm as the hypervisor needs it. Without `network` it has no public network card. */
export type Machine = Omit<Vm, 'network'> & { network: Vm['network'] | null }

/** A network card on a private network. */
export type Nic = { tap: string; mac: string; bridge: string; mtu: number }

/** A disk beside the own one of a vm, with the serial number by which its guest knows it. */
export type ExtraDisk = { disk: Disk; serial: string }

/** Devices beside the disk, the seed and the public network card. `iso` is the path of the file in the CD drive. */
export type Drives = {
  rescue?: Disk | undefined
  iso?: string | undefined
  nics?: readonly Nic[]
  volumes?: readonly ExtraDisk[]
}

/**
 * A hypervisor, as far as the agent needs one. A vm is named by its workload's id; vms without Berth's mark are never
 * changed. Every method that changes something converges. All throw `tool_failed` or `tool_timeout` when the hypervisor
 * does not answer.
 */
export interface Hypervisor {
  /**
   * Creates the definition or replaces it, which takes effect at the next start; a running vm is not touched.
   * `seedPath` is attached as a CD-ROM. With a rescue disk the vm boots from that, and `disk` is its second. Throws
   * `no_virtualisation` on a host that runs no vms, and `no_firmware` when it cannot run this hardware.
   */
  define(vm: Machine, disk: Disk, seedPath: string | undefined, drives?: Drives): Promise<void>
  /** `absent` when the vm is not defined. Throws `hypervisor_silent` when the hypervisor does not answer. */
  power(workload: string): Promise<Power>
  /** Starts a stopped vm and resumes a paused one. Throws `no_vm` when it is not defined. */
  start(workload: string): Promise<void>
  /**
   * Asks the guest to shut down, waits up to `graceSeconds`, then switches it off; 0: at once. Throws `does_not_stop`.
   */
  stop(workload: string, graceSeconds: number): Promise<void>
  /**
   * Enlarges a disk of a running or paused vm, whose guest sees it at once. The caller makes sure that it does not
   * shrink: the hypervisor would do that too.
   */
  growDisk(workload: string, disk: Disk, sizeBytes: number): Promise<void>
  /** The files of the own disk of a running or paused vm, from the layer that it writes down to the first. */
  layers(workload: string): Promise<string[]>
  /**
   * From now on the running or paused vm writes to `disk`, which becomes a layer on the one that it has. A file that is
   * left from an interrupted call is replaced; the caller makes sure that the vm does not use it.
   */
  addLayer(workload: string, disk: Disk): Promise<void>
  /**
   * Writes the layer at `from` into the one at `into` below it, while the vm runs or is paused; `from` is then none of
   * its layers. What a call before left unfinished is begun again.
   */
  commitLayer(workload: string, from: string, into: string): Promise<void>
  /**
   * Serves the own disk of a running or paused vm as it is at this moment, while the vm writes on: the old data is kept
   * in the file `scratch`, which must not exist. Once at a time for each vm, until `endServing` or the vm's end.
   */
  serveDisk(workload: string, scratch: string): Promise<ServedDisk>
  /** Ends that; without it, also without a vm, nothing happens. */
  endServing(workload: string): Promise<void>
  /**
   * Limits the processor time of a running or paused vm until it ends; 100 is one processor, null no limit. Throws
   * `tool_failed` when it does not run.
   */
  limitCpu(workload: string, percent: number | null): Promise<void>
  /**
   * Limits each disk of a running or paused vm until it ends; undefined: no limit. The definition has the limits of the
   * next start. Throws `tool_failed` when it does not run.
   */
  limitDisks(workload: string, limits: DiskSpeed | undefined): Promise<void>
  /** Removes the seed's CD-ROM from the running vm and from its definition. */
  eject(workload: string): Promise<void>
  /**
   * Puts the ISO at this path into the CD drive, or empties it, in the definition and in a running vm. Throws `no_vm`.
   */
  insert(workload: string, isoPath: string | undefined): Promise<void>
  /**
   * Gives the vm exactly these cards beside its public one, in its definition and at once in a running vm. False: the
   * running vm cannot change, so they come and go at its next start. Without a vm it does nothing.
   */
  setNics(workload: string, nics: readonly Nic[]): Promise<boolean>
  /**
   * Adds a disk to the definition and to a running vm, with the limits of its disks; without a vm it does nothing.
   * Throws `tool_failed` when the vm has no free port for it.
   */
  attachVolume(workload: string, volume: ExtraDisk, limits: DiskSpeed | undefined): Promise<void>
  /**
   * Takes the disk with this serial number from a running vm, whose guest has to release it, and then from the
   * definition; without it, also without a vm, nothing happens. Throws `volume_held` when the guest keeps it.
   */
  detachVolume(workload: string, serial: string): Promise<void>
  /** Deletes what firmware has stored for the system on this volume. A definition that boots from it loses it. */
  forgetFirmware(volume: Volume): Promise<void>
  /** Switches the vm off and deletes its definition; its disk stays. */
  remove(workload: string): Promise<void>
  /** True when the guest agent answers a ping within 5 s. Nothing else that a guest sends is trusted. */
  guestAnswers(workload: string): Promise<boolean>
  /** Every vm with Berth's mark, and the names of those without it, in one query. A vm that is off has `off`. */
  look(): Promise<{ ours: Seen[]; foreign: string[] }>
  /** Disks and memory of every running vm with Berth's mark. It takes seconds on a node with many vms. */
  usage(): Promise<Usage[]>
  /** Yields changes of power as they happen. Ends when its source breaks off; the caller then subscribes again. */
  events(signal: AbortSignal): AsyncIterable<PowerEvent>
}
