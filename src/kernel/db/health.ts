// Whether the database can be written. The first error of its disk stops all changes: they are refused with the reason
// until a check has written, flushed and read back. Reads go on.
//
// A flush that failed is not simply repeated: Linux marks the pages clean, so a second fsync answers well about data
// that never reached the disk. Changes begin again only after a whole checkpoint, which writes every committed page of
// the log anew into the database, and only when the disk answers with these pages: what Linux has of the file in memory
// is dropped before and after it (`dropCachedPages` says why). Then the log is emptied.
import type { Database } from 'bun:sqlite'
import { closeSync, fsyncSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { dropCachedPages } from '../../../agent/protocol/linux/page-cache.ts'
import { log } from '../log.ts'
import { WalReader } from '../replica/wal.ts'
import { type Clock, minute, second } from './clock.ts'

export type TroubleKind = 'full' | 'failing' | 'read-only' | 'damaged' | 'replaced' | HoldKind
/** Reasons that lie outside of the database: its replica. */
export type HoldKind = 'unconfirmed' | 'unshipped' | 'taken-over'
export type Trouble = {
  kind: TroubleKind
  /** The error that showed it, for the journal and for staff. */
  code: string
  /** The fault, as a sentence. */
  reason: string
  since: number
  /** For `replaced`: the file into which the controller has written what it knows. */
  rescued?: string
}

/** A change that was not made because the database cannot be written. `code` is that of its cause. */
export class DatabaseUnavailable extends Error {
  readonly code: string
  constructor(reason: string, code: string, cause?: unknown) {
    super(`${reason} Nothing can be changed until that has ended; reads keep working.`, { cause })
    this.code = code
  }
}

/** The disk has taken pages without an error and answers with others. */
const NOT_KEPT = 'NOT_KEPT'

const kinds: readonly [RegExp, TroubleKind, string][] = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)$/, 'full', 'The disk of the database is full.'],
  [new RegExp(`^${NOT_KEPT}$`), 'failing', 'The disk of the database does not keep what is written to it.'],
  [/^(SQLITE_IOERR|EIO$)/, 'failing', 'The disk of the database answers with errors.'],
  [/^SQLITE_READONLY_DBMOVED$/, 'replaced', 'The file of the database was moved away under the running controller.'],
  [/^(SQLITE_(READONLY|CANTOPEN|PERM)|EROFS$|EACCES$|EPERM$|ENOENT$)/, 'read-only', 'The database cannot be written.'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'damaged', 'The database is damaged.'],
]
const BUSY = /^SQLITE_(BUSY|LOCKED|PROTOCOL|NOMEM|INTERRUPT)/

/** The code of the innermost error that has one; `''` without. */
const codeOf = (error: unknown): string => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  return (cause ? codeOf(cause) : '') || (typeof code === 'string' ? code : '')
}
const describe = (code: string) => kinds.find(([pattern]) => pattern.test(code))

/**
 * The error says something about the database or its disk, and nothing about the work that met it: the same work may
 * succeed later.
 */
export const isDatabaseError = (error: unknown): boolean => {
  if (error instanceof DatabaseUnavailable) return true
  const code = codeOf(error)
  return code.startsWith('SQLITE_') && (BUSY.test(code) || describe(code) !== undefined)
}

/** That many bytes must fit on the disk before changes begin again, so that they do not stop at once. */
const PROBE_BYTES = 1 << 20
/** A check waits this long for another program that holds the database, e.g. a backup. */
const CHECK_BUSY_MS = 200
/** The journal repeats a trouble that lasts after this time. */
const REPEAT_MS = 10 * minute

