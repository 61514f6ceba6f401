// Moves of a workload to another node, in the protocol.
import { type Static, Type as t } from 'typebox'
import { counter, line, workloadId } from '../bounds.ts'
import { Volume } from './disks.ts'
import { address } from './ports.ts'

export const transferId = t.String({ pattern: '^trf_[0-9a-z]{26}$' })
/** The transfer of every command, and the workload that it brings to another node. */
export const ofTransfer = { transfer: transferId, workload: workloadId }

/** The most disks of one transfer: each is a session of one SSH connection, of which sshd allows 10. */
export const MOST_DISKS = 6

const BASE64 = '[A-Za-z0-9+/]{20,1500}={0,2}'
/** The public key of a transfer as OpenSSH writes it, without a comment. */
export const sshPublicKey = t.String({ pattern: '^ssh-ed25519 [A-Za-z0-9+/]{68}$' })
/** The public key of an SSH server: its kind, and base64. */
export const sshHostKey = t.String({ pattern: `^[a-z0-9@.-]{1,60} ${BASE64}$`, maxLength: 1600 })

/** How the target of a transfer is reached by SSH. `hostKeys` are those that its server may have, and no other. */
export const SshTarget = t.Object({
  address,
  port: t.Integer({ minimum: 1, maximum: 65_535 }),
  user: t.String({ pattern: '^[a-z_][a-z0-9_-]{0,31}$' }),
  hostKeys: t.Array(sshHostKey, { minItems: 1, maxItems: 10 }),
})
export type SshTarget = Static<typeof SshTarget>

/** A disk that the target makes. It shows zeros until the source fills it. */
export const ArrivingDisk = t.Object({
  volume: Volume,
  sizeBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  /** The storage that both nodes reach, where it has the disk: the target makes, serves and deletes nothing of it. */
  shared: t.Optional(line(200)),
})
export type ArrivingDisk = Static<typeof ArrivingDisk>

/** Megabit per second for all disks and the memory together; null: no limit. */
export const maxMbps = t.Union([t.Integer({ minimum: 1, maximum: 1_000_000 }), t.Null()])

/**
 * `copiedBytes`: what was sent, of data alone: holes count as nothing. `totalBytes`: the data of the disks when that
 * began. `ms`: the time that it took, in the answer of a copy that has ended.
 */
export const Copied = t.Object({ copiedBytes: counter, totalBytes: counter, ms: t.Optional(counter) })
export type Copied = Static<typeof Copied>

/**
 * The content of a disk as its guest sees it, whatever its format: SHA-256 over the SHA-256 of each block of
 * `BLOCK_BYTES`, in hex.
 */
export const DiskChecksum = t.Object({ sizeBytes: counter, checksum: t.String({ pattern: '^[0-9a-f]{64}$' }) })
export type DiskChecksum = Static<typeof DiskChecksum>
