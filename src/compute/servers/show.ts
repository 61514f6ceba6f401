// The record of a server, as each actor may see it.

import { Type as t } from 'typebox'
import { RestartPolicy } from '../../../agent/protocol/wire.ts'
import { statuses, statusOf } from '../../fleet/workloads/status.ts'
import { type AccessLevel, accessLevel, isLockedFor, rightsWith } from '../../identity/team/access.ts'
import { roleNames } from '../../identity/team/role.ts'
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
import type { Db } from '../../kernel/db/open.ts'
import type { HeldAddressJson } from '../../network/ip-pools/queries.ts'
import { actions, allActions } from './actions.ts'
import { guestIpv6 } from './model.ts'
import type { ServerRow } from './queries.ts'
import { disabledReason } from './state.ts'

const named = namedSchema('Named', { id: t.String(), name: t.String() })
export const serverResponse = namedSchema('Server', {
  id: t.String(),
  number: described(t.Integer(), 'Counts up; until it has a hostname of its own it is called server and this number.'),
  name: t.String(),
  hostname: t.String(),
  status: t.Enum([...statuses]),
  suspendReason: described(nullable(t.String()), 'Only for its owner and those who manage it.'),
  failure: described(nullable(t.String()), 'Why its installation failed, in words.'),
  access: described(
    t.Enum(['own', ...roleNames]),
    'Your access: the server is your own or in your care, or its owner gave you this role on it.',
  ),
  owner: described(
    t.Object({ id: t.String(), name: t.String(), email: nullable(t.String()) }),
    'The address is not for those with whom it is shared.',
  ),
  package: named,
  location: named,
  node: described(nullable(named), 'Staff only.'),
  placement: described(nullable(t.String()), 'Why it is on this node. Staff only.'),
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
  restartPolicy: described(RestartPolicy, 'What its node does when it ends by itself.'),
  locked: described(
    t.Boolean(),
    'Its owner or you are a locked customer, so power, setup, reinstallation and its restart policy are closed to you.',
  ),
  protected: described(t.Boolean(), 'It can be neither terminated nor reinstalled.'),
  nodeConnected: described(t.Boolean(), 'While its node is away it runs on, but cannot be changed.'),
  nodeSeenAt: described(
    nullable(time),
    'When its node, which is away, was last connected; null while it is connected.',
  ),
  allowed: described(t.Array(t.String()), 'What its state allows now, of what you may do with it: for buttons.'),
  billingServiceId: described(
    nullable(t.String()),
    "The billing system's own identifier of it. Only for its owner and those who manage it.",
  ),
  createdAt: time,
  terminatedAt: nullable(time),
})

type Action = (typeof allActions)[number]
/**
 * Everything about the reader on which the record depends; `key` says it all, `keyWhenAway` that the server's node is
 * not connected besides. `actions`: what the reader may do in some state.
 */
export type ServerReader = {
  isStaff: boolean
  access: AccessLevel
  locked: boolean
  actions: readonly Action[]
  key: string
  keyWhenAway: string
}

/** How this actor reads servers; for a list, ask once and call the answer for each row. */
export function serverReaders(tx: Db, actor: Actor) {
  const readers = new Map<string, ServerReader>()
  const locks = new Map<string, boolean>()
  return (server: Pick<ServerRow, 'id' | 'ownerId' | 'resellerId'>): ServerReader => {
    const access = accessLevel(tx, actor, server)!
    let locked = locks.get(server.ownerId)
    if (locked === undefined) {
      locked = isLockedFor(tx, actor, server)
      locks.set(server.ownerId, locked)
    }
    const which = locked ? `${access} locked` : access
    let reader = readers.get(which)
    if (!reader) {
      const rights = rightsWith(access)
      const mayDo = (action: Action) =>
        mayCall(actions[action], actor) && (!rights || mayCallOn(actions[action], actor, rights))
      const [isStaff, open] = [actor.kind === 'staff', allActions.filter(mayDo)]
      const key = `${isStaff} ${which} ${open}`
      reader = { isStaff, access, locked, actions: open, key, keyWhenAway: `away ${key}` }
      readers.set(which, reader)
    }
    return reader
  }
}

type ShowContext = Pick<AppContext, 'nodes'> & { tx: Db; actor: Actor }
/** The record of one server, as the actor reads it. */
export const showServer = (call: ShowContext, s: ServerRow) =>
  serverRecord(s, serverReaders(call.tx, call.actor)(s), call.nodes.lastSeen(s.nodeId))

/** The record: nothing but the row, its reader and the connection of its node decides what it says. */
export function serverRecord(
  s: ServerRow,
  { isStaff, access, locked, actions }: Omit<ServerReader, 'key' | 'keyWhenAway'>,
  /** In ms; undefined while the node is connected. */
  nodeSeenAt: number | undefined,
) {
  const held = (JSON.parse(s.addresses) as HeldAddressJson[]).sort(
    (a, b) => a.version - b.version || b.isPrimary - a.isPrimary,
  )
  const ipv4 = held.find((a) => a.version === 4)?.address ?? null
  const prefix = held.find((a) => a.version === 6)
  const ipv6 = prefix ? (prefix.prefixLength === 128 ? prefix.address : guestIpv6(prefix.address)) : null
  const reachable = ipv4 ?? ipv6
  const status = statusOf(s)
  const deciding = { status, locked, protected: !!s.protected, nodeLost: s.nodeLostAt !== null }
  return {
    id: s.id,
    number: s.number,
    name: s.name,
    hostname: s.hostname,
    status,
    // A reason concerns the owner and the provider, and nobody with whom the server is shared.
    suspendReason: access === 'own' ? s.suspendReason : null,
    failure: s.failure,
    access,
    owner: { id: s.ownerId, name: s.ownerName, email: access === 'own' ? s.ownerEmail : null },
    package: { id: s.packageId, name: s.packageName },
    location: { id: s.locationId, name: s.locationName },
    node: isStaff ? { id: s.nodeId, name: s.nodeName } : null,
    placement: isStaff ? s.placement : null,
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
    restartPolicy: s.restartPolicy,
    locked,
    protected: !!s.protected,
    nodeConnected: nodeSeenAt === undefined,
    nodeSeenAt: isoOrNull(nodeSeenAt ?? null),
    allowed: actions.filter((action) => !disabledReason(deciding, action)),
    billingServiceId: access === 'own' ? s.billingServiceId : null,
    createdAt: iso(s.createdAt),
    terminatedAt: isoOrNull(s.terminatedAt),
  }
}
