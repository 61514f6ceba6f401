// Authorities of a lab beside those that everybody trusts: certificates are verified as ever, against both.
import { X509Certificate } from 'node:crypto'
import tls from 'node:tls'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

/** The authorities of a connection that names none, as PEM. The types of Bun do not know the function. */
export const trustedByAll = (): string[] =>
  (tls as unknown as { getCACertificates(which: 'default'): string[] }).getCACertificates('default')

/** The certificates that stand in the text as PEM. Throws where there is none, or one that cannot be read. */
export function certificatesIn(pem: string): string[] {
  const found = pem.match(CERTIFICATE) ?? []
  if (!found.length) throw new Error('it has no certificate (PEM)')
  for (const one of found) new X509Certificate(one)
  return found
}

/** These and those that everybody trusts. */
export const trustedBeside = (pem: string): string[] => [...trustedByAll(), ...certificatesIn(pem)]
