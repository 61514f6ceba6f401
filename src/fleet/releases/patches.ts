// Patches from programs that agents run to the one of the release. Each is made once for a pair of programs and kept in
// the data directory until another release takes its place.
import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { type OpenRelease, openRelease } from '../../../agent/protocol/release/archive.ts'
import type { Manifest } from '../../../agent/protocol/release/manifest.ts'
import { makePatch } from '../../../agent/protocol/release/patch.ts'
import type { ReleaseKey } from '../../../agent/protocol/release/signature.ts'
import { upgradeFolder } from '../../../agent/protocol/release/upgrade.ts'
import { takeOut } from '../../../agent/protocol/release/verify.ts'
import { log } from '../../kernel/log.ts'

export type Program = Manifest['programs'][number]
/** A release in a folder that has this program. */
export type Source = { path: string; program: Program }
export type Patch = { path: string; sizeBytes: number }

/** Pairs that cannot be patched are not tried again at each question. */
const MOST_REMEMBERED = 200

export class Patches {
  private made = new Map<string, Promise<Patch | undefined>>()
  /** One is made at a time: each takes 100 MB while it is made. */
  private last: Promise<unknown> = Promise.resolve()
  /** SHA-256 of a file as it was, by path, size and time of change. */
  private hashes = new Map<string, string>()

  /** `find`: the release that has the program of this checksum. */
  constructor(
    private folder: string,
    private keys: readonly ReleaseKey[],
    private find: (sha256: string) => Source | undefined,
    /** Where the program of before may lie, beside releases. */
    private programs: readonly string[] = [
      `${upgradeFolder('berth')}/former`,
      process.execPath,
      '/usr/local/lib/berth/berth-host',
    ],
  ) {}

  /** Undefined: the program of before is not here. */
  patch(from: string, to: Source): Promise<Patch | undefined> {
    const path = `${this.folder}/${from}-${to.program.sha256}.patch`
    const found = statSync(path, { throwIfNoEntry: false })
    if (found?.isFile()) return Promise.resolve({ path, sizeBytes: found.size })
    const known = this.made.get(path)
    if (known) return known
    if (this.made.size > MOST_REMEMBERED) this.made.clear()
    const made = this.last
      .then(() => this.make(from, to, path))
      .catch((error: unknown) => {
        log.warning('a patch between two programs could not be made', { error: String(error) })
        return undefined
      })
    this.last = made
    this.made.set(path, made)
    return made
  }

  private async make(from: string, to: Source, path: string): Promise<Patch | undefined> {
    const source = this.find(from)
    const file = source ? undefined : await this.fileOf(from)
    if (!source && !file) return undefined
    mkdirSync(this.folder, { recursive: true, mode: 0o750 })
    this.clear(to.program.sha256)
    const [before, after] = [`${this.folder}/before.part`, `${this.folder}/after.part`]
    try {
      if (source) await this.unpack(source, before)
      // Bun maps only files that it may write to, and root's program is none.
      else await copyFile(file!, before)
      await this.unpack(to, after)
      const bytes = await makePatch(Bun.mmap(before), Bun.mmap(after))
      await Bun.write(`${path}.part`, bytes)
      renameSync(`${path}.part`, path)
      this.made.delete(path)
      return { path, sizeBytes: bytes.length }
    } finally {
      for (const part of [before, after, `${path}.part`]) rmSync(part, { force: true })
    }
  }

  /** Removes the patches to other programs. */
  private clear(to: string) {
    for (const name of readdirSync(this.folder))
      if (name.endsWith('.patch') && !name.endsWith(`-${to}.patch`)) rmSync(`${this.folder}/${name}`, { force: true })
  }

  private async unpack({ path, program }: Source, into: string) {
    let release: OpenRelease | undefined
    const file = openSync(into, 'w', 0o640)
    try {
      release = openRelease(path, this.keys)
      await takeOut(release, program, (chunk) => {
        for (let done = 0; done < chunk.length; ) done += writeSync(file, chunk, done)
      })
    } finally {
      release?.close()
      closeSync(file)
    }
  }

  private async fileOf(sha256: string): Promise<string | undefined> {
    for (const path of this.programs) if ((await this.hashOf(path)) === sha256) return path
    return undefined
  }

  private async hashOf(path: string): Promise<string | undefined> {
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found?.isFile()) return undefined
    const key = `${path} ${found.size} ${found.mtimeMs}`
    const known = this.hashes.get(key)
    if (known !== undefined) return known
    const hash = createHash('sha256')
    try {
      for await (const chunk of Bun.file(path).stream()) hash.update(chunk)
    } catch {
      return undefined
    }
    const sha256 = hash.digest('hex')
    this.hashes.set(key, sha256)
    return sha256
  }
}
