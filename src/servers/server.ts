// Who sees a server, what it is to those who do, and what its state allows.
import { Type as t } from 'typebox'
import { accountById, customerInEvent } from '../accounts/account.ts'
import { addressesOf } from '../addresses/allocate.ts'
import { toNumber, toText } from '../addresses/ranges.ts'
import type { Scope } from '../kernel/api/access.ts'
import type { Actor } from '../kernel/api/actor.ts'
import { type Code, Refusal } from '../kernel/api/errors.ts'
import { nullable, type Resource, type Surroundings, shape, time, told } from '../kernel/api/operation.ts'
import { iso, isoOrNull } from '../kernel/db/clock.ts'
import { type Db, prepared } from '../kernel/db/open.ts'
import { rowBy } from '../kernel/db/rows.ts'
import { locationById } from '../locations/location.ts'
import { packageById } from '../packages/packages.ts'
import { isMember, opens, type Role, roleOn, sharedIds } from '../team/share.ts'
import { type Server, type Status, servers, statuses } from './tables.ts'

export const serverById = rowBy(servers, servers.id)
/** For sagas: the row behind a job's input, which never goes away. */
export const load = (tx: Db, id: string): Server => serverById(tx, id)!

/** As what somebody stands before a server: its owner, or who acts for the owner, or with the role that the owner gave. */
export type Standing = 'own' | Role

/** The same rule as `own` and `visible` below, for one row. */
export function standing(tx: Db, actor: Actor, it: { id: string; ownerId: string; resellerId: string | null }): Standing | undefined {
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
  return it.terminatedAt === null && standing(tx, actor, it) !== undefined
}

export const server: Resource<Server> = {
  name: 'server',
  notFound: 'server_not_found',
  find: (tx, actor, id) => {
    // First the few columns that decide: that there is such a server must not show in the time the answer takes.
    const it = deciding(tx).get(id)
    return it && seen(tx, actor, it) ? serverById(tx, id) : undefined
  },
  rights: (tx, actor, it) => rightsWith(standing(tx, actor, it)!),
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
    return { where: '(s.owner_id = ? OR s.reseller_id = ?) AND s.terminated_at IS NULL', values: [actor.accountId, actor.accountId] }
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
export type Action = 'start' | 'shutdown' | 'off' | 'restart' | 'setup' | 'reinstall' | 'suspend' | 'unsuspend' | 'terminate'

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
    suspend: 'server_failed',
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
  already_set_up: (s) => `${s.hostname} is set up already. To install another image, reinstall it.`,
  already_running: (s) => `${s.hostname} is running already.`,
  already_stopped: (s) => `${s.hostname} is stopped.`,
  server_suspended: (s) => `${s.hostname} is suspended. Unsuspend it first.`,
  already_suspended: (s) => `${s.hostname} is suspended already.`,
  not_suspended: (s) => `${s.hostname} is not suspended.`,
  server_failed: (s) => `The installation of ${s.hostname} failed. Reinstall or terminate it.`,
  server_terminated: (s) => `${s.hostname} was terminated.`,
  server_protected: (s) => `${s.hostname} is protected. Take the protection off first.`,
}

/** Operations and buttons ask the same table. */
export function hindrance(it: Server, action: Action): Code | undefined {
  if (it.protected && (action === 'terminate' || action === 'reinstall')) return 'server_protected'
  return refusals[it.status][action]
}
export function mustAllow(it: Server, action: Action) {
  const code = hindrance(it, action)
  if (code) throw new Refusal(code, words[code]!(it))
}

