// What a server looks like, to whom.
import { Type as t } from 'typebox'
import { roleNames } from '../../identity/team/share.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import {
  type AppContext,
  described,
  mayCall,
  mayCallOn,
  namedSchema,
  nullable,
  time,
} from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { type Db, prepared } from '../../kernel/db/open.ts'
import { actions, allActions } from './actions.ts'
import { type Action, accessLevel, disabledReason, guestIpv6, rightsWith } from './server.ts'
import { type Server, type Status, statuses } from './tables.ts'

const named = namedSchema('Named', { id: t.String(), name: t.String() })
export const serverResponse = namedSchema('Server', {
  id: t.String(),
  number: described(t.Integer(), 'Counts up; until it has a hostname of its own it is called server and this number.'),
  name: t.String(),
  hostname: t.String(),
  status: t.Enum([...statuses]),
  suspendReason: described(nullable(t.String()), 'Only for its owner and who cares for it.'),
  failure: described(nullable(t.String()), 'Why its installation failed, in words.'),
  access: described(
    t.Enum(['own', ...roleNames]),
    'As what you stand before it: it is your own or in your care, or its owner gave you this role on it.',
  ),
  owner: described(
    t.Object({ id: t.String(), name: t.String(), email: nullable(t.String()) }),
    'The address is not for those with whom it is shared.',
  ),
  package: named,
  location: named,
  node: described(nullable(named), 'Staff only.'),
  placement: described(nullable(t.String()), 'Why it stands on this node. Staff only.'),
  image: described(nullable(named), 'Null: it waits for its setup.'),
  ipv4: described(nullable(t.String()), 'The first of its addresses.'),
  ipv6: described(nullable(t.String()), "The guest's own address in its prefix."),
  addresses: t.Array(
    t.Object({ address: t.String(), prefixLength: t.Integer(), version: t.Integer(), gateway: t.String() }),
  ),
  sshCommand: nullable(t.String()),
  mac: t.String(),
  vcpus: t.Integer(),
  memoryMb: t.Integer(),
  diskGb: t.Integer(),
  trafficGb: described(nullable(t.Integer()), 'A month; null: not limited.'),
  portMbps: described(nullable(t.Integer()), 'Null: not limited.'),
  job: described(
    nullable(t.Object({ id: t.String(), kind: t.String(), progress: t.Integer() })),
    'The job that holds it now.',
  ),
  rescue: t.Boolean(),
  protected: described(t.Boolean(), 'It can be neither terminated nor reinstalled.'),
  nodeConnected: described(t.Boolean(), 'While its node is away it runs on, but cannot be changed.'),
  allowed: described(t.Array(t.String()), 'What its state allows now, of what you may do with it: for buttons.'),
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

const made = new WeakMap<Actor, Action[]>()
/** The actions whose operation is open to this actor at all: the same for every server of a list. */
function open(actor: Actor): Action[] {
  let found = made.get(actor)
  if (!found) made.set(actor, (found = allActions.filter((action) => mayCall(actions[action], actor))))
  return found
}

export function showServer({ tx, nodes, actor }: Pick<AppContext, 'nodes'> & { tx: Db; actor: Actor }, s: ServerRow) {
  const held = (JSON.parse(s.addresses) as ShownAddress[]).sort(
    (a, b) => a.version - b.version || b.isPrimary - a.isPrimary,
  )
  const ipv4 = held.find((a) => a.version === 4)?.address ?? null
  const prefix = held.find((a) => a.version === 6)
  const ipv6 = prefix ? (prefix.prefixLength === 128 ? prefix.address : guestIpv6(prefix.address)) : null
  const staff = actor.kind === 'staff'
  const reachable = ipv4 ?? ipv6
  const access = accessLevel(tx, actor, s)!
  const rights = rightsWith(access)
  const may = (action: Action) => !rights || mayCallOn(actions[action], actor, rights)
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
    allowed: open(actor).filter(
      (action) => may(action) && !disabledReason({ status: s.status, protected: !!s.protected } as Server, action),
    ),
    createdAt: iso(s.createdAt),
    terminatedAt: isoOrNull(s.terminatedAt),
  }
}
