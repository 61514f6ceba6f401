// The record of a server, as each actor may see it.

import { Type as t } from 'typebox'
import { guestAddressIn } from '../../../agent/protocol/guest-address.ts'
import { osFamilies, RestartPolicy } from '../../../agent/protocol/wire.ts'
import { administratorOf } from '../../catalog/images/hardware.ts'
import { locationReferred } from '../../fleet/locations/reference.ts'
import { type WorkloadKey, workloadFacts } from '../../fleet/workloads/queries.ts'
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
import { type Db, prepared } from '../../kernel/db/open.ts'
import type { HeldAddressJson } from '../../network/ip-pools/queries.ts'
import { addressKinds } from '../../network/server-addresses/model.ts'
import { limitFields, limitsOf, overrideOf } from '../server-records/limits.ts'
import { actions, allActions, isAllowed } from './actions.ts'
import { mayUndelete } from './life/undelete.ts'
import { type ServerRow, serverRow } from './queries.ts'

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
  location: locationReferred,
  node: described(nullable(named), 'Staff only.'),
  placement: described(nullable(t.String()), 'Why it is on this node. Staff only.'),
  storagePool: described(nullable(t.String()), "The node's storage pool that holds its disk. Staff only."),
  storageClass: described(nullable(t.String()), 'The class of the storage that holds its disk; null: it has none.'),
  image: described(nullable(named), 'Null: it waits for its setup.'),
  imageChecksum: described(
    nullable(t.String()),
    'Of the file of its image from which it was installed: images get new builds. Null: not known.',
  ),
  ipv4: described(nullable(t.String()), 'The first of its addresses.'),
  ipv6: described(nullable(t.String()), "The guest's own address in its prefix."),
  addresses: t.Array(
    t.Object({
      address: t.String(),
      prefixLength: described(t.Integer(), 'As the system inside the server has it: 32 of a floating IPv4 address.'),
      version: t.Integer(),
      gateway: described(nullable(t.String()), 'Null of a floating address, which is routed to the server.'),
      kind: described(
        t.Enum([...addressKinds]),
        'primary: it keeps it until it is terminated. extra: it can be removed. floating: it points here now.',
      ),
    }),
  ),
  sshCommand: described(nullable(t.String()), 'Null on Windows, except in rescue.'),
  osFamily: described(t.Enum(osFamilies), 'Of the image with which it was installed. windows: by Remote Desktop.'),
  user: described(t.String(), 'The user whose password an order and a reset make.'),
  mac: t.String(),
  vcpus: t.Integer(),
  memoryMb: t.Integer(),
  diskGb: t.Integer(),
  trafficGb: described(nullable(t.Integer()), 'A month; null: not limited.'),
  portMbps: described(nullable(t.Integer()), 'Of its package, in each direction; null: not limited.'),
  speed: described(
    t.Object({
      ...limitFields,
      override: described(t.Object(limitFields), "Set instead of its package's; null: its package's."),
      throttledToMbps: described(nullable(t.Integer()), 'It has used its traffic of the month; null: it has not.'),
    }),
    'In force now.',
  ),
  diskLimits: described(
    t.Object({
      readIops: nullable(t.Integer()),
      writeIops: nullable(t.Integer()),
      readMbPerSecond: nullable(t.Integer()),
      writeMbPerSecond: nullable(t.Integer()),
    }),
    'Of each disk, from its package, in operations and MiB per second; null: not limited.',
  ),
  job: described(
    nullable(t.Object({ id: t.String(), kind: t.String(), progress: t.Integer() })),
    'The job that holds it now.',
  ),
  rescue: described(t.Boolean(), 'It runs the rescue system; its own disk is the second one there.'),
  os: described(
    nullable(t.Object({ id: t.String(), name: t.String(), version: t.String(), kernel: t.String(), detectedAt: time })),
    'The system as its guest agent names it; null until one has answered. The guest can claim anything.',
  ),
  passwordPending: described(t.Boolean(), 'A root password that was reset applies when it is started next.'),
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
  powerKnownAt: described(
    nullable(time),
    'Since when its node, which is connected, does not tell whether it runs: its status is from then. Null: it tells.',
  ),
  allowed: described(t.Array(t.String()), 'What its state allows now, of what you may do with it: for buttons.'),
  billingServiceId: described(
    nullable(t.String()),
    "The billing system's own identifier of it. Only for its owner and those who manage it.",
  ),
  labels: described(t.Array(t.String()), "Its owner's words for it."),
  staffLabels: described(nullable(t.Array(t.String())), 'Staff only.'),
  createdAt: time,
  terminatedAt: nullable(time),
  purgeAt: described(
    nullable(time),
    'Until when it can be brought back; null once its disk is deleted, and while it is not terminated.',
  ),
})

