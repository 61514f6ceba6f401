import { Failure } from '../../failure.ts'
import type { Copied, DiskChecksum } from '../../protocol/values/transfers.ts'
import type { Input, Power, SshTarget } from '../../protocol/wire.ts'
import type { Disk } from '../storage/storage.ts'

/** The target as it answers `transfer.receive`. */
export type Listening = Pick<SshTarget, 'port' | 'user' | 'hostKeys'>
/** A disk that is served for a transfer; `disk` is made, and has `sizeBytes`. */
export type ServedVolume = { disk: Disk; sizeBytes: number }

/** An open transfer as its target serves it. `until`: in milliseconds since 1970, by this node's clock. */
export type Receiving = {
  transfer: string
  workload: string
  publicKey: string
  from: readonly string[]
  disks: readonly ServedVolume[]
  /** A migration has its disks open alone, so this node serves them to a copy only. */
  by: 'copy' | 'migration'
  until: number
}

/**
 * `disks` in the order in which the target serves its own. `maxMbps`: as it is when it is read. `begun`: the disks that
 * the target may have in part.
 */
export type Copying = {
  transfer: string
  workload: string
  to: SshTarget
  disks: readonly ServedVolume[]
  maxMbps: number | null
  begun: Begun
}
/** A write there has met a full pool. */
export const poolFull = () => new Failure('pool_full', 'the storage pool of the target is full')
export type DiskOfTransfer = { transfer: string; number: number; disk: Disk; sizeBytes: number }
/** Which disks were begun, kept over a crash. */
export type Begun = { has(disk: number): boolean; add(disk: number): void }

/**
 * The path between two nodes, and the copy of disks over it. Every method that changes something converges. What a
 * killed agent left is ended before the first of them does anything. Copies tell their progress to the log of the
 * command.
 */
export interface Transfers {
  /** The public key of the transfer, which is made once. */
  key(transfer: string): Promise<string>
  /**
   * Serves the disks to whoever has the key, until `end`, or `until` for new connections. Called again, it replaces
   * what it serves. Throws `no_ssh_server`.
   */
  receive(receiving: Receiving): Promise<Listening>
  /** Lets the source in until then, and cuts nothing. False: the transfer is not served here. */
  renew(transfer: string, until: number): Promise<boolean>
  /**
   * Makes the target's disks the same as these, which no vm has open. After a cut it goes on where it was. Throws
   * `no_transfer`, `transfer_refused`, `transfer_unreachable`, `transfer_cut`, `disk_differs` and `pool_full`, and
   * `transfer_ended` when `end` is called meanwhile.
   */
  copy(copying: Copying): Promise<Copied>
  /**
   * Copies the disks of a running vm and mirrors what it writes from then on. Resolves when the disks are the same. The
   * mirror ends with the vm, or with `end`. Throws what `copy` throws.
   */
  mirror(copying: Copying): Promise<Copied>
  /** The limit of a copy or mirror that is under way; null: none. */
  limit(transfer: string, maxMbps: number | null): Promise<void>
  /**
   * The checksum of the disk of this number of a transfer, which no vm has open, and which this node may serve for it.
   * One that is asked for while it is read is read once, and after a start of the agent the reading goes on. Throws
   * `transfer_ended` when `end` is called meanwhile.
   */
  checksum(of: DiskOfTransfer, onPercent?: (percent: number) => void): Promise<DiskChecksum>
  /** Ends what a killed agent left. The transfers that are not over stay as far as `receive` and `copy` can go on. */
  sweep(): Promise<void>
  /** Ends what the transfer does on this node, and removes what it needed. */
  end(transfer: string): Promise<void>
}

/** A vm as the recovery after a move finds it: its power, with the reason in the hypervisor's words. */
export type Found = { power: Power; reason: string }
export type Migrating = Omit<Copying, 'begun'>

/** The part of a hypervisor that moves running vms. */
export interface Migration {
  /**
   * Copies the disks of the running vm, where there are any, and from then on what it writes. Its memory is held back
   * until `migrate`. One that this transfer has moved already stays moved. Throws what `Transfers.copy` throws, and
   * `not_running`, `does_not_converge` and `migration_failed`.
   */
  begin(migrating: Migrating): Promise<Copied>
  /**
   * Moves the vm to the target, where it is paused then. A failure leaves it running here; one that this transfer has
   * moved already is moved. Without `begin` since the start of the agent it throws `transfer_cut`, and nothing of an
   * earlier one goes on. `stoppedAt`: when it stopped, by the target's clock. Throws the failures of `begin`.
   */
  migrate(migrating: Migrating): Promise<Copied & { stoppedAt: number }>
  /** The limit of a migration that is under way; null: none. */
  limit(transfer: string, maxMbps: number | null): void
  /**
   * Lets a vm run on that a migration has left paused here; one that runs or is off stays as it is. Answers when, by
   * the clock of this node in milliseconds since 1970; null where it did not. Throws `migration_failed` while its
   * memory is still arriving, and `hypervisor_silent`.
   */
  resume(workload: string): Promise<{ resumedAt: number | null }>
  /** Throws `hypervisor_silent`. */
  find(workload: string): Promise<Found>
  /** Lets the vm of a transfer arrive here, which is defined and off by then, until `forget`. */
  expect(arrival: { transfer: string; workload: string }): Promise<void>
  /** Ends a migration of this transfer from here, and lets none arrive any more. A vm stays where it is. */
  forget(transfer: string): Promise<void>
}

/** A transfer as a node knows it, from `transfer.key` or `transfer.receive` until `transfer.end`. */
export type KnownTransfer = {
  transfer: string
  workload: string
  /** False: the workload is another node's, and is not started here. */
  owns: boolean
  /** The input with which the target was opened; null on the source. */
  receive: Input<'transfer.receive'> | null
  begun: readonly number[]
}
