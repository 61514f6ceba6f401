// The beginning of a move: in one transaction everything is looked at again, the server gets its record here, with
// account, package, place and addresses, and the job starts. A refusal leaves nothing behind: nothing was touched.
import type { SourceHost } from '../../../../agent/protocol/values/source-hosts.ts'
import type { Hardware } from '../../../../agent/protocol/wire.ts'
import type { Package } from '../../../catalog/packages/model.ts'
import { takenOver } from '../../../compute/server-records/limits.ts'
import { lockOfServer, serverKind } from '../../../compute/server-records/model.ts'
import { insertServer } from '../../../compute/server-records/queries.ts'
import { locationById } from '../../../fleet/locations/queries.ts'
import { capacityRowsIn, nodeById } from '../../../fleet/node-records/queries.ts'
import { changeWorkload, workloadOfService } from '../../../fleet/workloads/queries.ts'
import { insertPlaced, reserve } from '../../../fleet/workloads/reserve.ts'
import { system } from '../../../kernel/api/actor.ts'
import type { AppContext } from '../../../kernel/api/operation.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { devicesFrom } from '../../import-records/checks/devices.ts'
import { checkOf, type ImportCheck } from '../../import-records/checks/queries.ts'
import { hypervisorRows, importServerById } from '../../import-records/inventory/queries.ts'
import type { ImportRecord, ImportServer } from '../../import-records/model.ts'
import {
  changeMove,
  type ImportMove,
  isMovedElsewhere,
  type MovedDrive,
  noteAttempt,
} from '../../import-records/moves/queries.ts'
import { serviceIdOf } from '../../mapping/claims/service-ids.ts'
import { planOf, type ServerPlan } from '../../mapping/plan.ts'
import { sourceHost } from '../../source-access/hosts.ts'
import { CannotMove } from '../failures.ts'
import { adopting } from '../job/adopting.ts'
import { copying } from '../job/copying.ts'
import type { Moving } from '../job/moving.ts'
import { addressesFor, type GivenAddresses } from './addresses.ts'
import { freeHeld } from './holds.ts'
import { ownPlace } from './own-place.ts'
import { accountFor } from './owner.ts'
import { packageFor } from './package.ts'

type At = Pick<AppContext, 'nodes' | 'clock' | 'registry'> & { tx: Tx; target: ImportRecord }

/**
 * Starts the job of a server that waits. Answers the node that takes it. Throws `CannotMove`, and what holding a place
 * refuses, in words for staff; the caller's savepoint takes everything back.
 */
export function beginMove(at: At, move: ImportMove): string {
  const { tx, target, clock } = at
  const now = clock()
  const server = importServerById(tx, move.serverId)!
  const check = checkOf(tx, server.id)
  const planned = planOf({ tx, target }, server)
  const { way } = planned
  if (!check || !way || !server.domain)
    throw new CannotMove('out_of_date', 'The dry run did not look at it. It was not touched.')
  if (isMovedElsewhere(tx, server.identity, target.id))
    throw new CannotMove('moved_by_another', 'Another import moves it, or has moved it. It was not touched.')
  const host = way === 'copy' ? hostFor(tx, target, server) : null
  const drive = driveOf(check)
  const owner = accountFor({ tx, target, now }, server.ownerId)
  const pack = packageFor({ tx, target, now }, server.packageId)
  const place = placeOf(at, planned)
  const addresses = addressesFor({ ...at, ...place, now }, server, planned)
  freeHeld(tx, server)
  const id = newId('srv')
  const nodeId = hold(at, { id, server, check, planned, owner, pack, addresses, place, drive, move, now })
  const input: Moving = {
    ...{ importServerId: server.id, serverId: id, nodeId, host, domain: server.domain },
    drive: { ...sourceDiskOf(drive) },
    isSuspended: server.isSuspended,
    left: addresses.left,
    short: way === 'copy' && move.method === 'short_stop' && drive.backing === null,
  }
  const from = hypervisorRows.find(tx, target.id, server.hypervisorId)?.name ?? server.hypervisorId
  const jobId = startJob(tx, way === 'copy' ? copying : adopting, input, {
    by: system,
    title: `Import ${server.hostname} from ${from}`,
    nodeId,
    now,
    ...lockOfServer(id),
    // Its log names the hypervisor and its commands, which its owner has nothing to do with.
    subject: { type: 'import_server', id: server.id },
  })
  noteAttempt(tx, move, { jobId, workloadId: id, at: now })
  changeMove(tx, server.id, {
    ...{ state: 'moving', way, nodeId, workloadId: id, drive, beganAt: now, whereItRuns: 'source' },
    ...{ failure: null, failureWords: null, failedAt: null, stoppedAt: null, startedAt: null, downtimeMs: null },
    ...{ bytesTotal: null, bytesCopied: null },
  })
  return nodeId
}

