// A host as the commands use it: one driver of each kind, and the state. The real and the fake host have the same type,
// so that commands, connection and journal are the same code for both.
import type { Static } from 'typebox'
import type { Access } from '../drivers/access/access.ts'
import type { Backups } from '../drivers/backup/backup.ts'
import type { BackupRuns } from '../drivers/backup/backup-runs.ts'
import type { BackupFiles } from '../drivers/backup/files.ts'
import type { Consoles } from '../drivers/console/consoles.ts'
import type { Containers } from '../drivers/container/container.ts'
import type { Gpus } from '../drivers/gpu/gpus.ts'
import type { GuestAgent } from '../drivers/guest-agent/guest-agent.ts'
import type { HttpNames } from '../drivers/http-names/http-names.ts'
import type { FirmwareStates } from '../drivers/hypervisor/firmware-state.ts'
import type { Hypervisor } from '../drivers/hypervisor/hypervisor.ts'
import type { Images } from '../drivers/images/images.ts'
import type { Network } from '../drivers/network/network.ts'
import type { Seeds } from '../drivers/seed/seed.ts'
import type { SourceHosts } from '../drivers/source-host/source-hosts.ts'
import type { Adoptions, SourceCopies, SourceServers } from '../drivers/source-host/source-servers.ts'
import type { SourceRemovals } from '../drivers/source-removal/source-removals.ts'
import type { Storage } from '../drivers/storage/storage.ts'
import type { Migration, Transfers } from '../drivers/transfer/transfer.ts'
import type { Workspaces } from '../drivers/workspace/workspaces.ts'
import type { CommandDeclaration } from '../protocol/commands/declare.ts'
import type { CommandName, Facts } from '../protocol/wire.ts'
import type { State } from '../state.ts'
import type { Metering } from './metering.ts'
import type { HostCounters } from './metrics/counters.ts'
import type { Routing } from './network/routing.ts'
import type { VlanNetworking } from './network/vlan-networking.ts'
import type { PortSecurity } from './port-security.ts'
import type { PrivateNetworking } from './private-networking.ts'

export interface Host {
  hypervisor: Hypervisor
  guestAgent: GuestAgent
  consoles: Consoles
  storage: Storage
  network: Network
  portSecurity: PortSecurity
  privateNetworking: PrivateNetworking
  routing: Routing
  /** The VLANs that its vms are in. */
  vlans: VlanNetworking
  seeds: Seeds
  images: Images
  /** ISOs are downloaded and kept as images are, and attached as they are. */
  isos: Images
  backups: Backups
  backupRuns: BackupRuns
  containers: Containers
  /** The ways into container instances: SSH, addresses, ports. */
  access: Access
  /** Names for HTTP ports of container instances. */
  httpNames: HttpNames
  workspaces: Workspaces
  gpus: Gpus
  /** Moves to and from other nodes. */
  transfers: Transfers
  migration: Migration
  /** The stored states of firmware, on their way between nodes. */
  firmwareStates: FirmwareStates
  /** Hypervisors of other panels, from which servers are imported. */
  sourceHosts: SourceHosts
  /** One server of them at a time, which is brought here. */
  sourceServers: SourceServers
  sourceCopies: SourceCopies
  /** The software of another panel on this host, whose servers were adopted. */
  sourceRemovals: SourceRemovals
  adoptions: Adoptions
  backupFiles: BackupFiles
  metering: Metering
  state: State
  /** How many processes the kernel has killed since the boot because memory ran out. */
  oomKills(): number
  facts(): Promise<Facts>
  /** Opens a text that was encrypted for this node. Throws `encrypted_for_another`. */
  decrypt(about: string, encrypted: string): string
  /** See `EnrollRequest.machineId`. */
  machineId(): string | undefined
  load(): Promise<Load>
  /** Milliseconds between two heartbeats with their metrics, on a fake host that sends more of them. */
  heartbeatMs?: number
  /** A part of the host that has not answered for so many milliseconds is silent. */
  silentAfterMs: number
  /** The use of the host itself since its boot, for its metrics. */
  hostCounters(): HostCounters
  /** Runs a command's work; the fake host injects faults here. */
  withFaults(name: CommandName, workload: string | undefined, work: () => Promise<unknown>): Promise<unknown>
  close(): void
}

/** A heartbeat waits so long for what it is to tell: less than the time until the next one. */
export const SILENT_AFTER_MS = 8000

/** The host's figures in a heartbeat. */
export type Load = { cpuPercent: number; load1: number; memoryFreeMb: number }

/**
 * The handlers of these commands. One that acts converges on `input`; each throws a `Failure` with a code that its
 * command declares when the node cannot do it.
 */
export type Handlers<D extends Record<string, CommandDeclaration>> = {
  [N in keyof D]: (input: Static<D[N]['input']>, host: Host) => Promise<Static<D[N]['output']>>
}
