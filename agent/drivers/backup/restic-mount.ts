// The disk of a snapshot as a file, by FUSE. restic fetches what is read and nothing else; the kernel of the host sees
// bytes and looks for no file system in them. Reads happen in other threads: a target that does not answer stops none
// of the agent's work.
import { existsSync, mkdirSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import { type Begun, begin, find, unmountBelow } from '../../host/exec.ts'
import { DISK_FILE } from './restic-output.ts'

/** A large repository without a cache has a large index to be read first. */
const START_SECONDS = 120
const POLL_MS = 50
const PATHS = 'ids/%I'

/** restic ended before there was anything to read; the message is its own. */
export class NotMounted extends Error {}

/**
 * The disk of a snapshot while it is shown. `folder` is in memory, empty, and gone afterwards with every mount in it.
 * `gone` aborts when the disk can be read no longer.
 */
export type ShownDisk = { disk: FileHandle; path: string; folder: string; gone: AbortSignal }

type Prepared = { folder: string; args: string[]; env: Record<string, string> }

/** FUSE has this device. A container sees it only when it was passed to it. */
const FUSE = '/dev/fuse'

/** Says what this host lacks to show the files of a backup, and the remedy; undefined where it lacks nothing. */
export function missingForFiles(fuse = FUSE): { what: string; remedy: string } | undefined {
  if (!find('debugfs')) return { what: 'debugfs is not installed', remedy: 'install e2fsprogs' }
  // restic starts it under this name, which Debian's fuse3 has too.
  if (!find('fusermount')) return { what: 'fusermount is not installed', remedy: 'install fuse3' }
  if (!existsSync(fuse))
    return { what: `there is no ${fuse}`, remedy: 'run modprobe fuse, or pass the device to the container' }
  return undefined
}

/** Throws `NotMounted`, `tool_missing` without FUSE, and `tool_timeout`. */
export async function whileMounted<T>(
  { folder, args, env }: Prepared,
  snapshot: string,
  work: (shown: ShownDisk) => Promise<T>,
): Promise<T> {
  const missing = missingForFiles()
  if (missing) throw new Failure('tool_missing', `${missing.what} on this host: ${missing.remedy}`)
  const at = join(folder, 'mounted')
  mkdirSync(at)
  // Of others only the program that reads the disk for a viewer gets at it: the folder is closed to all of them.
  const mount = ['mount', '--no-lock', '--allow-other', '--no-default-permissions', '--path-template', PATHS, '--', at]
  const server = begin('restic', [...args, ...mount], { env })
  const gone = new AbortController()
  void server.ended.then(() => gone.abort())
  let disk: FileHandle | undefined
  try {
    await mounted(folder, at, server, gone.signal)
    const path = join(at, 'ids', snapshot, DISK_FILE)
    disk = await inTime(server, open(path, 'r'))
    const forWork = join(folder, 'work')
    mkdirSync(forWork)
    return await work({ disk, path, folder: forWork, gone: gone.signal })
  } finally {
    // A read that waits ends when its server does.
    server.stop()
    await server.ended
    unmountBelow(folder)
    await disk?.close().catch(() => {})
  }
}

async function mounted(folder: string, at: string, server: Begun, gone: AbortSignal) {
  const { dev } = await stat(folder)
  for (const until = performance.now() + START_SECONDS * 1000; ; await Bun.sleep(POLL_MS)) {
    if (gone.aborted) throw new NotMounted((await server.ended).err.trim() || 'restic ended without a word')
    const now = await stat(at).catch(() => undefined)
    if (now && now.dev !== dev) return
    if (performance.now() > until) throw new Failure('tool_timeout', `restic mount took more than ${START_SECONDS} s`)
  }
}

/** Opening fetches the list of snapshots; nothing but the end of the server ends it early. */
async function inTime(server: Begun, opening: Promise<FileHandle>): Promise<FileHandle> {
  const timer = setTimeout(() => server.stop(), START_SECONDS * 1000)
  try {
    return await opening
  } catch (error) {
    throw new NotMounted((error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no matching ID found' : String(error))
  } finally {
    clearTimeout(timer)
  }
}