/** `dev` and inode of a file; `gone` where there is none. */
function identityOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.dev}:${found.ino}` : 'gone'
}

export class DatabaseHealth {
  /** A trouble of the database itself. */
  private ownTrouble: Trouble | undefined
  private readonly holds = new Map<HoldKind, Trouble>()
  /** Called when changes are made again. */
  readonly whenHealed: (() => void)[] = []
  /** Runs work that may hold up the process for long and must not be cut off. */
  patiently: <T>(work: () => T) => T = (work) => work()
  private readonly path: string
  private readonly files: Map<string, string>
  private saidAt = 0
  private beganAt = 0

  /** Of an open database whose schema is up to date: its files are compared with what they are now. */
  constructor(
    private database: Database & { mainFile(): number },
    private clock: Clock = Date.now,
  ) {
    this.path = database.filename
    const paths = this.isFile() ? ['', '-wal', '-shm'].map((suffix) => this.path + suffix) : []
    this.files = new Map(paths.map((path) => [path, identityOf(path)]))
  }

  /** Changes are refused also when this file is deleted or replaced. */
  watch(path: string) {
    this.files.set(path, identityOf(path))
  }

  private isFile = () => this.path !== '' && this.path !== ':memory:'

  /** Why changes are refused; undefined while they are made. */
  get trouble(): Trouble | undefined {
    return this.ownTrouble ?? this.holds.values().next().value
  }
  set trouble(own: Trouble | undefined) {
    this.ownTrouble = own
  }

  /** Throws `DatabaseUnavailable` while changes are refused. */
  mustBeWritable() {
    const { trouble } = this
    if (trouble) throw new DatabaseUnavailable(trouble.reason, trouble.code)
  }

  /** Refuses changes until `release`; the database itself may be well. */
  hold(trouble: Trouble & { kind: HoldKind }) {
    // Every start with a replica begins so; a replica that does not answer is an error of its own.
    const say = trouble.kind === 'unconfirmed' ? log.info : log.error
    if (!this.holds.has(trouble.kind)) say('changes are refused, reads go on', { reason: trouble.reason })
    this.holds.set(trouble.kind, trouble)
  }

  release(kind: HoldKind) {
    if (!this.holds.delete(kind) || this.trouble) return
    log.info('changes are made again')
    this.tellHealed()
  }

  /** Call it with every error of a transaction: one of the disk stops all changes. Answers the error to throw. */
  met(error: unknown): unknown {
    if (error instanceof DatabaseUnavailable || !isDatabaseError(error)) return error
    const code = codeOf(error)
    const [, kind, reason] = describe(code) ?? []
    if (!kind || !reason)
      return new DatabaseUnavailable(`Another program holds the database (${code}: it is busy).`, code, error)
    this.begin({ kind, code, reason, since: this.clock() }, error)
    return new DatabaseUnavailable(reason, code, error)
  }

  private begin(trouble: Trouble, error?: unknown) {
    const before = this.ownTrouble
    this.ownTrouble = before?.kind === trouble.kind ? { ...before, code: trouble.code } : trouble
    const now = performance.now()
    if (!before) this.beganAt = now
    if (before?.kind === trouble.kind && now - this.saidAt < REPEAT_MS) return
    this.saidAt = now
    const { kind, code, reason, rescued } = this.ownTrouble
    log.error('the database cannot be written: changes are refused, reads go on', {
      reason,
      kind,
      code,
      database: this.path,
      ...(rescued ? { rescued } : {}),
      error,
    })
  }

  /**
   * Call it every few seconds: notices files that were replaced or deleted, and begins changes again when the cause of
   * a trouble has ended. A damaged database is for people to mend.
   */
  check() {
    if (!this.isFile()) return
    const replaced = [...this.files].find(([path, identity]) => identityOf(path) !== identity)?.[0]
    if (replaced) return this.isReplaced(replaced)
    if (!this.ownTrouble || this.ownTrouble.kind === 'damaged') return
    try {
      // A disk that has just failed may take its time for each page.
      this.patiently(() => {
        this.probe()
        this.writeAnew()
      })
    } catch (error) {
      const code = codeOf(error)
      const [, kind, reason] = describe(code) ?? []
      if (kind && reason) this.begin({ kind, code, reason, since: this.ownTrouble.since })
      return
    }
    log.info('the database can be written again: changes are made', {
      reason: this.ownTrouble.reason,
      seconds: Math.round((performance.now() - this.beganAt) / second),
    })
    this.ownTrouble = undefined
    if (!this.trouble) this.tellHealed()
  }

  private tellHealed() {
    for (const healed of this.whenHealed)
      try {
        healed()
      } catch (error) {
        log.error('work that waited for the database could not begin and is taken up later', { error })
      }
  }

  private isReplaced(path: string) {
    if (this.ownTrouble?.kind === 'replaced') return this.begin(this.ownTrouble)
    const done = identityOf(path) === 'gone' ? 'deleted' : 'replaced'
    const reason = `The file ${path} was ${done} under the running controller.`
    const rescued = this.rescue()
    this.begin({
      kind: 'replaced',
      code: 'SQLITE_READONLY_DBMOVED',
      reason,
      since: this.clock(),
      ...(rescued ? { rescued } : {}),
    })
  }

  /** The open file still has every acknowledged change, and goes with the process. */
  private rescue(): string | undefined {
    const rescued = `${this.path}.rescued-${this.clock()}`
    try {
      this.patiently(() => this.database.query('VACUUM INTO ?').run(rescued))
      return rescued
    } catch (error) {
      log.error('what the controller knows could not be written to another file', { rescued, error })
      return undefined
    }
  }

  /** There is space, and the disk takes it. */
  private probe() {
    const path = `${this.path}.probe`
    const file = openSync(path, 'w', 0o600)
    try {
      const bytes = Buffer.alloc(PROBE_BYTES, 1)
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
      fsyncSync(file)
    } finally {
      closeSync(file)
      rmSync(path, { force: true })
    }
  }

  /** All that is committed goes to the disk again and is read back; then a change is made that changes nothing. */
  private writeAnew() {
    this.database.run(`PRAGMA busy_timeout=${CHECK_BUSY_MS}`)
    try {
      dropCachedPages(this.database.mainFile())
      const frames = this.checkpoint('FULL')
      dropCachedPages(this.database.mainFile())
      this.mustHaveTheLog(frames)
      this.checkpoint('TRUNCATE')
      const version = this.database.query<{ user_version: number }, []>('PRAGMA user_version').get()!.user_version
      this.database.run(`PRAGMA user_version=${version}`)
    } finally {
      this.database.run(`PRAGMA busy_timeout=${BUSY_TIMEOUT_MS}`)
    }
  }

  /** Answers the number of frames in the log. */
  private checkpoint(kind: 'FULL' | 'TRUNCATE'): number {
    const checkpoint = this.database.query<{ busy: number; log: number }, []>(`PRAGMA wal_checkpoint(${kind})`).get()!
    if (checkpoint.busy) throw new Error('another program reads the database')
    return checkpoint.log
  }

  /**
   * Throws unless the file of the database has every page as the first `frames` of the log have it. Behind them may lie
   * a transaction whose flush failed: SQLite has rolled it back.
   */
  private mustHaveTheLog(frames: number) {
    const reader = new WalReader(`${this.path}-wal`)
    try {
      const { pages, databasePages, pageSize } = reader.read(frames)!
      const found = Buffer.alloc(pageSize)
      const lost = [...pages].filter(([page, bytes]) => {
        if (page > databasePages) return false
        const length = readSync(this.database.mainFile(), found, 0, pageSize, (page - 1) * pageSize)
        return length < pageSize || !found.equals(bytes)
      })
      if (lost.length)
        throw Object.assign(new Error(`${lost.length} pages are not on the disk as they were written`), {
          code: NOT_KEPT,
        })
    } finally {
      reader.close()
    }
  }
}

/** How long a transaction waits for another program that holds the database. */
export const BUSY_TIMEOUT_MS = 5000
