import { Type as t } from 'typebox'
import { Facts, PoolCapacity, type SilentPart, silentParts } from '../../../agent/protocol/wire.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { type AppContext, described, fields, line, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull, second } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { VERSION } from '../../kernel/version.ts'
import { count, list } from '../../kernel/words.ts'
import { isAwaited } from '../../network/ip-pools/awaited.ts'
import { claimedPlaces } from '../../network/ip-pools/claims.ts'
import { locationOf, locationReferred } from '../locations/reference.ts'
import type { Node } from '../node-records/model.ts'
import { capacityOf } from '../placement/capacity.ts'
import { volumesHeldOn } from '../volume-records/queries.ts'
import { listedOn } from '../workloads/queries.ts'
import { workloadsOn } from '../workloads/stays/queries.ts'

/** A node that comes back at once is nothing to tell. */
export const AWAY_SHOWN_MS = 30 * second

/** The parts of a connected node that may not answer: what that means, and the next step. */
export const partWords: Record<SilentPart, { name: string; effect: string; remedy: string }> = {
  hypervisor: {
    name: 'libvirt',
    effect: 'Its servers go on as they are, with the power that was last known, and cannot be changed.',
    remedy:
      'Run systemctl status libvirtd on it (without systemd: /usr/local/lib/berth/services status libvirtd), and ' +
      'restart libvirtd if it hangs: servers run on.',
  },
  containers: {
    name: 'the container engine',
    effect: 'Its GPU instances go on as they are, with the state that was last known, and cannot be changed.',
    remedy:
      'Run systemctl status berth-containers on it (without systemd: podman info), and restart that if it ' +
      'hangs: instances run on.',
  },
}

// The time of a silence is told as every other one.
const { silentSince: _, ...poolFigures } = PoolCapacity.properties

export const nodeResponse = namedSchema('Node', {
  id: t.String(),
  name: t.String(),
  location: locationReferred,
  connected: t.Boolean(),
  reconnecting: described(t.Boolean(), 'Expected back within a minute.'),
  connectedAt: nullable(time),
  seenAt: time,
  skewMs: described(t.Integer(), "How far its clock is from the controller's."),
  silent: described(
    t.Array(namedSchema('SilentPart', { part: t.Enum(silentParts), since: time, why: t.String() })),
    'Its parts that do not answer although it is connected: its servers have the power that was last known.',
  ),
  open: described(t.Boolean(), 'It takes new servers.'),
  closedAt: described(nullable(time), 'Since when it takes none; null while it is open, and where nobody knows.'),
  closedReason: described(nullable(t.String()), 'In the words of who closed it.'),
  lostAt: described(
    nullable(time),
    'Declared lost: its servers have failed, and it is refused until it is enrolled again.',
  ),
  credentialRevokedAt: described(nullable(time), 'It is refused until its credential is renewed.'),
  bridge: t.String(),
  agentVersion: t.String(),
  agentUpdatedBy: described(
    nullable(t.Enum(['itself', 'package', 'hand'])),
    'itself: by a roll-out. package: with apt. hand: by an operator. Null: it is an early agent, updated by hand.',
  ),
  agentOutdated: t.Boolean(),
  fake: described(t.Boolean(), 'A simulated host.'),
  virtualisation: Facts.properties.virtualisation,
  servers: t.Integer(),
  threads: t.Integer(),
  memoryMb: t.Integer(),
  reservedMemoryMb: described(t.Integer(), 'Kept for the host itself.'),
  heldMemoryMb: t.Integer(),
  diskGb: described(t.Integer(), 'Of all its storage pools together.'),
  heldDiskGb: described(t.Integer(), 'Promised to servers.'),
  freeDiskGb: described(t.Integer(), 'Left for orders in all pools together; 5 % of each stays in reserve.'),
  storagePools: t.Array(
    namedSchema('PoolOfNode', {
      id: t.String(),
      name: t.String(),
      class: nullable(t.String()),
      open: t.Boolean(),
      freeDiskGb: described(t.Integer(), 'The largest disk that fits.'),
    }),
  ),
  differences: described(t.Integer(), 'Between what should be on it and what is.'),
  awaited: described(
    t.Boolean(),
    'It has not told which addresses are in use on it since the database was restored: until then the pools that it ' +
      'routes give none.',
  ),
  load: described(
    nullable(
      namedSchema('NodeLoad', {
        at: time,
        cpuPercent: t.Number(),
        load1: t.Number(),
        memoryFreeMb: t.Integer(),
        pools: t.Array(namedSchema('StoragePool', { ...poolFigures, silentSince: t.Optional(time) })),
      }),
    ),
    'Measured at `at`: now, or, while the node is away, the last time; null before the first since the controller ' +
      'started.',
  ),
})

