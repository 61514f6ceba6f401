// The address of a request's client, also behind proxies.
import { inside } from './cidr.ts'

/** The one spelling of an address: without a port or brackets, and as IPv4 where IPv4 came over an IPv6 socket. */
const plain = (address: string) =>
  IPV4.test(address)
    ? address
    : address
        .trim()
        .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
        .replace(/^\[([0-9a-f:.]+)\].*$/i, '$1')
        .toLowerCase()
        .replace(/^::ffff:(?=\d+\.)/, '')
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

/**
 * Returns a function that answers the right-most address of X-Forwarded-For that is not in `trusted`, the CIDRs of the
 * proxies; the peer's own where the peer is no proxy. `''` when the peer has hung up and is unknown: no list of
 * addresses contains it.
 */
export function clientAddresses(trusted: readonly string[]) {
  // Behind a proxy every call has the same peer, and to parse its address costs a tenth of a small read.
  let last = { peer: '', isProxy: false }
  const isProxy = (peer: string): boolean => {
    if (peer !== last.peer) last = { peer, isProxy: inside(peer, trusted) }
    return last.isProxy
  }
  return (request: Request, peer: string | undefined): string => {
    const from = plain(peer ?? '')
    if (!trusted.length || !isProxy(from)) return from
    const hops = request.headers.get('X-Forwarded-For')
    return hops === null ? from : clientOf(hops, trusted, from)
  }
}

function clientOf(hops: string, trusted: readonly string[], peer: string): string {
  let address = peer
  for (const hop of hops.split(',').map(plain).filter(Boolean).toReversed()) {
    address = hop
    if (!inside(hop, trusted)) break
  }
  return address
}