type Action = (typeof allActions)[number]
/**
 * Everything about the reader on which the record depends; `key` says it all, `keyWhenAway` that the server's node is
 * not connected besides, `keyWhenSilent` that it does not tell the power. `actions`: what the reader may do in some
 * state.
 */
export type ServerReader = {
  isStaff: boolean
  access: AccessLevel
  locked: boolean
  actions: readonly Action[]
  key: string
  keyWhenAway: string
  keyWhenSilent: string
}

/** The readers of actors with the same rights: they are a quarter of the time of a small read. */
type ReadersOfRights = { permissions: Actor['permissions']; byOther: Map<string, ServerReader> }
/** By the scopes of the actor. Who has the same rights has the same sets: `HeldRights` makes them once. */
const readersOfRights = prepared(() => new Map<Actor['scopes'], ReadersOfRights>())
const MOST_RIGHTS = 500

function readersWith(tx: Db, { scopes, permissions }: Actor): ReadersOfRights['byOther'] {
  const all = readersOfRights(tx)
  let kept = all.get(scopes)
  if (kept?.permissions !== permissions) {
    if (all.size >= MOST_RIGHTS) all.clear()
    all.set(scopes, (kept = { permissions, byOther: new Map() }))
  }
  return kept.byOther
}

/** `alike`: the reader of every server, where the actor reads them all alike. */
type ServerReaders = {
  of(server: Pick<ServerRow, 'id' | 'ownerId' | 'resellerId'>): ServerReader
  alike?: ServerReader
}

/** How this actor reads servers; for a list, ask once. */
export function serverReaders(tx: Db, actor: Actor): ServerReaders {
  const readers = readersWith(tx, actor)
  const mayBringBack = mayUndelete(tx, actor)
  const { kind, via, isOwner, lacksSecondFactor } = actor
  const who = `${kind} ${via.type} ${isOwner} ${lacksSecondFactor} ${mayBringBack}`
  const readerWith = (access: AccessLevel, locked: boolean): ServerReader => {
    const which = locked ? `${access} locked` : access
    const name = `${who} ${which}`
    let reader = readers.get(name)
    if (!reader) {
      const rights = rightsWith(access)
      const mayDo = (action: Action) =>
        mayCall(actions[action], actor) &&
        (action !== 'undelete' || mayBringBack) &&
        (!rights || mayCallOn(actions[action], actor, rights))
      const [isStaff, open] = [kind === 'staff', allActions.filter(mayDo)]
      const key = `${isStaff} ${which} ${open}`
      const keys = { key, keyWhenAway: `away ${key}`, keyWhenSilent: `silent ${key}` }
      reader = { isStaff, access, locked, actions: open, ...keys }
      readers.set(name, reader)
    }
    return reader
  }
  // Staff read every server alike, and nobody's lock holds for them.
  if (kind === 'staff') {
    const alike = readerWith('own', false)
    return { of: () => alike, alike }
  }
  const locks = new Map<string, boolean>()
  let last: ServerReader | undefined
  const of: ServerReaders['of'] = (server) => {
    const access = accessLevel(tx, actor, server)!
    let locked = locks.get(server.ownerId)
    if (locked === undefined) {
      locked = isLockedFor(tx, actor, server)
      locks.set(server.ownerId, locked)
    }
    if (last?.access !== access || last.locked !== locked) last = readerWith(access, locked)
    return last
  }
  return { of }
}

/** The JSON of the record, rendered once for each version of the server and kind of reader. */
export function renderedServer(
  { tx, nodes, renderedRows }: Pick<AppContext, 'nodes' | 'renderedRows'> & { tx: Db },
  { id, version }: WorkloadKey,
  readers: ServerReaders,
) {
  const row = renderedRows.row(tx, id, version, () => workloadFacts(tx, id))
  const reader = readers.of(row.facts)
  const contact = contactWith(nodes, row.facts.nodeId)
  const { seenAt, powerKnownAt } = contact
  const key =
    seenAt !== undefined
      ? `${seenAt} ${reader.keyWhenAway}`
      : powerKnownAt !== undefined
        ? `${powerKnownAt} ${reader.keyWhenSilent}`
        : reader.key
  return row.json(key, () => serverRecord(serverRow(tx, id), reader, contact))
}

