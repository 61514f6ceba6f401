// The agent's calls to the controller outside of the WebSocket: enrolment, the challenge, signed downloads.

import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { Failure, type FailureCode } from '../failure.ts'
import {
  agentHeaders,
  agentPaths,
  type ChallengeRequest,
  ChallengeResponse,
  DECLARED_LOST,
  type EnrollRequest,
  EnrollResponse,
  PROTOCOL,
} from '../protocol/wire.ts'
import { type Identity, signatureOf } from './identity.ts'
import { type Trust, trusting } from './pinning.ts'

const LIMIT_MS = 15_000

/** The controller's address, and the keys that its certificate may have. */
export type Destination = Pick<Identity, 'controller' | 'pins'>

/** A refusal by the controller, with its HTTP status and error code. */
export class Refused extends Failure {
  constructor(
    readonly status: number,
    code: string,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    // One of the codes of the API, of which this node knows none by name.
    super(code as FailureCode, message)
  }
  /** Was it refused with this code of the API? */
  has(code: string): boolean {
    return (this.code as string) === code
  }
}

/**
 * The controller's address in the form that is stored. Throws `invalid_controller`, and `insecure_controller` for plain
 * http to another host: a listener cannot use a signature, but could forge commands.
 */
export function controllerUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new Failure('invalid_controller', `${text} is no http or https address`)
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && process.env['PANEL_AGENT_INSECURE'] !== '1') {
    throw new Failure(
      'insecure_controller',
      'the controller must be reached by https; PANEL_AGENT_INSECURE=1 allows http on a network you trust',
    )
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)

/** Enrols this host. Throws `Refused` with the controller's code, `unreachable` when there is no answer. */
export const enroll = (controller: string, request: EnrollRequest, pins: readonly string[]) =>
  post({ controller, pins }, agentPaths.enroll, request, EnrollResponse)

type Purpose = Static<typeof ChallengeRequest>['purpose']

/** Answers of 409 in a row after which a request is given up, and comes again with the back-off of its caller. */
const MOST_CHALLENGES = 4

/**
 * Makes a request with headers that prove the node's identity. Where the controller restarted between the challenge and
 * the request, it does not know the nonce and answers 409: then the request is made again with a new one. Throws what
 * `request` throws, and `Refused` of the challenge.
 */
export async function signed<T>(
  identity: Identity,
  request: (headers: Record<string, string>) => Promise<T>,
  purpose?: Purpose,
): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await request(await signedHeaders(identity, purpose))
    } catch (error) {
      if (!(error instanceof Refused && error.status === 409) || tries === MOST_CHALLENGES) throw error
    }
}

/**
 * Does this refusal say that the node was declared lost? A controller that is older than one which the node obeyed has
 * no say: `highestEpoch`.
 */
export const saysLost = (error: unknown, highestEpoch: number): boolean =>
  error instanceof Refused && error.has(DECLARED_LOST) && Number(error.details['epoch'] ?? -1) >= highestEpoch

/** The answer to a signed download. Throws `Refused`, and `unreachable` when there is no answer. */
export const download = (identity: Identity, path: string, signal: AbortSignal): Promise<Response> =>
  signed(identity, async (headers) => {
    const response = await reach(identity, path, { headers, decompress: false, signal } as RequestInit)
    if (response.ok) return response
    throw refusal(response.status, await response.json().catch(() => undefined))
  })

/**
 * The answer to a request at `agentPaths.release`, also of a controller that speaks another protocol. Throws as
 * `download` does; a redirect is a refusal.
 */
export const askForRelease = (
  identity: Identity,
  path: string,
  { signal, headers = {} }: { signal: AbortSignal; headers?: Record<string, string> },
): Promise<Response> =>
  signed(
    identity,
    async (proof) => {
      const all = { ...headers, ...proof }
      const response = await reach(identity, path, { headers: all, decompress: false, signal } as RequestInit)
      if (response.ok) return response
      await response.body?.cancel()
      throw refusal(response.status, undefined)
    },
    'release',
  )

/** A WebSocket to `path` on the controller; `seen` is told the pin of its certificate. */
export const socketTo = (
  { controller, pins }: Destination,
  path: string,
  headers: Record<string, string>,
  seen?: (pin: string) => void,
): WebSocket => new WebSocket(controller.replace(/^http/, 'ws') + path, { headers, ...trusting(pins, seen) } as never)

