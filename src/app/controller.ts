// Builds a controller out of its parts. `serve` and the tests both call it; nothing here knows a route, a limit or a
// time of the clock.
import { existsSync } from 'node:fs'
import type { Server } from 'bun'
import type { Elysia } from 'elysia'
import { hostTime, MonotonicClock } from '../../agent/protocol/monotonic-clock.ts'
import { agentPaths, closeCodes, MOST_FRAME_BYTES, type ToAgent } from '../../agent/protocol/wire.ts'
import { files } from '../../public/assets.ts'
import { errorPage } from '../../views/frame/error.tsx'
import { always, beside, isRunning, layout } from '../../views/frame/layout.tsx'
import { connectedBefore, isGoneNode, nodeById } from '../fleet/node-records/queries.ts'
import { Reports } from '../fleet/nodes/report.ts'
import { kindsByName } from '../fleet/workloads/kind.ts'
import { setUpToken } from '../identity/accounts/set-up.ts'
import { ownersWhoCanSignIn } from '../identity/accounts/staff/queries.ts'
import { HeldRights } from '../identity/accounts/staff/role.ts'
import { authenticate } from '../identity/auth/authenticate.ts'
import { TokenUses } from '../identity/tokens/uses.ts'
import { startedBy, system } from '../kernel/api/actor.ts'
import { restarting as restartingError, unknownPath } from '../kernel/api/errors.ts'
import { gate, refusedEarly } from '../kernel/api/gate.ts'
import { API_ROOT, type HttpContext, Routes, type Sender } from '../kernel/api/http.ts'
import { CALLS_PER_MINUTE, Limit, SIGN_INS_PER_MINUTE } from '../kernel/api/limits.ts'
import type { AppContext } from '../kernel/api/operation.ts'
import { answered, type IncomingRequest } from '../kernel/api/response.ts'
import { anchorOf } from '../kernel/audit/anchor.ts'
import { RefusedLines } from '../kernel/audit/refused-lines.ts'
import { named, type Secrets, secretsFromFile } from '../kernel/crypto/secrets.ts'
import { type Clock, second } from '../kernel/db/clock.ts'
import { keysInUse } from '../kernel/db/encrypted.ts'
import { DatabaseUnavailable } from '../kernel/db/health.ts'
import { DatabaseMissing, isEmptyDatabase, type Migration } from '../kernel/db/migrate.ts'
import { type Db, openDb, read, whenHealed } from '../kernel/db/open.ts'
import { getSetting, LAST_TIME } from '../kernel/db/queries.ts'
import { RenderedRows } from '../kernel/db/rendered.ts'
import { onEvent } from '../kernel/jobs/outbox.ts'
import type { Failpoints } from '../kernel/jobs/runner/execution.ts'
import { Runner } from '../kernel/jobs/runner/runner.ts'
import { log } from '../kernel/log.ts'
import { clientAddresses } from '../kernel/net/client-address.ts'
import { pathStart } from '../kernel/net/raw-path.ts'
import type { ServerSocket, SocketEndpoint } from '../kernel/net/socket-endpoint.ts'
import { epochOf } from '../kernel/nodes/epoch.ts'
import { Hub, type Socket } from '../kernel/nodes/hub.ts'
import { MisconductLog } from '../kernel/nodes/misconduct.ts'
import { NodeReads } from '../kernel/nodes/reads.ts'
import { openapi } from '../kernel/openapi/openapi.ts'
import { DeliveryQueue } from '../kernel/queue/delivery-queue.ts'
import type { Services } from '../kernel/register.ts'
import type { Registry } from '../kernel/registry.ts'
import { VERSION } from '../kernel/version.ts'
import { Assets } from '../kernel/web/assets.ts'
import { KeptMarkup } from '../kernel/web/kept-markup.ts'
import { isInNav, navItems } from '../kernel/web/navigation.ts'
import { leadingTo } from '../kernel/web/page.ts'
import { addPages } from '../kernel/web/serve-pages.ts'
import { brandFor } from '../platform/settings/brand.ts'
import type { Config } from './config.ts'
import { registry as product } from './features.ts'
import { type Schedule, startSchedule } from './schedule.ts'

/** After this long a stop does not wait for what is still going on. */
const STOP_MS = 15 * second

const LOOPBACK = '127.0.0.1'
/** The router looks for the path from here on: it takes the name of a host for four characters at least. */
const ROUTER_LOOKS_FROM = 11

export type Parts = {
  config: Config
  /** The host's clock, in ms since 1970. One that is handed in alone is monotonic too. */
  clock?: Clock
  /** Advances however the host's clock is set; in ms. */
  monotonic?: Clock
  failpoints?: Failpoints
  secrets?: Secrets
  db?: Db
  callsPerMinute?: number
  pauseMs?: (tries: number) => number
  /** In place of the services that features make. */
  services?: Partial<Services>
  registry?: Registry
}

