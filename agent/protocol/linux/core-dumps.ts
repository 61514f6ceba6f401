// A dump of the memory of a process that crashed would have the secrets that are held in memory alone. systemd-coredump
// keeps nothing of a process whose limit is 0, and neither does the kernel by itself.
import { dlopen, ptr, FFIType as t } from 'bun:ffi'

/** Of setrlimit(2), on every architecture that Bun runs on. */
const RLIMIT_CORE = 4

/** From now on nothing writes the memory of this process, or of those that it starts, to disk when they crash. */
export function forbidCoreDumps() {
  try {
    const { symbols, close } = dlopen('libc.so.6', { setrlimit: { args: [t.i32, t.ptr], returns: t.i32 } })
    symbols.setrlimit(RLIMIT_CORE, ptr(new BigUint64Array(2)))
    close()
  } catch {
    // A host with another libc runs all the same, with the limit that its service manager sets.
  }
}
