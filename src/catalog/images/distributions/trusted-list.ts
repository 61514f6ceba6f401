// The list of checksums of a distribution, with its signature verified where the distribution signs it.
import { ApiError } from '../../../kernel/api/errors.ts'
import {
  type GoodSignature,
  type SignatureFault,
  verifyClearsigned,
  verifyDetached,
} from '../../../kernel/crypto/openpgp.ts'
import type { CatalogueEntry } from './catalogue.ts'
import type { Distributions } from './servers.ts'

/** `signature`: null where the distribution does not sign. */
export type TrustedList = { text: string; signature: GoodSignature | null }

/**
 * Reads a list. `knownSignedAt`: when the newest known signature of this entry was made; an older list is a replay.
 * Throws `source_unreachable` and `signature_refused`.
 */
export async function trustedList(
  distributions: Distributions,
  { name, signature }: Pick<CatalogueEntry, 'name' | 'signature'>,
  url: string,
  knownSignedAt: number | null,
): Promise<TrustedList> {
  const list = await distributions.read(url)
  if ('failure' in list) throw unreachable(`The checksum list of ${name} could not be read`, url)
  const plain = list.bytes.toString('utf8')
  if ('unsigned' in signature) return { text: plain, signature: null }
  const { key, at } = signature
  const of = { name, host: new URL(url).host, owner: key.owner }
  let verdict: Awaited<ReturnType<typeof verifyClearsigned>>
  if (at === 'inside') verdict = await verifyClearsigned(list.bytes, [key])
  else {
    const found = await distributions.read(at(url))
    if ('failure' in found) {
      if (found.failure === 'absent') throw refused('unsigned', of)
      throw unreachable(`The signature of the checksum list of ${name} could not be read`, at(url))
    }
    const detached = await verifyDetached(list.bytes, found.bytes, [key])
    verdict = 'fault' in detached ? detached : { ...detached, text: plain }
  }
  if ('fault' in verdict) throw refused(verdict.fault, of)
  const { good, text } = verdict
  if (knownSignedAt !== null && good.signedAt < knownSignedAt) throw refused('replayed', of)
  return { text, signature: good }
}

/** Throw it where a distribution does not answer as it should. */
export const unreachable = (what: string, url: string) =>
  new ApiError(
    'source_unreachable',
    `${what} from ${new URL(url).host}. Check that the controller reaches it, or import an image from a file.`,
  )

type Of = { name: string; host: string; owner: string }
const because: Record<SignatureFault | 'replayed', (of: Of) => string> = {
  unsigned: ({ host }) => `has no signature at ${host}, although its distribution signs it`,
  changed: () =>
    'does not match its signature: somebody changed it, or it is being published at this moment. Try again in an hour',
  wrong_key: ({ owner }) => `is signed, but not by the key “${owner}” that Berth carries`,
  expired_key: ({ owner }) =>
    `is signed by the key “${owner}”, which has expired. A newer release of Berth has its new one`,
  expired_signature: () => 'has a signature that has expired',
  revoked_key: ({ owner }) => `is signed by the key “${owner}”, which its owner has revoked`,
  weak_digest: () => 'is signed over a digest that can be forged (MD5 or SHA-1)',
  unreadable: ({ host }) => `has a signature at ${host} that cannot be read`,
  no_verifier: () => 'cannot be verified: gpgv is not installed on the controller. Install it: apt-get install gpgv',
  replayed: ({ host }) => `at ${host} is older than the one that is known, so an old build would come back with it`,
}
const refused = (reason: SignatureFault | 'replayed', of: Of) =>
  new ApiError('signature_refused', `The checksum list of ${of.name} ${because[reason](of)}. Nothing was changed.`, {
    reason,
  })
