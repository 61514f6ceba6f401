// Secrets at rest. The keys live in a file outside the database; a stolen database opens nothing.
//
// The key file: a key a line, newest first, `<id> <64 hexadecimal digits>`. The newest encrypts, the others only open.
// An id is the day the key was made and the start of its fingerprint: `2026-11-21-3f9c2a71`. A file of nothing but the
// digits is of an older Berth; that key's id is k1. A encrypted text is `<id of its key>.<base64url of nonce, tag and
// cipher text>`.
//
// Beside it lie the former keys (`secret.key.former`): a rotation puts them there encrypted with the new key, so that
// backups from before it open as long as nobody has dropped them.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { attempt, makeKeyFile, named, readFormerKeys, readKeys, writeFormerKeys, writeKeys } from './key-file.ts'
import {
  decryptedKey,
  encryptedKey,
  type FormerKey,
  ID,
  isKeyId,
  type Key,
  KeyFileError,
  LONGEST_ID,
  newKey,
  OLD_ID,
  type Ready,
  ready,
  ringOf,
} from './key-ring.ts'

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
  /** The keys of `mac` for this purpose, for `macsWith`: they are derived, and open nothing. Newest first. */
  macKeys(purpose: Passing): readonly string[]

  /** The ids of the keys as they are in the file now, newest first. This and the next two throw KeyFileError. */
  keyIds(): readonly string[]
  /**
   * Puts a new key in front: what is encrypted from here on, by whichever process, is encrypted with it. Call it in a
   * transaction.
   */
  addKey(now: number): void
  /**
   * Leaves only the newest in the file, and keeps the others as former keys, which only open. Call it in a transaction
   * that has found nothing encrypted with them.
   */
  setOldKeysAside(now: number): void
  /** The former keys, the newest first. `setAsideAt`: ISO 8601. Throws KeyFileError. */
  formerKeys(): readonly { id: string; setAsideAt: string }[]
  /** Drops a former key for good: what is encrypted with it is lost. Throws KeyFileError. */
  dropFormerKey(id: string): void
  /** Is there a key of this id, also a former one? */
  hasKey(id: string): boolean
  /** Of the keys that something was encrypted with when the controller started: those that are nowhere now. */
  missingKeys(): readonly string[]
}
type Passing = 'cursor' | 'csrf' | 'audit head'

/** 12 bytes of nonce and 16 of tag are 38 signs. */
const ENCRYPTED_TEXT = new RegExp(`^${ID}\\.[\\w-]{38,}$`)
export const isEncrypted = (value: unknown): value is string => typeof value === 'string' && ENCRYPTED_TEXT.test(value)
/** The id of the key that a text was encrypted with. */
export const keyOf = (encrypted: string) => encrypted.slice(0, encrypted.indexOf('.'))

/** Where the keys are: a file, or for tests the memory. */
type Place = {
  name: string
  read(): readonly Key[]
  write(keys: readonly Key[]): void
  /** Were they written since they were last read? */
  changed(): boolean
  readFormer(): readonly FormerKey[]
  writeFormer(keys: readonly FormerKey[]): void
}

function secretsIn(place: Place, neededIds: readonly string[] = []): Secrets {
  const needed = new Set(neededIds)
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
  const former = new Map<string, Ready>()
  const formerKey = (id: string): Ready | undefined => {
    const stored = place.readFormer().find((key) => key.id === id)
    if (!stored) former.delete(id)
    else if (!former.has(id)) {
      const key = decryptedKey(stored, place.read())
      if (key) former.set(id, ready(key))
    }
    return former.get(id)
  }
  const opening = (id: string) => {
    if (!ring.some((key) => key.id === id)) look()
    const key = ring.find((key) => key.id === id) ?? formerKey(id)
    if (!key) throw new Error(`encrypted with the key ${id}, which is not in ${place.name}`)
    return key
  }
  const hasKey = (id: string) => {
    look()
    return ring.some((key) => key.id === id) || formerKey(id) !== undefined
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
    macKeys: (purpose) => ring.map((key) => key.macKey(purpose).toString('hex')),
    isMac(purpose, text, start) {
      const isBy = (key: Ready) => key.mac(purpose, text).startsWith(start)
      if (ring.some(isBy)) return true
      // Of a restored backup. Cursors and forms are soon over, and strangers send wrong ones at will.
      return (
        purpose === 'audit head' &&
        place.readFormer().some(({ id }) => {
          const key = formerKey(id)
          return key !== undefined && isBy(key)
        })
      )
    },
    keyIds() {
      ring = ringOf(place.read())
      return ring.map(({ id }) => id)
    },
    addKey: (now) => change((keys) => [newKey(now), ...keys]),
    setOldKeysAside(now) {
      const keys = place.read()
      const [newest, ...old] = keys as [Key, ...Key[]]
      const at = new Date(now).toISOString()
      const before = place.readFormer().filter(({ id }) => !keys.some((key) => key.id === id))
      // Those of which the key that encrypted them is gone stay as they are.
      const anew = before.map((stored) => {
        const key = decryptedKey(stored, keys)
        return key ? encryptedKey(key, stored.setAsideAt, newest) : stored
      })
      place.writeFormer([...old.map((key) => encryptedKey(key, at, newest)), ...anew])
      change(() => [newest])
    },
    formerKeys: () => place.readFormer().map(({ id, setAsideAt }) => ({ id, setAsideAt })),
    dropFormerKey(id) {
      place.writeFormer(place.readFormer().filter((key) => key.id !== id))
      former.delete(id)
      needed.delete(id)
    },
    hasKey,
    missingKeys: () => [...needed].filter((id) => !hasKey(id)),
  }
}

/** Keys that are nowhere but here. */
export function secretsWith(masterKey: Buffer): Secrets {
  let keys: readonly Key[] = [{ id: OLD_ID, bytes: masterKey }]
  let former: readonly FormerKey[] = []
  return secretsIn({
    name: 'memory',
    read: () => keys,
    write: (them) => void (keys = them),
    changed: () => false,
    readFormer: () => former,
    writeFormer: (them) => void (former = them),
  })
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
  const place: Place = {
    name: path,
    read() {
      seen = mark()
      return readKeys(path)
    },
    write: (keys) => writeKeys(path, keys),
    changed: () => mark() !== seen,
    readFormer: () => readFormerKeys(path),
    writeFormer: (keys) => writeFormerKeys(path, keys),
  }
  return secretsIn(place, needed)
}

/** The stored form of a token: SHA-256 of 256 random bits needs no salt. */
export const digest = (text: string) => Bun.CryptoHasher.hash('sha256', text, 'hex')

const TOKEN_SIGNS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** So many of 62 signs are 256 bits. */
const TOKEN_LENGTH = 43
/** 256 random bits as letters and digits: a double click selects all of it, and it needs no quotes anywhere. */
export function randomToken(): string {
  let token = ''
  while (token.length < TOKEN_LENGTH) {
    // Bytes from 248 on would make the first signs likelier than the last.
    for (const byte of randomBytes(TOKEN_LENGTH))
      if (byte < 4 * TOKEN_SIGNS.length) token += TOKEN_SIGNS[byte % TOKEN_SIGNS.length]
  }
  return token.slice(0, TOKEN_LENGTH)
}
/** So many letters and digits that follow from a text, to tell one that was cut or mistyped. */
export const tokenChecksum = (text: string, length: number) =>
  [...Buffer.from(digest(text), 'hex').subarray(0, length)]
    .map((byte) => TOKEN_SIGNS[byte % TOKEN_SIGNS.length])
    .join('')
