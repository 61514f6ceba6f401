// Texts that one node alone can read, encrypted with the public key by which it proves itself: a password that a guest
// needs in the clear stands in no database, no backup and no journal of the controller's. X25519 with a key of its own
// for each text, HKDF, AES-256-GCM. The node's Ed25519 key is turned into its X25519 form (RFC 7748, 4.1).
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { Failure } from '../failure.ts'

const PREFIX = 'encrypted.'
const KEY_BYTES = 32
const TAG_BYTES = 16

/** The text for the node with this Ed25519 key, raw, base64url. `about` names what it is for, and opens it too. */
export function encryptFor(publicKey: string, about: string, text: string): string {
  const once = generateKeyPairSync('x25519')
  const shared = diffieHellman({ privateKey: once.privateKey, publicKey: agreementKey(publicKey) })
  const mine = rawOf(once.publicKey)
  const cipher = createCipheriv('aes-256-gcm', keyFrom(shared, mine), Buffer.alloc(12)).setAAD(Buffer.from(about))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return PREFIX + Buffer.concat([mine, cipher.getAuthTag(), body]).toString('base64url')
}

/** Throws `encrypted_for_another`: the node has another key now, or the text is for something else. */
export function decrypt(key: KeyObject, about: string, encrypted: string): string {
  const bytes = Buffer.from(encrypted.slice(PREFIX.length), 'base64url')
  const theirs = bytes.subarray(0, KEY_BYTES)
  try {
    const shared = diffieHellman({ privateKey: ownAgreementKey(key), publicKey: x25519(theirs) })
    const cipher = createDecipheriv('aes-256-gcm', keyFrom(shared, theirs), Buffer.alloc(12))
      .setAAD(Buffer.from(about))
      .setAuthTag(bytes.subarray(KEY_BYTES, KEY_BYTES + TAG_BYTES))
    return Buffer.concat([cipher.update(bytes.subarray(KEY_BYTES + TAG_BYTES)), cipher.final()]).toString('utf8')
  } catch {
    throw new Failure('encrypted_for_another', 'a password was encrypted for another key than that of this node')
  }
}

/** `decrypt` with the key of this node; before its enrolment it has none, and nothing can be for it. */
export const decrypting = (key: KeyObject | undefined) => (about: string, encrypted: string) => {
  if (!key) throw new Failure('encrypted_for_another', 'this host is not enrolled yet, so no password is for it')
  return decrypt(key, about, encrypted)
}

/** The key is used for one text, so the nonce may be the same for all. */
const keyFrom = (shared: Buffer, once: Uint8Array) =>
  Buffer.from(hkdfSync('sha256', shared, once, 'berth encrypted for a node', 32))

const rawOf = (key: KeyObject) => Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url')
const x25519 = (raw: Uint8Array) =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'X25519', x: Buffer.from(raw).toString('base64url') },
    format: 'jwk',
  })

const P = 2n ** 255n - 19n

/** u = (1 + y) / (1 - y): the same point on the other form of the curve. */
function agreementKey(ed25519: string): KeyObject {
  const littleEndian = Buffer.from(ed25519, 'base64url').reverse()
  const y = BigInt(`0x${littleEndian.toString('hex')}`) & (2n ** 255n - 1n)
  const u = ((1n + y) * power(P + 1n - y, P - 2n)) % P
  return x25519(Buffer.from(u.toString(16).padStart(KEY_BYTES * 2, '0'), 'hex').reverse())
}

/** An Ed25519 key is a seed; the first half of its hash is the number that both forms share. */
function ownAgreementKey(key: KeyObject): KeyObject {
  const { d, x } = key.export({ format: 'jwk' })
  const number = createHash('sha512').update(Buffer.from(d!, 'base64url')).digest().subarray(0, KEY_BYTES)
  const of = rawOf(agreementKey(x!)).toString('base64url')
  return createPrivateKey({
    key: { kty: 'OKP', crv: 'X25519', d: number.toString('base64url'), x: of },
    format: 'jwk',
  })
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let factor = base % P, left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * factor) % P
    factor = (factor * factor) % P
  }
  return result
}
