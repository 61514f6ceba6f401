// A pin names the key of a TLS certificate in curl's form: `sha256//` and the base64 of the SHA-256 of its
// SubjectPublicKeyInfo. A renewed certificate with the same key has the same pin.
import { createHash, type X509Certificate } from 'node:crypto'

/** The pattern of one pin. */
export const PIN = 'sha256//[A-Za-z0-9+/]{43}='
/** The keys in use and the ones that follow them. */
export const MOST_PINS = 10

const onePin = new RegExp(`^${PIN}$`)
export const isPin = (text: string) => onePin.test(text)

/** Pins from a text that separates them with commas; undefined where one of them is no pin, or there are too many. */
export function pinsFrom(text: string): string[] | undefined {
  const pins = text
    .split(',')
    .map((pin) => pin.trim())
    .filter(Boolean)
  return pins.length <= MOST_PINS && pins.every(isPin) ? pins : undefined
}

export const pinOf = ({ publicKey }: X509Certificate): string =>
  `sha256//${createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64')}`
