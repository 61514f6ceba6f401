// A folder of releases on the controller. The operator puts files there, and so does a download.
import { lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { openRelease } from '../../../agent/protocol/release/archive.ts'
import { compareVersions, type Manifest, ReleaseRefused } from '../../../agent/protocol/release/manifest.ts'
import type { ReleaseKey } from '../../../agent/protocol/release/signature.ts'
import { INCOMING_FOLDER, requestFolder } from '../../../agent/protocol/release/upgrade.ts'
import { verifiedRelease } from '../../../agent/protocol/release/verify.ts'

/** The folder of an installation: the operator's files and those of the page. */
export const incomingFolder = (dataDir: string) => `${requestFolder(dataDir)}/${INCOMING_FOLDER}`

/** The newest files that are looked at. */
const MOST_FILES = 30

/** A release whose signature counts. What is in it is checked by `verified`. */
export type Release = { file: string; manifest: Manifest; sizeBytes: number; at: number }
export type RefusedFile = { file: string; code: string; message: string }
type Looked = { manifest: Manifest } | { code: string; message: string }

export class ReleaseFolder {
  /** By name, size and time of change: each file is opened once. */
  private looked = new Map<string, Looked>()

  constructor(
    readonly path: string,
    readonly keys: readonly ReleaseKey[],
  ) {}

  make() {
    mkdirSync(this.path, { recursive: true, mode: 0o750 })
  }

  /** The newest version first; of one version the newest file. `refused`: files that are no release that counts. */
  list(): { releases: Release[]; refused: RefusedFile[] } {
    const releases: Release[] = []
    const refused: RefusedFile[] = []
    const before = this.looked
    this.looked = new Map()
    for (const { file, key, sizeBytes, at } of this.files()) {
      const looked = before.get(key) ?? this.look(file)
      this.looked.set(key, looked)
      if ('code' in looked) refused.push({ file, ...looked })
      else if (!releases.some(({ manifest }) => manifest.version === looked.manifest.version))
        releases.push({ file, manifest: looked.manifest, sizeBytes, at })
    }
    releases.sort((a, b) => compareVersions(b.manifest.version, a.manifest.version))
    return { releases, refused }
  }

  find(version: string): Release | undefined {
    return this.list().releases.find(({ manifest }) => manifest.version === version)
  }

  /** The refusal of a release in which something is not what its manifest names; undefined: all of it is. */
  async flaw({ file, manifest }: Release): Promise<ReleaseRefused | undefined> {
    try {
      const { version } = await verifiedRelease(`${this.path}/${file}`, this.keys)
      if (version === manifest.version) return undefined
      return new ReleaseRefused('release_invalid', 'The file was replaced while it was checked. Check it again.')
    } catch (error) {
      return refusalOf(error)
    }
  }

  private files() {
    const names = namesIn(this.path).filter((name) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,90}\.release$/.test(name))
    return names
      .flatMap((file) => {
        const found = lstatSync(`${this.path}/${file}`, { throwIfNoEntry: false })
        if (!found?.isFile()) return []
        const { size, mtimeMs, ino } = found
        return [{ file, sizeBytes: size, at: mtimeMs, key: `${file} ${ino} ${size} ${mtimeMs}` }]
      })
      .sort((a, b) => b.at - a.at)
      .slice(0, MOST_FILES)
  }

  private look(file: string): Looked {
    try {
      const release = openRelease(`${this.path}/${file}`, this.keys)
      release.close()
      return { manifest: release.manifest }
    } catch (error) {
      const { code, message } = refusalOf(error)
      return { code, message }
    }
  }
}

/** A file that cannot be read is none. */
function refusalOf(error: unknown): ReleaseRefused {
  if (error instanceof ReleaseRefused) return error
  const why = (error as NodeJS.ErrnoException).code ?? 'it cannot be read'
  return new ReleaseRefused('release_invalid', `This file cannot be read by the controller (${why}).`)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
