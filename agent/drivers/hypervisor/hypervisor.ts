import type { Power, Vm } from '../../protocol/wire.ts'
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
export type Seen = Figures & { off?: OffReason }
/** A change of power; `at` in milliseconds, `reason` in the hypervisor's words. */
export type PowerEvent = { workload: string; power: Power; at: number; reason: string }

/**
 * A hypervisor, as far as the agent needs one. A vm is named by its workload's id; vms without Berth's mark are never
 * changed. Every method that changes something converges. All throw `tool_failed` or `tool_timeout` when the hypervisor
 * does not answer.
 */
export interface Hypervisor {
  /**
   * Creates the definition or replaces it, which takes effect at the next start; a running vm is not touched.
   * `seedPath` is attached as a CD-ROM. Throws `no_virtualisation` on a host that runs no vms.
   */
  define(vm: Vm, disk: Disk, seedPath: string | undefined): Promise<void>
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
  /** Removes the seed's CD-ROM from the running vm and from its definition. */
  eject(workload: string): Promise<void>
  /** Switches the vm off and deletes its definition; its disk stays. */
  remove(workload: string): Promise<void>
  /** True when the guest agent answers a ping within 5 s. Nothing else that a guest sends is trusted. */
  guestAnswers(workload: string): Promise<boolean>
  /** Every vm with Berth's mark, and the names of those without it, in one query. A vm that is off has `off`. */
  look(): Promise<{ ours: Seen[]; foreign: string[] }>
  /** Yields changes of power as they happen. Ends when its source breaks off; the caller then subscribes again. */
  events(signal: AbortSignal): AsyncIterable<PowerEvent>
}
