// The WebSockets of consoles. A viewer shows a ticket and the credential that made it, and both are looked at again
// every second: whatever would refuse the next call ends an open console.
import { agentHeaders, agentPaths } from '../../../agent/protocol/wire.ts'
import { isGone, nodeById } from '../../fleet/node-records/queries.ts'
import { staysOf } from '../../fleet/workloads/stays/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { Sender } from '../../kernel/api/http.ts'
import { addressKey } from '../../kernel/api/limits.ts'
import { mayCall, mayCallOn } from '../../kernel/api/operation.ts'
import type { IncomingRequest } from '../../kernel/api/response.ts'
import { auditLine } from '../../kernel/audit/audit.ts'
import { randomToken } from '../../kernel/crypto/secrets.ts'
import { type Db, read, writeIfPossible } from '../../kernel/db/open.ts'
import type { RouteParts } from '../../kernel/feature.ts'
import type { SocketEndpoint } from '../../kernel/net/socket-endpoint.ts'
import { type Server, server } from '../server-records/model.ts'
import type { CloseReason } from './closes.ts'
import type { Ticket } from './consoles.ts'
import { CONSOLE_PATH, CONSOLE_PROTOCOL, createConsoleTicket, TICKET_PREFIX } from './create-ticket.ts'
import { ConsoleSession } from './session.ts'
import { consoleActions } from './states.ts'
import { CONSOLE_CLOSED, CONSOLE_OPENED } from './visit.ts'

type Parts = Pick<RouteParts, 'db' | 'app' | 'httpContext'>
/** Consoles that wait for their node, by session, with the node and the key that it had. */
type Waiting = Map<string, { nodeId: string; session: ConsoleSession }>

export function consoleEndpoints(parts: Parts): SocketEndpoint[] {
  const waiting: Waiting = new Map()
  return [
    { path: CONSOLE_PATH, accept: (request) => acceptViewer(parts, waiting, request) },
    { path: agentPaths.console, accept: (request) => acceptNode(parts, waiting, request) },
  ]
}

/** Throws what a call would be refused with, and `not_authenticated` for a ticket that opens nothing. */
function acceptViewer({ db, app, httpContext }: Parts, waiting: Waiting, request: IncomingRequest) {
  const { from, requestId } = request.info
  const sender = httpContext.authenticate(request)
  httpContext.calls.take(sender.actor ? sender.limitKey : addressKey(from))
  const { actor } = sender
  if (!actor || sender.allowed?.(from) === false) throw noTicket()
  const origin = request.headers.get('Origin')
  if (origin !== null && origin !== httpContext.origin)
    throw new ApiError('bad_origin', `A console must be opened from ${httpContext.origin}.`)
  const ticket = app.consoles.redeem(ticketIn(request))
  if (!ticket || !isSameCredential(ticket.actor, actor)) throw noTicket()
  const { serverId } = ticket
  const target = read(db, (tx) => mustMayUse(tx, actor, serverId))
  const release = app.consoles.count({ serverId, accountId: actor.accountId })
  const nodeKey = keyOf(db, target.nodeId)
  const id = randomToken()
  sender.used?.()
  httpContext.settle()

  const line = (operation: string, result: string, details: object) =>
    writeIfPossible(db, (tx) =>
      auditLine(tx, app, { actor, operation, target: serverId, from, requestId, result, details }),
    )
  let wasOpened = false
  const [active, idle] = [asked(request, false), asked(request, true)]
  const session = new ConsoleSession({
    check(isActive) {
      const now = senderOf(() => httpContext.authenticate(isActive ? active : idle))
      if (!now?.actor || !isSameCredential(now.actor, actor) || now.allowed?.(from) === false) return 'signed_out'
      const by = now.actor
      return read(db, (tx) => reasonToLeave(tx, by, ticket, target, nodeKey))
    },
    isMoving: () => read(db, (tx) => isMoving(tx, serverId)),
    callNode() {
      if (!app.nodes.openConsole(target.nodeId, { session: id, workload: serverId, kind: ticket.kind })) return false
      waiting.set(id, { nodeId: target.nodeId, session })
      wasOpened = true
      line(CONSOLE_OPENED, 'done', { kind: ticket.kind })
      return true
    },
    ended({ reason, ...figures }) {
      waiting.delete(id)
      release()
      if (wasOpened) line(CONSOLE_CLOSED, 'done', { kind: ticket.kind, reason, ...figures })
    },
  })
  return { handler: session.viewer, headers: { 'Sec-WebSocket-Protocol': CONSOLE_PROTOCOL } }
}