// ---------------------------------------------------------------- what it looks like
const named = shape('Named', { id: t.String(), name: t.String() })
export const serverAnswer = shape('Server', {
  id: t.String(),
  number: told(t.Integer(), 'Counts up; until it has a hostname of its own it is called server and this number.'),
  name: t.String(),
  hostname: t.String(),
  status: t.Enum([...statuses]),
  suspendReason: told(nullable(t.String()), 'Only for its owner and who cares for it.'),
  failure: told(nullable(t.String()), 'Why its installation failed, in words.'),
  access: told(
    t.Enum(['own', 'view', 'operate', 'manage']),
    'As what you stand before it: it is your own or in your care, or its owner gave you this role on it.',
  ),
  owner: told(
    t.Object({ id: t.String(), name: t.String(), email: nullable(t.String()) }),
    'The address is not for those with whom it is shared.',
  ),
  package: named,
  location: named,
  node: told(nullable(named), 'Staff only.'),
  placement: told(nullable(t.String()), 'Why it stands on this node. Staff only.'),
  image: told(nullable(named), 'Null: it waits for its setup.'),
  ipv4: told(nullable(t.String()), 'The first of its addresses.'),
  ipv6: told(nullable(t.String()), "The guest's own address in its prefix."),
  addresses: t.Array(t.Object({ address: t.String(), prefixLength: t.Integer(), version: t.Integer(), gateway: t.String() })),
  sshCommand: nullable(t.String()),
  mac: t.String(),
  vcpus: t.Integer(),
  memoryMb: t.Integer(),
  diskGb: t.Integer(),
  trafficGb: told(nullable(t.Integer()), 'A month; null: not limited.'),
  portMbps: told(nullable(t.Integer()), 'Null: not limited.'),
  job: told(nullable(t.Object({ id: t.String(), kind: t.String(), progress: t.Integer() })), 'The job that holds it now.'),
  rescue: t.Boolean(),
  protected: told(t.Boolean(), 'It can be neither terminated nor reinstalled.'),
  nodeConnected: told(t.Boolean(), 'While its node is away it runs on, but cannot be changed.'),
  allowed: told(t.Array(t.String()), 'What its state allows now, of what you may do with it: for buttons.'),
  createdAt: time,
  terminatedAt: nullable(time),
})

const row = `s.id, s.number, s.name, s.hostname, s.status, s.suspend_reason AS suspendReason, s.failure, s.placement, s.mac, s.vcpus, s.memory_mb AS memoryMb, s.disk_gb AS diskGb,
  s.traffic_gb AS trafficGb, s.port_mbps AS portMbps, s.protected, s.created_at AS createdAt, s.terminated_at AS terminatedAt, s.node_id AS nodeId, n.name AS nodeName,
  s.owner_id AS ownerId, s.reseller_id AS resellerId, o.name AS ownerName, o.email AS ownerEmail, s.package_id AS packageId, p.name AS packageName, s.location_id AS locationId, l.name AS locationName, s.image_id AS imageId, i.name AS imageName,
  (SELECT json_group_array(json_object('address', a.address, 'prefixLength', a.prefix_length, 'version', a.version, 'gateway', ap.gateway, 'isPrimary', a.is_primary))
     FROM addresses a JOIN pools ap ON ap.id = a.pool_id WHERE a.server_id = s.id) AS addresses,
  (SELECT json_object('id', j.id, 'kind', j.kind, 'progress', j.progress) FROM jobs j WHERE j.holds = s.id AND j.state IN ('queued', 'running', 'undoing')) AS job`
// CROSS pins the order: with few packages the planner would begin there, and sort all servers for a page of fifty.
const joins = `FROM servers s CROSS JOIN nodes n ON n.id = s.node_id CROSS JOIN accounts o ON o.id = s.owner_id CROSS JOIN packages p ON p.id = s.package_id
  CROSS JOIN locations l ON l.id = s.location_id LEFT JOIN images i ON i.id = s.image_id`

/** The start of a query whose rows `showServer` takes; the table is `s`. */
export const selectServers = `SELECT ${row} ${joins}`