/** In ms. `seenAt`: undefined while the node is connected. `powerKnownAt`: undefined while it tells what runs. */
type Contact = { seenAt: number | undefined; powerKnownAt: number | undefined }
function contactWith(nodes: AppContext['nodes'], nodeId: string): Contact {
  const seenAt = nodes.lastSeen(nodeId)
  const silent = seenAt === undefined ? nodes.heartbeat(nodeId)?.silent : undefined
  if (!silent?.length) return { seenAt, powerKnownAt: undefined }
  return { seenAt, powerKnownAt: silent.find(({ part }) => part === 'hypervisor')?.since }
}

type ShowContext = Pick<AppContext, 'nodes'> & { tx: Db; actor: Actor }
/** The record of one server, as the actor reads it. */
export const showServer = (call: ShowContext, s: ServerRow) =>
  serverRecord(s, serverReaders(call.tx, call.actor).of(s), contactWith(call.nodes, s.nodeId))

/** Operations that answer the record of a server. */
export const recordResponse = {
  schema: serverResponse,
  of: (call: ShowContext, id: string) => showServer(call, serverRow(call.tx, id)),
}

/** The record: nothing but the row, its reader and the contact with its node decides what it says. */
export function serverRecord(
  s: ServerRow,
  { isStaff, access, locked, actions }: Pick<ServerReader, 'isStaff' | 'access' | 'locked' | 'actions'>,
  { seenAt, powerKnownAt }: Contact,
) {
  const held = (JSON.parse(s.addresses) as HeldAddressJson[]).sort(
    (a, b) => a.version - b.version || b.isPrimary - a.isPrimary || a.isFloating - b.isFloating,
  )
  const ipv4 = held.find((a) => a.version === 4)?.address ?? null
  const prefix = held.find((a) => a.version === 6)
  const ipv6 = prefix ? (prefix.prefixLength === 128 ? prefix.address : guestAddressIn(prefix.address)) : null
  const reachable = ipv4 ?? ipv6
  const status = statusOf(s)
  const deciding = {
    status,
    locked,
    protected: !!s.protected,
    purgeAt: s.purgeAt,
    rescue: !!s.rescue,
    nodeLost: s.nodeLostAt !== null,
  }
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
    storagePool: isStaff ? s.pool : null,
    storageClass: s.storageClass,
    image: s.imageId ? { id: s.imageId, name: s.imageName ?? '' } : null,
    imageChecksum: s.imageId ? s.imageChecksum : null,
    ipv4,
    ipv6,
    addresses: held.map(addressOf),
    sshCommand: reachable && s.imageId && (s.os === 'linux' || s.rescue) ? `ssh root@${reachable}` : null,
    osFamily: s.os,
    user: s.rescue ? 'root' : administratorOf(s.os),
    mac: s.mac,
    vcpus: s.vcpus,
    memoryMb: s.memoryMb,
    diskGb: s.diskGb,
    trafficGb: s.trafficGb,
    portMbps: s.portMbps,
    speed: { ...limitsOf(s), override: overrideOf(s), throttledToMbps: s.throttleMbps },
    diskLimits: {
      readIops: s.diskReadIops,
      writeIops: s.diskWriteIops,
      readMbPerSecond: s.diskReadMbPerSecond,
      writeMbPerSecond: s.diskWriteMbPerSecond,
    },
    job: s.job ? (JSON.parse(s.job) as { id: string; kind: string; progress: number }) : null,
    rescue: !!s.rescue,
    os:
      s.detectedAt === null
        ? null
        : {
            id: s.osId ?? '',
            name: s.osName ?? '',
            version: s.osVersion ?? '',
            kernel: s.kernel ?? '',
            detectedAt: iso(s.detectedAt),
          },
    passwordPending: !!s.passwordPending,
    restartPolicy: s.restartPolicy,
    locked,
    protected: !!s.protected,
    nodeConnected: seenAt === undefined,
    nodeSeenAt: isoOrNull(seenAt ?? null),
    powerKnownAt: isoOrNull(powerKnownAt ?? null),
    allowed: actions.filter((action) => isAllowed(deciding, action)),
    billingServiceId: access === 'own' ? s.billingServiceId : null,
    labels: JSON.parse(s.labels) as string[],
    staffLabels: isStaff ? (JSON.parse(s.staffLabels) as string[]) : null,
    createdAt: iso(s.createdAt),
    terminatedAt: isoOrNull(s.terminatedAt),
    purgeAt: isoOrNull(s.purgeAt),
  }
}

/** One truth for what is routed: it has no gateway, and no neighbours. */
const addressOf = ({ address, prefixLength, version, gateway, isPrimary, isFloating }: HeldAddressJson) =>
  isFloating
    ? { address, prefixLength: version === 4 ? 32 : 128, version, gateway: null, kind: 'floating' as const }
    : { address, prefixLength, version, gateway, kind: isPrimary ? ('primary' as const) : ('extra' as const) }
