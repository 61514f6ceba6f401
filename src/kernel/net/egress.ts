// Requests to an address that a person chose. Its name is resolved once, each address it resolves to must be allowed,
// and the connection goes to one of exactly these. Redirects are not followed; time and size are limited.
import { isIP } from 'node:net'
import {
  addressesOf,
  certificateShown,
  hostOf,
  type KeepAliveAgent,
  type LookUp,
  NameServerSilent,
  pinnedRequest,
  type ResponseHeaders,
  rangeOf,
} from '../../../agent/protocol/net/pinned-request.ts'
import { second } from '../db/clock.ts'
import { inside } from './cidr.ts'

/**
 * Where a request may go. Ranges have ipaddr.js's names; an address that embeds another (mapped, NAT64, 6to4) has a
 * range of its own.
 */
export type Policy = {
  ranges: readonly string[]
  /**
   * This machine itself, and plain HTTP to it: only where the URL names it, never through a name that resolves to it.
   */
  loopback: boolean
  /** CIDRs that are allowed beside the ranges, also only where they are named. */
  local?: readonly string[]
  /** CIDRs that are allowed beside the ranges, also behind a name. */
  allowed?: readonly string[]
  /** Addresses that are not allowed whatever their range, such as those of this host. */
  refused?: readonly string[]
}
/**
 * For addresses that an operator configures: their own network too, but not link-local, multicast or unspecified
 * addresses.
 */
export const chosenByOperator: Policy = {
  ranges: ['unicast', 'private', 'carrierGradeNat', 'uniqueLocal'],
  loopback: false,
}

/** For files that the Internet publishes, and for receivers that a stranger chose. */
export const publicOnly: Policy = { ranges: ['unicast'], loopback: false }

/** `chosenByOperator`, and the local addresses that the settings of the installation allow. */
export const forOperator = (local: readonly string[]): Policy => ({ ...chosenByOperator, local })

/** The host could not be reached, or answered too late or too much. The message is for the person who configured it. */
export class NoAnswer extends Error {}
/** There is no such host, or no name server answers. */
export class UnknownHost extends NoAnswer {}
export class AnsweredTooLate extends NoAnswer {}
export class AnsweredTooMuch extends NoAnswer {}
/** The answer ended before its end. */
export class AnswerBrokenOff extends NoAnswer {}
/** The caller's signal ended the request. */
export class EgressStopped extends NoAnswer {}

export const isLoopback = (url: URL): boolean => {
  const host = hostOf(url)
  return host === 'localhost' || rangeOf(host) === 'loopback'
}

/** `host`: the name or address that was chosen. */
function isAllowed(address: string, policy: Policy, host: string): boolean {
  if (!isIP(address)) return false
  const isNamed = isIP(host) !== 0 || host === 'localhost'
  if (isNamed && inside(address, policy.local ?? [])) return true
  if (inside(address, policy.allowed ?? [])) return true
  if (policy.refused?.includes(address)) return false
  const range = rangeOf(address)
  return range === 'loopback' ? policy.loopback && isNamed : policy.ranges.includes(range)
}

/** Why a URL may not be called, as far as its text tells; undefined when it may. The name is not resolved here. */
export function disabledReason(url: URL, policy: Policy): string | undefined {
  const host = hostOf(url)
  if (url.username || url.password) return 'must not have a user or password in it.'
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && policy.loopback && isLoopback(url)))
    return 'must start with https://.'
  if (host.endsWith('.')) return 'must not end its host name with a dot.'
  if (isIP(host) && !isAllowed(host, policy, host)) return 'is at an address that must not be called.'
  return undefined
}

const USUAL_TIMEOUT_MS = 5 * second

type EgressRequest = {
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  headers?: Record<string, string>
  body?: string | Buffer
  /** Certificates of the authorities that are trusted, as PEM; those of the system if not given. */
  ca?: string
  mostBytes?: number
  /** True: the body ends at `mostBytes`. False: a longer one is refused. */
  onlyBeginning?: boolean
  timeoutMs?: number
  /** Resolves names; the system's resolver, unless a test gives another. */
  lookUp?: LookUp
  /** Keeps connections, and may accept one certificate only; left out: one connection for this request. */
  agent?: KeepAliveAgent
  /** Breaks the request off. */
  signal?: AbortSignal
}

export type EgressResponse = { status: number; text: string; contentType: string }
export type RawResponse = { status: number; headers: ResponseHeaders; body: Buffer }

/**
 * Sends one request. Any status is an answer; `contentType` is '' where the host gives none. `timeoutMs` covers
 * everything from the name's resolution to the last byte, `mostBytes` the body. Throws `NoAnswer`.
 */
export async function egress(url: URL, policy: Policy, request: EgressRequest = {}): Promise<EgressResponse> {
  const { status, headers, body } = await rawEgress(url, policy, request)
  return { status, text: body.toString('utf8'), contentType: headers['content-type'] ?? '' }
}

/**
 * For files of mirrors: follows up to `redirects` redirects, and each address passes the policy. `timeoutMs` is for all
 * of them together. Throws `NoAnswer`.
 */
