import type { Container } from '../../protocol/gpu.ts'
import type { Given } from './container.ts'

/**
 * Tells whether a container must be made anew: a digest of everything that it cannot change while it exists. Keys, the
 * restart policy and ports are the concern of others; a token is encrypted anew each time.
 */
export function identityOf(container: Container, given: Given, image: string | undefined): string {
  const { authorizedKeys: _, restartPolicy: __, ports: ___, jupyterToken: ____, ...fixed } = container
  return new Bun.CryptoHasher('sha256').update(JSON.stringify([fixed, given, image ?? null])).digest('hex')
}
