// The CSRF token of a session as pages carry it: other text on each page. Pages are compressed, and the length of a
// compressed page that repeats what somebody sent would tell a text that is always the same, piece by piece (BREACH).
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const SALT_BYTES = 12

/** Makes the text for a page, which sends it back as `X-CSRF-Token`: a new salt, and the secret hashed with it. */
export function csrfToken(secret: string): string {
  const salt = randomBytes(SALT_BYTES)
  return Buffer.concat([salt, hashed(secret, salt)]).toString('base64url')
}

/** Was the token made of this secret? */
export function isCsrfToken(token: string | null, secret: string): boolean {
  const given = Buffer.from(token ?? '', 'base64url')
  const [salt, hash] = [given.subarray(0, SALT_BYTES), given.subarray(SALT_BYTES)]
  const right = hashed(secret, salt)
  return hash.length === right.length && timingSafeEqual(hash, right)
}

const hashed = (secret: string, salt: Uint8Array) => createHmac('sha256', secret).update(salt).digest()
