// The program of a release: fetched as a patch of the one that runs, or whole. It is the one that the signed manifest
// names, byte by byte, or none.
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { chmod, open, readdir, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, wordsOf } from '../failure.ts'
import { log } from '../log.ts'
import { type Manifest, ReleaseRefused } from '../protocol/release/manifest.ts'
import { applyPatch, type Before } from '../protocol/release/patch.ts'
import { agentPaths } from '../protocol/wire.ts'
import { type Ask, type FetchLimits, fetchFile, fetchLimits } from './fetch.ts'
import { steps } from './steps.ts'

export type ProgramInRelease = Manifest['programs'][number]

/** Of the compressed program: bytes that do not compress take a little more space. */
const GZIP_MORE_BYTES = 1 << 20
const CHUNK_BYTES = 1 << 20

/** The program that runs, also where another one lies at its place by now. `close` it. */
export function openRunning(
  path = '/proc/self/exe',
): Omit<Before, 'sha256'> & { hash(): Promise<string>; close(): void } {
  const file = openSync(path, 'r')
  const { size: sizeBytes } = fstatSync(file)
  const read = (offset: number, length: number) => {
    const bytes = Buffer.allocUnsafe(length)
    if (readSync(file, bytes, 0, length, offset) !== length) throw new Error('the program that runs cannot be read')
    return bytes
  }
  async function hash() {
    const made = createHash('sha256')
    for (let at = 0; at < sizeBytes; at += CHUNK_BYTES) {
      made.update(read(at, Math.min(CHUNK_BYTES, sizeBytes - at)))
      await Bun.sleep(0)
    }
    return made.digest('hex')
  }
  return { sizeBytes, read, hash, close: () => closeSync(file) }
}

type Bringing = {
  ask: Ask
  version: string
  program: ProgramInRelease
  /** The bytes of the patch that the controller offers. */
  patchBytes: number | undefined
  before: Before | undefined
  /** The folder, which is on a disk with enough space. */
  dir: string
  limits?: FetchLimits | undefined
}

/**
 * Brings the program into the folder and answers its path. Throws `ReleaseRefused` and `release_not_fetched`; then
 * nothing of it is left.
 */
export async function bringProgram(bringing: Bringing): Promise<string> {
  const { program, patchBytes, before, dir } = bringing
  const part = join(dir, 'program.part')
  await forgetOthers(dir, program)
  await mustHaveSpace(dir, 2 * program.sizeBytes)
  try {
    const isPatched = before && patchBytes !== undefined && patchBytes < program.sizeBytes
    if (!(isPatched && (await patched(bringing, before, patchBytes, part)))) await whole(bringing, part)
    const path = join(dir, 'program')
    await chmod(part, 0o700)
    await rename(part, path)
    return path
  } finally {
    await rm(part, { force: true })
  }
}

/** A download that a kill of the agent left goes on; those of other programs never will. */
async function forgetOthers(dir: string, { sha256 }: ProgramInRelease) {
  for (const name of await readdir(dir))
    if (/^[0-9a-f]{16}\.(gz|patch)$/.test(name) && !name.startsWith(sha256.slice(0, 16)))
      await rm(join(dir, name), { force: true })
}

async function mustHaveSpace(dir: string, bytes: number) {
  const { bavail, bsize } = await statfs(dir)
  if (bavail * bsize < bytes)
    throw new Failure(
      'release_not_fetched',
      `${dir} has too little free space: a release needs that of ${bytes} bytes there`,
    )
}

/** False where the patch does not lead to the program: the whole one is fetched then. */
async function patched({ ask, program, dir, limits }: Bringing, before: Before, patchBytes: number, part: string) {
  const file = join(dir, `${program.sha256.slice(0, 16)}.patch`)
  try {
    const query = new URLSearchParams({ to: program.sha256, from: before.sha256 })
    await fetchFile(ask, `${agentPaths.release}/patch?${query}`, file, patchBytes, limits ?? fetchLimits)
    steps.passed('file fetched')
    await store(applyPatch(Bun.file(file).stream(), before, program), program, part)
    return true
  } catch (error) {
    log('warning', 'the patch of the release is not used; the whole program is fetched', { error: wordsOf(error) })
    return false
  } finally {
    await rm(file, { force: true })
  }
}

async function whole({ ask, version, program, dir, limits }: Bringing, part: string) {
  const file = join(dir, `${program.sha256.slice(0, 16)}.gz`)
  const query = new URLSearchParams({ version })
  const mostBytes = program.sizeBytes + GZIP_MORE_BYTES
  const path = `${agentPaths.release}/file/${program.file}?${query}`
  await fetchFile(ask, path, file, mostBytes, limits ?? fetchLimits)
  steps.passed('file fetched')
  try {
    await store(
      Bun.file(file)
        .stream()
        .pipeThrough(new DecompressionStream('gzip') as never),
      program,
      part,
    )
  } finally {
    await rm(file, { force: true })
  }
}

/** Writes the program to `part`, on the disk. Throws `release_checksum_differs` for another one. */
async function store(content: AsyncIterable<Uint8Array>, program: ProgramInRelease, part: string) {
  const differs = (words: string) => new ReleaseRefused('release_checksum_differs', `${program.file} ${words}.`)
  const hash = createHash('sha256')
  const file = await open(part, 'w', 0o600)
  try {
    let bytes = 0
    for await (const chunk of chunksOf(content, differs)) {
      bytes += chunk.length
      if (bytes > program.sizeBytes) throw differs('is larger than its manifest says')
      hash.update(chunk)
      await file.writeFile(chunk)
    }
    if (bytes !== program.sizeBytes || hash.digest('hex') !== program.sha256)
      throw differs('is not the one that its manifest names')
    await file.sync()
  } finally {
    await file.close()
  }
}

async function* chunksOf(content: AsyncIterable<Uint8Array>, differs: (words: string) => Error) {
  try {
    yield* content
  } catch (error) {
    throw differs(`cannot be unpacked: ${wordsOf(error)}`)
  }
}
