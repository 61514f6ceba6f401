// Objects as files of a folder of this host, also of a mounted disk.
import { lstatSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { INCOMING, mustBeName, type ObjectStore, StoreError } from './store.ts'

/** By this file the administrator of the host says that the folder is meant, and that its disk is mounted. */
export const FOLDER_MARKER = '.berth-backups'

function isPrepared(folder: string): boolean {
  const marker = lstatSync(join(folder, FOLDER_MARKER), { throwIfNoEntry: false })
  return marker?.isFile() === true && (marker.uid === 0 || marker.uid === process.getuid?.())
}

const codeOf = (error: unknown) => (error as { code?: string }).code ?? ''
const isAbsent = (error: unknown) => codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'

export function folderStore(root: string): ObjectStore {
  const made = new Set<string>()
  let writes = 0

  /** A disk that is not mounted leaves an empty folder, which copies would fill until the host has no space. */
  function mustBePrepared() {
    // Daily backups lie in a folder below the one that is prepared.
    if (![root, dirname(root)].some(isPrepared))
      throw new StoreError(
        `The folder ${root} is not prepared. Mount its disk, and make the file ${FOLDER_MARKER} in it as root.`,
      )
  }
  async function attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      mustBePrepared()
      return await work()
    } catch (error) {
      throw codeOf(error) ? new StoreError(wordsOf(codeOf(error), root), { cause: error }) : error
    }
  }
  async function flushFolder(path: string) {
    const handle = await open(path, 'r')
    await handle.sync().finally(() => handle.close())
  }
  async function makeFolder(path: string) {
    if (made.has(path)) return
    await mkdir(path, { recursive: true, mode: 0o700 })
    made.add(path)
  }

  return {
    title: root,
    put: (name, bytes) =>
      attempt(async () => {
        const path = join(root, mustBeName(name))
        const part = join(root, `${INCOMING}${process.pid}-${++writes}`)
        const file = await open(part, 'w', 0o600)
        try {
          await file.writeFile(bytes)
          await file.sync()
        } finally {
          await file.close()
        }
        try {
          await makeFolder(dirname(path))
          await rename(part, path)
        } catch (error) {
          made.clear()
          await rm(part, { force: true })
          throw error
        }
        await flushFolder(dirname(path))
      }),
    get: (name) =>
      attempt(() =>
        readFile(join(root, mustBeName(name))).catch((error) => {
          if (isAbsent(error)) return undefined
          throw error
        }),
      ),
    list: (folder) =>
      attempt(async () => {
        const found = await readdir(join(root, mustBeName(folder)), { recursive: true, withFileTypes: true }).catch(
          (error) => {
            if (isAbsent(error)) return []
            throw error
          },
        )
        return found
          .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
          .map((entry) => join(entry.parentPath, entry.name).slice(join(root, '/').length))
          .toSorted()
      }),
    remove: (name) => attempt(() => rm(join(root, mustBeName(name)), { force: true })),
    close() {},
  }
}

function wordsOf(code: string, root: string): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return `The disk of ${root} is full.`
  if (code === 'EACCES' || code === 'EPERM')
    return `Berth's user may not work in ${root}. Let it own the folder; under systemd, name it in ReadWritePaths too.`
  if (code === 'EROFS') return `${root} is read-only for Berth. Under systemd, name it in ReadWritePaths.`
  return `${root} cannot be used (${code}).`
}
