// The errors of the cards since the host booted. The kernel's log holds a part of them only, so they are kept in a file
// too.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { KernelLog } from './kernel-log.ts'
import { actionOf, isOf, wordsOf, type Xid, xidIn } from './xid.ts'

/**
 * A program that fails in a loop writes thousands of errors: the newest are kept, and all that keep a card from sale.
 */
const MOST_KEPT = 500

export class CardErrors {
  #log: KernelLog
  #errors: Xid[]

  /**
   * `bootId` tells one boot of the host from another: errors of an earlier one say nothing about a card. Without a file
   * nothing is kept.
   */
  constructor(
    private file: string | undefined,
    private bootId: string,
    kernelLog?: string,
  ) {
    this.#log = new KernelLog(kernelLog)
    this.#errors = keptIn(file, bootId)
  }

  /** Whether the kernel's log can be read here. */
  get areSeen(): boolean {
    return this.#log.isOpen
  }

  /** Reads the kernel's log on. Returns the errors that are new, oldest first. */
  take(): Xid[] {
    const known = new Set(this.#errors.map(keyOf))
    const fresh = this.#log
      .read()
      .flatMap(({ text, at }) => xidIn(text, at) ?? [])
      .filter((xid) => !known.has(keyOf(xid)) && known.add(keyOf(xid)))
    if (!fresh.length) return []
    const all = [...this.#errors, ...fresh]
    const passing = all.filter(isPassing)
    const dropped = new Set(passing.slice(0, Math.max(0, passing.length - MOST_KEPT)))
    this.#errors = all.filter((xid) => !dropped.has(xid))
    this.#keep()
    return fresh
  }

  /** The errors of the card at `bus`, oldest first. */
  of = (bus: string): Xid[] => this.#errors.filter((xid) => isOf(xid, bus))

  /** The errors of these cards since `at`, in ms since 1970, in words, each once. */
  wordsSince(buses: readonly string[], at: number): string[] {
    const found = this.#errors.filter((xid) => xid.at >= at && buses.some((bus) => isOf(xid, bus)))
    return [...new Set(found.filter((xid) => actionOf(xid) !== 'mended').map(wordsOf))]
  }

  #keep() {
    if (this.file === undefined) return
    writeFileSync(`${this.file}.new`, JSON.stringify({ bootId: this.bootId, errors: this.#errors }))
    renameSync(`${this.file}.new`, this.file)
  }

  close() {
    this.#log.close()
  }
}

const isPassing = (xid: Xid) => ['tenant', 'watch'].includes(actionOf(xid))

/** Seconds, because the boot's own time moves a little when the clock is set, and is counted anew by each agent. */
const keyOf = ({ bus, code, at, text }: Xid) => `${bus} ${code} ${Math.round(at / 10_000)} ${text}`

function keptIn(file: string | undefined, bootId: string): Xid[] {
  try {
    if (file === undefined) return []
    const kept = JSON.parse(readFileSync(file, 'utf8')) as { bootId: string; errors: Xid[] }
    return kept.bootId === bootId ? kept.errors : []
  } catch {
    return []
  }
}
