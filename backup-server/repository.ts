// Repositories in a folder, as restic lays them out on a disk: whoever owns the folder can use them with restic alone.
// Files are only ever added; but for locks, none is replaced or removed here.
import { constants } from 'node:fs'
import { type FileHandle, link, mkdir, open, readdir, rm, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileOf, isFileName, isRepositoryName, type Kind, kinds, type Target } from './paths.ts'

export type FileTarget = Target & { at: 'config' | 'file' }

/** Uploads on their way, outside of every repository. */
const incomingOf = (root: string) => `${root}/.incoming`

/** Removes the uploads that a process before left unfinished. */
export async function clearIncoming(root: string): Promise<void> {
  await rm(incomingOf(root), { recursive: true, force: true })
  await mkdir(incomingOf(root), { recursive: true, mode: 0o700 })
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Undefined where there is no such file. */
export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path)
    return found.isFile() ? found.size : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const spread = Array.from({ length: 256 }, (_, i) => `data/${i.toString(16).padStart(2, '0')}`)
const allFolders = ['', ...[...kinds, ...spread].map((name) => `/${name}`)]
/** The folders that a repository still needs, from the outside in. */
export async function missingFolders(root: string, repository: string): Promise<string[]> {
  const folder = `${root}/${repository}`
  const above = repository.includes('/') ? [dirname(folder)] : []
  const needed = [...above, ...allFolders.map((name) => folder + name)]
  const isThere = await Promise.all(needed.map(isFolder))
  return needed.filter((_, i) => !isThere[i])
}

/** Is it one already, begun or whole? Those below a login are folders of their names in the login's. */
export const isRepository = (root: string, repository: string): Promise<boolean> =>
  isFolder(`${root}/${repository}${repository.includes('/') ? '' : '/data'}`)

/** The repositories of a login, with its own. */
export async function countRepositories(root: string, login: string): Promise<number> {
  const names = (await namesIn(`${root}/${login}`)).filter(isRepositoryName)
  return names.length + ((await isRepository(root, login)) ? 1 : 0)
}

/**
 * Makes these folders of a repository, those that it lacks. What a set-up that was broken off left in the others goes,
 * as long as no backup is there.
 */
export async function createRepository(root: string, repository: string, missing: readonly string[]): Promise<void> {
  const folder = `${root}/${repository}`
  for (const path of missing) await mkdir(path, { recursive: true, mode: 0o700 })
  for (const path of [`${folder}/data`, folder, dirname(folder), root]) await flush(path)
  if (await isEmpty(root, repository))
    for (const { name } of await filesOf(root, repository, 'keys')) await unlink(`${folder}/keys/${name}`)
}

async function isEmpty(root: string, repository: string): Promise<boolean> {
  if ((await sizeOf(`${root}/${repository}/config`)) !== undefined) return false
  for (const kind of ['snapshots', 'index', 'data'] as const)
    if ((await filesOf(root, repository, kind)).length) return false
  return true
}

/** Files that restic put there; whatever else lies in the folder is none of a client's. */
export async function filesOf(root: string, repository: string, kind: Kind): Promise<{ name: string; size: number }[]> {
  const folder = `${root}/${repository}/${kind}`
  const folders = kind === 'data' ? (await namesIn(folder)).filter((name) => /^[0-9a-f]{2}$/.test(name)) : ['.']
  const found: { name: string; size: number }[] = []
  for (const below of folders)
    for (const name of await namesIn(`${folder}/${below}`)) {
      const size = isFileName(name) ? await sizeOf(`${folder}/${below}/${name}`) : undefined
      if (size !== undefined) found.push({ name, size })
    }
  return found
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Answers whether the lock was there. */
export async function removeLock(root: string, lock: FileTarget & { kind: 'locks' }): Promise<boolean> {
  try {
    await unlink(fileOf(root, lock))
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Set up: from then on no key can be added through the server. */
export const hasConfig = async (root: string, repository: string) =>
  (await sizeOf(`${root}/${repository}/config`)) !== undefined

/** An upload: its bytes lie apart until they are all there, right, and on the disk. */
export class Upload {
  readonly #hash = new Bun.CryptoHasher('sha256')
  bytes = 0
  private constructor(
    readonly path: string,
    readonly file: FileHandle,
  ) {}

  static async begin(root: string): Promise<Upload> {
    const path = `${incomingOf(root)}/${crypto.randomUUID()}`
    return new Upload(path, await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600))
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk)
    this.bytes += chunk.length
    for (let at = 0; at < chunk.length; ) at += (await this.file.write(chunk, at)).bytesWritten
  }

  /**
   * `wrong`: the bytes are not those that the name stands for. `exists`: link(2) never replaces a file, also when two
   * uploads of one name end at once. `missing`: the repository was never created.
   */
  async finish(root: string, target: FileTarget): Promise<'stored' | 'wrong' | 'exists' | 'missing'> {
    if (target.at === 'file' && this.#hash.digest('hex') !== target.name) return 'wrong'
    await this.file.sync()
    const path = fileOf(root, target)
    try {
      await link(this.path, path)
    } catch (error) {
      if ((error as { code?: string }).code === 'EEXIST') return 'exists'
      if (isMissing(error)) return 'missing'
      throw error
    }
    await flush(dirname(path))
    return 'stored'
  }

  /** The last call, also after a failure. */
  async end(): Promise<void> {
    await this.file.close()
    await rm(this.path, { force: true })
  }
}

async function flush(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

const isMissing = (error: unknown) => /^(ENOENT|ENOTDIR)$/.test((error as { code?: string }).code ?? '')