export function showNode({ tx, nodes }: Pick<AppContext, 'nodes'> & { tx: Db; actor: Actor }, node: Node) {
  const capacity = capacityOf(tx, node.id)
  const connected = nodes.connected(node.id)
  const last = nodes.heartbeat(node.id)
  const beat = connected ? last : undefined
  const { facts } = node
  return {
    id: node.id,
    name: node.name,
    location: locationOf(tx, node),
    connected,
    reconnecting: nodes.isReconnecting(node.id),
    connectedAt: isoOrNull(node.connectedAt),
    seenAt: iso(beat?.at ?? node.seenAt),
    skewMs: node.skewMs,
    silent: (beat?.silent ?? []).map((silence) => ({ ...silence, since: iso(silence.since) })),
    open: node.open,
    closedAt: isoOrNull(node.closedAt),
    closedReason: node.closedReason,
    lostAt: isoOrNull(node.lostAt),
    credentialRevokedAt: isoOrNull(node.credentialRevokedAt),
    bridge: node.bridge,
    agentVersion: facts.agentVersion,
    agentUpdatedBy: facts.updatedBy ?? null,
    agentOutdated: facts.agentVersion !== VERSION,
    fake: facts.fake,
    virtualisation: facts.virtualisation,
    servers: listedOn(tx, node.id),
    threads: node.threads,
    memoryMb: node.memoryMb,
    reservedMemoryMb: node.reservedMemoryMb,
    heldMemoryMb: capacity.heldMemoryMb,
    diskGb: capacity.diskGb,
    heldDiskGb: capacity.heldDiskGb,
    freeDiskGb: capacity.freeDiskGb,
    storagePools: capacity.pools.map((pool) => ({
      id: pool.id,
      name: pool.name,
      class: pool.class,
      open: pool.open,
      freeDiskGb: pool.freeDiskGb,
    })),
    differences: node.differences.length + claimedPlaces(tx, node.id),
    awaited: isAwaited(tx, node.id),
    load: last
      ? {
          at: iso(last.at),
          cpuPercent: last.cpuPercent,
          load1: last.load1,
          memoryFreeMb: last.memoryFreeMb,
          pools: last.pools.map(({ silentSince, ...pool }) => ({
            ...pool,
            ...(silentSince !== undefined && { silentSince: iso(silentSince) }),
          })),
        }
      : null,
  }
}

// ---------------------------------------------------------------- what is on it, when it goes
/** As many workloads are listed where a node is removed or lost; the count says how many there are. */
export const MOST_LISTED = 200
const workload = t.Object({ id: t.String(), hostname: t.String() })
export const workloadList = namedSchema('WorkloadsOfNode', {
  workloads: described(t.Array(workload), `The first ${MOST_LISTED}.`),
  count: t.Integer(),
})
export const listed = ({ id, hostname }: { id: string; hostname: string }) => ({ id, hostname })
/** The workloads for which the node holds something for somebody; a terminated one only has to be deleted there. */
export const heldBy = (tx: Db, nodeId: string) => workloadsOn(tx, nodeId).filter((held) => held.terminatedAt === null)
/** The workloads whose disks on the node are still wanted: also the terminated ones that can be brought back. */
export const wantedOn = (tx: Db, nodeId: string) =>
  workloadsOn(tx, nodeId).filter(({ terminatedAt, purgeAt }) => terminatedAt === null || purgeAt !== null)

/** The workloads whose termination waits for a second person, who may bring them back. */
const heldByBrake = (tx: Db, nodeId: string) => workloadsOn(tx, nodeId).filter(({ purgeHeld }) => purgeHeld)
/** How much on the node waits for a second person: `2 terminations and the loss of 1 extra volume wait`. */
export function heldOn(tx: Db, nodeId: string): { n: number; words: string } {
  const [ended, volumes] = [heldByBrake(tx, nodeId).length, volumesHeldOn(tx, nodeId).length]
  const n = ended + volumes
  const parts = [
    ...(ended ? [count(ended, 'termination', 'terminations')] : []),
    ...(volumes ? [`the loss of ${count(volumes, 'extra volume', 'extra volumes')}`] : []),
  ]
  return { n, words: `${list(parts)} ${n === 1 || !ended ? 'waits' : 'wait'}` }
}
/** Throws `node_held`: without the node a refusal could not bring anything back. */
export function mustWaitForNobody(tx: Db, { id, name }: Node) {
  const { n, words } = heldOn(tx, id)
  if (n)
    throw new ApiError(
      'node_held',
      `On ${name} ${words} for a second person, who may refuse it. Let somebody decide first, on the page Brake.`,
      { workloads: heldByBrake(tx, id).slice(0, MOST_LISTED).map(listed) },
    )
}

export const confirmedName = fields({ name: described(line(60), 'The name of the node, typed to confirm.') })
/** Throws `validation_failed`. */
export function mustBeTyped({ name }: Node, typed: string) {
  if (typed !== name) throw invalid({ field: 'name', message: `must be ${name}, typed to confirm.` })
}
