import type { Input, Output, Volume } from '../../protocol/wire.ts'
import type { Pool } from '../storage/storage.ts'

/** A server at its source: the domain, and the hypervisor; null: this host itself. */
export type OfDomain = Pick<Input<'source-host.save'>, 'host' | 'domain'>
export type Saved = Output<'source-host.save'>
/** `pool`: of `volume`. */
export type SourceCopying = Input<'source-host.copy'> & { pool: Pool }
export type SourceCopied = Output<'source-host.copy'>

/**
 * One server of another panel, on its way to this node. Each method throws `source_unreachable`,
 * `source_host_key_changed`, `source_ssh_too_old`, `source_invalid` and `source_login_refused`, and converges. Every
 * command that runs at the source is a line of the log of the command, with its exit code and its time.
 */
export interface SourceServers {
  /** Throws `source_no_libvirt`, `source_no_domain` and `source_definition_not_kept`. */
  save(of: OfDomain): Promise<Saved>
  /** Throws `source_no_libvirt`, `source_definition_not_kept` and `source_not_stopped`. */
  stop(of: OfDomain, graceSeconds: number): Promise<{ wasRunning: boolean }>
  /** Throws `source_no_libvirt` and `source_not_started`. */
  start(of: OfDomain, definition: string): Promise<void>
  /** Throws `source_definition_not_kept`. */
  forget(of: OfDomain): Promise<void>
}

/** `pool`: of `volume`. */
export type Adopting = Input<'source-host.adopt'> & { pool: Pool }
export type GivingBack = Input<'source-host.give-back'> & { pool: Pool }
export type Adopted = Output<'source-host.adopt'>

/** Servers of another panel on this host itself, whose disks stay where they are. */
export interface Adoptions {
  /**
   * See `source-host.adopt`. Throws `source_invalid`, `source_no_libvirt`, `source_started`,
   * `source_definition_not_kept`, `source_not_undefined`, and as `Pool.takeIn`.
   */
  adopt(adopting: Adopting): Promise<Adopted>
  /**
   * See `source-host.give-back`. Throws `source_invalid`, `source_no_libvirt`, `source_not_defined`, and as
   * `Pool.giveBack`.
   */
  giveBack(giving: GivingBack): Promise<void>
  /** From now on the adoption of this domain stays. */
  forget(domain: string): Promise<void>
}

/** Copies of disks from source hypervisors into the pools of this node. They tell their progress to the log. */
export interface SourceCopies {
  /**
   * One pass of a copy, see `source-host.copy`. Throws `source_unreachable`, `source_host_key_changed`,
   * `source_ssh_too_old`, `source_invalid`, `source_login_refused`, `source_no_libvirt`, `source_started`,
   * `source_read_error`, `source_disk_changed`, `source_copy_ended`, `checksum_differs`, `volume_differs`,
   * `image_refused`, `no_volume` and `pool_full`.
   */
  copy(copying: SourceCopying): Promise<SourceCopied>
  /** Changes the limit of a copy at once, in megabit per second, and that of its later passes. */
  limit(copy: string, maxMbps: number | null): void
  /** Ends a copy that is under way, and deletes all that it made here. */
  discard(copy: string, volume: Volume, pool: Pool): Promise<void>
}
