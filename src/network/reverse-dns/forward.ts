// Forward confirmation: a name is set for an address only where the name leads to the address. Mail servers refuse mail
// from addresses whose name does not lead back.
import { Resolver } from 'node:dns/promises'
import { toNumber } from '../ip-pools/ranges.ts'

const TIMEOUT_MS = 2000

/** The addresses of a name of one version; none where it has none or nobody answers in time. */
export type ForwardLookUp = (name: string, version: 4 | 6) => Promise<readonly string[]>

/** Asks the resolvers of this host. Nothing is ever sent to the addresses that they answer. */
export const bySystemResolvers: ForwardLookUp = async (name, version) => {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
  return (version === 4 ? resolver.resolve4(name) : resolver.resolve6(name)).catch(() => [])
}

/** Does the name lead to the address? */
export async function leadsTo(lookUp: ForwardLookUp, name: string, address: string): Promise<boolean> {
  const wanted = toNumber(address)!
  const found = await lookUp(name, wanted.version)
  return found.some((text) => toNumber(text)?.n === wanted.n)
}
