// A host, as commands see it: one driver of each kind, and what the node must remember. Real and fake have the same type, so
// commands, connection and journal are the same code in both.
import type { Hypervisor } from '../drivers/hypervisor/hypervisor.ts'
import type { Images } from '../drivers/images/images.ts'
import type { Network } from '../drivers/network/network.ts'
import type { Seeds } from '../drivers/seed/seed.ts'
import type { Storage } from '../drivers/storage/storage.ts'
import type { CommandName, Facts } from '../protocol/wire.ts'
import type { State } from '../state.ts'
import type { PortSecurity } from './port-security.ts'

export interface Host {
  hypervisor: Hypervisor
  storage: Storage
  network: Network
  portSecurity: PortSecurity
  seeds: Seeds
  images: Images
  state: State
  /** Changes whenever the host boots. */
  bootId: string
  facts(): Promise<Facts>
  load(): Promise<Load>
  /** Stands between the journal and a command; the fake host injects faults here. */
  withFaults(name: CommandName, workload: string | undefined, work: () => Promise<unknown>): Promise<unknown>
  close(): void
}

/** The host's figures in a heartbeat. */
export type Load = { cpuPercent: number; load1: number; memoryFreeMb: number }
