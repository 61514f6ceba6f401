// One request to a receiver that a person chose, with everything that was answered, for a log. As `egress`: the name is
// resolved once, each address it resolves to must be allowed, and the connection goes to one of these. Nothing of the
// answer is trusted: its length, its pace and its encoding are limited, and it is never decompressed.
import {
  hostOf,
  type KeepAliveAgent,
  type LookUp,
  type PinnedRequest,
  pinnedRequest,
} from '../../../agent/protocol/net/pinned-request.ts'
import { addressFor, disabledReason, NoAnswer, type Policy } from './egress.ts'

/** How requests leave: tests put names, sockets and times of their own in its place. */
export type Transport = {
  lookUp?: LookUp
  dial?: PinnedRequest['dial']
  ca?: PinnedRequest['ca']
  /** A receiver that sends nothing for so long has failed, and one that has not finished after `totalMs`. */
  silenceMs: number
  totalMs: number
  agent: KeepAliveAgent
}

type Answer = {
  status: number
  headers: [name: string, value: string][]
  /** The first bytes as text, with a sign in place of what is no text. */
  body: string
  bytes: number
  truncated: boolean
}
/** `address` is null while there is none that may be called. */
export type Exchange = { address: string | null; durationMs: number; answer: Answer | null }

/** The request failed, or its answer did not end in time. `exchange`: what there was until then. */
export class ExchangeFailed extends NoAnswer {
  constructor(
    message: string,
    readonly exchange: Exchange,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

const KEPT_BYTES = 16_384
/** An answer that is longer is not read to its end. */
const MOST_BYTES = 1_000_000
const KEPT_HEADERS = 60
const LONGEST_HEADER = 1000
/** Of all headers that are kept: a log of many answers must not fill the disk. */
const MOST_HEADER_CHARACTERS = 8000
const CONTROL = /[^\P{Cc}\t\n\r]/gu

type Sent = { url: URL; policy: Policy; headers: Readonly<Record<string, string>>; body: string; signal: AbortSignal }

/** POSTs the body. Any status is an answer. Throws `ExchangeFailed`. */
export async function exchange(transport: Transport, sent: Sent): Promise<Exchange> {
  const { url, policy } = sent
  const began = performance.now()
  const soFar: Exchange = { address: null, durationMs: 0, answer: null }
  const timed = () => ({ ...soFar, durationMs: Math.round(performance.now() - began) })
  try {
    const why = disabledReason(url, policy)
    if (why) throw new NotReachable(`The address of the receiver ${why}`)
    soFar.address = await within(transport.silenceMs, addressFor(hostOf(url), policy, transport.lookUp))
    soFar.answer = await sendAgain(transport, sent, soFar, began)
    return timed()
  } catch (error) {
    const { message } = error as Error
    throw new ExchangeFailed(message, timed(), { cause: error })
  }
}

/** The URL says already that it must not be called. */
export class NotReachable extends NoAnswer {}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new NoAnswer('The name of the receiver was not resolved in time.')), ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** A connection that was kept may be closed by the receiver at the moment it is used again: then a new one is made. */
async function sendAgain(transport: Transport, sent: Sent, soFar: Exchange, began: number): Promise<Answer> {
  try {
    return await send(transport, sent, soFar, began, transport.agent)
  } catch (error) {
    if (!(error instanceof ClosedMeanwhile)) throw error
    return send(transport, sent, soFar, began, false)
  }
}
class ClosedMeanwhile extends Error {}

function send(
  { dial, ca, silenceMs, totalMs }: Transport,
  { url, headers, body, signal }: Sent,
  soFar: Exchange,
  began: number,
  agent: KeepAliveAgent | false,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const request = pinnedRequest(url, soFar.address!, { method: 'POST', headers, body, ca, agent, dial })
  const fail = (error: Error) => {
    reject(error)
    request.destroy()
  }
  const totalLeft = totalMs - (performance.now() - began)
  const total = setTimeout(
    () => fail(new NoAnswer(`The receiver did not finish its answer within ${totalMs / 1000} s.`)),
    Math.max(0, totalLeft),
  )
  let silence: ReturnType<typeof setTimeout> | undefined
  const beat = () => {
    clearTimeout(silence)
    silence = setTimeout(() => fail(new NoAnswer(`The receiver was silent for ${silenceMs / 1000} s.`)), silenceMs)
  }
  beat()
  const stopped = () => fail(new NoAnswer('The delivery was interrupted.'))
  signal.addEventListener('abort', stopped)
  request.on('error', (error: Error & { code?: string }) => {
    const isStale = agent && request.reusedSocket && soFar.answer === null
    reject(isStale ? new ClosedMeanwhile() : new NoAnswer(inWords(error), { cause: error }))
  })
  request.on('response', (response) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const answer = (): Answer => ({
      status: response.statusCode ?? 0,
      headers: headersOf(response.headers),
      body: textOf(Buffer.concat(chunks).subarray(0, KEPT_BYTES)),
      bytes,
      truncated: bytes > KEPT_BYTES,
    })
    soFar.answer = answer()
    beat()
    response.on('data', (chunk: Buffer) => {
      beat()
      if (bytes < KEPT_BYTES) chunks.push(chunk)
      bytes += chunk.length
      soFar.answer = { ...soFar.answer!, bytes, truncated: bytes > KEPT_BYTES }
      if (bytes > MOST_BYTES) {
        soFar.answer = answer()
        fail(new NoAnswer(`The receiver answered more than ${MOST_BYTES / 1_000_000} MB.`))
      }
    })
    response.on('end', () => {
      soFar.answer = answer()
      // A connection that breaks in the middle of an answer ends it too.
      if (response.complete) resolve(soFar.answer)
      else reject(new NoAnswer('The receiver closed the connection in the middle of its answer.'))
    })
    response.on('aborted', () => {
      soFar.answer = answer()
      reject(new NoAnswer('The receiver closed the connection in the middle of its answer.'))
    })
    response.on('error', (error: Error) => {
      soFar.answer = answer()
      reject(new NoAnswer(inWords(error), { cause: error }))
    })
  })
  request.end(body)
  return promise.finally(() => {
    clearTimeout(total)
    clearTimeout(silence)
    signal.removeEventListener('abort', stopped)
  })
}

function headersOf(headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] {
  const kept: [string, string][] = []
  let left = MOST_HEADER_CHARACTERS
  for (const [name, values] of Object.entries(headers))
    for (const value of [values ?? []].flat()) {
      const text = textOf(Buffer.from(value)).slice(0, LONGEST_HEADER)
      left -= name.length + text.length
      if (kept.length === KEPT_HEADERS || left < 0) return kept
      kept.push([name.slice(0, LONGEST_HEADER), text])
    }
  return kept
}

const textOf = (bytes: Buffer): string => bytes.toString('utf8').replace(CONTROL, '\uFFFD')

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection without an answer.',
  ConnectionClosed: 'The receiver closed the connection without an answer.',
  EPIPE: 'The receiver closed the connection without an answer.',
  ETIMEDOUT: 'The receiver could not be connected to in time.',
  EHOSTUNREACH: 'The host of the receiver could not be reached.',
  ENETUNREACH: 'The network of the receiver could not be reached.',
  CERT_HAS_EXPIRED: 'The certificate of the receiver has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the receiver is for another name.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the receiver is signed by nobody that is trusted.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate of the receiver is signed by nobody that is trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate of the receiver is signed by nobody that is trusted.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate of the receiver is signed by nobody that is trusted.',
}
const inWords = (error: Error & { code?: string }): string =>
  words[error.code ?? ''] ?? 'The receiver could not be called.'
