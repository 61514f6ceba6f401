// Secrets at rest. The keys live in a file outside the database; a stolen database opens nothing.
//
// The key file: a key a line, newest first, `<id> <64 hexadecimal digits>`. The newest encrypts, the others only open.
// An id is the day the key was made and the start of its fingerprint: `2026-11-21-3f9c2a71`. A file of nothing but the
// digits is of an older Berth; that key's id is k1. A encrypted text is `<id of its key>.<base64url of nonce, tag and
// cipher text>`.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

export type Secrets = {
  /**
   * AES-256-GCM. `about` names the record and is bound to the text: an encrypted value cannot be moved to another row.
   * Call it in the transaction that keeps the text: so a rotation, which looks for the last old text in one, misses
   * none.
   */
  encrypt(about: string, text: string): string
  /** Throws when the text was changed, moved or encrypted with a key that is not in the file. */
  open(about: string, encrypted: string): string
  /**
   * For copies that leave the host. A rotation does not make them anew: they open as long as the key that made them is
   * in the file.
   */
  encryptBytes(about: string, bytes: Uint8Array): Buffer
  /** Throws when the bytes were changed or renamed, or encrypted with a key that is not in the file. */
  openBytes(about: string, encrypted: Uint8Array): Buffer
  /**
   * A keyed digest, base64url, for what is compared, never shown, and soon over. Nothing that is stored may be one,
   * because unlike an encrypted text it cannot be made anew when the key changes; the head of the audit log alone is
   * signed again at each rotation.
   */
  mac(purpose: Passing, text: string): string
  /** Did `mac`, with any of the keys there are, make something that starts with this? */
  isMac(purpose: Passing, text: string, start: string): boolean

  /** The ids of the keys as they are in the file now, newest first. This and the next two throw KeyFileError. */
  keyIds(): readonly string[]
  /**
   * Puts a new key in front: what is encrypted from here on, by whichever process, is encrypted with it. Call it in a
   * transaction.
   */
  addKey(now: number): void
  /** Drops every key but the newest, for good. Call it in a transaction that has found nothing encrypted with them. */
  dropOldKeys(): void
}
type Passing = 'cursor' | 'csrf' | 'audit head'

/** A key file that cannot be used: the message says why and what to do. */
export class KeyFileError extends Error {}

const OLD_ID = 'k1'
const ID = `(?:${OLD_ID}|\\d{4}-\\d\\d-\\d\\d-[0-9a-f]{8})`
const keyId = new RegExp(`^${ID}$`)
const LONGEST_ID = '2026-11-21-3f9c2a71'.length
/** 12 bytes of nonce and 16 of tag are 38 signs. */
const ENCRYPTED_TEXT = new RegExp(`^${ID}\\.[\\w-]{38,}$`)
export const isKeyId = (text: string) => keyId.test(text)
export const isEncrypted = (value: unknown): value is string => typeof value === 'string' && ENCRYPTED_TEXT.test(value)
/** The id of the key that a text was encrypted with. */
export const keyOf = (encrypted: string) => encrypted.slice(0, encrypted.indexOf('.'))

type Key = { id: string; bytes: Buffer }
const derived = (bytes: Buffer, purpose: string) =>
  Buffer.from(hkdfSync('sha256', bytes, Buffer.alloc(0), `berth ${purpose}`, 32))
const fingerprint = (bytes: Buffer) => derived(bytes, 'key id').toString('hex').slice(0, 8)
function newKey(now: number): Key {
  const bytes = randomBytes(32)
  return { id: `${new Date(now).toISOString().slice(0, 10)}-${fingerprint(bytes)}`, bytes }
}

/** Where the keys are: a file, or for tests the memory. */
type Place = {
  name: string
  read(): readonly Key[]
  write(keys: readonly Key[]): void
  /** Were they written since they were last read? */
  changed(): boolean
}

