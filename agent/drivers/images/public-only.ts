// Downloads from an address that somebody chose, or to which a distribution's name leads. The name is resolved once,
// each address that it has must be public, and the connection goes to one of exactly these, so that no download reaches
// the network of the node. Nodes and their controller are no sources either.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Readable } from 'node:stream'
import ipaddr from 'ipaddr.js'
import { Failure } from '../../failure.ts'
import { addressesOf, hostOf, type LookUp, pinnedRequest, rangeOf } from '../../protocol/net/pinned-request.ts'

/** Is it an address of the Internet? Mapped and translated addresses are not. */
export const isPublic = (address: string): boolean => rangeOf(address) === 'unicast'

/** The addresses of all interfaces of this host. */
const addressesOfHost = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address))

type Send = (url: URL, address: string, signal: AbortSignal, headers: Headers) => Promise<Response>
type Headers = Readonly<Record<string, string>>

/**
 * `controller`: its URL. `ownAddresses`: those of this host. Neither is a source of a download, nor are `refused`, such
 * as the management addresses of nodes. `allowed`: CIDRs that are a source all the same, as a lab's mirror may be.
 */
export type Platform = {
  controller?: string | undefined
  lookUp?: LookUp
  ownAddresses?: () => string[]
  refused?: readonly string[]
  allowed?: readonly string[]
  send?: Send
}

/**
 * The addresses to connect to, in the order of the answer. Throws `download_refused` when one of them is no source, and
 * `download_failed` for a name without an address.
 */
export async function publicAddresses(
  host: string,
  { controller, lookUp, ownAddresses = addressesOfHost, refused = [], allowed = [] }: Platform = {},
): Promise<string[]> {
  const found = await resolved(host, lookUp)
  if (!found.length) throw new Failure('download_failed', `there is no host called ${host}`)
  const others = found.filter((address) => !isInside(address, allowed))
  if (others.some((address) => !isPublic(address)))
    throw new Failure('download_refused', `${host} has an address that is not public`)
  const panel = controller === undefined ? [] : await resolved(hostOf(new URL(controller)), lookUp)
  const platform = new Set([...ownAddresses(), ...panel, ...refused])
  if (others.some((address) => platform.has(address)))
    throw new Failure('download_refused', `${host} has an address of a node or of the controller`)
  return [...found]
}

/** A controller whose address is not known may be where the name leads. */
const resolved = (host: string, lookUp: LookUp | undefined) =>
  addressesOf(host, lookUp).catch((error: Error) => {
    throw new Failure('download_failed', error.message)
  })

function isInside(address: string, cidrs: readonly string[]): boolean {
  if (!isIP(address)) return false
  const parsed = ipaddr.parse(address)
  return cidrs.some((cidr) => {
    const [network, bits] = ipaddr.parseCIDR(cidr)
    return network.kind() === parsed.kind() && parsed.match(network, bits)
  })
}

/** Headers of an answer that the agent reads. */
const READ = ['content-length', 'content-type', 'location', 'www-authenticate']

/** An address that takes no connection within this time is given up for the next one. */
const CONNECT_LIMIT_MS = 10_000

/**
 * One GET without redirects, to the first of the addresses that answers. Throws `download_refused` and
 * `download_failed`.
 */
export async function getPublic(
  url: URL,
  signal: AbortSignal,
  platform: Platform = {},
  more: Headers = {},
): Promise<Response> {
  const { send = byNode } = platform
  let failure: unknown
  for (const address of await publicAddresses(hostOf(url), platform))
    try {
      return await send(url, address, signal, more)
    } catch (error) {
      if (signal.aborted) throw error
      failure = error
    }
  throw failure
}

const byNode: Send = async (url, address, signal, more) => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = pinnedRequest(url, address, { headers: more, signal })
  const timer = setTimeout(() => request.destroy(new Error('it took no connection')), CONNECT_LIMIT_MS)
  request.on('socket', (socket) => socket.once('connect', () => clearTimeout(timer)))
  request.on('response', resolve)
  request.on('error', (cause) => reject(new Failure('download_failed', `${url.host} cannot be reached`, { cause })))
  request.end()
  const message = await promise.finally(() => clearTimeout(timer))
  const { statusCode = 502, headers } = message
  return new Response(Readable.toWeb(message) as unknown as ReadableStream, {
    status: statusCode,
    headers: READ.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  })
}
