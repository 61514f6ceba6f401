// The quota of a login on the disk of a backup server: bytes, where each file and each folder counts as whole blocks,
// and a number of repositories. A quota is a file named after the login, so that a
// change counts from the next upload on. What a login has is measured once and counted from then on, and measured again
// when it seems to be too much: old backups are removed beside the server, by restic in the folder.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { flushed, writeFlushed } from './files.ts'
import { sizeOf } from './repository.ts'

const folderOf = (root: string) => `${root}/.quotas`
const fileOf = (root: string, login: string) => `${folderOf(root)}/${login}`

const KIB = 1024
const units: Readonly<Record<string, number>> = { '': 1, K: KIB, M: KIB ** 2, G: KIB ** 3, T: KIB ** 4 }
/** `500G`, `1.5T`: bytes in powers of 1024; undefined for what is no size. */
export function sizeFrom(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,9}(?:\.\d{1,3})?)([KMGT]?)(?:iB)?$/.exec(text) ?? []
  const bytes = Math.floor(Number(number) * units[unit ?? '']!)
  return number !== undefined && bytes > 0 ? bytes : undefined
}

/** Undefined removes it. */
export function setQuota(root: string, login: string, bytes: number | undefined): void {
  if (bytes === undefined) {
    rmSync(fileOf(root, login), { force: true })
    return
  }
  store(root, fileOf(root, login), bytes)
}

function store(root: string, file: string, number: number): void {
  mkdirSync(folderOf(root), { recursive: true, mode: 0o700 })
  const part = `${folderOf(root)}/.${basename(file)}.${process.pid}`
  writeFlushed(part, `${number}\n`)
  renameSync(part, file)
  flushed(folderOf(root))
}

/** Undefined: the login may fill the disk. */
export const quotaOf = (root: string, login: string): number | undefined => numberIn(fileOf(root, login))

/** Undefined without the file. Throws where it has no number, which must not lift a quota. */
function numberIn(file: string): number | undefined {
  if (!existsSync(file)) return undefined
  const text = readFileSync(file, 'utf8').trim()
  if (!/^\d{1,17}$/.test(text)) throw new Error(`the quota in ${file} is no number`)
  return Number(text)
}

/** As many as a panel with a thousand customers needs: each has one. */
export const USUAL_REPOSITORIES = 1000
/** No login has a point in its name. */
const fileOfMost = (root: string, login: string) => `${fileOf(root, login)}.repositories`
export const setMostRepositories = (root: string, login: string, most: number): void =>
  store(root, fileOfMost(root, login), most)
export const mostRepositoriesOf = (root: string, login: string): number =>
  numberIn(fileOfMost(root, login)) ?? USUAL_REPOSITORIES

const BLOCK_BYTES = 4 * KIB
/** The size of a file in whole blocks; an empty file counts one, since it takes an inode. */
const onDisk = (bytes: number) => Math.max(1, Math.ceil(bytes / BLOCK_BYTES)) * BLOCK_BYTES

/** The size of a login's files and folders in whole blocks. */
export async function usedBytes(root: string, login: string): Promise<number> {
  let bytes = 0
  const folders = [`${root}/${login}`]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (!entries) continue
    bytes += BLOCK_BYTES
    for (const entry of entries)
      if (entry.isDirectory()) folders.push(`${folder}/${entry.name}`)
      else bytes += onDisk((await sizeOf(`${folder}/${entry.name}`)) ?? 0)
  }
  return bytes
}

/** restic needs a lock for reading too: a login that is full gives its backups back. */
const FOR_LOCKS_BYTES = 16 * KIB ** 2

export type Share = {
  /** Takes what is missing to a file of so many bytes; false when that does not fit. */
  cover(bytes: number): Promise<boolean>
  /** The same for new folders. */
  coverFolders(folders: number): Promise<boolean>
  /** The last call: what was taken for an upload that was not stored is given back. */
  end(isStored: boolean): void
}

/** The last measurement of a login. Files that are stored during a measurement count twice until the next one. */
type Used = { measured: number; stored: number; measuredAt: number; measuring: Promise<void> }

/** Counts what logins have. A login that seems full is measured again after `remeasureMs` at the earliest. */
export class Quotas {
  readonly #used = new Map<string, Used>()
  readonly #arriving = new Map<string, number>()
  constructor(
    readonly root: string,
    readonly remeasureMs = 10_000,
  ) {}

  /** The share of one upload. */
  begin(login: string, isLock: boolean): Share {
    const quota = quotaOf(this.root, login)
    if (quota === undefined) {
      this.#used.delete(login)
      return { cover: async () => true, coverFolders: async () => true, end: () => {} }
    }
    const most = quota + (isLock ? FOR_LOCKS_BYTES : 0)
    let taken = 0
    const take = async (bytes: number) => {
      if (bytes <= taken) return true
      const fits = await this.#take(login, bytes - taken, most)
      if (fits) taken = bytes
      return fits
    }
    return {
      cover: (bytes) => take(onDisk(bytes)),
      coverFolders: (folders) => take(folders * BLOCK_BYTES),
      end: (isStored) => {
        const used = this.#used.get(login)
        if (isStored && used) used.stored += taken
        this.#arrives(login, -taken)
      },
    }
  }

  #arrives(login: string, bytes: number) {
    this.#arriving.set(login, (this.#arriving.get(login) ?? 0) + bytes)
  }

  /** Nothing comes between the last look and the taking: uploads of a login come in parallel. */
  async #take(login: string, bytes: number, most: number): Promise<boolean> {
    const fits = ({ measured, stored }: Used) => measured + stored + (this.#arriving.get(login) ?? 0) + bytes <= most
    let used = this.#used.get(login) ?? this.#measure(login)
    await used.measuring
    if (!fits(used) && performance.now() - used.measuredAt >= this.remeasureMs) {
      const known = this.#used.get(login)
      used = known && known !== used ? known : this.#measure(login)
      await used.measuring
    }
    if (!fits(used)) return false
    this.#arrives(login, bytes)
    return true
  }

  #measure(login: string): Used {
    const used: Used = { measured: 0, stored: 0, measuredAt: performance.now(), measuring: Promise.resolve() }
    this.#used.set(login, used)
    used.measuring = usedBytes(this.root, login).then(
      (bytes) => {
        used.measured = bytes
      },
      (error) => {
        this.#used.delete(login)
        throw error
      },
    )
    return used
  }
}
