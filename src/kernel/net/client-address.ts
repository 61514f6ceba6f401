// Whose address a request is from, where proxies stand before the controller.
import { inside } from './cidr.ts'

/** As one address is written in one way: an IPv4 address that came over an IPv6 socket is IPv4, and a hop's port is not part of it. */
const plain = (address: string) =>
  address
    .trim()
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^\[([0-9a-f:.]+)\].*$/i, '$1')
    .toLowerCase()
    .replace(/^::ffff:(?=\d+\.)/, '')

/**
 * The right-most address that no trusted proxy vouches for. The header counts only when the peer itself is a trusted proxy. A peer
 * that is not known any more, since it has hung up, is `''`, which no list of addresses holds.
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