function secretsIn(place: Place): Secrets {
  let ring = ringOf(place.read())
  /** As another process may have left it. A file that cannot be read takes nothing away from who has read it before. */
  const look = () => {
    if (!place.changed()) return
    try {
      ring = ringOf(place.read())
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error
    }
  }
  const change = (to: (keys: readonly Key[]) => readonly Key[]) => {
    place.write(to(place.read()))
    ring = ringOf(place.read())
  }
  const opening = (id: string) => {
    if (!ring.some((key) => key.id === id)) look()
    const key = ring.find((key) => key.id === id)
    if (!key) throw new Error(`encrypted with the key ${id}, which is not in ${place.name}`)
    return key
  }
  return {
    encrypt(about, text) {
      look()
      const [{ id, encrypting }] = ring
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', encrypting, nonce).setAAD(Buffer.from(about))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `${id}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`
    },
    open(about, encrypted) {
      if (!isEncrypted(encrypted)) throw new Error('this is not an encrypted text')
      const id = keyOf(encrypted)
      const key = opening(id)
      const raw = Buffer.from(encrypted.slice(id.length + 1), 'base64url')
      const cipher = createDecipheriv('aes-256-gcm', key.encrypting, raw.subarray(0, 12))
        .setAAD(Buffer.from(about))
        .setAuthTag(raw.subarray(12, 28))
      return Buffer.concat([cipher.update(raw.subarray(28)), cipher.final()]).toString('utf8')
    },
    encryptBytes(about, bytes) {
      look()
      const [{ id, copying }] = ring
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', copying, nonce).setAAD(Buffer.from(about))
      const body = [cipher.update(bytes), cipher.final()]
      return Buffer.concat([Buffer.from(`${id}.`), nonce, cipher.getAuthTag(), ...body])
    },
    openBytes(about, encrypted) {
      const id = Buffer.from(encrypted.subarray(0, LONGEST_ID + 1))
        .toString('latin1')
        .split('.')[0]!
      if (!isKeyId(id) || encrypted.length < id.length + 29) throw new Error('these are no encrypted bytes')
      const raw = encrypted.subarray(id.length + 1)
      const cipher = createDecipheriv('aes-256-gcm', opening(id).copying, raw.subarray(0, 12))
        .setAAD(Buffer.from(about))
        .setAuthTag(raw.subarray(12, 28))
      return Buffer.concat([cipher.update(raw.subarray(28)), cipher.final()])
    },
    mac: (purpose, text) => ring[0].mac(purpose, text),
    isMac: (purpose, text, start) => ring.some((key) => key.mac(purpose, text).startsWith(start)),
    keyIds() {
      ring = ringOf(place.read())
      return ring.map(({ id }) => id)
    },
    addKey: (now) => change((keys) => [newKey(now), ...keys]),
    dropOldKeys: () => change((keys) => keys.slice(0, 1)),
  }
}

type Ready = { id: string; encrypting: Buffer; copying: Buffer; mac(purpose: Passing, text: string): string }
const ringOf = (keys: readonly Key[]) => keys.map(ready) as [Ready, ...Ready[]]
function ready({ id, bytes }: Key): Ready {
  const macs = new Map<string, Buffer>()
  return {
    id,
    encrypting: derived(bytes, 'encrypting'),
    copying: derived(bytes, 'copies'),
    mac(purpose, text) {
      let key = macs.get(purpose)
      if (!key) macs.set(purpose, (key = derived(bytes, `mac ${purpose}`)))
      return createHmac('sha256', key).update(text).digest('base64url')
    },
  }
}

/** Keys that are nowhere but here. */
export function secretsWith(masterKey: Buffer): Secrets {
  let keys: readonly Key[] = [{ id: OLD_ID, bytes: masterKey }]
  return secretsIn({ name: 'memory', read: () => keys, write: (them) => void (keys = them), changed: () => false })
}

/**
 * Reads the key file, or makes it (0600) at the first start. `needed`: the ids of keys that something is encrypted with
 * already; then there was a file, and a new one in its place would be a second, wrong one. Throws KeyFileError.
 */
