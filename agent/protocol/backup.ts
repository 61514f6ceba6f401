// Places for backups: how their addresses are written, and what a test of one can find.
import { type Static, Type as t } from 'typebox'
import { anyText, counter, line, timestamp } from './bounds.ts'

export const backupTargetKinds = ['local', 'sftp', 's3', 'rest'] as const
export type BackupTargetKind = (typeof backupTargetKinds)[number]

/** The file by which the administrator of a node says that a folder is for backups, and that its disk is mounted. */
export const LOCAL_MARKER = '.berth-backups'

const PATH = '(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,99}){1,12}'
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const HOST = `(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9a-fA-F:.]{2,45}\\])`
const forms: Readonly<Record<BackupTargetKind, RegExp>> = {
  local: new RegExp(`^(?<path>${PATH})$`),
  sftp: new RegExp(`^sftp://(?<host>${HOST})(?::(?<port>[0-9]{1,5}))?(?<path>${PATH})$`),
  s3: new RegExp(`^(?<scheme>https?)://(?<host>${HOST})(?::(?<port>[0-9]{1,5}))?(?<path>${PATH})$`),
  rest: new RegExp(`^(?<scheme>https?)://(?<host>${HOST})(?::(?<port>[0-9]{1,5}))?(?<path>(?:${PATH})?)/?$`),
}

/** `path` begins with a slash, or is empty. */
export type BackupAddress = { scheme: string; host: string; port: number; path: string }
const usualPorts: Readonly<Record<string, number>> = { sftp: 22, http: 80, https: 443 }

/** Undefined for what is no address of this kind. A name in a path begins with a letter or digit, so none leads up. */
export function backupAddress(kind: BackupTargetKind, text: string): BackupAddress | undefined {
  const { groups } = (text.length <= 500 && forms[kind].exec(text)) || {}
  if (!groups) return undefined
  const scheme = groups['scheme'] ?? kind
  const port = Number(groups['port'] ?? usualPorts[scheme] ?? 0)
  if (port > 65_535 || (port === 0 && kind !== 'local')) return undefined
  const host = (groups['host'] ?? '').replace(/^\[|\]$/g, '')
  // In the clear only within the machine, where a tunnel or a proxy may listen.
  if (scheme === 'http' && !/^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|localhost)$/.test(host)) return undefined
  return { scheme, host, port, path: groups['path'] ?? '' }
}

/**
 * A target with what reaches it. `secret` is an SSH key, the secret key of S3, or the password of a REST server;
 * `trust` the host key of SFTP, or the certificate of an authority. `password` opens the repository `repository` in it.
 */
export const BackupTarget = t.Object({
  kind: t.Enum(backupTargetKinds),
  address: line(500),
  login: t.String({ maxLength: 128, pattern: '^[A-Za-z0-9._@+=/-]*$' }),
  secret: anyText(16_384),
  trust: anyText(16_384),
  repository: t.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,62}$' }),
  password: t.String({ pattern: '^[A-Za-z0-9_-]{16,128}$' }),
})
export type BackupTarget = Static<typeof BackupTarget>

/** The findings of a test. `works` is the only good one. */
export const backupFindings = [
  'works',
  'restic_missing',
  'not_prepared',
  'unreachable',
  'certificate',
  'host_key',
  'login_refused',
  'not_writable',
  'wrong_password',
  'locked',
  'full',
  'slow',
  'unreliable',
  'backups_missing',
  'failed',
] as const
export type BackupFinding = (typeof backupFindings)[number]

/** Can a node that was stolen erase what is there? `unknown`: the target does not tell. */
export const appendOnlyKinds = ['yes', 'no', 'unknown'] as const

/** The most repositories for whose backups one test looks. */
export const MOST_HELD = 5
/** A target that is tried; `holds`: snapshots that are to be there, each in its repository. */
export const BackupTest = t.Object({
  ...BackupTarget.properties,
  holds: t.Optional(
    t.Array(
      t.Object({
        repository: BackupTarget.properties.repository,
        password: BackupTarget.properties.password,
        snapshot: t.String({ pattern: '^[0-9a-f]{64}$' }),
      }),
      { maxItems: MOST_HELD },
    ),
  ),
})
export type BackupTest = Static<typeof BackupTest>

/** `detail`: what the target or restic said, without secrets; empty where the finding says all. */
export const BackupTestResult = t.Object({
  finding: t.Enum(backupFindings),
  detail: line(300),
  appendOnly: t.Enum(appendOnlyKinds),
  seconds: t.Number({ minimum: 0, maximum: 100_000 }),
})
export type BackupTestResult = Static<typeof BackupTestResult>

/** Other troubles of backups, in a place that works. */
export const backupTroubles = ['no_snapshot', 'damaged', 'append_only', 'interrupted'] as const
export type BackupTrouble = Exclude<BackupFinding, 'works'> | (typeof backupTroubles)[number]
/** The code with which a command about backups fails. */
export const backupFailureCode = <T extends BackupTrouble>(trouble: T) => `backup_${trouble}` as const
/** All of them. */
export const backupFailures = [...backupFindings.filter((finding) => finding !== 'works'), ...backupTroubles].map(
  backupFailureCode,
)

export const backupId = t.String({ pattern: '^bkp_[0-9a-z]{26}$' })
/** A snapshot in a repository of restic, which holds one disk. */
export const snapshotId = t.String({ pattern: '^[0-9a-f]{64}$' })
/** The most snapshots that one command forgets. */
export const MOST_FORGOTTEN = 200
const snapshotIds = t.Array(snapshotId, { maxItems: MOST_FORGOTTEN })

