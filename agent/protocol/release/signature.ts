// Ed25519 signatures of manifests, as OpenSSL makes and checks them too. Controllers and nodes carry public keys only.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { type Manifest, manifestFrom, ReleaseRefused } from './manifest.ts'

const SIGNATURE_BYTES = 64
const ID_DIGITS = 16

/** A public key whose signatures count. `id`: the beginning of the SHA-256 of its DER form, in hex. */
export type ReleaseKey = { id: string; key: KeyObject }

/** Of a PEM file with an Ed25519 public key. Throws an Error in words. */
export function releaseKeyFrom(pem: string): ReleaseKey {
  const key = keyFrom(() => createPublicKey(pem), 'no public key in PEM form')
  const der = key.export({ type: 'spki', format: 'der' })
  return { id: createHash('sha256').update(der).digest('hex').slice(0, ID_DIGITS), key }
}

/** Throws an Error in words, also for a wrong passphrase. */
export const secretKeyFrom = (pem: string, passphrase?: string): KeyObject =>
  keyFrom(
    () => createPrivateKey({ key: pem, format: 'pem', ...(passphrase !== undefined && { passphrase }) }),
    passphrase === undefined ? 'no secret key in PEM form, or it needs its passphrase' : 'the passphrase is wrong',
  )

function keyFrom(read: () => KeyObject, words: string): KeyObject {
  let key: KeyObject
  try {
    key = read()
  } catch {
    throw new Error(words)
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`a key of ${key.asymmetricKeyType}, and not of ed25519`)
  return key
}

/** The raw 64 bytes. */
export const signed = (text: string, secret: KeyObject): Buffer => sign(null, Buffer.from(text), secret)

/**
 * The manifest, when one of the keys has signed exactly this text. Nothing of it is believed before. Throws
 * `release_not_signed`, `release_key_not_trusted`, `release_signature_wrong` and `release_invalid`.
 */
export function verified(text: string, signature: Uint8Array | undefined, trusted: readonly ReleaseKey[]): Manifest {
  if (signature === undefined) throw new ReleaseRefused('release_not_signed', 'It has no signature.')
  if (signature.length !== SIGNATURE_BYTES)
    throw new ReleaseRefused('release_signature_wrong', 'Its signature has another length than one of Ed25519.')
  const by = trusted.find(({ key }) => verify(null, Buffer.from(text), key, signature))
  const manifest = manifestFrom(text)
  if (by?.id === manifest.keyId) return manifest
  const isKnown = trusted.some(({ id }) => id === manifest.keyId)
  if (isKnown || by)
    throw new ReleaseRefused('release_signature_wrong', `Its signature is not one of the key ${manifest.keyId}.`)
  throw new ReleaseRefused(
    'release_key_not_trusted',
    `It names the key ${manifest.keyId}. This program trusts ${trusted.map(({ id }) => id).join(' and ') || 'none'}.`,
  )
}
