// Linux keeps the pages of a file in memory, and after an error of the disk they say more than the disk has. Worse, on
// ext4 a block that was allocated for a write that failed stays marked "unwritten" while its page is in memory: the
// same page can be written and flushed again without an error, and is read as zeros once memory has forgotten it. A
// program that writes anew after an error, or goes on with a file of a process that may have met one, drops the pages
// first.
import { dlopen, FFIType as t } from 'bun:ffi'
import { closeSync, existsSync, fdatasyncSync, openSync, statSync } from 'node:fs'

/** Of posix_fadvise(2), on every architecture that Bun runs on. */
const POSIX_FADV_DONTNEED = 4

const openLibc = () =>
  dlopen('libc.so.6', { posix_fadvise: { args: [t.i32, t.i64, t.i64, t.i32], returns: t.i32 } }).symbols
let libc: ReturnType<typeof openLibc> | undefined

/**
 * Flushes the open file `fd` and drops its pages from memory, so that the next read asks the disk. What the disk does
 * not take is lost with it: call it where that is wanted. Does nothing on a file system without a disk (tmpfs).
 */
export function dropCachedPages(fd: number) {
  try {
    fdatasyncSync(fd)
  } catch {
    // The pages that could not be written are dropped all the same.
  }
  try {
    libc ??= openLibc()
    libc.posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)
  } catch {
    // A host with another libc starts all the same.
  }
}

/**
 * Call it before SQLite opens the database at `path`. A log that is there is of a process that did not end in order,
 * perhaps because of the disk: what Linux remembers of both files is dropped, so that everything that follows stands on
 * what the disk has.
 */
export function startFromDisk(path: string) {
  if (!existsSync(path) || !statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) return
  for (const each of [`${path}-wal`, path]) {
    const file = openSync(each, 'r')
    dropCachedPages(file)
    closeSync(file)
  }
}
