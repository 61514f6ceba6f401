// The copies of this node, each in a directory of its own: how far it is, and the hashes of what has arrived.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../../host/directories.ts'
import type { SourceCopied } from '../../../protocol/values/source-hosts.ts'

/**
 * `parts`: a file or device of the source each; of a disk with backing files these stand behind it. `running`: the pass
 * while the server ran, and `finished`: the last one, once they have ended. `maxMbps`: the limit that was told later.
 */
export type KeptCopy = {
  parts: KeptPart[]
  running: SourceCopied | null
  finished: SourceCopied | null
  maxMbps?: number | null
}
/**
 * `staged`: the file here into which it is copied; null: the volume. `sizeBytes` and `blockBytes`: of the source when
 * it was read last. `arrivedBytes`: from the beginning on, in order. Nothing was written behind `reachedBytes`.
 * `isMapped`: the kept map has all that has arrived.
 */
export type KeptPart = {
  path: string
  staged: string | null
  sizeBytes: number
  blockBytes: number
  arrivedBytes: number
  reachedBytes: number
  isMapped: boolean
}
export const newPart = (path: string, staged: string | null): KeptPart => ({
  ...{ path, staged, sizeBytes: 0, blockBytes: 0, arrivedBytes: 0, reachedBytes: 0, isMapped: false },
})

/** As long as the journal keeps the answers of commands. */
const KEPT_DAYS = 14
const DAY_MS = 86_400_000

const NONE: KeptCopy = { parts: [], running: null, finished: null }

export class KeptCopies {
  constructor(private root: string) {}

  directory = (copy: string) => join(this.root, copy)
  has = (copy: string) => existsSync(this.#file(copy))
  mapOf = (copy: string, part: number) => join(this.directory(copy), `map-${part}`)
  #file = (copy: string) => join(this.directory(copy), 'copy.json')

  read = (copy: string): KeptCopy =>
    this.has(copy) ? (JSON.parse(readFileSync(this.#file(copy), 'utf8')) as KeptCopy) : structuredClone(NONE)

  write(copy: string, kept: KeptCopy) {
    mkdirSync(this.directory(copy), { recursive: true, mode: 0o700 })
    replaceFile(this.#file(copy), JSON.stringify(kept))
  }

  /** Deletes what was staged, and the maps. */
  clear(copy: string) {
    for (const [n, { staged }] of this.read(copy).parts.entries()) {
      if (staged) rmSync(staged, { force: true })
      rmSync(this.mapOf(copy, n), { force: true })
    }
  }

  /** Forgets those that have ended long ago: nobody sends their commands again. */
  prune(now = Date.now()) {
    for (const copy of existsSync(this.root) ? readdirSync(this.root) : []) {
      if (!this.has(copy) || now - statSync(this.#file(copy)).mtimeMs < KEPT_DAYS * DAY_MS) continue
      if (this.read(copy).finished) this.forget(copy)
    }
  }

  forget = (copy: string) => rmSync(this.directory(copy), { recursive: true, force: true })
}
