// Files that a removal moves. Nothing is deleted: what lies on another file system than /root is copied, compared and
// only then taken away where it was.
import { createHash } from 'node:crypto'
import { createReadStream, type Stats } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, readlink, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { say } from '../../controller-link/job-log.ts'
import { run } from '../../host/exec.ts'
import { commandLine } from '../../protocol/shell-quote.ts'

const COPY_LIMIT_SECONDS = 3600
/** A folder of more files is counted up to here: somebody waits for the look. */
const MOST_COUNTED = 50_000

export const statOf = (path: string): Promise<Stats | undefined> =>
  lstat(path).catch((error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
export const isThere = async (path: string) => (await statOf(path)) !== undefined
/** The names in a directory in their order; none where it is missing. */
export async function namesIn(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).sort()
  } catch {
    return []
  }
}
/** The text of a file; undefined where it is missing. */
export const textOf = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error) => {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(error.code)) return undefined
    throw error
  })

/** Is the path this folder, or does it lie below it? */
export const isBelow = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

/** `isWhole`: there are no more than these. */
export type Size = { files: number; bytes: number; isWhole: boolean }
/** The number of files below a path, and what they take on the disk. */
export async function sizeOf(path: string): Promise<Size> {
  const size = { files: 0, bytes: 0, isWhole: true }
  const left = [path]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (size.files >= MOST_COUNTED) return { ...size, isWhole: false }
    const found = await statOf(at)
    if (!found) continue
    size.bytes += found.blocks * 512
    if (!found.isDirectory()) size.files++
    else for (const name of await namesIn(at)) left.push(join(at, name))
  }
  return size
}

/** Makes a directory of root's alone, with those above it. */
export const privateFolder = (path: string) => mkdir(path, { recursive: true, mode: 0o700 })

/** Returns when the names in a directory are on the disk. */
async function flush(dir: string) {
  await using file = await open(dir, 'r')
  await file.sync()
}

/** Names beside a path while it is moved to another file system: the copy in the making, and what was copied. */
const copyingAt = (path: string) => `${path}.berth-copying`
const asideAt = (path: string) => `${path}.berth-moved`

/**
 * Moves a file, a link or a tree, with its owners, modes, times and attributes. Sent again it goes on where it was cut
 * off. Throws where the new place has something else.
 */
export async function move(from: string, to: string) {
  if (!(await isThere(to))) {
    if (!(await isThere(from))) return
    say('command', commandLine('mv', [from, to]))
    await privateFolder(dirname(to))
    try {
      await rename(from, to)
      await flush(dirname(to))
      return await flush(dirname(from))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    }
    await rm(copyingAt(to), { recursive: true, force: true })
    await run('cp', ['-a', '--', from, copyingAt(to)], { limitSeconds: COPY_LIMIT_SECONDS })
    const differing = await differences(from, copyingAt(to))
    if (differing.length) throw new Error(`the copy of ${from} differs: ${differing.slice(0, 3).join(', ')}`)
    await run('sync', ['-f', dirname(to)], { limitSeconds: COPY_LIMIT_SECONDS, quietly: true })
    await rename(copyingAt(to), to)
    await flush(dirname(to))
  }
  if (await isThere(from)) {
    if ((await differences(from, to)).length > 0) throw new Error(`${to} is there already, and is not as ${from}`)
    await rename(from, asideAt(from))
    await flush(dirname(from))
  }
  // The whole copy is at its place, and was compared.
  await rm(asideAt(from), { recursive: true, force: true })
}

/** Undoes a move, also one that was cut off or never began. Answers false where something else has the old place. */
export async function moveBack(from: string, to: string): Promise<boolean> {
  await rm(copyingAt(to), { recursive: true, force: true })
  if (!(await isThere(to))) return true
  if (!(await isThere(from))) {
    await move(to, from)
    await rm(asideAt(from), { recursive: true, force: true })
    return true
  }
  if ((await differences(from, to)).length > 0) return false
  await rm(asideAt(to), { recursive: true, force: true })
  return true
}

/** The paths below two trees, relative, that are not the same: kind, mode, owner, time, content or target. */
export async function differences(one: string, other: string, at = ''): Promise<string[]> {
  const [a, b] = await Promise.all([statOf(join(one, at)), statOf(join(other, at))])
  if (!a || !b) return a === b ? [] : [at || '.']
  const isSame =
    a.mode === b.mode && a.uid === b.uid && a.gid === b.gid && Math.abs(a.mtimeMs - b.mtimeMs) < 1 && a.rdev === b.rdev
  if (!isSame) return [at || '.']
  if (a.isSymbolicLink())
    return (await readlink(join(one, at))) === (await readlink(join(other, at))) ? [] : [at || '.']
  if (a.isFile()) {
    if (a.size !== b.size) return [at || '.']
    const [left, right] = await Promise.all([hashOf(join(one, at)), hashOf(join(other, at))])
    return left === right ? [] : [at || '.']
  }
  if (!a.isDirectory()) return []
  const names = new Set([...(await readdir(join(one, at))), ...(await readdir(join(other, at)))])
  const found: string[] = []
  for (const name of names) found.push(...(await differences(one, other, join(at, name))))
  return found
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** A copy of a file with its owner, mode, times and attributes, at once whole. */
export async function copyFile(from: string, to: string) {
  await privateFolder(dirname(to))
  await run('cp', ['-a', '--', from, `${to}.berth-copying`], { quietly: true })
  await rename(`${to}.berth-copying`, to)
  await flush(dirname(to))
}

/** Replaces the content of a file at once, which keeps its owner, mode and attributes. */
export async function replaceText(path: string, text: string) {
  const fresh = `${path}.berth-new`
  await run('cp', ['-a', '--', path, fresh], { quietly: true })
  {
    await using file = await open(fresh, 'w')
    await file.writeFile(text)
    await file.sync()
  }
  await rename(fresh, path)
  await flush(dirname(path))
}

/** The mount points of this host. */
export async function mountPoints(): Promise<string[]> {
  const text = (await textOf('/proc/self/mountinfo')) ?? ''
  const plain = (word: string) => word.replaceAll(/\\([0-7]{3})/g, (_, n) => String.fromCharCode(Number.parseInt(n, 8)))
  return text.split('\n').flatMap((row) => plain(row.split(' ')[4] ?? '') || [])
}
