// Downloads from an address that a customer chose. The name is resolved once, each address that it resolves to must be
// public, and the connection goes to one of exactly these, so that no download reaches the network of the node. The
// node itself and its controller are no sources either.
import { lookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Readable } from 'node:stream'
import ipaddr from 'ipaddr.js'
import { Failure } from '../../failure.ts'

/** Clouds answer with credentials at these addresses, whose range is that of any other. */
const metadata = new Set(['168.63.129.16', 'fd00:ec2::254'])

/** Is it an address of the Internet? Mapped and translated addresses are not. */
export function isPublic(address: string): boolean {
  if (!isIP(address) || metadata.has(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  // ipaddr.js calls unassigned space outside 2000::/3 unicast too.
  return !(parsed instanceof ipaddr.IPv6) || parsed.parts[0]! >> 13 === 1
}

type LookUp = (host: string) => Promise<readonly { address: string }[]>
const bySystem: LookUp = (host) => lookup(host, { all: true })

/** The addresses of all interfaces of this host. */
const addressesOfHost = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address))

/** `controller`: its URL. `ownAddresses`: those of this host. Both are no source of a download. */
export type Platform = { controller?: string | undefined; lookUp?: LookUp; ownAddresses?: () => string[] }

/** The address to connect to. Throws `download_refused`, and `download_failed` for a name without an address. */
export async function publicAddress(
  host: string,
  { controller, lookUp = bySystem, ownAddresses = addressesOfHost }: Platform = {},
): Promise<string> {
  const found = await addressesOf(host, lookUp)
  if (!found.length) throw new Failure('download_failed', `there is no host called ${host}`)
  for (const { address } of found)
    if (!isPublic(address)) throw new Failure('download_refused', `${host} has an address that is not public`)
  const panel = controller === undefined ? [] : await addressesOf(hostOf(new URL(controller)), lookUp)
  const refused = new Set([...ownAddresses(), ...panel.map(({ address }) => address)])
  for (const { address } of found)
    if (refused.has(address))
      throw new Failure('download_refused', `${host} has an address of this node or of its controller`)
  return found[0]!.address
}

const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '')
const addressesOf = async (host: string, lookUp: LookUp) =>
  isIP(host) ? [{ address: host }] : await lookUp(host).catch(() => [])

/** Headers of an answer that the agent reads. */
const READ = ['content-length', 'content-type', 'location', 'www-authenticate']

/** One GET over HTTPS, without redirects. node:https and not fetch, which would resolve the name again. */
export async function getPublic(
  url: URL,
  signal: AbortSignal,
  platform?: Platform,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const host = hostOf(url)
  const address = await publicAddress(host, platform)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = https.request({
    host: address,
    port: url.port || 443,
    path: url.pathname + url.search,
    agent: false,
    signal,
    ...(!isIP(host) && { servername: host }),
    headers: { Host: url.host, Accept: '*/*', 'Accept-Encoding': 'identity', 'User-Agent': 'Berth/1.0', ...more },
  })
  request.on('response', resolve)
  request.on('error', (cause) => reject(new Failure('download_failed', `${url.host} cannot be reached`, { cause })))
  request.end()
  const message = await promise
  const { statusCode = 502, headers } = message
  return new Response(Readable.toWeb(message) as unknown as ReadableStream, {
    status: statusCode,
    headers: READ.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  })
}
