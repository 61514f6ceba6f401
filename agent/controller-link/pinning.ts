// The check of the controller's certificate. Its authority and its name are checked as ever; with pins its key must be
// one of them too, so that no authority can put another host in the controller's place.
import { X509Certificate } from 'node:crypto'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { Failure } from '../failure.ts'
import { pinOf } from '../protocol/pin.ts'

/** Options for `fetch` and `WebSocket`; a connection with another key ends before anything is sent over it. */
export type Trust = {
  tls: { checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined }
}

/** `seen` is told the pin of each certificate that is accepted. Without pins every key is. */
export const trusting = (pins: readonly string[] = [], seen?: (pin: string) => void): Trust => ({
  tls: {
    checkServerIdentity(host, certificate) {
      const wrongName = checkServerIdentity(host, certificate)
      if (wrongName) return wrongName
      const pin = pinOf(new X509Certificate(certificate.raw))
      if (pins.length && !pins.includes(pin)) return otherKey(host, pin)
      seen?.(pin)
      return undefined
    },
  },
})

const otherKey = (host: string, pin: string) =>
  new Failure(
    'controller_key_changed',
    `the certificate of ${host} has the key ${pin}, and this node accepts others only; if the operator changed it, ` +
      'enroll again with a new token',
  )
