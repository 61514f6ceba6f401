// A release that staff send from their browser, part by part, so that it goes on where it broke off. It counts for
// nothing before it was verified as a whole, and what cannot be used is removed.
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { Type as t } from 'typebox'
import { BEGINNING_BYTES, manifestAtBeginning } from '../../../agent/protocol/release/archive.ts'
import { ReleaseRefused } from '../../../agent/protocol/release/manifest.ts'
import { verifiedRelease } from '../../../agent/protocol/release/verify.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { bytes as inWords } from '../../kernel/words.ts'
import { MOST_RELEASE_BYTES } from './download.ts'
import type { Updates } from './service.ts'

/** Of one call. The beginning, with the signed manifest, fits into the first. */
const PART_BYTES = 3 << 20
const base64Length = (bytes: number) => Math.ceil(bytes / 3) * 4

const partOf = ({ folder }: Updates, file: string) => `${folder.path}/sent-${file}.part`
const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

export const uploadUpdate = operation({
  id: 'updates.upload',
  method: 'POST',
  path: '/admin/updates/actions/upload',
  summary: 'Send a part of a release file into the folder of releases; the last part has it verified',
  past: 'Sent a part of a release file',
  access: { staff: ['settings:write'] },
  mostBytes: base64Length(PART_BYTES) + 1000,
  body: fields({
    file: t.String({
      maxLength: 99,
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,90}\\.release$',
      title: 'a file name that ends in .release',
    }),
    totalBytes: described(t.Integer({ minimum: 1, maximum: MOST_RELEASE_BYTES }), 'Of the whole file.'),
    from: described(t.Integer({ minimum: 0, maximum: MOST_RELEASE_BYTES }), 'Where in the file this part begins.'),
    content: t.String({ maxLength: base64Length(PART_BYTES), contentEncoding: 'base64' }),
  }),
  response: namedSchema('UpdateUpload', {
    bytes: described(t.Integer(), 'So many are there: the next part begins there, also where this one was not needed.'),
    version: described(nullable(t.String()), 'Of the release, once all of it is there and was verified.'),
  }),
  refuses: ['update_refused', 'update_under_way'],
  example: { file: 'berth-1.10.0.release', totalBytes: 54_000_000, from: 0, content: 'YmVydGg=' },
  auditBody: ({ file, totalBytes, from }) => ({ file, totalBytes, from }),
  async prepare({ body, updates }): Promise<{ bytes: number; version: string | null }> {
    const { file, totalBytes, from } = body
    const content = Buffer.from(body.content, 'base64')
    if (updates.receiving) throw new ApiError('update_under_way', 'Another part is being taken. Send it again.')
    updates.receiving = true
    try {
      const bytes = take(updates, { file, totalBytes, from, content })
      return { bytes, version: bytes === totalBytes ? await finished(updates, file) : null }
    } catch (error) {
      throw inWordsOf(updates, error)
    } finally {
      updates.receiving = false
    }
  },
  run: ({ prepared }) => prepared,
})

type Part = { file: string; totalBytes: number; from: number; content: Buffer }

/** Adds the part where it fits. Answers how many bytes are there. Throws `ReleaseRefused`. */
function take(updates: Updates, { file, totalBytes, from, content }: Part): number {
  const path = partOf(updates, file)
  const there = sizeOf(path)
  if (from === 0) {
    manifestAtBeginning(content.subarray(0, BEGINNING_BYTES), updates.folder.keys)
    updates.folder.make()
    forgetOthers(updates, path)
    // The same file as before goes on where it was.
    if (there >= content.length && there <= totalBytes && beginningOf(path, content.length).equals(content))
      return there
    mustFit(updates, totalBytes)
  } else if (from !== there) return there
  if (from + content.length > totalBytes) throw new ReleaseRefused('release_invalid', 'It is longer than was said.')
  const opened = openSync(path, 'a', 0o640)
  try {
    if (from === 0) ftruncateSync(opened, 0)
    for (let done = 0; done < content.length; ) done += writeSync(opened, content, done)
    if (from + content.length === totalBytes) fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
  return from + content.length
}

function beginningOf(path: string, bytes: number): Buffer {
  const [file, content] = [openSync(path, 'r'), Buffer.alloc(bytes)]
  try {
    readSync(file, content, 0, bytes, 0)
    return content
  } finally {
    closeSync(file)
  }
}

/** Uploads that were given up. */
function forgetOthers({ folder }: Updates, path: string) {
  for (const name of readdirSync(folder.path))
    if (name.startsWith('sent-') && name.endsWith('.part') && `${folder.path}/${name}` !== path)
      rmSync(`${folder.path}/${name}`, { force: true })
}

function mustFit({ folder }: Updates, bytes: number) {
  const { bavail, bsize } = statfsSync(folder.path)
  if (bavail * bsize < bytes)
    throw new ApiError(
      'update_refused',
      `${folder.path} has ${inWords(bavail * bsize)} free, and the file has ${inWords(bytes)}.`,
    )
}

/** The whole file is there. Answers its version. Throws `ReleaseRefused`; then nothing of it is left. */
async function finished(updates: Updates, file: string): Promise<string> {
  const path = partOf(updates, file)
  try {
    const { version } = await verifiedRelease(path, updates.folder.keys)
    renameSync(path, `${updates.folder.path}/${file}`)
    return version
  } finally {
    rmSync(path, { force: true })
  }
}

function inWordsOf({ folder }: Updates, error: unknown): unknown {
  if (error instanceof ReleaseRefused) return new ApiError('update_refused', error.message)
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return new ApiError('update_refused', `The disk of ${folder.path} is full. Free some space, and send it again.`)
  return error
}
