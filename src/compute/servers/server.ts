// Who sees a server, what it is to those who do, and what its state allows.
import { and, eq, isNull, sql } from 'drizzle-orm'
import { packageById } from '../../catalog/packages/queries.ts'
import { locationById } from '../../fleet/locations/queries.ts'
import { accountById, customerInEvent } from '../../identity/accounts/model.ts'
import { isMember, opens, type Role, roleOn, sharedIds } from '../../identity/team/share.ts'
import type { Scope } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, type Code } from '../../kernel/api/errors.ts'
import type { Resource } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { addressesOf } from '../../network/ip-pools/allocate.ts'
import { toNumber, toText } from '../../network/ip-pools/ranges.ts'
import { type Server, type Status, servers } from './tables.ts'

export const serverById = rowBy(servers, servers.id)
/** For sagas: the row behind a job's input, which never goes away. */
export const load = (tx: Db, id: string): Server => serverById(tx, id)!

const onNode = prepared((db) =>
  db
    .select()
    .from(servers)
    .where(and(eq(servers.nodeId, sql.placeholder('nodeId')), isNull(servers.releasedAt)))
    .prepare(),
)
/** The servers for which the node holds something; a terminated one until its termination is through. */
export const serversOn = (tx: Db, nodeId: string): Server[] => onNode(tx).all({ nodeId })
/** What its node says of it. */
export const notePower = (tx: Tx, id: string, said: Pick<Server, 'power'> & Partial<Pick<Server, 'status'>>) =>
  void tx.update(servers).set(said).where(eq(servers.id, id)).run()

/** As what somebody stands before a server: its owner, or who acts for the owner, or with the role that the owner gave. */
export type Standing = 'own' | Role

/** The same rule as `own` and `visible` below, for one row. */
export function accessLevel(
  tx: Db,
  actor: Actor,
  it: { id: string; ownerId: string; resellerId: string | null },
): Standing | undefined {
  if (actor.kind === 'staff' || it.ownerId === actor.accountId) return 'own'
  if (actor.kind === 'reseller' && it.resellerId === actor.accountId) return 'own'
  return roleOn(tx, actor.accountId, it)
}

type Deciding = Pick<Server, 'id' | 'ownerId' | 'resellerId' | 'terminatedAt'>
const deciding = prepared(({ $client }) =>
  $client.prepare<Deciding, [string]>(
    'SELECT id, owner_id AS ownerId, reseller_id AS resellerId, terminated_at AS terminatedAt FROM servers WHERE id = ?',
  ),
)

/** A terminated server is gone for everyone but staff. */
function seen(tx: Db, actor: Actor, it: Deciding): boolean {
  if (actor.kind === 'staff') return actor.permissions.has('servers.see_all')
  return it.terminatedAt === null && accessLevel(tx, actor, it) !== undefined
}

export const server: Resource<Server> = {
  name: 'server',
  notFound: 'server_not_found',
  find: (tx, actor, id) => {
    // First the few columns that decide: that there is such a server must not show in the time the answer takes.
    const it = deciding(tx).get(id)
    return it && seen(tx, actor, it) ? serverById(tx, id) : undefined
  },
  rights: (tx, actor, it) => rightsWith(accessLevel(tx, actor, it)!),
}

/** The scopes that count on a server; undefined: all that the actor has. */
export const rightsWith = (it: Standing): ReadonlySet<Scope> | undefined => (it === 'own' ? undefined : opens(it))

type Where = { where: string; values: string[] }

/**
 * As SQL over `servers s`: what is the actor's own or in the actor's care, without what others share. Nothing for a token that may
 * not read servers, whatever else it may do with one whose id it has.
 */
export function own(actor: Actor): Where {
  if (!actor.scopes.has('servers:read')) return { where: '0', values: [] }
  if (actor.kind === 'staff') return { where: '1', values: [] }
  if (actor.kind === 'reseller')
    return {
      where: '(s.owner_id = ? OR s.reseller_id = ?) AND s.terminated_at IS NULL',
      values: [actor.accountId, actor.accountId],
    }
  return { where: 's.owner_id = ? AND s.terminated_at IS NULL', values: [actor.accountId] }
}

/** As SQL over `servers s`, for lists and counts: they cannot differ from what one server answers. */
export function visible(tx: Db, actor: Actor): Where {
  const { where, values } = own(actor)
  if (where === '0' || actor.kind === 'staff' || !isMember(tx, actor.accountId)) return { where, values }
  // A list of ids keeps the order of the ids; with OR the planner would sort every row before it takes the first fifty.
  return {
    where: `s.id IN (SELECT s.id FROM servers s WHERE ${where} UNION ALL ${sharedIds}) AND s.terminated_at IS NULL`,
    values: [...values, actor.accountId],
  }
}

