// The output of restic, and the marks of Berth on its snapshots. Each holds one file, the disk, and has tags that say
// which backup it is, how large the disk was, and whether it was consistent: restic alone tells a whole one.

/** The name of the disk in every snapshot. */
export const DISK_FILE = 'disk.raw'
const CONSISTENT = 'consistent'

export type Snapshot = { id: string; tags: string[] }
type Tagged = { backup: string; diskBytes: number; consistent: boolean }

export const tagsOf = ({ backup, diskBytes, consistent }: Tagged): string[] => [
  backup,
  `bytes-${diskBytes}`,
  ...(consistent ? [CONSISTENT] : []),
]

/** Parses `restic snapshots --json`. */
export function snapshotsIn(out: string): Snapshot[] {
  const listed = (JSON.parse(out) ?? []) as { id: string; tags?: string[] }[]
  return listed.map(({ id, tags = [] }) => ({ id, tags }))
}

/** Parses `restic ls --json`: the snapshot, where it holds the whole disk. */
export function savedIn(out: string): { snapshot: string; diskBytes: number; consistent: boolean } | undefined {
  const { id, tags } = jsonLines(out).find((line) => line['struct_type'] === 'snapshot') ?? {}
  if (typeof id !== 'string' || !Array.isArray(tags)) return undefined
  const diskBytes = Number(tags.map((tag) => /^bytes-(\d{1,16})$/.exec(tag)?.[1]).find(Boolean))
  if (fileIn(out)?.sizeBytes !== diskBytes) return undefined
  return { snapshot: id, diskBytes, consistent: tags.includes(CONSISTENT) }
}

const jsonLines = (out: string) =>
  out
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** Parses `restic ls --json`: the disk. */
export function fileIn(out: string): { sizeBytes: number } | undefined {
  const file = jsonLines(out).find(({ path, type }) => path === `/${DISK_FILE}` && type === 'file')
  return file && { sizeBytes: Number(file['size']) }
}

/** Parses `restic ls --json`: the id of the list of its files. */
export function treeIn(out: string): string | undefined {
  const { tree } = jsonLines(out).find((line) => line['struct_type'] === 'snapshot') ?? {}
  return typeof tree === 'string' && /^[0-9a-f]{64}$/.test(tree) ? tree : undefined
}

/** restic cuts zeros into parts of its least size, which all have this id. */
const ZEROS_BYTES = 512 << 10
const ZEROS = new Bun.CryptoHasher('sha256').update(new Uint8Array(ZEROS_BYTES)).digest('hex')
/** Parses the list of the parts of a disk of `diskBytes`: the bytes that are not in parts of zeros alone. */
export const dataBytesIn = (list: string, diskBytes: number): number =>
  Math.max(0, diskBytes - (list.split(`"${ZEROS}"`).length - 1) * ZEROS_BYTES)

/** Parses `restic backup --json`. */
export function summaryIn(out: string): { addedBytes: number } | undefined {
  const summary = jsonLines(out).find((line) => line['message_type'] === 'summary')
  return summary && { addedBytes: Number(summary['data_added']) }
}

const units: Readonly<Record<string, number>> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }

/** Parses `restic prune`, which rounds. */
export function bytesPruned(out: string): number {
  const [, number, unit] = /^total prune:.*\/ +([0-9.]+) ([KMGT]?i?B)\s*$/m.exec(out) ?? []
  return Math.round(Number(number ?? 0) * (units[unit ?? 'B'] ?? 1))
}
