// Files of an ext2, ext3 or ext4 file system, read by debugfs, which every Debian has. A stranger made the file system,
// so debugfs runs confined, by numbers of inodes alone: no name and no path of the file system is ever among its
// arguments. It says what goes wrong on its standard error only; its exit code is 0 all the same.
import { Failure } from '../../failure.ts'
import { beginConfined, CONFINED_INPUT, type ConfinedRun } from '../../host/exec.ts'
import type { BackupFileKind } from '../../protocol/backup.ts'

/** The first inode of every such file system that holds its root directory. */
const ROOT = 2
/** A quarter of a million names. What is beyond is not shown. */
const MOST_LIST_BYTES = 16 << 20
const LOOK_SECONDS = 60
/** With a limit of 100 Mbit/s of the viewer that is 270 GB. */
const READ_SECONDS = 6 * 3600

/** An open disk and where the file system begins, in bytes. */
export type FileSystemAt = { fd: number; offset: number }
export type Entry = { name: string; inode: number; kind: BackupFileKind; sizeBytes: number }
export type Directory = { entries: Entry[]; isCut: boolean }

const start = ({ fd, offset }: FileSystemAt, request: string[], limitSeconds: number, stdin?: string): ConfinedRun =>
  // `-c`: the bitmaps of the whole disk are not read first, and nothing is written.
  beginConfined('debugfs', ['-c', ...request, `${CONFINED_INPUT}?offset=${offset}`], {
    input: fd,
    limitSeconds,
    ...(stdin !== undefined && { stdin }),
  })

/** The entry at a path. Throws `file_not_found`, `not_a_directory`, `file_system_damaged`. Links are not followed. */
export async function entryAt(fs: FileSystemAt, path: readonly string[]): Promise<Entry> {
  let at: Entry = { name: '', inode: ROOT, kind: 'directory', sizeBytes: 0 }
  for (const name of path) {
    if (at.kind !== 'directory') throw new Failure('not_a_directory', `${at.name} is no directory`)
    const found = (await directoryOf(fs, at.inode)).entries.find((entry) => entry.name === name)
    if (!found) throw new Failure('file_not_found', `there is no ${name}`)
    at = found
  }
  return at
}

/** Throws `file_system_damaged`. */
export async function directoryOf(fs: FileSystemAt, inode: number): Promise<Directory> {
  const list = start(fs, ['-R', `ls -p <${inode}>`], LOOK_SECONDS)
  const { bytes, isCut } = await collected(list)
  const { err } = await list.ended
  const entries = entriesIn(bytes)
  if (!entries) throw damaged(err)
  return { entries: entries.filter(({ name }) => name !== '.' && name !== '..' && name !== ''), isCut }
}

/** When each of these was last written, in ms since 1970. One that cannot be told is missing. */
export async function timesOf(fs: FileSystemAt, inodes: readonly number[]): Promise<Map<number, number>> {
  const asked = inodes.map((inode) => `stat <${inode}>\n`).join('')
  const times = start(fs, ['-f', '-'], LOOK_SECONDS, asked)
  const { bytes } = await collected(times)
  await times.ended
  return timesIn(bytes.toString('latin1'))
}

/** The bytes of a file. Who stops reading ends the program. Throws `file_system_damaged` where some are missing. */
export async function* bytesOf(
  fs: FileSystemAt,
  { inode, sizeBytes }: Entry,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  const cat = start(fs, ['-R', `cat <${inode}>`], READ_SECONDS)
  signal.addEventListener('abort', cat.stop, { once: true })
  let sent = 0
  try {
    for await (const chunk of cat.stdout) {
      sent += chunk.length
      if (sent > sizeBytes) throw damaged(`more than ${sizeBytes} bytes`)
      yield chunk
    }
  } finally {
    signal.removeEventListener('abort', cat.stop)
    cat.stop()
    await cat.ended
  }
  signal.throwIfAborted()
  if (sent !== sizeBytes) throw damaged((await cat.ended).err)
}

async function collected({ stdout, stop }: ConfinedRun): Promise<{ bytes: Buffer; isCut: boolean }> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stdout) {
    parts.push(chunk)
    bytes += chunk.length
    if (bytes > MOST_LIST_BYTES) {
      stop()
      return { bytes: Buffer.concat(parts), isCut: true }
    }
  }
  return { bytes: Buffer.concat(parts), isCut: false }
}

const damaged = (err: string) => {
  const said = err
    .split('\n')
    .filter((line) => line && !/^debugfs \d/.test(line))
    .join('; ')
  return new Failure('file_system_damaged', said.slice(0, 500) || 'debugfs said nothing')
}

const SLASH = 0x2f
/** By the first octal digits of a mode. */
const kinds: Readonly<Record<string, BackupFileKind>> = { '10': 'file', '4': 'directory', '12': 'link' }

/**
 * Parses `ls -p`: `/inode/mode/user/group/name/size/` and the end of a line, for each entry. A name may hold everything
 * but a slash, so slashes alone part it. Undefined where there is none, not even the directory itself; what follows
 * something that is no entry is left out.
 */
export function entriesIn(out: Buffer): Entry[] | undefined {
  const entries: Entry[] = []
  for (let at = 0; out[at] === SLASH; ) {
    const ends: number[] = []
    for (let from = at + 1; ends.length < 6; from = ends.at(-1)! + 1) {
      const end = out.indexOf(SLASH, from)
      if (end < 0) return entries.length ? entries : undefined
      ends.push(end)
    }
    const field = (i: number) => out.subarray((i ? ends[i - 1]! : at) + 1, ends[i])
    const [inode, mode] = [Number(field(0)), Number.parseInt(field(1).toString('latin1'), 8)]
    const size = Number(field(5).toString('latin1') || 0)
    if (!(Number.isSafeInteger(inode) && Number.isSafeInteger(mode) && Number.isSafeInteger(size) && size >= 0)) break
    const kind = kinds[(mode >> 12).toString(8)] ?? 'other'
    if (inode > 0) entries.push({ name: nameOf(field(4)), inode, kind, sizeBytes: size })
    at = ends[5]! + 2
  }
  return entries.length ? entries : undefined
}

/** A name as text. Bytes that are no UTF-8 are written as `\xff`. */
function nameOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return [...bytes]
      .map((byte) => (byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`))
      .join('')
  }
}

/** Parses the output of several `stat`: the first time after each inode, because only that of the file comes there. */
export function timesIn(out: string): Map<number, number> {
  const times = new Map<number, number>()
  for (const part of out.split(/^Inode: /m).slice(1)) {
    const inode = Number.parseInt(part, 10)
    const [, low, high = '0'] = /^ *mtime: 0x([0-9a-f]{8})(?::([0-9a-f]{8}))? --/m.exec(part) ?? []
    if (low === undefined || times.has(inode)) continue
    // The low two bits beside the nanoseconds go on where 32 bits end, in 2038.
    const seconds = (Number.parseInt(low, 16) | 0) + (Number.parseInt(high, 16) & 3) * 2 ** 32
    if (seconds >= 0) times.set(inode, seconds * 1000)
  }
  return times
}
