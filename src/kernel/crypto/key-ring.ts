// Keys of what is encrypted at rest: what each one is derived to, and the former ones, which are kept encrypted with
// the newest.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** A key file that cannot be used: the message says why and what to do. */
export class KeyFileError extends Error {}

export const OLD_ID = 'k1'
export const ID = `(?:${OLD_ID}|\\d{4}-\\d\\d-\\d\\d-[0-9a-f]{8})`
const keyId = new RegExp(`^${ID}$`)
export const LONGEST_ID = '2026-11-21-3f9c2a71'.length
export const isKeyId = (text: string) => keyId.test(text)

export type Key = { id: string; bytes: Buffer }
const derived = (bytes: Buffer, purpose: string) =>
  Buffer.from(hkdfSync('sha256', bytes, Buffer.alloc(0), `berth ${purpose}`, 32))
export const fingerprint = (bytes: Buffer) => derived(bytes, 'key id').toString('hex').slice(0, 8)
export function newKey(now: number): Key {
  const bytes = randomBytes(32)
  return { id: `${new Date(now).toISOString().slice(0, 10)}-${fingerprint(bytes)}`, bytes }
}

/**
 * A key that a rotation has put aside, as it is stored: encrypted with the newest key of that time, or with one that
 * has replaced it since. `setAsideAt`: ISO 8601.
 */
export type FormerKey = { id: string; setAsideAt: string; encrypted: string }

/** `setAsideAt`: ISO 8601. */
export function encryptedKey({ id, bytes }: Key, setAsideAt: string, by: Key): FormerKey {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', derived(by.bytes, 'former keys'), nonce).setAAD(Buffer.from(id))
  const body = Buffer.concat([cipher.update(bytes), cipher.final()])
  return { id, setAsideAt, encrypted: Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url') }
}

/** Undefined when none of the keys has encrypted it. */
export function decryptedKey({ id, encrypted }: FormerKey, keys: readonly Key[]): Key | undefined {
  const raw = Buffer.from(encrypted, 'base64url')
  for (const { bytes } of keys)
    try {
      const cipher = createDecipheriv('aes-256-gcm', derived(bytes, 'former keys'), raw.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(id))
        .setAuthTag(raw.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return { id, bytes: Buffer.concat([cipher.update(raw.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()]) }
    } catch {
      // It was another key.
    }
  return undefined
}
/** Of AES-256-GCM. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Keys made ready for their purposes. */
export type Ready = {
  id: string
  encrypting: Buffer
  copying: Buffer
  macKey(purpose: string): Buffer
  mac(purpose: string, text: string): string
}
export const ringOf = (keys: readonly Key[]) => keys.map(ready) as [Ready, ...Ready[]]
export function ready({ id, bytes }: Key): Ready {
  const macs = new Map<string, Buffer>()
  const macKey = (purpose: string): Buffer => {
    let key = macs.get(purpose)
    if (!key) macs.set(purpose, (key = derived(bytes, `mac ${purpose}`)))
    return key
  }
  return {
    id,
    encrypting: derived(bytes, 'encrypting'),
    copying: derived(bytes, 'copies'),
    macKey,
    mac: (purpose, text) => createHmac('sha256', macKey(purpose)).update(text).digest('base64url'),
  }
}
