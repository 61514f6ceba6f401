// Builds a controller out of its parts. `serve` and the tests both call it; nothing here knows a route or a rule.
import { Elysia } from 'elysia'
import { agentPaths, type ToAgent } from '../agent/protocol.ts'
import { files } from '../public/assets.ts'
import { always, layout, places } from '../views/layout.ts'
import { pages } from '../views/pages.ts'
import { errorBody } from '../views/parts/error.ts'
import { setUpToken } from './accounts/set-up.ts'
import type { Config } from './config.ts'
import { HostFigures, type HostSource, thisHost } from './host/figures.ts'
import { system } from './kernel/api/actor.ts'
import { API_ROOT, type Door, mountApi, mountDocument, refuse } from './kernel/api/http.ts'
import { forgetOld } from './kernel/api/idempotency.ts'
import { gate } from './kernel/api/invoke.ts'
import { Delay, Limit } from './kernel/api/limits.ts'
import { openapi } from './kernel/api/openapi.ts'
import type { Surroundings } from './kernel/api/operation.ts'
import { type Clock, hour, second } from './kernel/db/clock.ts'
import { type Db, openDb, write } from './kernel/db/open.ts'
import { keysInUse } from './kernel/db/sealed.ts'
import { Runner, type Seams, stepProgress } from './kernel/jobs/runner.ts'
import { log } from './kernel/log.ts'
import { Hub, type Socket } from './kernel/nodes/hub.ts'
import { named, type Secrets, secretsFromFile } from './kernel/secrets.ts'
import { ASSET_ROOT, Assets } from './kernel/web/assets.ts'
import { answerBrand, brandFor } from './kernel/web/brand.ts'
import { CSP_REPORT, cspReports } from './kernel/web/csp-report.ts'
import { MailQueue } from './kernel/web/mail.ts'
import { leadingTo } from './kernel/web/page.ts'
import { mountPages } from './kernel/web/serve-pages.ts'
import { AgentDoor } from './nodes/door.ts'
import { nodeById } from './nodes/node.ts'
import { Reports } from './nodes/report.ts'
import { hostOperations, operations } from './operations.ts'
import { sagas } from './sagas.ts'
import { sealedColumns } from './sealed.ts'
import { forgetLinks } from './sign-in/links.ts'
import { START_PATH } from './sign-in/oidc.ts'
import { Providers } from './sign-in/oidc-provider.ts'
import { startAtProvider } from './sign-in/oidc-start.ts'
import { answerResets } from './sign-in/password-links.ts'
import { forgetSessions } from './sign-in/sessions.ts'
import { inside, whoFrom } from './sign-in/who.ts'
import { VERSION } from './version.ts'

/** 1200 calls and 20 sign-ins a minute. */
const CALLS_PER_MINUTE = 1200
const INVITATIONS_PER_MINUTE = 10
const SIGN_INS_PER_MINUTE = 20
/** After this long a stop does not wait for what is still going on. */
const STOP_MS = 15 * second

const LOOPBACK = '127.0.0.1'

export type Parts = {
  config: Config
  clock?: Clock
  seams?: Seams
  secrets?: Secrets
  db?: Db
  callsPerMinute?: number
  pauseMs?: (tries: number) => number
  host?: HostSource
}

