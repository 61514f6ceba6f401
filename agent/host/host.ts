// A host as the commands use it: one driver of each kind, and the state. The real and the fake host have the same type,
// so that commands, connection and journal are the same code for both.
import type { Hypervisor } from '../drivers/hypervisor/hypervisor.ts'
import type { Images } from '../drivers/images/images.ts'
import type { Network } from '../drivers/network/network.ts'
import type { Seeds } from '../drivers/seed/seed.ts'
import type { Storage } from '../drivers/storage/storage.ts'
import type { CommandName, Facts } from '../protocol/wire.ts'
import type { State } from '../state.ts'
import type { Metering } from './metering.ts'
import type { PortSecurity } from './port-security.ts'

export interface Host {
  hypervisor: Hypervisor
  storage: Storage
  network: Network
  portSecurity: PortSecurity
  seeds: Seeds
  images: Images
  metering: Metering
  state: State
  /** How many processes the kernel has killed since the boot because memory ran out. */
  oomKills(): number
  facts(): Promise<Facts>
  /** See `EnrollRequest.machineId`. */
  machineId(): string | undefined
  load(): Promise<Load>
  /** Runs a command's work; the fake host injects faults here. */
  withFaults(name: CommandName, workload: string | undefined, work: () => Promise<unknown>): Promise<unknown>
  close(): void
}

/** The host's figures in a heartbeat. */
export type Load = { cpuPercent: number; load1: number; memoryFreeMb: number }