/** Throws what an unsigned request is refused with, and `not_found` for a session that waits for no such node. */
function acceptNode({ app }: Parts, waiting: Waiting, request: IncomingRequest) {
  const node = app.agents.signer(request)
  request.info.by = node.id
  const id = request.headers.get(agentHeaders.console) ?? ''
  const found = waiting.get(id)
  if (found?.nodeId !== node.id) throw noSession()
  waiting.delete(id)
  const handler = found.session.join()
  if (!handler) throw noSession()
  return { handler }
}

const noTicket = () =>
  new ApiError('not_authenticated', 'This ticket opens no console: it works once, within 30 seconds, for its maker.')
const noSession = () => new ApiError('not_found', 'No viewer waits for this console any more.')

/** The ticket stands among the protocols that the browser offers. */
const ticketIn = ({ headers }: Request): string =>
  (headers.get('Sec-WebSocket-Protocol') ?? '')
    .split(',')
    .map((protocol) => protocol.trim())
    .find((protocol) => protocol.startsWith(TICKET_PREFIX))
    ?.slice(TICKET_PREFIX.length) ?? ''

const credentialOf = ({ via }: Actor) => ('sessionId' in via ? via.sessionId : via.type === 'token' ? via.tokenId : '')
const isSameCredential = (a: Actor, b: Actor) =>
  a.accountId === b.accountId && a.via.type === b.via.type && credentialOf(a) === credentialOf(b)

/**
 * The request as it is shown again while the console is open: the credential alone. A refresh is no activity of a
 * person, so it does not keep a session alive.
 */
const asked = ({ headers, info }: IncomingRequest, isRefresh: boolean): IncomingRequest => {
  const kept = new Headers(isRefresh ? { 'HX-Request': 'true' } : {})
  for (const name of ['Cookie', 'Authorization']) {
    const value = headers.get(name)
    if (value !== null) kept.set(name, value)
  }
  return Object.assign(new Request('http://localhost/', { headers: kept }), { info })
}

/** Undefined where a credential is refused. */
function senderOf(authenticate: () => Sender): Sender | undefined {
  try {
    return authenticate()
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** The server. Throws `server_not_found`, `forbidden` and what its state refuses. */
function mustMayUse(tx: Db, actor: Actor, serverId: string): Server {
  const target = server.find(tx, actor, serverId)
  if (!target) throw new ApiError('server_not_found', 'There is no such server, or it is not yours.')
  if (!mayUse(tx, actor, target)) throw new ApiError('forbidden', 'You may not open the console of this server.')
  consoleActions.mustAllowFor(tx, actor, target, 'console')
  return target
}

function mayUse(tx: Db, actor: Actor, target: Server): boolean {
  const rights = server.rights?.(tx, actor, target)
  return mayCall(createConsoleTicket, actor) && (!rights || mayCallOn(createConsoleTicket, actor, rights))
}

const reasons: Readonly<Record<string, CloseReason>> = {
  server_not_found: 'gone',
  server_terminated: 'gone',
  node_lost: 'gone',
  server_suspended: 'suspended',
  account_locked: 'suspended',
  already_stopped: 'not_running',
}

/** Looks at everything that a new call would be refused for, and whether it is still the same server and node. */
function reasonToLeave(
  tx: Db,
  actor: Actor,
  { serverId }: Ticket,
  { nodeId, ownerId }: Server,
  nodeKey: string | undefined,
): CloseReason | undefined {
  try {
    const target = mustMayUse(tx, actor, serverId)
    if (target.ownerId !== ownerId) return 'gone'
    if (target.nodeId !== nodeId) return 'moved'
    return keyOf(tx, nodeId) === nodeKey ? undefined : 'unreachable'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return reasons[error.code] ?? 'no_right'
  }
}

/** Its next node has been chosen, and is not its home yet. */
const isMoving = (tx: Db, serverId: string) => staysOf(tx, serverId).some(({ role }) => role === 'arriving')

/** The key of a node that may connect; another one is another machine, or the same after its credential was renewed. */
function keyOf(tx: Db, nodeId: string): string | undefined {
  const node = nodeById(tx, nodeId)
  return node && !isGone(node) && node.credentialRevokedAt === null ? node.publicKey : undefined
}
