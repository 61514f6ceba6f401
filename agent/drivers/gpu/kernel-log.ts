// The kernel's log, from its first line that is still there. The kernel hands out one record at each reading
// (Documentation/ABI/testing/dev-kmsg): `level,number,microseconds since the boot,flags;text`.
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'

const LONGEST_RECORD_BYTES = 64 << 10
/** A flood of lines is read in parts, so that it holds up nothing else. */
const MOST_RECORDS_AT_ONCE = 2000
const RECORD = /^\d+,\d+,(\d+),[^;]*;(.*)$/

export type KernelLine = { text: string; at: number }

/** The lines since the last call of `read`, with their times in ms since 1970. */
export class KernelLog {
  #fd: number | undefined
  #bootedAt = 0
  /** The beginning of a record, where the log is a file. */
  #rest = ''

  /** A file that cannot be opened has no lines: in a container, or without the right to read it. */
  constructor(file = '/dev/kmsg') {
    try {
      this.#fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
      this.#bootedAt = Number(/^btime (\d+)/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? 0) * 1000
    } catch {
      this.#fd = undefined
    }
  }

  get isOpen(): boolean {
    return this.#fd !== undefined
  }

  read(): KernelLine[] {
    const found: KernelLine[] = []
    const bytes = Buffer.alloc(LONGEST_RECORD_BYTES)
    for (let n = 0; this.#fd !== undefined && n < MOST_RECORDS_AT_ONCE; n++) {
      const length = this.#next(bytes)
      if (length === 0) break
      const lines = (this.#rest + bytes.toString('utf8', 0, Math.max(0, length))).split('\n')
      this.#rest = lines.pop() ?? ''
      for (const record of lines) {
        const [, sinceBootUs, text] = RECORD.exec(record) ?? []
        if (text !== undefined) found.push({ text, at: this.#bootedAt + Math.round(Number(sinceBootUs) / 1000) })
      }
    }
    return found
  }

  /** The bytes of the next record; 0: there is none, -1: lines were lost because nobody read them in time. */
  #next(bytes: Buffer): number {
    try {
      return readSync(this.#fd!, bytes)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return code === 'EPIPE' || code === 'EINVAL' ? -1 : 0
    }
  }

  close() {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}
