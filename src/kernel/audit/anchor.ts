// The head of the audit log, signed and kept in a file outside the database: lines that were cut off at the end, or a
// log whose every hash was made anew, contradict it. HMAC-SHA256 with a key derived from the key file: who can write
// the database and not read the key file cannot make one. The controller that verifies has the key, so a signature
// that others could check with a public key would prove nothing more.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Secrets } from '../crypto/secrets.ts'
import { iso } from '../db/clock.ts'
import type { Db } from '../db/open.ts'
import { hashAt, headOf, type Newest } from './chain.ts'

export const anchorOf = (dataDir: string) => `${dataDir}/audit.head`

/** The line with this number had this hash at that time (ISO 8601). */
export type Head = { line: number; hash: string; at: string }
export type SignedHead = Head & { signature: string }

/**
 * `differs`: the log does not have that line, or has another in its place. `not_signed`: no key of the key file made
 * the signature.
 */
export type AnchorState = 'matches' | 'differs' | 'not_signed'

const text = ({ line, hash, at }: Head) => JSON.stringify([line, hash, at])

/** The newest line as it is now, signed with the newest key. */
export const signedHead = ({ seq, hash }: Newest, secrets: Secrets, now: number): SignedHead =>
  signed({ line: seq, hash, at: iso(now) }, secrets)

const signed = ({ line, hash, at }: Head, secrets: Secrets): SignedHead => {
  const head = { line, hash, at }
  return { ...head, signature: secrets.mac('audit head', text(head)) }
}

const SIGNATURE = /^[\w-]{43}$/
const isSigned = (head: SignedHead, secrets: Secrets) =>
  SIGNATURE.test(head.signature) && secrets.isMac('audit head', text(head), head.signature)

/** Undefined where it is no such text. */
export function headFrom(json: string): SignedHead | undefined {
  try {
    const { line, hash, at, signature } = JSON.parse(json)
    const fits = Number.isSafeInteger(line) && [hash, at, signature].every((value) => typeof value === 'string')
    return fits ? { line, hash, at, signature } : undefined
  } catch {
    return undefined
  }
}

/** How the log stands to a head that was signed earlier. */
export function compare(db: Db, head: SignedHead, secrets: Secrets): AnchorState {
  if (!isSigned(head, secrets)) return 'not_signed'
  return hashAt(db, head.line) === head.hash ? 'matches' : 'differs'
}

/** The whole file or the former one, whatever happens meanwhile. */
export function writeHead(path: string, head: SignedHead) {
  const part = `${path}.new`
  const file = openSync(part, 'w', 0o600)
  try {
    writeSync(file, `${JSON.stringify(head)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(part, path)
  const directory = openSync(dirname(path), 'r')
  fsyncSync(directory)
  closeSync(directory)
}

export class AuditAnchor {
  /** The last that this process wrote: it stands in for a file that is deleted meanwhile. */
  private last: SignedHead | undefined

  constructor(readonly path: string) {}

  /** A file that is none of ours counts as one with a wrong signature. */
  private inFile(): SignedHead | undefined {
    try {
      const found = readFileSync(this.path, 'utf8')
      return headFrom(found) ?? { line: 0, hash: '', at: '', signature: '' }
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT') throw error
      return undefined
    }
  }

  private read = (): SignedHead | undefined => this.inFile() ?? this.last

  /** Undefined before there is one. */
  state(db: Db, secrets: Secrets): (Head & { state: AnchorState }) | undefined {
    const head = this.read()
    return head && { line: head.line, hash: head.hash, at: head.at, state: compare(db, head, secrets) }
  }

  /**
   * Moves the anchor on to the newest line. One that contradicts the log stays as it is: it is what proves that lines
   * are missing. Answers what it did.
   */
  moveOn(db: Db, secrets: Secrets, now: number): 'begun' | 'moved' | 'unchanged' | 'refused' {
    const before = this.state(db, secrets)
    if (before && before.state !== 'matches') return 'refused'
    const newest = headOf(db)
    if (!newest || (this.inFile()?.line === newest.seq && this.last)) return 'unchanged'
    const head = signedHead(newest, secrets, now)
    writeHead(this.path, head)
    this.last = head
    return before ? 'moved' : 'begun'
  }

  /** The same head, signed with the newest key: call it before the older keys are dropped. */
  signAnew(secrets: Secrets) {
    const head = this.read()
    if (!head || !isSigned(head, secrets)) return
    this.last = signed(head, secrets)
    writeHead(this.path, this.last)
  }
}
