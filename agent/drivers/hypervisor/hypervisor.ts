import type { Power, Vm } from '../../protocol/wire.ts'
import type { Disk } from '../storage/storage.ts'

/** Counters are totals since the guest started, as the guest sees them. */
export type Figures = { id: string; power: Power; cpuNanoseconds: number; rxBytes: number; txBytes: number }
export type PowerEvent = { workload: string; power: Power; at: number; reason: string }

/**
 * What the agent needs of a hypervisor, and no more. Every verb that changes something converges: doing it again does nothing.
 * A guest is known by its workload id; guests without our mark are never touched.
 */
export interface Hypervisor {
  /** Creates or replaces the definition; a running guest goes on as it is. `seedPath` is attached as a CD-ROM. */
  define(vm: Vm, disk: Disk, seedPath: string | undefined): Promise<void>
  power(workload: string): Promise<Power>
  /** Throws `no_vm` when it was never defined. */
  start(workload: string): Promise<void>
  /** Asks the guest, waits `graceSeconds`, then pulls the plug. 0 pulls it at once. */
  stop(workload: string, graceSeconds: number): Promise<void>
  /** Takes the seed's CD-ROM out, now and for later starts. */
  eject(workload: string): Promise<void>
  /** Off and undefined; its disk stays. */
  remove(workload: string): Promise<void>
  /** True when the guest agent inside answers a ping within 5 s. What a guest says proves nothing else. */
  guestAnswers(workload: string): Promise<boolean>
  /** Every guest with our mark, in one question, and the names of those without. */
  look(): Promise<{ ours: Figures[]; foreign: string[] }>
  /** Changes of power as they happen. Ends when the source breaks off; the caller asks again. */
  events(signal: AbortSignal): AsyncIterable<PowerEvent>
}
