// HTTP to an address that a person chose, for controller and agent: the name is resolved once, the caller decides
// whether the addresses may be called, and the connection goes to one of exactly these. node:http and not fetch, which
// would resolve the name again and obey proxies from the environment. Redirects are not followed.
import { createHash } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import http from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import ipaddr from 'ipaddr.js'

/** The addresses of a host name. It rejects where there is no such host. */
export type LookUp = (host: string) => Promise<readonly { address: string }[]>
export const bySystem: LookUp = (host) => lookup(host, { all: true })

/** The host of a URL without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '')

/** The name server says that there is no such name, or none with an address. */
const noSuchHost: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA'])
/** No name server answers, so nobody knows whether the name leads anywhere. */
export class NameServerSilent extends Error {}
/** A resolver may try several servers for half a minute; people wait for the answer. */
const LOOK_UP_MS = 5_000

/**
 * All addresses of a host, which may be an address itself; empty where there is no such host. Throws `NameServerSilent`
 * where that is not known within `limitMs`. Every look-up of controller and agent goes this way.
 */
export async function addressesOf(
  host: string,
  lookUp: LookUp = bySystem,
  limitMs = LOOK_UP_MS,
): Promise<readonly string[]> {
  if (isIP(host)) return [host]
  const late = Promise.withResolvers<never>()
  const silent = () => new NameServerSilent(`The name server does not answer for ${host}.`)
  const timer = setTimeout(() => late.reject(silent()), limitMs)
  try {
    const found = await Promise.race([lookUp(host), late.promise])
    return found.map(({ address }) => address)
  } catch (error) {
    if (noSuchHost.has((error as NodeJS.ErrnoException).code)) return []
    throw error instanceof NameServerSilent ? error : Object.assign(silent(), { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** Clouds answer with credentials at these addresses, whose range is that of any other. */
const metadata: readonly string[] = ['168.63.129.16', 'fd00:ec2::254']

/**
 * The range of an address by ipaddr.js's names; an address that embeds another (mapped, NAT64, 6to4) has a range of its
 * own. `unicast` is the Internet: ipaddr.js calls IPv6 space so that nobody has, which is `unassigned` here.
 */
export function rangeOf(address: string): string {
  if (!isIP(address)) return 'none'
  if (metadata.includes(address)) return 'metadata'
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  const isUnassigned = parsed instanceof ipaddr.IPv6 && range === 'unicast' && parsed.parts[0]! >> 13 !== 1
  return isUnassigned ? 'unassigned' : range
}

export type KeepAliveAgent = https.Agent

export type PinnedRequest = {
  method?: string
  headers?: Readonly<Record<string, string>>
  /** Sent when the caller ends the request with it: here only its length is read. */
  body?: string | Buffer
  /** Certificates of the authorities that are trusted, as PEM; those of the system if not given. */
  ca?: string | readonly string[] | undefined
  /** Keeps connections; false, and left out: one connection for this request. */
  agent?: KeepAliveAgent | false
  /** Where the socket for an allowed address goes in a test; left out: there. */
  dial?: ((address: string, port: number) => { host: string; port: number }) | undefined
  signal?: AbortSignal
}

/** Keeps a connection for the next request to the same address and name, for some seconds. */
export const keepAliveAgent = () => new https.Agent({ keepAlive: true, maxFreeSockets: 32, timeout: 5000 })

/** The server showed another certificate than the one that is trusted. Nothing was sent to it. */
export class OtherCertificate extends Error {
  /** `certificate` is its DER; null where it showed none. */
  constructor(readonly certificate: Buffer | null) {
    super('the server has another certificate than the one that is trusted')
  }
}

/** A handshake that does not end is given up, whatever becomes of the request that waits for it. */
const HANDSHAKE_MS = 15_000

/**
 * Keeps connections to servers that show one certificate, however it is signed. The handshake shows it, and a request
 * goes out only after it was compared: on the same connection, so nobody can come between.
 */
class CertificateAgent extends https.Agent {
  constructor(private readonly sha256: string) {
    super({ keepAlive: true, maxFreeSockets: 4, timeout: 5000 })
  }
  override createConnection(options: https.RequestOptions, done?: Connected): undefined {
    const socket = tls.connect({ ...(options as tls.ConnectionOptions), rejectUnauthorized: false })
    const timer = setTimeout(() => socket.destroy(new Error('the handshake did not end')), HANDSHAKE_MS)
    let isDecided = false
    const decide = (error: Error | null) => {
      if (isDecided) return
      isDecided = true
      clearTimeout(timer)
      if (error) socket.destroy()
      done?.(error, socket)
    }
    socket.once('error', decide)
    socket.once('close', () => decide(new Error('the connection was closed')))
    socket.once('secureConnect', () => {
      const shown = shownBy(socket)
      decide(shown && sha256Of(shown) === this.sha256 ? null : new OtherCertificate(shown))
    })
  }
}
type Connected = (error: Error | null, socket: Duplex) => void

/** An agent for one certificate, by the SHA-256 of its DER in small hexadecimal digits. */
export const certificateAgent = (sha256: string): KeepAliveAgent => new CertificateAgent(sha256)

export const sha256Of = (der: Buffer): string => createHash('sha256').update(der).digest('hex')

const shownBy = (socket: tls.TLSSocket): Buffer | null => socket.getPeerCertificate()?.raw ?? null

/** The certificate that a server shows, as DER, without any trust in it: nothing is sent but the handshake. */
export function certificateShown(url: URL, address: string, signal: AbortSignal): Promise<Buffer | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | null>()
  const socket = tls.connect({
    host: address,
    port: Number(url.port || 443),
    rejectUnauthorized: false,
    ...(!isIP(hostOf(url)) && { servername: hostOf(url) }),
  })
  const stop = () => socket.destroy(new Error('the handshake did not end'))
  signal.addEventListener('abort', stop)
  socket.once('secureConnect', () => resolve(shownBy(socket)))
  socket.once('error', reject)
  socket.once('close', () => reject(new Error('the connection was closed')))
  return promise.finally(() => {
    signal.removeEventListener('abort', stop)
    socket.destroy()
  })
}

/** The headers of an answer, by their names in lower case. */
export type ResponseHeaders = http.IncomingHttpHeaders

/** A request over a connection to `address`, for the name in the URL. The caller ends it with the body. */
export function pinnedRequest(url: URL, address: string, request: PinnedRequest): http.ClientRequest {
  const { method = 'GET', headers, body, ca, agent = false, dial, signal } = request
  const isTls = url.protocol === 'https:'
  const port = Number(url.port || (isTls ? 443 : 80))
  return (isTls ? https : http).request({
    ...(dial?.(address, port) ?? { host: address, port }),
    path: url.pathname + url.search,
    method,
    agent,
    ...(signal && { signal }),
    ...(isTls && !isIP(hostOf(url)) && { servername: hostOf(url) }),
    ...(ca && { ca: ca as string | string[] }),
    headers: {
      Host: url.host,
      Accept: '*/*',
      'Accept-Encoding': 'identity',
      'User-Agent': 'Berth/1.0',
      ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
      ...headers,
    },
  })
}