// ---------------------------------------------------------------- what its state allows
export type Action =
  | 'start'
  | 'shutdown'
  | 'off'
  | 'restart'
  | 'setup'
  | 'reinstall'
  | 'suspend'
  | 'unsuspend'
  | 'terminate'

const refusals: Record<Status, Partial<Record<Action, Code>>> = {
  provisioning: {
    start: 'server_busy',
    shutdown: 'server_busy',
    off: 'server_busy',
    restart: 'server_busy',
    setup: 'already_set_up',
    reinstall: 'server_busy',
    suspend: 'server_busy',
    unsuspend: 'not_suspended',
    terminate: 'server_busy',
  },
  pending_setup: {
    start: 'not_set_up',
    shutdown: 'not_set_up',
    off: 'not_set_up',
    restart: 'not_set_up',
    reinstall: 'not_set_up',
    unsuspend: 'not_suspended',
  },
  running: { start: 'already_running', setup: 'already_set_up', unsuspend: 'not_suspended' },
  stopped: {
    shutdown: 'already_stopped',
    off: 'already_stopped',
    restart: 'already_stopped',
    setup: 'already_set_up',
    unsuspend: 'not_suspended',
  },
  suspended: {
    start: 'server_suspended',
    shutdown: 'server_suspended',
    off: 'server_suspended',
    restart: 'server_suspended',
    setup: 'server_suspended',
    reinstall: 'server_suspended',
    suspend: 'already_suspended',
  },
  failed: {
    start: 'server_failed',
    shutdown: 'server_failed',
    off: 'server_failed',
    restart: 'server_failed',
    setup: 'already_set_up',
    unsuspend: 'not_suspended',
  },
  terminated: {
    start: 'server_terminated',
    shutdown: 'server_terminated',
    off: 'server_terminated',
    restart: 'server_terminated',
    setup: 'server_terminated',
    reinstall: 'server_terminated',
    suspend: 'server_terminated',
    unsuspend: 'server_terminated',
    terminate: 'server_terminated',
  },
}
const words: Partial<Record<Code, (s: Server) => string>> = {
  server_busy: (s) => `${s.hostname} is being installed. Wait until its job has ended.`,
  not_set_up: (s) => `${s.hostname} is waiting for its setup: choose an image for it first.`,
  already_set_up: (s) => `${s.hostname} is already set up. To install another image, reinstall it.`,
  already_running: (s) => `${s.hostname} is already running.`,
  already_stopped: (s) => `${s.hostname} is stopped.`,
  server_suspended: (s) =>
    `${s.hostname} is suspended. It can be changed again when whoever suspended it unsuspends it; customers ask their provider.`,
  already_suspended: (s) => `${s.hostname} is already suspended.`,
  not_suspended: (s) => `${s.hostname} is not suspended.`,
  server_failed: (s) => `The installation of ${s.hostname} failed. Reinstall or terminate it.`,
  server_terminated: (s) => `${s.hostname} was terminated.`,
  server_protected: (s) => `${s.hostname} is protected. Take the protection off first.`,
}

/** Operations and buttons ask the same table. */
export function disabledReason(it: Server, action: Action): Code | undefined {
  if (it.protected && (action === 'terminate' || action === 'reinstall')) return 'server_protected'
  return refusals[it.status][action]
}
export function mustAllow(it: Server, action: Action) {
  const code = disabledReason(it, action)
  if (code) throw new ApiError(code, words[code]!(it))
}
/** For what any state but this one allows. */
export function mustNotBeTerminated(it: Server) {
  if (it.status === 'terminated') throw new ApiError('server_terminated', words.server_terminated!(it))
}

/** The guest's own address in its IPv6 prefix is the first one. */
export const guestIpv6 = (prefix: string) =>
  prefix.endsWith('::') ? `${prefix}1` : toText(6, toNumber(prefix)!.n + 1n)

// ---------------------------------------------------------------- what others hear of it
/** Server and customer as every server event carries them, and whom it concerns. */
export function inEvent(tx: Db, it: Server) {
  const owner = accountById(tx, it.ownerId)!
  const ipv4 = addressesOf(tx, it.id).find((a) => a.version === 4)?.address ?? null
  return {
    concerning: { customerId: it.ownerId, resellerId: it.resellerId },
    data: {
      server: {
        id: it.id,
        hostname: it.hostname,
        status: it.status,
        package: packageById(tx, it.packageId)?.name ?? '',
        location: locationById(tx, it.locationId)?.name ?? '',
        ipv4,
      },
      customer: customerInEvent(owner),
    },
  }
}
