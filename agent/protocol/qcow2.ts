// Checks the header of a qcow2 file before the controller publishes it, and on the node before QEMU reads it. Images
// are untrusted: a header can name a file of this host as its backing or data file, or describe tables that break a
// reader. Only a self-contained disk is accepted.
import { open } from 'node:fs/promises'
import { Failure } from '../failure.ts'

export type Qcow2 = { version: 2 | 3; virtualSizeBytes: number; clusterBytes: number }

const MAGIC = 0x514649fb
const V2_HEADER_BYTES = 72
const V3_HEADER_BYTES = 104
/** The header ends within these first bytes. */
export const HEADER_CAP_BYTES = 64 << 10
const LARGEST_DISK_BYTES = 64n << 40n
/** QEMU's own limit. */
const LARGEST_L1_BYTES = 32n << 20n

const INCOMPATIBLE_ZSTD = 1n << 3n
const AUTOCLEAR_RAW_DATA = 1n << 1n
const extensions = { end: 0, backingFormat: 0xe2792aca, encryption: 0x0537be77, dataFile: 0x44415441 }

/**
 * Lets pass what a disk that is only read may have: snapshots, an end without being closed, or also a backing file,
 * which its reader is told by somebody else.
 */
export type Lenience = { unclosed?: true; backed?: true }

/** Reads and checks the header of the file. Throws `image_refused` with the reason. */
export async function readQcow2(path: string, lenience: Lenience = {}): Promise<Qcow2> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const bytes = Buffer.alloc(Math.min(size, HEADER_CAP_BYTES))
    await handle.read(bytes, 0, bytes.length, 0)
    return parseQcow2(bytes, BigInt(size), lenience)
  } finally {
    await handle.close()
  }
}

/**
 * Checks a header: `head` is the first 64 KiB or the whole file, `fileBytes` the file's length. Throws `image_refused`.
 */
export function parseQcow2(head: Buffer, fileBytes: bigint, { unclosed, backed }: Lenience = {}): Qcow2 {
  must(head.length >= V2_HEADER_BYTES, 'it is too short for a header')
  must(head.readUInt32BE(0) === MAGIC, 'it does not begin like a qcow2 file')
  const version = head.readUInt32BE(4)
  must(version === 2 || version === 3, `its version is ${version}, known are 2 and 3`)
  must(backed || (head.readBigUInt64BE(8) === 0n && head.readUInt32BE(16) === 0), 'it names a backing file')
  const clusterBits = head.readUInt32BE(20)
  must(clusterBits >= 9 && clusterBits <= 21, `its clusters are 2^${clusterBits} bytes`)
  const clusterBytes = 1n << BigInt(clusterBits)
  const virtualSizeBytes = head.readBigUInt64BE(24)
  must(virtualSizeBytes > 0n && virtualSizeBytes <= LARGEST_DISK_BYTES, `its disk would have ${virtualSizeBytes} bytes`)
  must(head.readUInt32BE(32) === 0, 'it is encrypted')
  must(unclosed || head.readUInt32BE(60) === 0, 'it holds snapshots')
  mustHaveSaneTables(head, { clusterBytes, virtualSizeBytes, fileBytes })
  const headerBytes = version === 3 ? v3Header(head, clusterBytes, unclosed) : V2_HEADER_BYTES
  mustHaveHarmlessExtensions(head, headerBytes, Number(clusterBytes), backed)
  return { version, virtualSizeBytes: Number(virtualSizeBytes), clusterBytes: Number(clusterBytes) }
}

type Sizes = { clusterBytes: bigint; virtualSizeBytes: bigint; fileBytes: bigint }

/** Both tables must be cluster-aligned and inside the file, and the first must cover the whole disk. */
function mustHaveSaneTables(head: Buffer, { clusterBytes, virtualSizeBytes, fileBytes }: Sizes) {
  const entries = BigInt(head.readUInt32BE(36))
  const bytesPerEntry = clusterBytes * (clusterBytes / 8n)
  must(entries >= (virtualSizeBytes + bytesPerEntry - 1n) / bytesPerEntry, 'its first table is too short for its disk')
  must(entries * 8n <= LARGEST_L1_BYTES, `its first table has ${entries} entries`)
  const inFile = (offset: bigint, bytes: bigint) =>
    offset >= clusterBytes && offset % clusterBytes === 0n && offset + bytes <= fileBytes
  must(inFile(head.readBigUInt64BE(40), entries * 8n), 'its first table is not in the file')
  const refcountClusters = BigInt(head.readUInt32BE(56))
  must(
    refcountClusters > 0n && refcountClusters * clusterBytes <= LARGEST_L1_BYTES,
    `its count table has ${refcountClusters} clusters`,
  )
  must(inFile(head.readBigUInt64BE(48), refcountClusters * clusterBytes), 'its count table is not in the file')
}

/** Checks the fields that version 3 adds. Returns the header's length in bytes. */
/** Dirty and corrupt. */
const UNCLEAN = 3n
const DIRTY = 1n
const REPAIR = 'it was not closed properly. Repair it with qemu-img check -r all'
const CONVERT = 'convert it with qemu-img convert -O qcow2, without options'

function v3Header(head: Buffer, clusterBytes: bigint, unclosed = false): number {
  must(head.length >= V3_HEADER_BYTES, 'it is too short for a header')
  const incompatible = head.readBigUInt64BE(72) & ~(unclosed ? DIRTY : 0n)
  // Refused: dirty, corrupt, external data file, extended tables. zstd is accepted; it only changes the compression.
  must(
    (incompatible & ~INCOMPATIBLE_ZSTD) === 0n,
    `it needs features 0x${incompatible.toString(16)}; ${incompatible & UNCLEAN ? REPAIR : CONVERT}`,
  )
  must((head.readBigUInt64BE(88) & AUTOCLEAR_RAW_DATA) === 0n, 'it keeps its data in another file')
  must(head.readUInt32BE(96) <= 6, 'its counts are too wide')
  const headerBytes = head.readUInt32BE(100)
  must(
    headerBytes >= V3_HEADER_BYTES &&
      headerBytes % 8 === 0 &&
      BigInt(headerBytes) <= clusterBytes &&
      headerBytes <= head.length,
    'its header has no sane length',
  )
  if (incompatible) must(headerBytes > V3_HEADER_BYTES && head[104] === 1, 'its compression is unknown')
  return headerBytes
}

/**
 * Extensions follow the header up to the end of the first cluster. Unknown ones are harmless; these three move the
 * data.
 */
function mustHaveHarmlessExtensions(head: Buffer, start: number, clusterBytes: number, backed = false) {
  const limit = Math.min(head.length, clusterBytes)
  for (let at = start; at + 8 <= limit; ) {
    const kind = head.readUInt32BE(at)
    const bytes = head.readUInt32BE(at + 4)
    if (kind === extensions.end) return
    must(backed || kind !== extensions.backingFormat, 'it names the format of a backing file')
    must(kind !== extensions.dataFile, 'it keeps its data in another file')
    must(kind !== extensions.encryption, 'it is encrypted')
    must(at + 8 + bytes <= clusterBytes, 'its header extensions do not end')
    at += 8 + Math.ceil(bytes / 8) * 8
  }
}

function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Failure('image_refused', `the image is refused: ${otherwise}`)
}
