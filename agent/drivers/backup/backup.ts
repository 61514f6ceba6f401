import { Failure } from '../../failure.ts'
import {
  type BackupCheckResult,
  type BackupsForgotten,
  type BackupTarget,
  type BackupTest,
  type BackupTestResult,
  type BackupTrouble,
  backupFailureCode,
} from '../../protocol/backup.ts'
import type { Disk } from '../storage/storage.ts'

/** A disk that the hypervisor serves by NBD as it was at one moment. */
export type ServedDisk = { socket: string; exportName: string }
/** The disk to be saved. One that is not served is open in no vm. */
export type Source = { served: ServedDisk } | { disk: Disk }

/** The backup to be made; `consistent` is kept with it. */
export type ToSave = {
  backup: string
  workload: string
  sizeBytes: number
  consistent: boolean
  limitBytesPerSecond?: number | undefined
}
/** A backup that is there whole. `addedBytes` is unknown after a crash. */
export type Saved = { snapshot: string; diskBytes: number; addedBytes?: number; consistent: boolean }

/**
 * Backups from this node, each a snapshot of one disk in a target. All but `test` and `check` throw a `Failure` with a
 * code of `BackupTrouble`.
 */
export interface Backups {
  /**
   * Tries the target as a backup does: makes its repository unless it is there, stores a few bytes, reads them back,
   * and finds whether they could be erased. Before that it looks for the snapshots that are to be there. What is wrong
   * is a finding and never thrown.
   */
  test(target: BackupTest): Promise<BackupTestResult>
  /** The whole backup with this id; undefined without one, also where there is no repository yet. */
  find(target: BackupTarget, backup: string): Promise<Saved | undefined>
  /** Saves a disk. `signal` ends it, and then, as after any failure, no snapshot is left. */
  save(target: BackupTarget, what: ToSave, source: Source, signal: AbortSignal): Promise<Saved>
  /** The size of the disk that a snapshot holds, in bytes. */
  diskBytes(target: BackupTarget, snapshot: string): Promise<number>
  /** The most that this disk takes where holes take nothing, in bytes. Reads the list of all its parts. */
  dataBytes(target: BackupTarget, snapshot: string): Promise<number>
  /** Writes the disk of a snapshot to the beginning of `disk`, which is empty. */
  load(target: BackupTarget, snapshot: string, disk: Disk): Promise<void>
  /** Forgets these snapshots, and all that these backups have made. */
  forget(target: BackupTarget, snapshots: readonly string[], backups: readonly string[]): Promise<BackupsForgotten>
  /** Frees what no snapshot needs. Answers the bytes. */
  prune(target: BackupTarget): Promise<number>
  /** Reads the part `part` of `of` of everything. What is wrong is a finding and never thrown. */
  check(target: BackupTarget, part: number, of: number): Promise<BackupCheckResult>
}

export const backupFailure = (trouble: BackupTrouble, words: string) => new Failure(backupFailureCode(trouble), words)
