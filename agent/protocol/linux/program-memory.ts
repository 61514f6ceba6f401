// The start of the program reads most of its machine code once: 40 MB of the executable stay mapped in memory, of which
// a quarter is used again. The kernel takes them back when it runs short; until then they count as memory of the
// process, on a node beside the memory that guests were promised.
import { dlopen, FFIType as t } from 'bun:ffi'
import { readFileSync, readlinkSync } from 'node:fs'

/** Of madvise(2), on every architecture that Bun runs on. */
const MADV_DONTNEED = 4

const openLibc = () => dlopen('libc.so.6', { madvise: { args: [t.u64, t.u64, t.i32], returns: t.i32 } }).symbols
let libc: ReturnType<typeof openLibc> | undefined

/**
 * Unmaps the pages of the program's machine code. One that is needed again is mapped from the page cache, without a
 * read of the disk while it is in there (2 µs for 16 pages). Machine code is never written, so nothing is lost; other
 * parts of the executable are left alone, because some of their pages have changed.
 */
export function releaseProgramPages() {
  try {
    const program = readlinkSync('/proc/self/exe')
    libc ??= openLibc()
    for (const { start, end } of machineCode(readFileSync('/proc/self/maps', 'utf8'), program))
      libc.madvise(start, end - start, MADV_DONTNEED)
  } catch {
    // A host with another libc, or without /proc, runs all the same.
  }
}

/** The parts of the address space that hold the machine code of `program`, from the text of `/proc/PID/maps`. */
export function machineCode(maps: string, program: string): { start: bigint; end: bigint }[] {
  return maps.split('\n').flatMap((line) => {
    // START-END PERMISSIONS OFFSET DEVICE INODE PATH
    const [, start, end, path] = /^([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ \S+ +(.*)$/.exec(line) ?? []
    return path === program ? [{ start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) }] : []
  })
}

/** The start is over then. */
const AFTER_START_MS = 5000
/** The work of a minute uses half of the code, most of it for a moment: mapping it anew takes 1 ms. */
const EVERY_MS = 60_000

/** Gives the pages back as long as the process runs, and does not keep it alive. */
export function keepProgramPagesReleased() {
  setTimeout(releaseProgramPages, AFTER_START_MS).unref()
  setInterval(releaseProgramPages, EVERY_MS).unref()
}