export async function createController({
  config,
  clock = Date.now,
  seams = () => {},
  secrets,
  db = openDb(`${config.dataDir}/berth.db`),
  callsPerMinute = CALLS_PER_MINUTE,
  pauseMs,
  host = thisHost,
}: Parts) {
  const used = [...keysInUse(db, sealedColumns).keys()]
  const kept = secrets ?? secretsFromFile(config.keyFile, used)
  const missing = used.filter((id) => !kept.keyIds().includes(id))
  if (missing.length)
    log.error(
      `What is sealed with ${named(missing)} cannot be read: ${config.keyFile} has ${named(kept.keyIds())} only. Put the key file back ` +
        'that belongs to this database, or add the missing line to it; nothing has to be restarted.',
    )
  const reports = new Reports(db, clock)
  let restarting = false

  /** As people call it: an id alone helps nobody who reads the journal. */
  const nameOf = (nodeId: unknown) => (typeof nodeId === 'string' ? nodeById(db, nodeId)?.name : undefined)
  const hub: Hub = new Hub(clock, {
    log: (jobId, line) => runner.log.add(jobId, line),
    progress: (jobId, percent) => stepProgress(db, jobId, percent),
    report: (nodeId, report) => reports.take(nodeId, report),
    connected: (nodeId) => {
      reports.connected(nodeId)
      log.info('node connected', { nodeId, node: nameOf(nodeId) })
    },
    disconnected: (nodeId) => {
      if (restarting) return
      reports.disconnected(nodeId)
      log.warning('node disconnected', { nodeId, node: nameOf(nodeId) })
    },
    nonsense: (nodeId) => log.warning('a node sent a frame that is none', { nodeId, node: nameOf(nodeId) }),
    isRemoved: (nodeId) => nodeById(db, nodeId)?.removedAt != null,
  })
  const runner: Runner = new Runner(db, sagas, hub, clock, seams, pauseMs, (level, message, about) =>
    log[level](message, { ...about, node: nameOf(about['nodeId']) }),
  )

  const leads = leadingTo(pages)
  const around: Surroundings = {
    config,
    clock,
    secrets: kept,
    startedAt: clock(),
    places: (actor) => places(actor).filter(({ href }) => leads(href, actor)),
    signIns: new Limit(SIGN_INS_PER_MINUTE, clock),
    refusedLines: new Limit(1, clock),
    guesses: new Delay(clock),
    invitations: new Limit(INVITATIONS_PER_MINUTE, clock),
    providers: new Providers(clock),
    host: new HostFigures(host, config.dataDir),
    nodes: {
      connected: hub.connected,
      changes: hub.changes,
      heartbeat: reports.heartbeat,
      disconnect: (nodeId) => void setTimeout(() => hub.disconnect(nodeId)),
    },
  }
  const addresses = new WeakMap<Request, string>()
  const door: Door = {
    gate: gate(db, around),
    who: (request, from) => whoFrom(db, { request, origin: config.origin, now: clock(), from }),
    from: (request) => clientAddress(request, addresses.get(request) ?? '127.0.0.1', config.trustedProxies),
    origin: config.origin,
    calls: new Limit(callsPerMinute, clock),
    restarting: () => restarting,
    logRequests: config.logRequests,
  }

  const assets = await Assets.load(files)
  const agents = new AgentDoor({
    db,
    clock,
    dataDir: config.dataDir,
    agentDir: config.agentDir,
    from: door.from,
    encrypted: config.publicUrl.startsWith('https:') || config.agentInsecure,
  })
  const app = new Elysia()
  mountApi(app, operations, door)
  // A door of its own, so that nothing in a request can make somebody System who came through the other.
  let onHost: Elysia | undefined
  const mountOnHost = () => {
    onHost = new Elysia()
    mountApi(onHost, [...operations, ...hostOperations], {
      ...door,
      who: () => ({ actor: system, limitKey: 'system' }),
      from: () => LOOPBACK,
      // `berth admin` in a loop must not wait for itself.
      calls: { take() {}, count() {} },
    })
    return onHost
  }
  mountDocument(app, '/openapi.json', () => openapi(operations, { version: VERSION, root: config.origin + API_ROOT }), door)
  /** What is neither an operation nor a page: refusals have the API's shape, and every answer has its request id. */
  const answering =
    (answer: (request: Request, requestId: string) => Response | Promise<Response>) =>
    async ({ request }: { request: Request }) => {
      const requestId = Bun.randomUUIDv7()
      try {
        const response = await answer(request, requestId)
        response.headers.set('X-Request-Id', requestId)
        return response
      } catch (error) {
        return refuse(error, requestId, request)
      }
    }
  app.post(
    agentPaths.enroll,
    answering((request) => agents.enroll(request)),
    { parse: 'none' } as any,
  )
  app.post(
    agentPaths.challenge,
    answering((request) => agents.challenge(request)),
    { parse: 'none' } as any,
  )
  app.get(
    `${agentPaths.images}/*`,
    answering((request) => agents.image(request)),
  )
  app.get(
    `${agentPaths.program}/*`,
    answering((request) => agents.program(request)),
  )
  app.get(
    `${ASSET_ROOT}/*`,
    answering((request) => assets.answer(request)),
  )
  app.get(
    '/brand/*',
    answering((request) => answerBrand(db, request)),
  )
  app.post(CSP_REPORT, answering(cspReports(clock, door.from)), { parse: 'none' } as any)
  app.get(
    START_PATH,
    answering((request, requestId) => startAtProvider(door, request, requestId)),
  )
  mountPages(app, {
    pages,
    always,
    layout: (frame) => layout(frame, (name) => assets.url(name)),
    errorBody,
    door,
    brand: (accountId) => brandFor(db, accountId),
    clock,
    insecure: config.agentInsecure,
  })

  /** The agents' socket is taken before the router: the upgrade is the server's. */
  const fetch = (
    request: Request,
    server: { requestIP(r: Request): { address: string } | null; upgrade(r: Request, o: any): boolean },
  ): Response | Promise<Response> | undefined => {
    const address = server.requestIP(request)?.address
    if (address) addresses.set(request, address)
    if (!request.url.includes(agentPaths.connect) || new URL(request.url).pathname !== agentPaths.connect) return app.fetch(request)
    try {
      const node = agents.signer(request)
      return server.upgrade(request, { data: { nodeId: node.id } })
        ? undefined
        : new Response('This is a WebSocket address.\n', { status: 426, headers: { 'X-Request-Id': Bun.randomUUIDv7() } })
    } catch (error) {
      return refuse(error, Bun.randomUUIDv7(), request)
    }
  }
  const websocket = {
    maxPayloadLength: 1 << 20,
    idleTimeout: 60,
    open: (socket: Socket) =>
      hub.opened(socket, { type: 'welcome', nodeId: socket.data.nodeId, controllerVersion: VERSION, now: clock() } satisfies ToAgent),
    message: (socket: Socket, text: string | Buffer) => hub.message(socket, text),
    close: (socket: Socket) => hub.closed(socket),
  }

  const mail = new MailQueue({ db, secrets: kept, clock })
  const timers: Timer[] = []
  return {
    db,
    hub,
    runner,
    app,
    gate: door.gate,
    around,
    reports,
    mail,
    fetch,
    websocket,
    /** The API for `berth admin` on this host: who reaches the socket file is System. */
    fetchLocal: (request: Request) => (onHost ?? mountOnHost()).fetch(request),
    /** Goes on with unfinished jobs, and starts what the clock starts. */
    start() {
      runner.start()
      timers.push(
        every(5 * second, 'looking for silent nodes', () => hub.sweep()),
        every(5 * second, 'sending mail', () => mail.send()),
        every(2 * second, 'mailing links to new passwords', () => answerResets(db, around)),
        every(hour, 'forgetting old keys', () => write(db, (tx) => forgetOld(tx, clock()))),
        every(hour, 'forgetting old sessions', () => write(db, (tx) => forgetSessions(tx, clock()))),
        every(hour, 'forgetting old links', () => write(db, (tx) => forgetLinks(tx, clock()))),
      )
      const token = setUpToken(db)
      if (token) log.info(`No staff account yet. Make the first one here, once: ${config.publicUrl}/setup?token=${token}`)
    },
    beginStop: () => void (restarting = true),
    /** Changes are refused from here on and reads go on until the listener closes; running steps go on at their nodes. */
    async stop(close: () => Promise<void>) {
      restarting = true
      runner.stop()
      hub.abandon()
      for (const timer of timers) clearInterval(timer)
      await Promise.race([runner.idle(), Bun.sleep(STOP_MS)])
      hub.disconnectAll()
      reports.stop()
      await close()
      db.$client.close()
    },
  }
}
export type Controller = Awaited<ReturnType<typeof createController>>

/** What fails once, on a full disk or without its key, is tried again next time: it must not take the controller with it. */
const every = (ms: number, what: string, work: () => unknown): Timer =>
  setInterval(async () => {
    try {
      await work()
    } catch (error) {
      log.error(`${what} failed`, { error })
    }
  }, ms)

/** The right-most address that no trusted proxy vouches for. A header counts only when the peer itself is a trusted proxy. */
export function clientAddress(request: Request, peer: string, trusted: readonly string[]): string {
  const plain = (address: string) => address.trim().replace(/^::ffff:(?=\d+\.)/, '')
  let address = plain(peer)
  if (!trusted.length || !inside(address, trusted)) return address
  for (const hop of (request.headers.get('X-Forwarded-For') ?? '').split(',').map(plain).filter(Boolean).toReversed()) {
    address = hop
    if (!inside(hop, trusted)) break
  }
  return address
}