export async function egressAcross(
  redirects: number,
  url: URL,
  policy: Policy,
  request: EgressRequest = {},
): Promise<RawResponse> {
  const { timeoutMs = USUAL_TIMEOUT_MS } = request
  const began = performance.now()
  const response = await rawEgress(url, policy, request)
  const { location } = response.headers
  if (response.status < 300 || response.status >= 400 || !location) return response
  if (redirects < 1) throw new NoAnswer(`${url.host} redirects too often.`)
  const next = URL.parse(location, url)
  if (!next) throw new NoAnswer(`${url.host} redirects to no address.`)
  const leftMs = Math.max(0, timeoutMs - (performance.now() - began))
  return egressAcross(redirects - 1, next, policy, { ...request, timeoutMs: leftMs })
}

/** `egress` with all headers and the bytes of the body. */
export async function rawEgress(url: URL, policy: Policy, request: EgressRequest): Promise<RawResponse> {
  const { timeoutMs = USUAL_TIMEOUT_MS } = request
  const late = Promise.withResolvers<never>()
  const gone = new AbortController()
  const timer = setTimeout(() => {
    late.reject(new AnsweredTooLate(`${url.host} did not answer within ${Number((timeoutMs / second).toFixed(1))} s.`))
    gone.abort()
  }, timeoutMs)
  const stop = () => {
    late.reject(new EgressStopped(`The request to ${url.host} was stopped.`))
    gone.abort()
  }
  request.signal?.addEventListener('abort', stop)
  try {
    if (request.signal?.aborted) throw new EgressStopped(`The request to ${url.host} was stopped.`)
    const why = disabledReason(url, policy)
    if (why) throw new NoAnswer(`${url.host} ${why}`)
    return await Promise.race([
      addressFor(hostOf(url), policy, request.lookUp).then((address) => send(url, address, request, gone.signal)),
      late.promise,
    ])
  } finally {
    clearTimeout(timer)
    request.signal?.removeEventListener('abort', stop)
    gone.abort()
  }
}

/**
 * The certificate of a host as DER, for a person who decides whether to trust it; null where it shows none. Nothing is
 * sent to the host. Throws `NoAnswer`.
 */
export async function certificateOf(
  url: URL,
  policy: Policy,
  { lookUp, timeoutMs = USUAL_TIMEOUT_MS }: Pick<EgressRequest, 'lookUp' | 'timeoutMs'> = {},
): Promise<Buffer | null> {
  const why = disabledReason(url, policy)
  if (why) throw new NoAnswer(`${url.host} ${why}`)
  const address = await addressFor(hostOf(url), policy, lookUp)
  return certificateShown(url, address, AbortSignal.timeout(timeoutMs)).catch((cause) => {
    throw new NoAnswer(`${url.host} could not be called: ${cause.message}`, { cause })
  })
}

/** A name resolves to an address that the policy does not allow, or is such an address. */
export class ForbiddenAddress extends NoAnswer {}

/**
 * The address to connect to for a host. Throws `ForbiddenAddress`, and `NoAnswer` for a name without an address or
 * where no name server answers in time.
 */
export async function addressFor(host: string, policy: Policy, lookUp?: LookUp): Promise<string> {
  const found = await addressesOf(host, lookUp).catch((error) => {
    throw error instanceof NameServerSilent ? new UnknownHost(error.message, { cause: error }) : error
  })
  if (!found.length) throw new UnknownHost(`There is no host called ${host}.`)
  // The host's own file names it, not a stranger: one address of both versions is enough.
  const own = host === 'localhost' ? found.find((address) => isAllowed(address, policy, host)) : undefined
  if (own) return own
  for (const address of found)
    if (!isAllowed(address, policy, host))
      throw new ForbiddenAddress(`${host} has the address ${address}, which must not be called.`)
  return found[0]!
}

/** The answer as a whole, up to `mostBytes`. */
function send(
  url: URL,
  address: string,
  { method = 'GET', headers, body, ca, agent, mostBytes = 256_000, onlyBeginning = false }: EgressRequest,
  signal: AbortSignal,
) {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>()
  const request = pinnedRequest(url, address, {
    method,
    headers: { Accept: 'application/json', ...headers },
    ...(body !== undefined && { body }),
    ca,
    ...(agent && { agent }),
  })
  request.on('response', (response) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const arrived = () =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: Buffer.concat(chunks).subarray(0, mostBytes),
      })
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= mostBytes || onlyBeginning) chunks.push(chunk)
      if (bytes <= mostBytes) return
      if (onlyBeginning) arrived()
      reject(new AnsweredTooMuch(`${url.host} answered more than ${mostBytes} bytes.`))
      request.destroy()
    })
    const broke = (cause?: Error) =>
      reject(new AnswerBrokenOff(`${url.host} closed the connection in the middle of its answer.`, { cause }))
    // A connection that breaks in the middle of an answer may end it too.
    response.on('end', () => (response.complete ? arrived() : broke()))
    response.on('error', broke)
  })
  request.on('error', (error) =>
    reject(new NoAnswer(`${url.host} could not be called: ${error.message}`, { cause: error })),
  )
  signal.addEventListener('abort', () => request.destroy())
  request.end(body)
  return promise
}