export function secretsFromFile(path: string, needed: readonly string[] = []): Secrets {
  if (!existsSync(path)) {
    if (needed.length)
      throw new KeyFileError(
        `There is no key file ${path}, and the database holds what is encrypted with ${named(needed)}. Put the ` +
          'file back from your copy of it. ' +
          'Without one these secrets are lost: docs/backup.md says what to do then.',
      )
    attempt(path, 'made', () => makeKeyFile(path))
  }
  attempt(path, 'closed to others', () => (statSync(path).mode & 0o77 ? chmodSync(path, 0o600) : undefined))
  let seen: string | undefined
  // A new file has another inode. Looking costs 2 µs, the transaction that a text is encrypted in a thousand times
  // that.
  const mark = () => {
    const file = statSync(path, { throwIfNoEntry: false })
    return file && `${file.ino} ${file.mtimeMs} ${file.size}`
  }
  return secretsIn({
    name: path,
    read() {
      seen = mark()
      return readKeys(path)
    },
    write: (keys) => writeKeys(path, keys),
    changed: () => mark() !== seen,
  })
}

/** `the key k1` · `the keys a and b` */
export const named = (ids: readonly string[]) => `the key${ids.length === 1 ? '' : 's'} ${ids.join(' and ')}`

function readKeys(path: string): readonly Key[] {
  const text = attempt(path, 'read', () => readFileSync(path, 'utf8')).trim()
  if (/^[0-9a-f]{64}$/.test(text)) return [{ id: OLD_ID, bytes: Buffer.from(text, 'hex') }]
  const keys = text.split('\n').map((line) => {
    const [, id, hex] = /^(\S+) ([0-9a-f]{64})$/.exec(line) ?? []
    if (!id || !hex || !isKeyId(id)) throw noKeyFile(path)
    const bytes = Buffer.from(hex, 'hex')
    if (id !== OLD_ID && !id.endsWith(fingerprint(bytes)))
      throw new KeyFileError(
        `${path}: the line of the key ${id} holds another key, or was changed. Restore it from your copy of the keys.`,
      )
    return { id, bytes }
  })
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    throw new KeyFileError(`${path} names a key twice. Leave the right line in it.`)
  return keys
}
const noKeyFile = (path: string) =>
  new KeyFileError(
    `${path} is not a key file (lines of an id and 64 hexadecimal digits). Restore it from your copy of the keys.`,
  )

/**
 * Of several that start at once the first one's, and nobody reads it before it is whole: a link to a finished file is
 * made only where there is none.
 */
function makeKeyFile(path: string) {
  const part = `${path}.${process.pid}`
  put(openSync(part, 'w', 0o600), [newKey(Date.now())])
  try {
    linkSync(part, path)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(part)
  }
}

/** The whole file or the former one, whatever happens meanwhile; of the owner that it had. */
function writeKeys(path: string, keys: readonly Key[]) {
  attempt(path, 'written', () => {
    const owner = statSync(path, { throwIfNoEntry: false })
    const part = `${path}.new`
    const file = openSync(part, 'w', 0o600)
    fchmodSync(file, 0o600)
    if (owner) fchownSync(file, owner.uid, owner.gid)
    put(file, keys)
    renameSync(part, path)
    const dir = openSync(dirname(path), 'r')
    fsyncSync(dir)
    closeSync(dir)
  })
}

function put(file: number, keys: readonly Key[]) {
  writeSync(file, keys.map(({ id, bytes }) => `${id} ${bytes.toString('hex')}\n`).join(''))
  fsyncSync(file)
  closeSync(file)
}

function attempt<T>(path: string, what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new KeyFileError(
      `The key file ${path} cannot be ${what} (${(error as { code?: string }).code}). Check that it is there, ` +
        `and that Berth's user may change it and its directory.`,
    )
  }
}

/** The stored form of a token: SHA-256 of 256 random bits needs no salt. */
export const digest = (text: string) => Bun.CryptoHasher.hash('sha256', text, 'hex')
export const randomToken = () => randomBytes(32).toString('base64url')
