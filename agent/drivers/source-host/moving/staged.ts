// Files of a qcow2 disk that have been copied as they are, and become a volume. They are a stranger's: their headers
// are checked here, and their reader is confined, unless the file itself becomes the volume.
import { chownSync, linkSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, isAbsolute, join, normalize } from 'node:path'
import { Failure } from '../../../failure.ts'
import { run } from '../../../host/exec.ts'
import { HEADER_CAP_BYTES, readQcow2 } from '../../../protocol/qcow2.ts'
import type { SourceDisk } from '../../../protocol/values/source-hosts.ts'
import type { Volume } from '../../../protocol/wire.ts'
import type { Disk, Pool } from '../../storage/storage.ts'
import type { KeptPart } from './kept-copy.ts'

const CONVERT_LIMIT_SECONDS = 6 * 3600
const MOST_NAME_BYTES = 1023
const MAGIC = 0x514649fb
const V2_HEADER_BYTES = 72
/** The extension of a header with the format of the backing file. */
const BACKING_FORMAT = 0xe2792aca
export const MOST_LAYERS = 8

type Format = 'raw' | 'qcow2'
/** A staged file, and the one at its source that it continues, with the format that it names for that. */
export type StagedFile = { format: Format; virtualBytes: number; backing: string | null; backingFormat: Format | null }

/**
 * `told`: the format that the file before it names; null: none. Throws `image_refused` for a qcow2 file that no reader
 * should be given.
 */
export async function stagedFile(path: string, sourcePath: string, told: Format | null): Promise<StagedFile> {
  const head = await headOf(path)
  const isRaw = told === 'raw' || (told === null && (head.length < 4 || head.readUInt32BE(0) !== MAGIC))
  if (isRaw) return { format: 'raw', virtualBytes: Bun.file(path).size, backing: null, backingFormat: null }
  // A guest may have written a file that nobody calls a qcow2 disk: it does not choose what is read next.
  const { virtualSizeBytes } = await readQcow2(path, { unclosed: true, ...(told && { backed: true }) })
  const [at, bytes] = [Number(head.readBigUInt64BE(8)), head.readUInt32BE(16)]
  if (at === 0) return { format: 'qcow2', virtualBytes: virtualSizeBytes, backing: null, backingFormat: null }
  const name = head.subarray(at, at + bytes).toString()
  if (bytes > MOST_NAME_BYTES || at + bytes > head.length || /^[A-Za-z0-9+.-]+:|\p{Cc}/u.test(name) || !name)
    throw new Failure('image_refused', `the image is refused: ${sourcePath} continues something that is no file`)
  return {
    format: 'qcow2',
    virtualBytes: virtualSizeBytes,
    backing: isAbsolute(name) ? normalize(name) : join(dirname(sourcePath), name),
    backingFormat: backingFormatIn(head),
  }
}

function backingFormatIn(head: Buffer): Format | null {
  const start = head.readUInt32BE(4) === 3 ? head.readUInt32BE(100) : V2_HEADER_BYTES
  for (let at = start; at + 8 <= head.length; ) {
    const [kind, bytes] = [head.readUInt32BE(at), head.readUInt32BE(at + 4)]
    if (kind === 0) return null
    const text = head.subarray(at + 8, at + 8 + bytes).toString()
    if (kind === BACKING_FORMAT) {
      if (text === 'raw' || text === 'qcow2') return text
      throw new Failure('image_refused', 'the image is refused: it continues a file of another format')
    }
    at += 8 + Math.ceil(bytes / 8) * 8
  }
  return null
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const head = Buffer.alloc(HEADER_CAP_BYTES)
    const { bytesRead } = await file.read(head, 0, head.length, 0)
    return head.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Throws `source_disk_changed` where it is not the disk that was looked at. */
export function mustBeAsSeen({ virtualBytes, backing }: StagedFile, drive: SourceDisk) {
  if (virtualBytes !== drive.virtualBytes)
    throw new Failure(
      'source_disk_changed',
      `${drive.path} has ${virtualBytes} bytes by now, not ${drive.virtualBytes}`,
    )
  if ((backing === null) !== (drive.backing === null))
    throw new Failure('source_disk_changed', `${drive.path} has ${backing === null ? 'no' : 'a'} backing file by now`)
}

export type Layer = { staged: string; format: Format; virtualBytes: number }
/**
 * Makes the volume of what was staged, which stays. A volume that is there stays too. Throws as `Pool.receive` does.
 */
export async function makeVolume(
  pool: Pool,
  volume: Volume,
  sizeBytes: number,
  layers: readonly Layer[],
): Promise<void> {
  if ((await pool.sizeBytes(volume)) !== undefined) return
  const [first, ...others] = layers as [Layer, ...Layer[]]
  if ((await pool.disk(volume)).kind === 'network' && !others.length) {
    const image = { id: '', format: first.format, path: first.staged, virtualSizeBytes: first.virtualBytes }
    return pool.create(volume, image, sizeBytes)
  }
  const isAsItIs = volume.format === 'qcow2' && !others.length && (await isPlain(first.staged))
  await pool.receive(volume, sizeBytes, async (disk) => {
    if (disk.kind !== 'file' || !isAsItIs) return fillFrom(disk, layers, sizeBytes)
    // A second name, in the place of the empty disk: after a crash the first one is still there.
    rmSync(disk.path)
    linkSync(first.staged, disk.path)
    if (process.getuid?.() === 0) chownSync(disk.path, 0, 0)
  })
}

/** It needs no repair, and nothing in it but the disk. */
const isPlain = (path: string) =>
  readQcow2(path).then(
    () => true,
    (error) => {
      if (error instanceof Failure) return false
      throw error
    },
  )

/** With formats and files that are given, so that no header decides what is read. */
async function fillFrom(disk: Disk, layers: readonly Layer[], sizeBytes: number) {
  if (disk.kind === 'network')
    throw new Failure('image_refused', 'a disk with backing files cannot be copied into a pool of Ceph')
  const paths = layers.map(({ staged }) => staged)
  const image = layers.reduceRight<object | undefined>(
    (backing, { staged, format }) => ({
      driver: format,
      file: { driver: 'file', filename: staged },
      ...(format === 'qcow2' && { backing: backing ?? null }),
    }),
    undefined,
  )
  // Zeros are not written: it is all zeros.
  const how = ['-n', '--target-is-zero', '-O', disk.format, ...(disk.kind === 'block' ? ['-t', 'none'] : [])]
  try {
    await run('qemu-img', ['convert', ...how, '--', `json:${JSON.stringify(image)}`, disk.path], {
      limitSeconds: CONVERT_LIMIT_SECONDS,
      confined: { alsoReads: paths, writes: disk.path, mostFileBytes: Math.ceil(sizeBytes * 1.01) + (64 << 20) },
    })
  } finally {
    if (process.getuid?.() === 0) chownSync(disk.path, 0, 0)
  }
}

/**
 * The file here into which the file of a part is copied: where the volume is a file, beside it, so that it can take its
 * place.
 */
export async function stagingPath(pool: Pool, volume: Volume, copy: string, part: number, otherwise: string) {
  const disk = await pool.disk(volume)
  return disk.kind === 'file'
    ? join(dirname(disk.path), `import-${copy}-${part}.part`)
    : join(otherwise, `disk-${part}`)
}

export const isStaged = (part: KeptPart): part is KeptPart & { staged: string } => part.staged !== null
