// Builds a controller out of its parts (wiring/). `serve` and the tests both call it; nothing here knows a route, a
// limit or a time of the clock.
import type { Elysia } from 'elysia'
import { hostTime, MonotonicClock } from '../../agent/protocol/monotonic-clock.ts'
import { files } from '../../public/assets.ts'
import { ownersWhoCanSignIn } from '../identity/account-records/roles/queries.ts'
import { CALLS_PER_MINUTE, Limit, SIGN_INS_PER_MINUTE } from '../kernel/api/limits.ts'
import type { AppContext } from '../kernel/api/operation.ts'
import { RefusedLines } from '../kernel/audit/refused-lines.ts'
import type { Secrets } from '../kernel/crypto/secrets.ts'
import { type Clock, second } from '../kernel/db/clock.ts'
import type { Db } from '../kernel/db/open.ts'
import { getSetting, LAST_TIME } from '../kernel/db/queries.ts'
import { RenderedRows } from '../kernel/db/rendered.ts'
import { onEvent } from '../kernel/jobs/outbox.ts'
import type { Failpoints } from '../kernel/jobs/runner/execution.ts'
import { DeliveryQueue } from '../kernel/queue/delivery-queue.ts'
import type { StartReader } from '../kernel/reader/protocol.ts'
import { Reader, type ReaderLimits } from '../kernel/reader/reader.ts'
import type { Services } from '../kernel/register.ts'
import type { Registry } from '../kernel/registry.ts'
import { Assets } from '../kernel/web/assets.ts'
import { navItems } from '../kernel/web/navigation.ts'
import { leadingTo } from '../kernel/web/page.ts'
import { errorPages } from '../kernel/web/refused-page.ts'
import { brandFor } from '../platform/settings/brand.ts'
import type { Config } from './config.ts'
import { registry as product } from './features.ts'
import { type Schedule, startSchedule } from './schedule.ts'
import { agentSocket } from './wiring/agent-socket.ts'
import type { Base, WithApp } from './wiring/base.ts'
import { openDatabase, openSecrets } from './wiring/data.ts'
import { makeHttpContext } from './wiring/http-context.ts'
import { listener, localListener } from './wiring/listener.ts'
import { connectNodes, type NodeSide, nodesOf } from './wiring/nodes.ts'
import { contactOf, inWorker } from './wiring/reader.ts'
import { localRouter, publicRouter, siteOf } from './wiring/routes.ts'

/** After this long a stop does not wait for what is still going on. */
const STOP_MS = 15 * second

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
  /** Starts the thread of long reads, in place of a worker. */
  startReader?: (path: string) => StartReader
  readerLimits?: ReaderLimits
  /** The files for the browser, where they are read already. */
  assets?: Promise<Assets>
}

export async function createController(given: Parts) {
  const base = baseOf(given)
  const { registry, db } = base
  const nodeSide = connectNodes(base, () => app, given.pauseMs)
  const leads = leadingTo(registry.pages)
  const reader = new Reader((given.startReader ?? inWorker)(base.db.$client.filename), given.readerLimits)
  const app = appOf(base, nodeSide, { leads, reader }, given.services)
  const withApp: WithApp = { ...base, app }
  for (const heard of registry.onEvent) onEvent(db, (tx, event) => heard(tx, app, event))
  const httpContext = makeHttpContext(withApp, given.callsPerMinute ?? CALLS_PER_MINUTE)
  const parts = { db, app, httpContext, assets: await (given.assets ?? Assets.load(files)) }
  const site = siteOf(withApp, parts, leads)
  const errorPage = errorPages(site)
  const router = madeOnce(() => publicRouter(withApp, parts, site))
  const endpoints = [agentSocket(withApp, nodeSide), ...registry.sockets(parts)]
  const { fetch, websocket, closeSockets } = listener(withApp, router, { endpoints, errorPage })
  const local = localListener(
    withApp,
    madeOnce(() => localRouter(withApp, httpContext)),
  )
  const deliveries = new DeliveryQueue({ ...app, db }, registry.deliveries, base.failpoints)
  const { hub, runner, reports } = nodeSide
  return {
    db,
    hub,
    runner,
    /** The same without a socket: a call from this host. */
    router: { fetch: localListener(withApp, router, errorPage) },
    gate: httpContext.gate,
    app,
    reports,
    deliveries,
    fetch,
    websocket,
    /** The API for `berth admin` on this host: who reaches the socket file is System. */
    fetchLocal: (request: Request, _server?: unknown, isCanonical = true) => local(request, isCanonical),
    ...life(withApp, nodeSide, deliveries, closeSockets, router),
  }
}

