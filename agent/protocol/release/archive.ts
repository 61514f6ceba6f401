// The file of a release: an uncompressed tar in the form `ustar`, which every system can open. The manifest comes first
// and its signature second, so that nothing else is read before both were checked.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { filesOf, type Manifest, ReleaseRefused } from './manifest.ts'
import { type ReleaseKey, verified } from './signature.ts'

export const MANIFEST_FILE = 'manifest.json'
export const SIGNATURE_FILE = 'manifest.json.sig'
const MOST_MANIFEST_BYTES = 64 << 10
const BLOCK_BYTES = 512
/** Enough for the files of a manifest. */
const MOST_MEMBERS = 16

/** A file in a release: where its content lies. */
export type Member = { name: string; offset: number; sizeBytes: number }
/** An open release; the manifest was signed with a trusted key. `close` it. */
export type OpenRelease = {
  manifest: Manifest
  /** A file as it is in the release, from this byte on. */
  read(file: string, from?: number): ReadableStream<Uint8Array>
  /** The bytes of a file as it is in the release. */
  sizeOf(file: string): number
  close(): void
}

/**
 * Opens a release whose signature counts. The content of its files is not checked yet: the reader compares it with the
 * manifest. Throws `ReleaseRefused`.
 */
export function openRelease(path: string, trusted: readonly ReleaseKey[]): OpenRelease {
  const file = openSync(path, 'r')
  try {
    const members = membersOf(file)
    const text = textOf(file, members, MANIFEST_FILE)
    if (text === undefined) throw invalid('it has no manifest')
    const manifest = verified(text.toString('utf8'), textOf(file, members, SIGNATURE_FILE), trusted)
    const known = new Map(members.map((one) => [one.name, one]))
    for (const { file: name } of filesOf(manifest)) if (!known.has(name)) throw invalid(`${name} is missing`)
    const expected = 2 + filesOf(manifest).length
    if (members.length !== expected) throw invalid('it has files that its manifest does not name')
    return {
      manifest,
      read: (name, from) => contentOf(file, known.get(name)!, from),
      sizeOf: (name) => known.get(name)!.sizeBytes,
      close: () => closeSync(file),
    }
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** So many bytes of a release have its manifest and its signature. */
export const BEGINNING_BYTES = 4 * BLOCK_BYTES + MOST_MANIFEST_BYTES

/** The signed manifest in the first `BEGINNING_BYTES` of a release or in all of it. Throws `ReleaseRefused`. */
export function manifestAtBeginning(bytes: Buffer, trusted: readonly ReleaseKey[]): Manifest {
  let at = 0
  const next = (name: string) => {
    if (at + BLOCK_BYTES > bytes.length) throw invalid('it ends too early')
    const member = memberOf(bytes.subarray(at, at + BLOCK_BYTES), at + BLOCK_BYTES)
    if (member.name !== name) return undefined
    const end = member.offset + member.sizeBytes
    if (end > bytes.length) throw invalid('it ends too early')
    at = end + paddingOf(member.sizeBytes)
    return bytes.subarray(member.offset, end)
  }
  const text = next(MANIFEST_FILE)
  if (!text) throw invalid('it has no manifest')
  return verified(text.toString('utf8'), next(SIGNATURE_FILE), trusted)
}

/** The manifest and the signature of a release without a check; the signature is undefined where there is none. */
export function unverified(path: string): { text: string; signature: Buffer | undefined; members: Member[] } {
  const file = openSync(path, 'r')
  try {
    const members = membersOf(file)
    const text = textOf(file, members, MANIFEST_FILE)
    if (text === undefined) throw invalid('it has no manifest')
    return { text: text.toString('utf8'), signature: textOf(file, members, SIGNATURE_FILE), members }
  } finally {
    closeSync(file)
  }
}

/** The header of a member and what fills its last block; the content stands between them. */
export function memberFrame(name: string, sizeBytes: number): { header: Buffer; padding: Buffer } {
  const header = Buffer.alloc(BLOCK_BYTES)
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
  header.write(name, 0, 100, 'latin1')
  header.write(octal(0o644, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(sizeBytes, 12), 124)
  header.write(octal(0, 12), 136)
  header.write('        0', 148)
  header.write('ustar\0' + '00', 257)
  header.write(octal(sumOf(header), 7), 148)
  return { header, padding: Buffer.alloc(paddingOf(sizeBytes)) }
}
/** Two empty blocks. */
export const archiveEnd = () => Buffer.alloc(2 * BLOCK_BYTES)

const paddingOf = (sizeBytes: number) => (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES
/** The checksum of a header, in which its own field counts as blanks. */
function sumOf(header: Uint8Array): number {
  let sum = 0
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 32 : byte
  return sum
}

function membersOf(file: number): Member[] {
  const { size } = fstatSync(file)
  const members: Member[] = []
  let at = 0
  for (;;) {
    const header = Buffer.alloc(BLOCK_BYTES)
    if (at + BLOCK_BYTES > size || readSync(file, header, 0, BLOCK_BYTES, at) < BLOCK_BYTES)
      throw invalid('it ends too early')
    if (header.every((byte) => byte === 0)) return members
    const member = memberOf(header, at + BLOCK_BYTES)
    at = member.offset + member.sizeBytes + paddingOf(member.sizeBytes)
    if (at > size) throw invalid('it ends too early')
    if (members.length === MOST_MEMBERS) throw invalid('it has too many files')
    if (members.some(({ name }) => name === member.name)) throw invalid(`${member.name} is in it twice`)
    members.push(member)
  }
}

function memberOf(header: Buffer, offset: number): Member {
  const text = (from: number, length: number) => header.toString('latin1', from, from + length).replace(/\0.*$/s, '')
  const isPlain = ['0', ''].includes(text(156, 1)) && text(157, 100) === '' && text(345, 155) === ''
  const name = text(0, 100)
  const size = text(124, 12).trim()
  if (text(257, 5) !== 'ustar' || Number.parseInt(text(148, 8), 8) !== sumOf(header)) throw invalid('it is no tar')
  if (!isPlain || !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) throw invalid('it has something that is no plain file')
  if (!/^[0-7]{1,11}$/.test(size)) throw invalid(`${name} has no size`)
  return { name, offset, sizeBytes: Number.parseInt(size, 8) }
}

function textOf(file: number, members: readonly Member[], name: string): Buffer | undefined {
  const member = members.find((one) => one.name === name)
  if (!member) return undefined
  if (member.sizeBytes > MOST_MANIFEST_BYTES) throw invalid(`${name} is too long`)
  const content = Buffer.alloc(member.sizeBytes)
  readSync(file, content, 0, member.sizeBytes, member.offset)
  return content
}

const CHUNK_BYTES = 1 << 20
function contentOf(file: number, { offset, sizeBytes }: Member, from = 0): ReadableStream<Uint8Array> {
  let at = from
  return new ReadableStream({
    pull(controller) {
      if (at >= sizeBytes) return controller.close()
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, sizeBytes - at))
      const read = readSync(file, chunk, 0, chunk.length, offset + at)
      if (read === 0) throw invalid('it ends too early')
      at += read
      controller.enqueue(chunk.subarray(0, read))
    },
  })
}

const invalid = (words: string) => new ReleaseRefused('release_invalid', `This file is no release: ${words}.`)
