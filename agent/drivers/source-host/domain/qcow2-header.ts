// The header of a qcow2 disk that a running server at its source may have open: read for what an import must know, and
// not judged as an image is that is to be used here (`protocol/qcow2.ts`).
import { printable } from '../../../protocol/text.ts'

export type Header = {
  virtualBytes: number
  backing: string | null
  snapshots: number
  /** Why it cannot be copied as one file. */
  trouble: string | null
}

const MAGIC = 0x514649fb
const V2_BYTES = 72
const MOST_BYTES = 64n << 40n
const MOST_SNAPSHOTS = 65_536
const EXTERNAL_DATA = 1n << 2n
const CORRUPT = 1n << 1n

/** The first bytes of the file. A text says why they are no such header. */
export function qcow2Header(head: Buffer): Header | string {
  if (head.length < V2_BYTES) return 'it is too short for a header'
  if (head.readUInt32BE(0) !== MAGIC) return 'it does not begin like one'
  const version = head.readUInt32BE(4)
  if (version !== 2 && version !== 3) return `its version is ${version}`
  const bytes = head.readBigUInt64BE(24)
  if (bytes === 0n || bytes > MOST_BYTES) return `its disk would have ${bytes} bytes`
  const incompatible = version === 3 && head.length >= 80 ? head.readBigUInt64BE(72) : 0n
  const trouble = head.readUInt32BE(32)
    ? 'it is encrypted'
    : incompatible & EXTERNAL_DATA
      ? 'it keeps its data in another file'
      : incompatible & CORRUPT
        ? 'it is marked as corrupt'
        : null
  return {
    virtualBytes: Number(bytes),
    backing: backingOf(head),
    snapshots: Math.min(head.readUInt32BE(60), MOST_SNAPSHOTS),
    trouble,
  }
}

function backingOf(head: Buffer): string | null {
  const [at, length] = [head.readBigUInt64BE(8), head.readUInt32BE(16)]
  if (at === 0n) return null
  const end = at + BigInt(length)
  if (length === 0 || end > BigInt(head.length)) return 'another file'
  return printable(head.subarray(Number(at), Number(end)).toString('utf8').slice(0, 512))
}