export type ServerRow = {
  id: string
  number: number
  name: string
  hostname: string
  status: Status
  suspendReason: string | null
  failure: string | null
  placement: string
  mac: string
  vcpus: number
  memoryMb: number
  diskGb: number
  trafficGb: number | null
  portMbps: number | null
  protected: number
  createdAt: number
  terminatedAt: number | null
  nodeId: string
  nodeName: string
  ownerId: string
  resellerId: string | null
  ownerName: string
  ownerEmail: string
  packageId: string
  packageName: string
  locationId: string
  locationName: string
  imageId: string | null
  imageName: string | null
  addresses: string
  job: string | null
}
const one = prepared(({ $client }) => $client.prepare<ServerRow, [string]>(`${selectServers} WHERE s.id = ?`))
export const rowOf = (tx: Db, id: string): ServerRow => one(tx).get(id)!

type ShownAddress = { address: string; prefixLength: number; version: number; gateway: string; isPrimary: number }

/** The scopes of which one opens an action, as its operation has them. */
const opensTo: Record<Action, readonly Scope[]> = {
  start: ['servers:power'],
  shutdown: ['servers:power'],
  off: ['servers:power'],
  restart: ['servers:power'],
  setup: ['servers:reinstall'],
  reinstall: ['servers:reinstall'],
  suspend: ['servers:suspend', 'reseller:servers'],
  unsuspend: ['servers:suspend', 'reseller:servers'],
  terminate: ['servers:terminate', 'reseller:servers'],
}
const allActions = Object.keys(opensTo) as Action[]

/** The guest's own address in its IPv6 prefix is the first one. */
export const guestIpv6 = (prefix: string) => (prefix.endsWith('::') ? `${prefix}1` : toText(6, toNumber(prefix)!.n + 1n))

export function showServer({ tx, nodes, actor }: Pick<Surroundings, 'nodes'> & { tx: Db; actor: Actor }, s: ServerRow) {
  const held = (JSON.parse(s.addresses) as ShownAddress[]).sort((a, b) => a.version - b.version || b.isPrimary - a.isPrimary)
  const ipv4 = held.find((a) => a.version === 4)?.address ?? null
  const prefix = held.find((a) => a.version === 6)
  const ipv6 = prefix ? (prefix.prefixLength === 128 ? prefix.address : guestIpv6(prefix.address)) : null
  const staff = actor.kind === 'staff'
  const reachable = ipv4 ?? ipv6
  const access = standing(tx, actor, s)!
  const rights = rightsWith(access)
  const may = (action: Action) => opensTo[action].some((scope) => actor.scopes.has(scope) && (!rights || rights.has(scope)))
  return {
    id: s.id,
    number: s.number,
    name: s.name,
    hostname: s.hostname,
    status: s.status,
    // What passed between the owner and the provider is theirs.
    suspendReason: access === 'own' ? s.suspendReason : null,
    failure: s.failure,
    access,
    owner: { id: s.ownerId, name: s.ownerName, email: access === 'own' ? s.ownerEmail : null },
    package: { id: s.packageId, name: s.packageName },
    location: { id: s.locationId, name: s.locationName },
    node: staff ? { id: s.nodeId, name: s.nodeName } : null,
    placement: staff ? s.placement : null,
    image: s.imageId ? { id: s.imageId, name: s.imageName ?? '' } : null,
    ipv4,
    ipv6,
    addresses: held.map(({ isPrimary: _, ...a }) => a),
    sshCommand: reachable && s.imageId ? `ssh root@${reachable}` : null,
    mac: s.mac,
    vcpus: s.vcpus,
    memoryMb: s.memoryMb,
    diskGb: s.diskGb,
    trafficGb: s.trafficGb,
    portMbps: s.portMbps,
    job: s.job ? (JSON.parse(s.job) as { id: string; kind: string; progress: number }) : null,
    rescue: false,
    protected: !!s.protected,
    nodeConnected: nodes.connected(s.nodeId),
    allowed: allActions.filter((action) => may(action) && !hindrance({ status: s.status, protected: !!s.protected } as Server, action)),
    createdAt: iso(s.createdAt),
    terminatedAt: isoOrNull(s.terminatedAt),
  }
}

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
