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
export const MOST_LAYERS = 8

/** A staged file, and the one at its source that it continues. */
export type StagedFile = { format: 'raw' | 'qcow2'; virtualBytes: number; backing: string | null }

/** Throws `image_refused` for a qcow2 file that no reader should be given. */
export async function stagedFile(path: string, sourcePath: string, isFirst: boolean): Promise<StagedFile> {
  const head = await headOf(path)
  // A file behind another one may have either format; its own begin decides, as QEMU does for old files.
  if (!isFirst && (head.length < 4 || head.readUInt32BE(0) !== MAGIC))
    return { format: 'raw', virtualBytes: Bun.file(path).size, backing: null }
  const { virtualSizeBytes } = await readQcow2(path, { unclosed: true, backed: true })
  const [at, bytes] = [Number(head.readBigUInt64BE(8)), head.readUInt32BE(16)]
  if (at === 0) return { format: 'qcow2', virtualBytes: virtualSizeBytes, backing: null }
  const name = head.subarray(at, at + bytes).toString()
  if (bytes > MOST_NAME_BYTES || at + bytes > head.length || /^[A-Za-z0-9+.-]+:|\p{Cc}/u.test(name) || !name)
    throw new Failure('image_refused', `the image is refused: ${sourcePath} continues something that is no file`)
  return {
    format: 'qcow2',
    virtualBytes: virtualSizeBytes,
    backing: isAbsolute(name) ? normalize(name) : join(dirname(sourcePath), name),
  }
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

type Layer = { staged: string; format: 'raw' | 'qcow2' }
/**
 * Makes the volume of what was staged, which stays. A volume that is there stays too. Throws as `Pool.receive` does.
 */
export async function makeVolume(pool: Pool, volume: Volume, sizeBytes: number, layers: readonly Layer[]) {
  if ((await pool.sizeBytes(volume)) !== undefined) return
  const [first, ...others] = layers as [Layer, ...Layer[]]
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
    throw new Failure('image_refused', 'a qcow2 disk cannot be converted into a pool of Ceph by this node')
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