/** For a WebSocket that never opened. Bun has the status in its message only: "… Expected 101 status code: 401". */
export function refusedUpgrade(message = ''): Error {
  const status = Number(/status code: (\d{3})/.exec(message)?.[1])
  return status
    ? new Refused(status, `http_${status}`, `the controller answered ${status} to the connection`)
    : new Error(message || 'the connection failed')
}

/** Headers that prove the node's identity for one request: the nonce in them is new and works once. */
async function signedHeaders(identity: Identity, purpose?: Purpose): Promise<Record<string, string>> {
  const { nodeId } = identity
  const asked = { nodeId, protocol: PROTOCOL, ...(purpose && { purpose }) }
  const { nonce } = await post(identity, agentPaths.challenge, asked, ChallengeResponse)
  return headersWith(identity, nonce, purpose)
}

const headersWith = (identity: Identity, nonce: string, purpose?: Purpose): Record<string, string> => ({
  [agentHeaders.node]: identity.nodeId,
  [agentHeaders.nonce]: nonce,
  [agentHeaders.signature]: signatureOf(identity, nonce),
  // A release is for agents of every protocol.
  ...(purpose !== 'release' && { [agentHeaders.protocol]: String(PROTOCOL) }),
})

/** Says the controller that this node was declared lost? No answer says nothing. */
export const isDeclaredLost = (identity: Identity, highestEpoch: number): Promise<boolean> =>
  signedHeaders(identity).then(
    () => false,
    (error) => saysLost(error, highestEpoch),
  )

/**
 * Tells a controller that declared this node lost that nothing runs on it any more, where it waits for that: others get
 * the addresses then. Throws as `post` does.
 */
export async function confirmStopped(identity: Identity): Promise<void> {
  const refused = await signedHeaders(identity).then(
    () => undefined,
    (error) => error,
  )
  const nonce = refused instanceof Refused && refused.has(DECLARED_LOST) ? refused.details['nonce'] : undefined
  if (typeof nonce !== 'string') return
  const response = await reach(identity, agentPaths.stopped, { method: 'POST', headers: headersWith(identity, nonce) })
  if (!response.ok) throw refusal(response.status, await response.json().catch(() => undefined))
}

/** Difference of the controller's clock to ours by its Date header, in whole seconds; positive when ours is behind. */
export async function skewSeconds(to: Destination): Promise<number | undefined> {
  const response = await reach(to, agentPaths.challenge, { method: 'HEAD' })
  const at = Date.parse(response.headers.get('date') ?? '')
  return Number.isNaN(at) ? undefined : Math.round((at - Date.now()) / 1000)
}

async function post<S extends TSchema>(to: Destination, path: string, body: unknown, answer: S): Promise<Static<S>> {
  const response = await reach(to, path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const json: unknown = await response.json().catch(() => undefined)
  if (!response.ok) throw refusal(response.status, json)
  if (!Value.Check(answer, json))
    throw new Failure('invalid_answer', `${to.controller} does not answer like a Berth controller`)
  return json as Static<S>
}

/** An answer with a signal of the caller's takes as long as that allows; every other one, its body too, 15 s. */
async function reach({ controller, pins }: Destination, path: string, init: RequestInit): Promise<Response> {
  const opening = new AbortController()
  const timer = setTimeout(() => opening.abort(), LIMIT_MS)
  const signal = init.signal ? AbortSignal.any([opening.signal, init.signal]) : AbortSignal.timeout(LIMIT_MS)
  const options: RequestInit & Trust = { ...init, ...trusting(pins), redirect: 'manual', signal }
  try {
    return await fetch(controller + path, options).finally(() => clearTimeout(timer))
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    throw new Failure('unreachable', `the controller at ${new URL(controller).origin} cannot be reached`, { cause })
  }
}

function refusal(status: number, json: unknown): Refused {
  type Told = { code?: string; message?: string; details?: Record<string, unknown> }
  const { code, message, details } = (json as { error?: Told } | undefined)?.error ?? {}
  return new Refused(status, code ?? `http_${status}`, message ?? `the controller answered ${status}`, details)
}