function hostFor(tx: Tx, target: ImportRecord, { hypervisorId }: ImportServer): SourceHost {
  const row = hypervisorRows.find(tx, target.id, hypervisorId)
  const host = row && sourceHost(tx, row)
  if (!host)
    throw new CannotMove('hypervisor_without_address', 'The name of its hypervisor leads to no address any more.')
  return host
}

function driveOf({ diskPath, diskFormat, diskHolder, diskBacking, diskBytes, diskBus, nicModel }: ImportCheck) {
  if (!diskPath || !diskHolder || !diskBytes || (diskFormat !== 'raw' && diskFormat !== 'qcow2'))
    throw new CannotMove('out_of_date', 'The dry run has not seen its disk. Run it again. It was not touched.')
  return {
    ...{ path: diskPath, format: diskFormat, holder: diskHolder, virtualBytes: diskBytes, backing: diskBacking },
    ...{ bus: diskBus, nicModel },
  } satisfies MovedDrive
}
const sourceDiskOf = ({ path, format, holder, virtualBytes, backing }: MovedDrive) => ({
  ...{ path, format, holder, virtualBytes, backing },
})

type Place = { locationId: string; nodeIds: readonly string[] }
function placeOf({ tx }: At, { way, nodeId, locationId }: ServerPlan): Place {
  if (way === 'adopt') {
    const node = nodeId === null ? undefined : nodeById(tx, nodeId)
    if (!node) throw new CannotMove('out_of_date', 'No node is its hypervisor any more. It was not touched.')
    return { locationId: node.locationId, nodeIds: [node.id] }
  }
  if (locationId === null) throw new CannotMove('out_of_date', 'The location that was chosen is gone.')
  return { locationId, nodeIds: capacityRowsIn(tx, locationId).map(({ id }) => id) }
}

type Holding = {
  id: string
  server: ImportServer
  check: ImportCheck
  planned: ServerPlan
  owner: { id: string; resellerId: string | null; kind: string }
  pack: Package
  addresses: GivenAddresses
  place: Place
  drive: MovedDrive
  move: ImportMove
  now: number
}
/** Inserts the server with all that it holds; answers its node. */
function hold(at: At, held: Holding): string {
  const { tx, nodes, clock, target } = at
  const { id, server, check, planned, owner, pack, addresses, place, drive, move, now } = held
  const location = locationById(tx, place.locationId)
  if (!location) throw new CannotMove('out_of_date', 'The location that was chosen is gone. It was not touched.')
  const { mac } = check
  if (!mac) throw new CannotMove('out_of_date', 'The dry run has not seen its network card. It was not touched.')
  const order = {
    ...{ kind: serverKind, id, location, hostname: hostnameOf(server), name: undefined },
    owner: { id: owner.id, resellerId: owner.kind === 'reseller' ? owner.id : owner.resellerId },
    held: {
      ...pack,
      ipv4: addresses.newIpv4 + addresses.kept.filter((one) => !one.includes(':')).length,
      ipv6Prefix: null,
    },
    lifecycle: 'provisioning' as const,
    identity: { mac, addresses: addresses.kept },
  }
  const reserved =
    planned.way === 'adopt'
      ? insertPlaced(tx, ownPlace(tx, { locationId: place.locationId, nodeId: place.nodeIds[0]! }, drive), order, now)
      : reserve(tx, { nodes, clock }, { ...order, nodeId: move.wantedNodeId, namesNodes: true })
  const { node, pool } = reserved
  insertServer(tx, {
    id,
    ...takenOver(pack, pool),
    // A file keeps its format; a volume has none.
    ...(planned.way === 'adopt' && !/^(lvm|zfs)/.test(pool.kind) && { format: drive.format }),
    ...hardwareOf(check),
    imageId: null,
    cpuModel: location.cpuModel,
  })
  const billingServiceId = serviceIdOf(target, server)
  if (billingServiceId !== null) {
    const holder = workloadOfService(tx, order.owner.resellerId, billingServiceId, id)
    if (holder)
      throw new CannotMove('billing_service_taken', `${holder.hostname} has its billing id ${billingServiceId} here.`)
    changeWorkload(tx, id, { billingServiceId })
  }
  return node.id
}

/** Letters, numbers, hyphens and dots, as the panel has it; others have none here. */
const hostnameOf = ({ hostname }: ImportServer): string | undefined => {
  const whole = hostname.toLowerCase().replace(/[^a-z0-9.-]+/g, '-')
  const labels = whole.split('.').map((label) => label.slice(0, 63).replace(/^-+|-+$/g, ''))
  return labels.filter(Boolean).join('.').slice(0, 253) || undefined
}

/** The machine with which its system was installed. One without a card gets the usual one. */
const hardwareOf = ({ machine, diskBus, mac, nicModel }: ImportCheck): Hardware => ({
  ...{ firmware: 'bios', tpm: false, os: 'linux' },
  machine: machine?.includes('q35') ? 'q35' : 'pc',
  ...devicesFrom({ diskBus, nicModel: mac === null ? 'virtio' : nicModel }),
})
