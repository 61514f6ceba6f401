// The address of a request's client, also behind proxies.
import { inside } from './cidr.ts'

/** The one spelling of an address: without a port or brackets, and as IPv4 where IPv4 came over an IPv6 socket. */
const plain = (address: string) =>
  address
    .trim()
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^\[([0-9a-f:.]+)\].*$/i, '$1')
    .toLowerCase()
    .replace(/^::ffff:(?=\d+\.)/, '')

/**
 * The right-most address of X-Forwarded-For that is not a trusted proxy; the peer's own where the peer is none. `''`
 * when the peer has hung up and is unknown: no list of addresses contains it.
 */
export function clientAddress(request: Request, peer: string | undefined, trusted: readonly string[]): string {
  let address = plain(peer ?? '')
  if (!trusted.length || !inside(address, trusted)) return address
  for (const hop of (request.headers.get('X-Forwarded-For') ?? '').split(',').map(plain).filter(Boolean).toReversed()) {
    address = hop
    if (!inside(hop, trusted)) break
  }
  return address
}
