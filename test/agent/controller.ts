// A controller as an agent sees it, and no more: enrolment, challenge, WebSocket. For tests of the agent alone.
import { createPublicKey, verify } from 'node:crypto'
import {
  agentHeaders,
  agentPaths,
  type CommandName,
  DECLARED_LOST,
  type EnrollRequest,
  type FromAgent,
  type Input,
  PROTOCOL,
  signedText,
  type ToAgent,
} from '../../agent/protocol/wire.ts'

/** A busy machine starts an agent in many seconds. A test has twice this time. */
const LIMIT_MS = 30_000

export const NODE_ID = 'nod_00000000000000000000000001'

type CallResult = Extract<FromAgent, { type: 'done' | 'failed' }>

type Encryption = { cert: string; key: string }

/** The wire's two directions on a port of this host, a free one unless another is named. */
export function controller({ tls, port = 0 }: { tls?: Encryption; port?: number } = {}) {
  const frames: FromAgent[] = []
  const listeners = new Set<(frame: FromAgent) => void>()
  const nonces = new Set<string>()
  const requests: string[] = []
  let pins: string[] | undefined
  let epoch: number | undefined
  let greeting: ToAgent | undefined
  const closes: number[] = []
  const downloads = new Map<string, Uint8Array>()
  let socket: Bun.ServerWebSocket<unknown> | undefined
  let publicKey: string | undefined
  let status = 200
  let lostIn: number | undefined
  let saidStopped = 0
  let upgradeStatus = 101
  let enrolled: EnrollRequest | undefined

  let forgets = 0

  const refuse = (code: string, as = 401) =>
    Response.json({ error: { code, message: `${code}, says the test` } }, { status: as })
  const isFresh = (headers: Headers) => nonces.delete(headers.get(agentHeaders.nonce) ?? '')
  const proves = (headers: Headers) => {
    const nonce = headers.get(agentHeaders.nonce) ?? ''
    if (!publicKey) return false
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
    const signature = Buffer.from(headers.get(agentHeaders.signature) ?? '', 'base64url')
    return verify(null, Buffer.from(signedText(headers.get(agentHeaders.node) ?? '', nonce)), key, signature)
  }

  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    ...(tls && { tls: { cert: Bun.file(tls.cert), key: Bun.file(tls.key) } }),
    async fetch(request, server) {
      requests.push(new URL(request.url).pathname)
      const { pathname } = new URL(request.url)
      if (pathname === agentPaths.enroll) {
        const body = (await request.json()) as EnrollRequest
        if (body.token !== 'good') return refuse('invalid_token')
        enrolled = body
        publicKey = body.publicKey
        return Response.json({ nodeId: NODE_ID, name: body.facts.hostname })
      }
      if (pathname === agentPaths.challenge) {
        if (request.method === 'HEAD') return new Response(null, { headers: { Date: new Date().toUTCString() } })
        if (lostIn !== undefined) {
          const nonce = Bun.randomUUIDv7()
          nonces.add(nonce)
          return Response.json(
            { error: { code: DECLARED_LOST, message: 'says the test', details: { epoch: lostIn, nonce } } },
            { status: 401 },
          )
        }
        if (status !== 200) return refuse(status === 401 ? 'node_revoked' : 'update_agent', status)
        const nonce = Bun.randomUUIDv7()
        nonces.add(nonce)
        return Response.json({ nonce })
      }
      // As a controller that has restarted since the challenge.
      if (request.headers.has(agentHeaders.nonce) && forgets && forgets--) nonces.clear()
      if (request.headers.has(agentHeaders.nonce) && !isFresh(request.headers)) return refuse('challenge_expired', 409)
      if (pathname === agentPaths.connect) {
        if (!proves(request.headers)) return refuse('bad_signature')
        if (upgradeStatus !== 101) return refuse('node_revoked', upgradeStatus)
        return server.upgrade(request) ? undefined : refuse('no_upgrade', 400)
      }
      if (pathname === agentPaths.stopped) {
        if (!proves(request.headers)) return refuse('bad_signature')
        saidStopped++
        return Response.json({})
      }
      const body = downloads.get(pathname)
      if (body) return proves(request.headers) ? new Response(body as BodyInit) : refuse('bad_signature')
      return refuse('not_found', 404)
    },
    websocket: {
      open(ws) {
        socket = ws
        const welcome: ToAgent = {
          type: 'welcome',
          nodeId: NODE_ID,
          controllerVersion: 'test',
          now: Date.now(),
          ...(pins && { pins }),
          ...(epoch !== undefined && { epoch }),
        }
        ws.send(JSON.stringify(welcome))
        if (greeting) ws.send(JSON.stringify(greeting))
      },
      message(_ws, text) {
        const frame = JSON.parse(String(text)) as FromAgent
        frames.push(frame)
        for (const listener of listeners) listener(frame)
      },
      close(ws, code) {
        closes.push(code)
        if (socket === ws) socket = undefined
      },
    },
  })

  async function waitFor<F extends FromAgent>(
    wanted: (frame: FromAgent) => frame is F,
    otherwise: string,
    limitMs: number,
  ): Promise<F> {
    const came = frames.find(wanted)
    if (came) return came
    const { promise, resolve, reject } = Promise.withResolvers<F>()
    const listener = (frame: FromAgent) => void (wanted(frame) && resolve(frame))
    listeners.add(listener)
    const timer = setTimeout(() => reject(new Error(`${otherwise} within ${limitMs} ms`)), limitMs)
    return promise.finally(() => {
      clearTimeout(timer)
      listeners.delete(listener)
    })
  }

  const fakeController = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${server.port}`,
    port: server.port!,
    /** The paths of the requests that arrived. */
    requests,
    welcomeWithPins: (them: string[]) => {
      pins = them
    },
    /** `then`: a frame that follows the welcome at once. */
    welcomeWithEpoch: (nextEpoch: number, then?: ToAgent) => {
      epoch = nextEpoch
      greeting = then
    },
    /** Forgets the challenges of the next `n` signed requests. */
    forgetChallenges: (n: number) => {
      forgets = n
    },
    /** The codes with which sockets were closed. */
    closes,
    /** The key of the node, as another controller in this one's place knows it too. */
    knows: (key: string) => {
      publicKey = key
    },
    protocol: PROTOCOL,
    frames,
    downloads,
    enrolled: () => enrolled,
    connected: () => socket !== undefined,
    answerChallengesWith: (code: number) => {
      status = code
    },
    /** Says from now on that the node was declared lost, as a controller of this epoch; or does not say so any more. */
    declareLost: (ofEpoch: number | undefined) => {
      lostIn = ofEpoch
      socket?.terminate()
    },
    /** How often the node has confirmed that nothing runs on it. */
    saidStopped: () => saidStopped,
    answerUpgradesWith: (code: number) => {
      upgradeStatus = code
    },
    dropConnection: () => socket?.terminate(),
    closeConnection: (code: number) => socket?.close(code, 'says the test'),
    /** The next frame that fits, or one that came already. */
    frame: <T extends FromAgent['type']>(
      type: T,
      fits: (frame: Extract<FromAgent, { type: T }>) => boolean = () => true,
      limitMs = LIMIT_MS,
    ) =>
      waitFor(
        (frame): frame is Extract<FromAgent, { type: T }> => frame.type === type && fits(frame as never),
        `no ${type} frame`,
        limitMs,
      ),
    async waitConnected(limitMs = LIMIT_MS) {
      for (const until = Date.now() + limitMs; Date.now() < until; await Bun.sleep(10)) if (socket) return
      throw new Error('the agent did not connect')
    },
    ask: (frame: ToAgent) => socket?.send(JSON.stringify(frame)),
    send: (key: string, name: string, input: unknown) =>
      socket?.send(JSON.stringify({ type: 'command', key, name, input })),
    /** Sends a command and answers what the agent answered. */
    async command<N extends CommandName>(key: string, name: N, input: Input<N>, limitMs?: number) {
      fakeController.send(key, name, input)
      return fakeController.answer(key, limitMs)
    },
    answer: (key: string, limitMs = LIMIT_MS) =>
      waitFor(
        (frame): frame is CallResult => (frame.type === 'done' || frame.type === 'failed') && frame.key === key,
        `no answer to ${key}`,
        limitMs,
      ),
    close: () => server.stop(true),
  }
  return fakeController
}
