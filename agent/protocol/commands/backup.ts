import { Type as t } from 'typebox'
import {
  BackupCheckResult,
  BackupForget,
  BackupMade,
  BackupsForgotten,
  BackupTarget,
  BackupTest,
  BackupTestResult,
  backupFailures,
  backupId,
  MOST_PARTS,
  snapshotId,
} from '../backup.ts'
import { counter } from '../bounds.ts'
import { Volume } from '../values/disks.ts'
import { act } from './declare.ts'
import { findsDisk, makesDisk } from './storage.ts'

export const backupCommands = {
  /**
   * Tries a place for backups as a backup does, and looks for what it is said to hold. What is wrong with it is the
   * answer and no failure. It leaves a few bytes in a repository of its own there.
   */
  'backup-target.test': act({ input: BackupTest, output: BackupTestResult, failures: [] }),
  /**
   * Saves the disk as it is at one moment, while its vm runs on; where the guest agent answers, file systems are frozen
   * at that moment. Sent again, it answers what it made before. Other commands of the workload do not wait for it.
   */
  'backup.make': act({
    input: t.Object({
      backup: backupId,
      volume: Volume,
      target: BackupTarget,
      limitBytesPerSecond: t.Optional(t.Integer({ minimum: 1024, maximum: 2 ** 40 })),
    }),
    output: BackupMade,
    failures: [...backupFailures, ...findsDisk, 'no_volume', 'no_vm', 'pool_full', 'hypervisor_silent'],
    outOfTurn: true,
  }),
  /** Makes a disk of `sizeBytes` with what a snapshot holds. A disk that exists stays as it is. */
  'backup.restore': act({
    input: t.Object({
      snapshot: snapshotId,
      volume: Volume,
      sizeBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      target: BackupTarget,
    }),
    output: t.Object({}),
    failures: [...backupFailures, ...makesDisk, 'disk_too_small'],
  }),
  /** Forgets snapshots; what they alone took is free after `backup.prune`. */
  'backup.forget': act({ input: BackupForget, output: BackupsForgotten, failures: backupFailures }),
  /** Frees what no snapshot needs any more. */
  'backup.prune': act({
    input: t.Object({ target: BackupTarget }),
    output: t.Object({ freedBytes: counter }),
    failures: backupFailures,
  }),
  /**
   * Reads the part `part` of `of` of all that the repository holds, which it locks meanwhile. What is wrong is the
   * answer and no failure.
   */
  'backup.check': act({
    input: t.Object({
      target: BackupTarget,
      part: t.Integer({ minimum: 1, maximum: MOST_PARTS }),
      of: t.Integer({ minimum: 1, maximum: MOST_PARTS }),
    }),
    output: BackupCheckResult,
    failures: [],
  }),
}