/**
 * A key file says that there was a database: an empty one in its place is a disk that is not mounted, or a loss, and no
 * new installation. Throws `DatabaseMissing`.
 */
function openExisting({ dataDir, keyFile, replica }: Config, migrations: readonly Migration[]): Db {
  const path = `${dataDir}/berth.db`
  if (existsSync(keyFile) && isEmptyDatabase(path))
    throw new DatabaseMissing(
      `${path} is ${existsSync(path) ? 'empty' : 'not there'}, and the key file ${keyFile} is of a database that ` +
        `was. See that the disk of ${dataDir} is mounted, or restore a backup: sudo berth backup restore FILE. To ` +
        'begin anew without what was there, move the key file away first and keep it: ' +
        `mv ${keyFile} ${keyFile}.old (and ${anchorOf(dataDir)}, if it is there)`,
    )
  return openDb(path, migrations, { keepsLog: replica !== undefined })
}

export async function createController({
  config,
  clock: wallClock = hostTime.wall,
  monotonic = wallClock === hostTime.wall ? hostTime.monotonic : wallClock,
  failpoints = () => {},
  secrets,
  callsPerMinute = CALLS_PER_MINUTE,
  pauseMs,
  services = {},
  registry = product,
  ...given
}: Parts) {
  const db = given.db ?? openExisting(config, registry.migrations)
  const time = new MonotonicClock({ wall: wallClock, monotonic }, Number(getSetting(db, LAST_TIME) ?? 0))
  const clock = time.now
  const { operations, allOperations } = registry
  const used = [...keysInUse(db, registry.encrypted).keys()]
  const kept = secrets ?? secretsFromFile(config.keyFile, used)
  const missing = used.filter((id) => !kept.keyIds().includes(id))
  if (missing.length)
    log.error(
      `What is encrypted with ${named(missing)} cannot be read: ${config.keyFile} has ${named(kept.keyIds())} ` +
        'only. Put the key file back ' +
        'that belongs to this database, or add the missing line to it; nothing has to be restarted.',
    )
  let restarting = false

  /** As people call it: an id alone helps nobody who reads the journal. */
  const nameOf = (nodeId: unknown) => (typeof nodeId === 'string' ? nodeById(db, nodeId)?.name : undefined)
  const misconduct = new MisconductLog(db, clock, nameOf)
  const takers = registry.features.flatMap(({ takeTraffic }) => takeTraffic ?? [])
  const takeTraffic = (...day: Parameters<(typeof takers)[number]>) => {
    for (const take of takers) take(...day)
  }
  const metricsTakers = registry.features.flatMap(({ takeMetrics }) => takeMetrics ?? [])
  const reports = new Reports(
    db,
    time,
    ({ nodeId, offence, details }) => misconduct.note(nodeId, offence, details),
    takeTraffic,
    (nodeId, seq) => hub.trafficStored(nodeId, seq),
    (nodeId, frame) => {
      for (const take of metricsTakers) take(app, nodeId, frame)
    },
    kindsByName(registry),
  )
  const hub: Hub = new Hub(clock, {
    log: (jobId, line) => runner.log.add(jobId, line),
    progress: (jobId, percent) => runner.log.progress(jobId, percent),
    report: (nodeId, report) => reports.take(nodeId, report),
    connected: (nodeId) => {
      reports.connected(nodeId)
      runner.nodeChanged()
      log.info('node connected', { nodeId, node: nameOf(nodeId) })
    },
    disconnected: (nodeId) => {
      if (restarting) return
      reports.disconnected(nodeId)
      runner.nodeChanged()
      log.warning('node disconnected', { nodeId, node: nameOf(nodeId) })
    },
    misconduct: (nodeId, offence, details) => misconduct.note(nodeId, offence, details),
    isGone: (nodeId) => isGoneNode(db, nodeId),
  })
  hub.expect(connectedBefore(db))
  const nodeReads = new NodeReads(hub)
  const runner: Runner = new Runner({
    db,
    sagas: registry.jobs,
    failures: registry.failures,
    nodes: hub,
    clock,
    secrets: kept,
    services: () => app,
    failpoints,
    pauseMs,
    tell: (level, message, about) => log[level](message, { ...about, node: nameOf(about['nodeId']) }),
  })

  const { pages } = registry
  const leads = leadingTo(pages)
  const app: AppContext = {
    ...registry.services({ config, clock, wallClock, db }),
    ...services,
    registry,
    config,
    clock,
    wallClock,
    time,
    secrets: kept,
    startedAt: clock(),
    navItems: (actor) => navItems(registry, db, actor).filter(({ href }) => leads(href, actor)),
    renderedRows: new RenderedRows(4000), // of servers: 1.2 kB each
    signIns: new Limit(SIGN_INS_PER_MINUTE, clock),
    refusedLines: new RefusedLines(clock),
    brandFor,
    interruptedJobs: () => runner.interrupted(),
    owners: ownersWhoCanSignIn,
    nodes: {
      connected: hub.connected,
      isReconnecting: hub.isReconnecting,
      lastSeen: (nodeId) => (hub.connected(nodeId) ? undefined : reports.lastSeen(nodeId)),
      contactVersion: () => hub.contactVersion + reports.contactVersion,
      heartbeat: reports.heartbeat,
      misconduct: (nodeId) => misconduct.of(nodeId),
      disconnect(nodeId) {
        const close = hub.closerOf(nodeId)
        setTimeout(() => {
          close()
          runner.nodeChanged()
        })
      },
      read: (command) => nodeReads.read(command),
      openConsole: (nodeId, console) => hub.openConsole(nodeId, console),
      openFiles: hub.openFiles,
    },
  }
  for (const heard of registry.onEvent) onEvent(db, (tx, event) => heard(tx, app, event))
  const heldRights = new HeldRights(registry, 500)
  const tokenUses = new TokenUses(db)
  const httpContext: HttpContext = {
    gate: gate(db, app),
    refused: (op, request, error) => refusedEarly(db, app, op, request, error),
    authenticate(request, on) {
      const { info } = request
      const sender = authenticate(db, {
        rights: heldRights,
        uses: tokenUses,
        request,
        origin: config.origin,
        now: clock(),
        info,
        onPage: on === 'page',
      })
      if (sender.actor) info.by = startedBy(sender.actor).id
      return sender
    },
    settle: () => tokenUses.settle(),
    isSettled: tokenUses.isSettled,
    reading: (work) => read(db, work),
    origin: config.origin,
    calls: new Limit(callsPerMinute, clock),
    restarting: () => restarting,
    mustBeWritable: () => db.$client.health.mustBeWritable(),
  }
  const assets = await Assets.load(files)
  const parts = { db, app, httpContext, assets }
  const routes = new Routes(httpContext)
  routes.addOperations(operations)
  routes.addDocument('/openapi.json', () => openapi(registry, { version: VERSION, root: config.origin + API_ROOT }))
  for (const [method, path, answer] of registry.routes(parts)) routes.add(method, path, answer)
  addPages(routes, {
    registry,
    pages,
    leads,
    isInNav: (entry, actor) => isInNav(entry, db, actor),
    always,
    layout,
    beside,
    isRunning,
    asset: (name) => assets.url(name),
    keptMarkup: new KeptMarkup(3000), // a row and its record: 3 to 4 kB
    errorPage,
    httpContext,
    brand: (accountId) => brandFor(db, accountId),
    clock,
    insecure: config.agentInsecure,
  })
  routes.refuseOthers()
  const { router } = routes
  const logs = config.logRequests
  const local = { from: () => LOOPBACK, logs, errors: registry.errors }
  const clientAddress = clientAddresses(config.trustedProxies)

  /**
   * A router of its own for the local socket: no header of a public request can reach the System actor. It is made at
   * the first call.
   */
  let localOnly: Elysia | undefined
  const mountOnHost = () => {
    const authenticate = ({ info }: IncomingRequest): Sender => {
      info.by = system.name
      return { actor: system, limitKey: '' }
    }
    // `berth admin` in a loop must not wait for itself.
    const routes = new Routes({ ...httpContext, authenticate, calls: { take() {}, count() {} } })
    routes.addOperations(allOperations)
    routes.refuseOthers()
    return (localOnly = routes.router)
  }

  const agents: SocketEndpoint = {
    path: agentPaths.connect,
    accept(request) {
      const node = app.agents.signer(request)
      request.info.by = node.id
      hub.admit(node.id)
      let socket: Socket
      return {
        handler: {
          opened(opened) {
            socket = Object.assign(opened as unknown as Socket, { data: { ...opened.data, nodeId: node.id } })
            hub.opened(socket, {
              type: 'welcome',
              nodeId: node.id,
              controllerVersion: VERSION,
              now: wallClock(),
              epoch: epochOf(db),
              ...(config.agentPins.length && { pins: [...config.agentPins] }),
            } satisfies ToAgent)
          },
          message: (_, text) => hub.message(socket, text),
          closed(_, code) {
            hub.closed(socket)
            if (code === closeCodes.outdated)
              log.error(
                'a node refuses this controller, because it has obeyed a newer one: another host took over, or a ' +
                  'backup was restored. Stop this one (docs/standby.md)',
                { node: nameOf(node.id) },
              )
          },
        },
      }
    },
  }
  const endpoints = new Map([agents, ...registry.sockets(parts)].map((endpoint) => [endpoint.path, endpoint]))
  /** Every open socket. */
  const sockets = new Set<ServerSocket>()

  /**
   * WebSockets are taken before the router: the upgrade is the server's. `isCanonical`: the path is as it was sent.
   */
  const fetch = (
    request: Request,
    server: Pick<Server<unknown>, 'requestIP' | 'upgrade'>,
    isCanonical = true,
  ): Response | undefined | Promise<Response | undefined> =>
    answered(
      request,
      {
        logs,
        errors: registry.errors,
        from: () => clientAddress(request, server.requestIP(request)?.address),
        isLast: () => restarting,
      },
      (request) => {
        if (!isCanonical) throw unknownPath()
        const endpoint = endpoints.get(pathOf(request.url))
        if (!endpoint) return router.fetch(forRouter(request))
        // A socket that this process opens now would hold up its end, and its client would soon look for the next one.
        if (restarting) throw restartingError('Berth is restarting. Connect again in a moment.')
        // A socket outlives its request, which knows the address until it is answered.
        void request.info.from
        const { handler, headers } = endpoint.accept(request)
        const upgrade = { data: { handler }, headers: { ...headers, 'X-Request-Id': request.info.requestId } }
        if (server.upgrade(request, upgrade)) return undefined
        return new Response('This is a WebSocket address.\n', {
          status: 426,
          headers: { 'Content-Type': 'text/plain; charset=utf-8' },
        })
      },
    )
  const websocket = {
    maxPayloadLength: MOST_FRAME_BYTES,
    // A node that does not read is disconnected: its commands are sent again when it comes back.
    backpressureLimit: MOST_FRAME_BYTES * 4,
    closeOnBackpressureLimit: true,
    idleTimeout: 60,
    open(socket: ServerSocket) {
      sockets.add(socket)
      socket.data.handler.opened(socket)
    },
    message: (socket: ServerSocket, data: string | Buffer) => socket.data.handler.message(socket, data),
    drain: (socket: ServerSocket) => socket.data.handler.drained?.(socket),
    close(socket: ServerSocket, code: number) {
      sockets.delete(socket)
      socket.data.handler.closed(socket, code)
    },
  }

  const deliveries = new DeliveryQueue({ ...app, db }, registry.deliveries, failpoints)
  let schedule: Schedule | undefined
  /** A controller also starts on a full disk: it answers reads, and says this when there is space. */
  let invited = false
  const inviteFirstStaff = () => {
    if (invited) return
    try {
      const token = setUpToken(db)
      invited = true
      if (token)
        log.info(`No staff account yet. Make the first one here, once: ${config.publicUrl}/setup?token=${token}`)
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error
    }
  }
  return {
    db,
    hub,
    runner,
    /** The same without a socket: a call from this host. */
    router: {
      fetch: async (request: Request): Promise<Response> =>
        answered(request, local, (request) => router.fetch(forRouter(request))),
    },
    gate: httpContext.gate,
    app,
    reports,
    deliveries,
    fetch,
    websocket,
    /** The API for `berth admin` on this host: who reaches the socket file is System. */
    fetchLocal: async (request: Request, _server?: unknown, isCanonical = true): Promise<Response> =>
      answered(request, local, (request) => {
        if (!isCanonical) throw unknownPath()
        return (localOnly ?? mountOnHost()).fetch(forRouter(request))
      }),
    /** Goes on with unfinished jobs, and starts what the clock starts. */
    start() {
      runner.start()
      deliveries.start()
      schedule = startSchedule(registry.schedule, { hub, runner, deliveries, db, app })
      inviteFirstStaff()
      whenHealed(db, inviteFirstStaff)
    },
    beginStop: () => void (restarting = true),
    /**
     * Changes are refused from here on and reads go on until the listener closes; running steps go on at their nodes.
     */
    async stop(close: () => Promise<void>) {
      restarting = true
      runner.stop()
      hub.abandon()
      schedule?.stop()
      await Promise.race([Promise.all([runner.idle(), deliveries.stop()]), Bun.sleep(STOP_MS)])
      hub.disconnectAll()
      for (const socket of sockets) socket.close(closeCodes.restarting, 'restarting')
      reports.stop()
      misconduct.stop()
      await schedule?.finish()
      await close()
      db.$client.close()
    },
  }
}

/** The path of an address, without its query. */
function pathOf(url: string): string {
  const query = url.indexOf('?')
  return url.slice(pathStart(url), query < 0 ? url.length : query)
}

/** The request under an address whose path the router finds. Nothing reads the name of the host there. */
function forRouter(request: IncomingRequest): IncomingRequest {
  const { url } = request
  const start = pathStart(url)
  return start >= ROUTER_LOOKS_FROM
    ? request
    : Object.defineProperty(request, 'url', { value: `http://localhost${url.slice(start)}` })
}