/**
 * A disk that was saved: `diskBytes` as the guest sees it, `addedBytes` that the target took for it; 0 where a crash
 * lost the count. `consistent`: file systems were frozen, or the guest had shut down.
 */
export const BackupMade = t.Object({
  snapshot: snapshotId,
  diskBytes: counter,
  addedBytes: counter,
  consistent: t.Boolean(),
  seconds: t.Number({ minimum: 0, maximum: 10_000_000 }),
})
export type BackupMade = Static<typeof BackupMade>

export const BackupForget = t.Object({
  snapshots: snapshotIds,
  /** All that these backups have made so far; one that is being made is stopped first. */
  backups: t.Optional(t.Array(backupId, { maxItems: MOST_FORGOTTEN })),
  target: BackupTarget,
})
export type BackupForget = Static<typeof BackupForget>

/** `kept`: the target is append-only. */
export const BackupsForgotten = t.Object({ gone: snapshotIds, kept: snapshotIds })
export type BackupsForgotten = Static<typeof BackupsForgotten>

/**
 * How a restored system showed that it works, the strongest first. `agent`: its guest agent answers. `console`: its
 * serial line shows a login or the end of its start. `disk`: it runs and has read much from its disk.
 */
export const drillProofs = ['agent', 'console', 'disk'] as const
export type DrillProof = (typeof drillProofs)[number]

/** The parts into which a check can divide what there is to read. */
export const MOST_PARTS = 256
export const backupCheckFindings = [...backupFindings, 'damaged'] as const
export const BackupCheckResult = t.Object({ finding: t.Enum(backupCheckFindings), detail: line(300) })
export type BackupCheckResult = Static<typeof BackupCheckResult>

// ---------------------------------------------------------------- files of a backup
/** The kinds of file systems that are told apart. Files are read of `ext` alone: ext2, ext3 and ext4. */
export const fileSystems = ['ext', 'xfs', 'btrfs', 'ntfs', 'fat', 'encrypted', 'lvm', 'swap', 'unknown'] as const
export type FileSystem = (typeof fileSystems)[number]
/** `other`: a device, a pipe or a socket. Of a link nothing is followed. */
export const backupFileKinds = ['file', 'directory', 'link', 'other'] as const
export type BackupFileKind = (typeof backupFileKinds)[number]

/** Entries of a directory in one answer: with names of 255 bytes each they still fit a frame. */
export const MOST_ENTRIES = 400
/** Entries of a directory that can be reached at all. */
export const MOST_SKIPPED = 1_000_000
const MOST_PARTITION = 256
const partition = t.Integer({ minimum: 0, maximum: MOST_PARTITION })

/** 0: the disk has no partitions. */
export const BackupPartition = t.Object({ number: partition, sizeBytes: counter, fileSystem: t.Enum(fileSystems) })
export type BackupPartition = Static<typeof BackupPartition>
export const BackupEntry = t.Object({
  /** Bytes that are no UTF-8 are written as `\xff`. */
  name: anyText(1100),
  kind: t.Enum(backupFileKinds),
  sizeBytes: counter,
  /** When it was last written, in ms; null where that cannot be told. */
  modifiedAt: t.Union([timestamp, t.Null()]),
})
export type BackupEntry = Static<typeof BackupEntry>
/** A page of a directory, directories first, by name. `partition` is null where no partition can be read. */
export const BackupListing = t.Object({
  partitions: t.Array(BackupPartition, { maxItems: MOST_PARTITION }),
  partition: t.Union([partition, t.Null()]),
  entries: t.Array(BackupEntry, { maxItems: MOST_ENTRIES }),
  /** Entries of the directory in all. `isCut`: it has more, which cannot be reached. */
  total: counter,
  isCut: t.Boolean(),
})
export type BackupListing = Static<typeof BackupListing>

/** The names on the way from the root directory. */
const path = t.Array(t.String({ minLength: 1, maxLength: 1100 }), { maxItems: 200 })
/**
 * The question of the controller over a socket that the node opened for it. Without `partition`: the largest one that
 * can be read.
 */
const ofBackup = { target: BackupTarget, snapshot: snapshotId, path, partition: t.Optional(partition) }
export const ToFiles = t.Union([
  t.Object({
    type: t.Literal('list'),
    ...ofBackup,
    skip: t.Integer({ minimum: 0, maximum: MOST_SKIPPED }),
  }),
  t.Object({ type: t.Literal('read'), ...ofBackup }),
  /** So many bytes of the file have left the controller. */
  t.Object({ type: t.Literal('ack'), bytes: counter }),
])
export type ToFiles = Static<typeof ToFiles>
export type FilesRequest = Exclude<ToFiles, { type: 'ack' }>

/** The troubles of a node with files of a backup, beside those of `BackupTrouble`, with the prefix `backup_`. */
export const filesFailures = [
  'file_not_found',
  'not_a_directory',
  'not_a_file',
  'no_file_system',
  'file_system_damaged',
  'file_too_large',
  'too_many',
  'tool_missing',
  'failed',
] as const
export type FilesFailure = (typeof filesFailures)[number]
/** Answers of the node: a listing; or the size of a file, its bytes in binary frames, and their end. */
export const FromFiles = t.Union([
  t.Object({ type: t.Literal('listing'), listing: BackupListing }),
  t.Object({ type: t.Literal('file'), sizeBytes: counter }),
  t.Object({ type: t.Literal('end') }),
  t.Object({
    type: t.Literal('failed'),
    code: t.String({ pattern: '^[a-z0-9_]{1,60}$' }),
    /** The file system that cannot be read, of `no_file_system`. */
    fileSystem: t.Optional(t.Enum(fileSystems)),
  }),
])
export type FromFiles = Static<typeof FromFiles>
