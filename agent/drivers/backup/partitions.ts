// The partitions of a disk and the kinds of their file systems, from its first bytes (UEFI 2.10, 5.3; Linux, the magic
// numbers of include/uapi). A stranger wrote them: every number is checked against the disk, and nothing is followed
// for ever.
import type { BackupPartition, FileSystem } from '../../protocol/backup.ts'

const SECTOR = 512
const MBR_ENTRY = 446
const MOST_LOGICAL = 60
const GPT_PROTECTIVE = 0xee
const EXTENDED: ReadonlySet<number> = new Set([0x05, 0x0f, 0x85])

/** Reads so many bytes from there; fewer at the end of the disk. */
export type ReadAt = (at: number, bytes: number) => Promise<Buffer>
export type Partition = BackupPartition & { offset: number }

/** The partitions in the order of their numbers; number 0 is a disk without a table, which is a file system itself. */
export async function partitionsOf(readAt: ReadAt, diskBytes: number): Promise<Partition[]> {
  const found = (await extents(readAt)).filter(
    ({ offset, sizeBytes }) => offset >= SECTOR && sizeBytes > 0 && offset + sizeBytes <= diskBytes,
  )
  const partitions = await Promise.all(
    found.map(async (one) => ({ ...one, fileSystem: await fileSystemAt(readAt, one.offset) })),
  )
  if (partitions.some(({ fileSystem }) => fileSystem !== 'unknown')) return partitions
  // The boot code of a disk without a table can look like one.
  const bare = await fileSystemAt(readAt, 0)
  return bare === 'unknown' ? partitions : [{ number: 0, sizeBytes: diskBytes, fileSystem: bare, offset: 0 }]
}

type Extent = { number: number; offset: number; sizeBytes: number }

async function extents(readAt: ReadAt): Promise<Extent[]> {
  const first = await readAt(0, SECTOR)
  if (!isBootRecord(first)) return []
  const primary = entriesIn(first)
  if (primary.some(({ type }) => type === GPT_PROTECTIVE)) return gpt(readAt)
  const found: Extent[] = []
  for (const [i, entry] of primary.entries()) {
    if (EXTENDED.has(entry.type)) found.push(...(await logical(readAt, entry.start)))
    else if (entry.type) found.push(extentOf(i + 1, entry.start, entry.sectors))
  }
  return found.toSorted((a, b) => a.number - b.number)
}

const isBootRecord = (sector: Buffer) => sector.length === SECTOR && sector.readUInt16LE(510) === 0xaa55

const entriesIn = (sector: Buffer) =>
  [0, 1, 2, 3].map((i) => {
    const at = MBR_ENTRY + 16 * i
    return { type: sector[at + 4]!, start: sector.readUInt32LE(at + 8), sectors: sector.readUInt32LE(at + 12) }
  })

const extentOf = (number: number, start: number, sectors: number): Extent => ({
  number,
  offset: start * SECTOR,
  sizeBytes: sectors * SECTOR,
})

/** A chain of records in the extended partition, each with one partition and the place of the next record. */
async function logical(readAt: ReadAt, extended: number): Promise<Extent[]> {
  const found: Extent[] = []
  let at = extended
  for (let number = 5; number < 5 + MOST_LOGICAL; number++) {
    const sector = await readAt(at * SECTOR, SECTOR)
    if (!isBootRecord(sector)) break
    const [own, next] = entriesIn(sector)
    if (own!.type) found.push(extentOf(number, at + own!.start, own!.sectors))
    if (!next!.type || !next!.start) break
    at = extended + next!.start
  }
  return found
}

const MOST_GPT = 128
async function gpt(readAt: ReadAt): Promise<Extent[]> {
  const header = await readAt(SECTOR, SECTOR)
  if (header.length < SECTOR || header.toString('latin1', 0, 8) !== 'EFI PART') return []
  const [at, count, size] = [header.readBigUInt64LE(72), header.readUInt32LE(80), header.readUInt32LE(84)]
  if (at < 2n || at > 1n << 40n || size < 128 || size > 4096) return []
  const table = await readAt(Number(at) * SECTOR, Math.min(count, MOST_GPT) * size)
  const found: Extent[] = []
  for (let i = 0; (i + 1) * size <= table.length; i++) {
    const entry = table.subarray(i * size, (i + 1) * size)
    if (entry.subarray(0, 16).every((byte) => byte === 0)) continue
    const [first, last] = [entry.readBigUInt64LE(32), entry.readBigUInt64LE(40)]
    if (first > last || last > 1n << 40n) continue
    found.push(extentOf(i + 1, Number(first), Number(last - first) + 1))
  }
  return found
}

type Magic = readonly [at: number, bytes: string, is: FileSystem]
const magics: readonly Magic[] = [
  [0x438, '\x53\xef', 'ext'],
  [0, 'XFSB', 'xfs'],
  [0x10040, '_BHRfS_M', 'btrfs'],
  [3, 'NTFS    ', 'ntfs'],
  [54, 'FAT', 'fat'],
  [82, 'FAT32', 'fat'],
  [3, 'EXFAT   ', 'fat'],
  [0, 'LUKS\xba\xbe', 'encrypted'],
  [3, '-FVE-FS-', 'encrypted'],
  [0x218, 'LVM2 001', 'lvm'],
  [0xff6, 'SWAPSPACE2', 'swap'],
]

async function fileSystemAt(readAt: ReadAt, offset: number): Promise<FileSystem> {
  const [start, btrfs] = await Promise.all([readAt(offset, 4096), readAt(offset + 0x10000, 4096)])
  const has = ([at, bytes]: Magic) => {
    const [from, within] = at < 0x10000 ? [start, at] : [btrfs, at - 0x10000]
    return from.toString('latin1', within, within + bytes.length) === bytes
  }
  return magics.find(has)?.[2] ?? 'unknown'
}