/** Answers what `make` made at the first call. */
function madeOnce<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Opens the data, reads the keys, and begins the controller's time where the last one ended. */
function baseOf(given: Parts): Base {
  const { config, registry = product, clock: wallClock = hostTime.wall, failpoints = () => {} } = given
  const { monotonic = wallClock === hostTime.wall ? hostTime.monotonic : wallClock } = given
  const db = given.db ?? openDatabase(config, registry.migrations)
  const time = new MonotonicClock({ wall: wallClock, monotonic }, Number(getSetting(db, LAST_TIME) ?? 0))
  const secrets = openSecrets(db, config, registry, given.secrets)
  return { config, registry, db, secrets, clock: time.now, wallClock, time, failpoints, life: { isRestarting: false } }
}

/** Makes what features read and use. `services`: in place of those that features make. */
function appOf(
  { config, registry, db, secrets, clock, wallClock, time }: Base,
  nodeSide: NodeSide,
  { leads, reader }: { leads: ReturnType<typeof leadingTo>; reader: Reader },
  services: Partial<Services> = {},
): AppContext {
  const { runner } = nodeSide
  const nodes = nodesOf(nodeSide)
  return {
    ...registry.services({ config, clock, wallClock, db }),
    ...services,
    registry,
    config,
    clock,
    wallClock,
    time,
    secrets,
    startedAt: clock(),
    navItems: (actor) => navItems(registry, db, actor).filter(({ href }) => leads(href, actor)),
    renderedRows: new RenderedRows(4000), // of servers: 1.2 kB each
    signIns: new Limit(SIGN_INS_PER_MINUTE, clock),
    refusedLines: new RefusedLines(clock),
    brandFor,
    interruptedJobs: () => runner.interrupted(),
    owners: ownersWhoCanSignIn,
    nodes,
    reader,
    contactWithAll: contactOf(nodes),
  }
}

/** Starts and stops what goes on by itself. */
function life(
  { db, app, registry, life }: WithApp,
  { hub, runner, reports, misconduct }: NodeSide,
  deliveries: DeliveryQueue,
  closeSockets: () => void,
  router: () => Elysia,
) {
  let schedule: Schedule | undefined
  /** Goes on with unfinished jobs, and starts what the clock starts and what features start. */
  function start() {
    // Otherwise the first request would wait for it.
    router()
    const context = { hub, runner, deliveries, db, app }
    runner.start()
    deliveries.start()
    schedule = startSchedule(registry.schedule, context)
    for (const start of registry.starts) start(context)
  }
  return {
    start,
    /** Instead of `start`, until `open`: changes and nodes are told to wait, and nothing goes on by itself. */
    answerReadsAlone() {
      router()
      life.isRestarting = true
    },
    open() {
      life.isRestarting = false
      start()
    },
    beginStop: () => void (life.isRestarting = true),
    /**
     * Changes are refused from here on and reads go on until the listener closes; running steps go on at their nodes.
     */
    async stop(close: () => Promise<void>) {
      life.isRestarting = true
      runner.stop()
      hub.abandon()
      schedule?.stop()
      await Promise.race([Promise.all([runner.idle(), deliveries.stop()]), Bun.sleep(STOP_MS)])
      hub.disconnectAll()
      closeSockets()
      reports.stop()
      misconduct.stop()
      await schedule?.finish()
      await close()
      app.reader.stop()
      db.$client.close()
    },
  }
}
