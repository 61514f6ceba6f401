// A feature is one value: everything that the rest of the product needs to know about a folder. src/app/features.ts
// lists them, and the registry derives every central table from that list.
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Copied } from '../../agent/protocol/wire.ts'
import type { PermissionDeclaration, ScopeDeclaration } from './api/access.ts'
import type { ErrorDeclaration, ErrorTable } from './api/errors.ts'
import type { HttpContext } from './api/http.ts'
import type { AppContext, Operation } from './api/operation.ts'
import type { IncomingRequest } from './api/response.ts'
import type { Clock } from './db/clock.ts'
import type { EncryptedColumn } from './db/encrypted.ts'
import type { ExpiringRows } from './db/expiring.ts'
import type { IdDeclaration } from './db/ids.ts'
import type { Migration } from './db/migrate.ts'
import type { Db, Tx } from './db/open.ts'
import type { EmittedEvent } from './jobs/emitted-event.ts'
import type { FailureWords } from './jobs/failures.ts'
import type { EventDeclaration } from './jobs/outbox.ts'
import type { Runner } from './jobs/runner/runner.ts'
import type { Saga } from './jobs/saga.ts'
import type { SocketEndpoint } from './net/socket-endpoint.ts'
import type { Hub } from './nodes/hub.ts'
import type { SampleValue } from './openapi/sample.ts'
import type { DeliveryKind } from './queue/delivery-kind.ts'
import type { DeliveryQueue } from './queue/delivery-queue.ts'
import type { AppConfig, Names, Services } from './register.ts'
import type { Assets } from './web/assets.ts'
import type { ActionEntry, NavEntry } from './web/navigation.ts'
import type { Page } from './web/page.ts'

/**
 * Fields that features about all the others add to the form, e.g. `attention` by the overview. They merge into this
 * interface.
 */
export interface FeatureFields {}

/**
 * Work that the clock starts. `work` throws nothing away: an error is logged under `words`, and the next turn tries
 * again.
 */
export type ScheduledWork = {
  everyMs: number
  /** Completes the sentence "… failed". */
  words: string
  work(context: ScheduleContext): unknown
  /** Once more at an orderly stop, when nothing else writes any more; a function: this work in its place. */
  atStop?: true | ((context: ScheduleContext) => unknown)
}
export type ScheduleContext = { hub: Hub; runner: Runner; deliveries: DeliveryQueue; db: Db; app: AppContext }

export interface Feature extends FeatureFields {
  /** The folder, and the name in messages. */
  name: string
  /** The operations: each is a route, a `berth admin` command and an entry of the reference. */
  operations?: readonly Operation[]
  /** Kinds of things with an id; declare them in `Names` too. */
  ids?: Readonly<Record<string, IdDeclaration>>
  /** Values in the examples of the reference, by the name of their field (addresses: RFC 5737, 3849 and 7042). */
  samples?: Readonly<Record<string, SampleValue>>
  /** Rights of tokens, e.g. `servers:read`; declare them in `Names` too. */
  scopes?: Readonly<Record<`${string}:${string}`, ScopeDeclaration>>
  /** Rights of staff roles, e.g. `servers.create`; declare them in `Names` too. */
  permissions?: Readonly<Record<string, PermissionDeclaration>>
  /** Codes of refusals; declare them in `Names` too. */
  errors?: Readonly<Record<string, ErrorDeclaration>>
  /** Causes of failed jobs, by the code with which a node or a step of a job fails. */
  failures?: FailureWords
  /** Tables of this feature. No other feature reads them. */
  tables?: readonly SQLiteTable[]
  /** Rows of its tables that end by themselves: deleted within a minute, until none is left. */
  expiring?: readonly ExpiringRows[]
  /** Migrations that are not in migrations/, applied after those. */
  migrations?: readonly Migration[]
  /** Objects beside the database, made once with the controller; declare the names in `Services` too. */
  services?(parts: ServiceParts): Partial<Services>
  /** Begins what goes on by itself when the controller starts, such as a word to the operator. */
  starts?(context: ScheduleContext): void
  /** Routes that are neither operations nor pages. */
  routes?(parts: RouteParts): readonly Route[]
  /** WebSockets, each at a path of its own. */
  sockets?(parts: RouteParts): readonly SocketEndpoint[]
  /** Columns that hold encrypted text. A column that is missing here is lost when the key changes. */
  encrypted?: readonly EncryptedColumn[]
  /** The kinds of jobs. */
  jobs?: readonly Saga[]
  /** Events by name; declare them in `Names` too. */
  events?: Readonly<Record<string, EventDeclaration>>
  /** Called for each event in the transaction that emits it. It has to be quick: every change waits for it. */
  onEvent?(tx: Tx, app: AppContext, event: EmittedEvent): void
  /** Takes what a copy between nodes has sent so far, which its node says every second. */
  takeCopied?(app: AppContext, jobId: string, copied: Copied): void
  /** Work that the clock starts. */
  schedule?: readonly ScheduledWork[]
  /** A page that no feature lists is not found. src/app/features.ts joins those of views/ to their features. */
  pages?: readonly Page[]
  /** Entries of the navigation, per kind of account. */
  nav?: readonly NavEntry[]
  /** Actions that the search offers, each with its page. */
  actions?: readonly ActionEntry[]
  /** For tests: makes one of each of its things; the ids by the names of their resources. */
  fixture?(world: FixtureWorld): Promise<Readonly<Record<string, string>>>
  /**
   * Called once with every feature of a controller and their error codes. Throws where the declarations in a field that
   * this feature added do not fit together.
   */
  check?(features: readonly Feature[], errors: ErrorTable): void
  /** Kinds of deliveries of the queue. */
  deliveries?: readonly DeliveryKind[]
}

/** Services are made of these. */
export type ServiceParts = { config: AppConfig; clock: Clock; wallClock: Clock; db: Db }
export type RouteParts = { db: Db; app: AppContext; httpContext: HttpContext; assets: Assets }
export type Route = readonly [
  method: 'GET' | 'POST',
  path: string,
  answer: (request: IncomingRequest) => Response | Promise<Response>,
]

/** The world of a fixture: calls of the API, by a customer or as System. A refused call throws. */
export type FixtureWorld = {
  /** A customer with an id, who can call. */
  customer: { id: string }
  call(who: { id: string }, method: string, path: string, body?: unknown): Promise<any>
  admin(method: string, path: string, body?: unknown): Promise<any>
}

/** The fields of a feature that its entry in `Names` promises. */
type Promised<N extends string> = N extends keyof Names ? Names[N] : unknown
/** Declares a feature. Building it does no work: objects only, so that listing all features costs no time at start. */
export const feature = <const N extends string>(declaration: Feature & { name: N } & Promised<N>): Feature =>
  declaration
