// Where agents come in: enrolment, challenge and the socket. A node proves itself by signing a fresh nonce with the key
// it made at enrolment. We keep the public half only, so a stolen database cannot pretend to be a node.

import { createPublicKey, verify } from 'node:crypto'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import {
  agentHeaders,
  agentPaths,
  ChallengeRequest,
  DECLARED_LOST,
  EnrollRequest,
  Facts,
  PROTOCOL,
  signedText,
  successorText,
} from '../../../agent/protocol/wire.ts'
import { visitor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { addressKey, Limit } from '../../kernel/api/limits.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { IncomingRequest, RequestInfo } from '../../kernel/api/response.ts'
import { fits } from '../../kernel/api/validate.ts'
import { auditLine, auditRefusal } from '../../kernel/audit/audit.ts'
import { isUsablePublicKey } from '../../kernel/crypto/ed25519.ts'
import { digest } from '../../kernel/crypto/secrets.ts'
import type { Clock } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { isModestJson } from '../../kernel/modest-json.ts'
import { mustBeUnencoded, textOf } from '../../kernel/net/request-body.ts'
import { epochOf } from '../../kernel/nodes/epoch.ts'
import { VERSION } from '../../kernel/version.ts'
import { noteStopped } from '../node-records/gone-addresses.ts'
import type { Enrollment, Node } from '../node-records/model.ts'
import {
  enrollmentByTokenHash,
  insertNode,
  isGone,
  nodeById,
  nodeNames,
  nodeOfMachine,
  updateNode,
  useEnrollment,
} from '../node-records/queries.ts'
import { Challenges, type Purpose } from './challenges.ts'
import type { Programs } from './programs.ts'

/** Calls a minute from one address that are refused. */
const REFUSED_PER_ADDRESS = 3000
const MOST_ENROLL_BYTES = 256 * 1024
const MOST_CHALLENGE_BYTES = 1000
/** Far more than the facts of a host have. */
const MOST_VALUES = 20_000
const MOST_NESTED = 8
/** Name of the audit line that an enrollment writes: no operation is called for it. */
export const ENROLLED = 'nodes.enrolled'

type Live = Pick<AppContext['nodes'], 'connected' | 'isReconnecting' | 'disconnect'>

type Deps = {
  db: Db
  clock: Clock
  programs: Programs
  /** Agents reach us over HTTPS, or the operator said that this is a lab (PANEL_AGENT_INSECURE=1). */
  encrypted: boolean
}

export class AgentEndpoints {
  private challenges: Challenges
  /** Guards tokens and ids against guessing: what fails, or may fail, costs from here. */
  private signInThrottle: Limit
  /**
   * By address and never by the id that a caller gives: a rack of nodes may stand behind one address. Only what is
   * refused counts, so that nobody at a node's address keeps the node out: a right call costs as little to answer.
   */
  private refused: Limit
  constructor(private deps: Deps) {
    this.challenges = new Challenges(deps.clock)
    this.signInThrottle = new Limit(60, deps.clock)
    this.refused = new Limit(REFUSED_PER_ADDRESS, deps.clock)
  }

  /**
   * Makes a node, or gives a node its new credential and closes its connection. Throws `enrollment_expired`,
   * `enrollment_not_valid`, `already_enrolled`, `node_connected`, `protocol_mismatch` and `validation_failed`. The
   * token ends with this call, unless the call itself was wrong.
   */
  async enroll(request: IncomingRequest, live: Live): Promise<Response> {
    const { clock } = this.deps
    const { from: address, requestId } = this.comesIn(request)
    const asked = await bodyAs<EnrollRequest>(request, EnrollRequest, MOST_ENROLL_BYTES)
    mustSpeakOurs(asked.protocol)
    if (!isUsablePublicKey(Buffer.from(asked.publicKey, 'base64url')))
      throw new ApiError(
        'validation_failed',
        'publicKey: is not a usable Ed25519 key. Enroll again with an empty --data-dir: the agent makes a new one.',
      )
    const node = this.heardOnce({ from: address, requestId }, (tx) => {
      const found = openEnrollment(tx, asked.token, clock())
      const made =
        found.renewsNodeId === null
          ? insertNode(tx, newNode(tx, asked, found, clock()))
          : renewed(tx, asked, found.renewsNodeId, live)
      useEnrollment(tx, found.id, made.id, clock())
      auditLine(
        tx,
        { clock },
        {
          actor: { ...visitor, accountId: made.id, name: made.name, via: { type: 'system' } },
          operation: ENROLLED,
          target: made.id,
          from: address,
          requestId,
          result: 'done',
          details: { enrollmentId: found.id, hostname: asked.facts.hostname },
        },
      )
      return made
    })
    // A holder of the old credential is cut off too.
    live.disconnect(node.id)
    return Response.json({ nodeId: node.id, name: node.name })
  }

  /** One transaction. A refused token gets an audit line, so that guessing shows. */
  private heardOnce<T>(
    heard: Pick<RequestInfo, 'from' | 'requestId'>,
    work: (tx: Tx) => T extends Promise<unknown> ? never : T,
  ): T {
    const { db, clock } = this.deps
    try {
      return write(db, work)
    } catch (error) {
      if (error instanceof ApiError)
        write(db, (tx) => auditRefusal(tx, { clock }, { operation: ENROLLED, ...heard, error }, 0))
      throw error
    }
  }

  /**
   * The program for a machine that is about to join and has none: its token, which this does not use up, says that it
   * was asked to. Throws as `enroll` does, and `not_found` where there is no program for its kind of processor.
   */
  async program(request: IncomingRequest): Promise<Response> {
    const { db, clock, programs } = this.deps
    this.comesIn(request)
    const token = /^Bearer (\S+)$/.exec(request.headers.get('Authorization') ?? '')?.[1] ?? ''
    openEnrollment(db, token, clock())
    const kind = new URL(request.url).pathname.slice(agentPaths.program.length + 1)
    const found = await programs.program(kind)
    if (!found)
      throw new ApiError(
        'not_found',
        `The controller has no program for ${/^\w{1,20}$/.test(kind) ? kind : 'this processor'}. Put one into ` +
          'PANEL_AGENT_DIR as berth-x64 or berth-aarch64, or run install.sh of a release for it on the node.',
      )
    return found
  }

  /**
   * A request with a token must be encrypted, come from this host, or reach a lab. Throws `forbidden` and
   * `rate_limited`.
   */
  private comesIn(request: IncomingRequest): RequestInfo {
    const heard = request.info
    if (!this.deps.encrypted && !/^(127\.|::1$)/.test(heard.from))
      throw new ApiError(
        'forbidden',
        'Nodes enroll over HTTPS only. Set PANEL_PUBLIC_URL to an https:// address, or PANEL_AGENT_INSECURE=1 in ' +
          'a lab.',
      )
    this.signInThrottle.take(addressKey(heard.from))
    return heard
  }

  /**
   * Throws `rate_limited`, `too_large`, `validation_failed`, `protocol_mismatch`, `node_not_known` and
   * `node_declared_lost`.
   */
  async challenge(request: IncomingRequest): Promise<Response> {
    const address = addressKey(request.info.from)
    try {
      return Response.json({ nonce: await this.nonceFor(request, address) })
    } catch (error) {
      this.refused.take(address)
      throw error
    }
  }

  private async nonceFor(request: IncomingRequest, address: string): Promise<string> {
    const asked = await bodyAs<Static<typeof ChallengeRequest>>(request, ChallengeRequest, MOST_CHALLENGE_BYTES)
    if (asked.purpose !== 'release') mustSpeakOurs(asked.protocol)
    if (!this.known(asked.nodeId)) {
      this.signInThrottle.take(`challenge ${address}`)
      const node = nodeById(this.deps.db, asked.nodeId)
      throw node && isGone(node) ? this.gone(node) : notKnown()
    }
    return this.challenges.issue(asked.nodeId, asked.purpose)
  }

  /**
   * The node whose key signed this request. Throws `rate_limited`, `node_not_known`, and `challenge_expired` for a
   * nonce that is not of this process, too old or used: only a credential that was looked up is refused for good.
   */
  signer(request: IncomingRequest): Node {
    try {
      return this.proved(request)
    } catch (error) {
      this.refused.take(`signed ${addressKey(request.info.from)}`)
      throw error
    }
  }

  /** As `signer`, of an agent of any protocol, by a challenge for releases alone. */
  releaseSigner(request: IncomingRequest): Node {
    try {
      return this.proved(request, (nodeId) => this.known(nodeId), 'release')
    } catch (error) {
      this.refused.take(`signed ${addressKey(request.info.from)}`)
      throw error
    }
  }

  private proved(
    request: IncomingRequest,
    known = (nodeId: string) => this.known(nodeId),
    purpose: Purpose = 'connect',
  ): Node {
    const nodeId = request.headers.get(agentHeaders.node) ?? ''
    const nonce = request.headers.get(agentHeaders.nonce) ?? ''
    const isFresh = this.challenges.isFresh(nodeId, nonce, purpose)
    const protocol = request.headers.get(agentHeaders.protocol)
    if (protocol !== null && purpose === 'connect') mustSpeakOurs(protocol)
    const node = known(nodeId)
    if (!node) throw notKnown()
    if (!isFresh)
      throw new ApiError('challenge_expired', 'This challenge is not valid any more. Ask for a new one and sign that.')
    const signature = Buffer.from(request.headers.get(agentHeaders.signature) ?? '', 'base64url')
    if (signature.length !== 64 || !isSignedBy(node.publicKey, signedText(nodeId, nonce), signature)) {
      this.challenges.spend(nodeId, nonce, purpose)
      throw notKnown()
    }
    this.challenges.redeem(nodeId, nonce, purpose)
    if (protocol === null && purpose === 'connect') mustSpeakOurs(undefined)
    return node
  }

  /**
   * A node that is gone says that nothing runs on it any more, so that its addresses can be given to others. Throws
   * `rate_limited`, `node_not_known`, and `challenge_expired` as `signer` does.
   */
  stopped(request: IncomingRequest): Response {
    const { db, clock } = this.deps
    try {
      const node = this.proved(request, (nodeId) => {
        const found = nodeById(db, nodeId)
        return found && isGone(found) && found.credentialRevokedAt === null ? found : undefined
      })
      write(db, (tx) => noteStopped(tx, nodeById(tx, node.id)!, clock()))
      return Response.json({})
    } catch (error) {
      this.refused.take(`signed ${addressKey(request.info.from)}`)
      throw error
    }
  }

  /**
   * Of a node that was declared lost or removed: it stops what runs on it, which may run elsewhere by now, and whose
   * addresses may be those of others. The epoch as in a welcome; a nonce until it has confirmed it.
   */
  private gone({ id, lostAt, stoppedAt, credentialRevokedAt }: Node) {
    const isAwaited = stoppedAt === null && credentialRevokedAt === null
    return new ApiError(
      DECLARED_LOST,
      (lostAt === null
        ? 'This node was removed, and so was everything on it.'
        : 'This node was declared lost, so everything on it has failed here.') +
        ' It stops what runs on it. Enroll the machine as a new node.',
      { epoch: epochOf(this.deps.db), ...(isAwaited && { nonce: this.challenges.issue(id) }) },
    )
  }

  private known(nodeId: string): Node | undefined {
    const node = nodeById(this.deps.db, nodeId)
    return node && !isGone(node) && node.credentialRevokedAt === null ? node : undefined
  }
}

/** A key that was stored before keys were checked at enrolment signs nothing. */
function isSignedBy(publicKey: string, text: string, signature: Buffer): boolean {
  if (!isUsablePublicKey(Buffer.from(publicKey, 'base64url'))) return false
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
  return verify(null, Buffer.from(text), key, signature)
}

/** The enrolment that this token opens. Throws `enrollment_expired`, `enrollment_not_valid`. */
function openEnrollment(tx: Db, token: string, now: number) {
  const found = enrollmentByTokenHash(tx, digest(token))
  if (!found || found.usedAt !== null)
    throw new ApiError(
      'enrollment_not_valid',
      'This enrollment token is not valid: it was mistyped or used before. Make a new one on the Nodes page.',
    )
  if (found.expiresAt <= now)
    throw new ApiError(
      'enrollment_expired',
      'This enrollment token has expired: it is valid for 60 minutes. Make a new one on the Nodes page.',
    )
  return found
}

const notKnown = () =>
  new ApiError(
    'node_not_known',
    'This node is not known here: it is of another controller, or its credential was revoked. Enroll it again with a ' +
      'new token.',
  )

/** The number as the body of a call or a header gives it; undefined where it is missing. */
function mustSpeakOurs(protocol: number | string | undefined) {
  if (String(protocol) !== String(PROTOCOL))
    throw new ApiError(
      'protocol_mismatch',
      `This controller speaks agent protocol ${PROTOCOL} and the agent ${
        protocol === undefined ? 'names none' : `protocol ${String(protocol).slice(0, 20)}`
      }. Update the agent to version ${VERSION}: by a roll-out, or by install.sh --agent on the node.`,
    )
}

function parsed(text: string): unknown {
  if (!isModestJson(text, MOST_NESTED, MOST_VALUES)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Refuses by length before it reads, and by depth before it parses. */
async function bodyAs<T>(request: IncomingRequest, schema: TSchema, mostBytes: number): Promise<T> {
  mustBeUnencoded(request)
  if (Number(request.headers.get('Content-Length')) > mostBytes)
    throw new ApiError('too_large', `The body is too large: ${mostBytes} bytes is the most.`)
  const text = await textOf(request, mostBytes)
  const body = parsed(text)
  if (!fits(schema, body))
    throw new ApiError(
      'validation_failed',
      'The agent sent something that this controller does not understand. Update the agent.',
    )
  return body as T
}

/**
 * The node with its new credential. Throws `enrollment_not_valid` for one that was removed or lost meanwhile, and
 * `node_connected`.
 */
function renewed(tx: Tx, asked: EnrollRequest, nodeId: string, live: Live): Node {
  const { publicKey, facts, machineId } = asked
  const node = nodeById(tx, nodeId)
  if (!node || isGone(node))
    throw new ApiError(
      'enrollment_not_valid',
      'The node of this token was removed or declared lost. Enroll the machine as a new node.',
    )
  mustHaveConsent(node, asked, live)
  return updateNode(tx, node, {
    publicKey,
    facts: Value.Clean(Facts, facts) as Facts,
    credentialRevokedAt: null,
    machineId: machineId ?? null,
  })
}

/**
 * A machine that is connected is not replaced behind its back: its key agrees, or a person revoked it first. Throws
 * `node_connected`.
 */
function mustHaveConsent(node: Node, { token, publicKey, consent = '' }: EnrollRequest, live: Live) {
  if (node.credentialRevokedAt !== null) return
  if (!live.connected(node.id) && !live.isReconnecting(node.id)) return
  if (isSignedBy(node.publicKey, successorText(token, publicKey), Buffer.from(consent, 'base64url'))) return
  throw new ApiError(
    'node_connected',
    `${node.name} is connected with another key, or was a minute ago, and this machine does not have that key. ` +
      'If this machine replaces it, switch the old one off, or revoke its credential on the page of the node; then ' +
      'run the same command again. The token was not used.',
  )
}

/** Throws `already_enrolled`. */
function newNode(
  tx: Tx,
  { publicKey, facts, machineId }: EnrollRequest,
  from: Enrollment,
  now: number,
): Parameters<typeof insertNode>[1] {
  const known = machineId === undefined ? undefined : nodeOfMachine(tx, machineId)
  if (known)
    throw new ApiError(
      'already_enrolled',
      `This machine is the node ${known.name} already. Make a token on the page of that node (Renew credential), so ` +
        'that it keeps its servers, or remove that node first.',
    )
  return {
    id: newId('nod'),
    machineId: machineId ?? null,
    name: freeName(tx, from.name ?? nameFrom(facts.hostname)),
    locationId: from.locationId,
    publicKey,
    bridge: from.bridge ?? facts.bridges[0]?.name ?? 'br0',
    // An emulated or small host keeps less: half a gigabyte or a sixteenth, whichever is more.
    reservedMemoryMb: Math.max(512, Math.round(facts.memoryMb / 16)),
    facts: Value.Clean(Facts, facts) as Facts,
    memoryMb: facts.memoryMb,
    threads: facts.cpu.threads,
    seenAt: now,
    createdAt: now,
  }
}

/** A node's name has up to 60 characters, some of them for the number of `freeName`. */
const nameFrom = (hostname: string) => hostname.normalize('NFC').trim().slice(0, 50) || 'node'

/** Two hosts may call themselves the same; the second gets a number. */
function freeName(tx: Tx, wanted: string): string {
  const taken = new Set(nodeNames(tx).map((name) => name.toLowerCase()))
  for (let i = 1; ; i++) {
    const name = i === 1 ? wanted : `${wanted}-${i}`
    if (!taken.has(name.toLowerCase())) return name
  }
}
