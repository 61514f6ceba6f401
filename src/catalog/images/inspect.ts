// Looks at an image before it is published: what no node would accept, or what would harm one, is refused here, in
// words.
import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { HEADER_CAP_BYTES, parseQcow2 } from '../../../agent/protocol/qcow2.ts'
import { invalid } from '../../kernel/api/errors.ts'
import type { Policy } from '../../kernel/net/egress.ts'
import type { Distributions } from './distributions/servers.ts'

export type Inspected = {
  size: number
  /** `sha256:` and the digest, as nodes compare it. */
  checksum: string
  /** The smallest disk that it fits on, in GiB. */
  leastDiskGb: number
}

/** Nodes download no more. */
const LARGEST_BYTES = 200e9

/** The containers and packings that are taken for a disk by mistake. */
const otherFormats: readonly [name: string, magic: string, at: number][] = [
  ['a VMDK', 'KDMV', 0],
  ['a VMDK', '# Disk DescriptorFile', 0],
  ['a VHDX', 'vhdxfile', 0],
  ['a VHD', 'conectix', 0],
  ['a VDI', '\u007f\u0010\u00da\u00be', 0x40],
  ['packed with gzip', '\u001f\u008b', 0],
  ['packed with xz', '\u00fd7zXZ', 0],
  ['packed with zstd', '(\u00b5/\u00fd', 0],
  ['packed with bzip2', 'BZh', 0],
  ['a ZIP archive', 'PK\u0003\u0004', 0],
]

/**
 * Size, checksum and least disk of a regular file that is no link. Throws `validation_failed` when it is not there, is
 * not of the format, or is no self-contained disk.
 */
export async function inspect(path: string, format: 'qcow2' | 'raw'): Promise<Inspected> {
  const file = await opened(path)
  if (!file) throw invalid({ field: 'file', message: 'is not in the incoming directory. Copy the image there first.' })
  try {
    const { diskBytes, fileBytes } = await disk(file, format)
    const hash = new Bun.CryptoHasher('sha256')
    let size = 0
    for await (const chunk of file.createReadStream({ start: 0, autoClose: false, highWaterMark: 1 << 20 })) {
      hash.update(chunk)
      size += chunk.length
    }
    if (size !== fileBytes)
      throw invalid({ field: 'file', message: 'was changed meanwhile. Wait until it is copied completely.' })
    return { size, checksum: `sha256:${hash.digest('hex')}`, leastDiskGb: gib(diskBytes) }
  } finally {
    await file.close()
  }
}

/** The name of a file as its directory has it: other systems write letters with accents in another form of Unicode. */
export async function nameOnDisk(directory: string, name: string): Promise<string> {
  const names = await readdir(directory).catch(() => [])
  const composed = name.normalize('NFC')
  return names.find((one) => one === name) ?? names.find((one) => one.normalize('NFC') === composed) ?? name
}

const opened = (path: string) =>
  open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)

/** The smallest disk, in GiB, that an image of the controller fits on; 1 where its file is gone. */
export async function leastDiskOf(path: string, format: 'qcow2' | 'raw'): Promise<Pick<Inspected, 'leastDiskGb'>> {
  const file = await opened(path)
  if (!file) return { leastDiskGb: 1 }
  try {
    return { leastDiskGb: gib((await disk(file, format)).diskBytes) }
  } finally {
    await file.close()
  }
}

/** The size of the disk in the file. Throws `validation_failed`. */
async function disk(file: FileHandle, format: 'qcow2' | 'raw'): Promise<{ diskBytes: number; fileBytes: number }> {
  const found = await file.stat()
  if (!found.isFile()) throw invalid({ field: 'file', message: 'is not a file.' })
  if (found.size > LARGEST_BYTES) throw invalid({ field: 'file', message: 'has more than 200 GB.' })
  const head = Buffer.alloc(Math.min(found.size, HEADER_CAP_BYTES))
  await file.read(head, 0, head.length, 0)
  const begins = (magic: string, at = 0) => head.toString('latin1', at, at + magic.length) === magic
  const isQcow2 = begins('QFI\u00fb')
  const other = otherFormats.find(([, magic, at]) => begins(magic, at))
  if (other)
    throw invalid({ field: 'file', message: `is ${other[0]}, not a disk. Convert it to qcow2 or unpack it first.` })
  if (isQcow2 !== (format === 'qcow2'))
    throw invalid({
      field: 'format',
      message: isQcow2 ? 'must be qcow2: that is what the file is.' : 'must be raw: the file is no qcow2 image.',
    })
  if (isQcow2) return { diskBytes: diskOf(head, found.size), fileBytes: found.size }
  if (!found.size) throw invalid({ field: 'file', message: 'is empty.' })
  return { diskBytes: found.size, fileBytes: found.size }
}

/**
 * Size and least disk of a qcow2 image behind a URL, by the first bytes of it. Undefined when it cannot be reached or
 * does not say how long it is. Throws `validation_failed` for `field` when it is no self-contained disk.
 */
export async function inspectRemote(
  distributions: Distributions,
  url: string,
  field: string,
  policy?: Policy,
): Promise<Omit<Inspected, 'checksum'> | undefined> {
  const found = await distributions.beginning(url, HEADER_CAP_BYTES, policy)
  if (!found) return undefined
  if (found.totalBytes > LARGEST_BYTES) throw invalid({ field, message: 'has more than 200 GB.' })
  return { size: found.totalBytes, leastDiskGb: gib(diskOf(found.head, found.totalBytes, field)) }
}

const gib = (bytes: number) => Math.max(1, Math.ceil(bytes / 2 ** 30))

function diskOf(head: Buffer, fileBytes: number, field = 'file'): number {
  try {
    return parseQcow2(head, BigInt(fileBytes)).virtualSizeBytes
  } catch (error) {
    if ((error as { code?: string }).code !== 'image_refused') throw error
    throw invalid({ field, message: `cannot be used. ${sentence((error as Error).message)}` })
  }
}

const sentence = (words: string) => `${words[0]!.toUpperCase()}${words.slice(1)}.`

/** Throws `validation_failed` when the disk of the image is larger than the smallest one it may get. */
export function mustHoldImage(minDiskGb: number, { leastDiskGb }: Pick<Inspected, 'leastDiskGb'>) {
  if (minDiskGb < leastDiskGb)
    throw invalid({ field: 'minDiskGb', message: `must be ${leastDiskGb} or more: so large is the disk in the image.` })
}
