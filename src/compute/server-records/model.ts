// A server: its row, the resource by which operations find it, and what events say of it.
import { Type as t } from 'typebox'
import { packageById } from '../../catalog/packages/queries.ts'
import { locationOf, locationReferred } from '../../fleet/locations/reference.ts'
import { lockOf, type WorkloadKind } from '../../fleet/workloads/kind.ts'
import { rowsOf, type VisibleWorkload, type WorkloadRow } from '../../fleet/workloads/queries.ts'
import { statusOf } from '../../fleet/workloads/status.ts'
import { customerInEvent } from '../../identity/account-records/model.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { canSeeEnded, visibleResource, workloadResource } from '../../identity/team/access.ts'
import { described, namedSchema, nullable, type Resource } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Subject } from '../../kernel/jobs/saga.ts'
import type { NewJob } from '../../kernel/jobs/start.ts'
import { addressesOf, isOwn, primaryIpv4 } from '../../network/ip-pools/allocate.ts'
import { type RescueSystem, servers } from './tables.ts'

export type { RescueSystem }

/** The response of operations that may start a job for a server. */
export const jobResponse = namedSchema('JobStarted', {
  jobId: described(nullable(t.String()), 'The job that was started; null where there is no work for a node.'),
  serverId: t.String(),
})
export const jobDetailResponse = {
  schema: jobResponse,
  of: (serverId: string, jobId: string | null) => ({ jobId, serverId }),
}

export const serverKind: WorkloadKind = {
  kind: 'server',
  idPrefix: 'srv',
  words: { one: 'server', many: 'servers' },
  busy: 'server_busy',
}

export type Server = WorkloadRow<typeof servers>

export const serverById = rowsOf(servers, statusOf)
/** For sagas: the row behind a job's input, which is never deleted. */
export const load = (tx: Db, id: string): Server => serverById(tx, id)!

export const server: Resource<Server> = {
  name: 'server',
  notFound: 'server_not_found',
  ...workloadResource(serverById),
}
/** The same with the terminated ones that their owner and provider see while they can be brought back. */
export const endedServer: Resource<Server> = { ...server, ...workloadResource(serverById, canSeeEnded) }
/** The same for the read of its record: no more than what decides who sees it, and the version of the record. */
export const visibleServer: Resource<VisibleWorkload> = { ...server, ...visibleResource(serverKind.kind, canSeeEnded) }

/** Fields that every job about a server has: it takes the server's lock, and its subject is the server. */
export const serverJob = (
  { id, nodeId }: Pick<Server, 'id' | 'nodeId'>,
  { by, title, now, parentId }: Pick<NewJob, 'by' | 'title' | 'now' | 'parentId'>,
): NewJob & { subject: Subject } => ({ by, title, now, parentId, nodeId, ...lockOf(serverKind, id) })

/** The lock and subject of jobs about the server of this id. */
export const lockOfServer = (id: string) => lockOf(serverKind, id)

/**
 * The subject of a job about a thing of this account that outlives the server, such as a backup. Another owner of the
 * server sees nothing of it, and nobody but staff sees jobs of a terminated one: then it is a job of the account.
 */
export function subjectOfOwner(tx: Db, serverId: string, ownerId: string): Subject {
  const { id, lifecycle, ownerId: present } = load(tx, serverId)
  const isShownThere = present === ownerId && lifecycle !== 'terminated'
  return isShownThere ? { type: serverKind.kind, id } : { type: 'account', id: ownerId }
}

/** A server as events carry it. */
export const serverData = namedSchema('EventServer', {
  id: t.String(),
  hostname: t.String(),
  status: t.String(),
  package: t.String(),
  location: locationReferred,
  ipv4: nullable(t.String()),
  billingServiceId: nullable(t.String()),
})

/** The amounts that it takes of a reseller's quotas beside being a server. A floating address counts for its owner. */
export const heldResources = (tx: Db, { id, vcpus, memoryMb, diskGb, gpus }: Server) => ({
  vcpus,
  memoryMb,
  diskGb,
  gpus,
  ipv4: addressesOf(tx, id).filter((held) => held.version === 4 && isOwn(held)).length,
})

/** Server and customer as every server event carries them, and the accounts it concerns. */
export function inEvent(tx: Db, server: Server) {
  const owner = accountById(tx, server.ownerId)!
  const ipv4 = primaryIpv4(tx, server.id)
  return {
    concerning: {
      subject: { type: serverKind.kind, id: server.id },
      customerId: server.ownerId,
      resellerId: server.resellerId,
    },
    data: {
      server: {
        id: server.id,
        hostname: server.hostname,
        status: server.status,
        package: packageById(tx, server.packageId)?.name ?? '',
        location: locationOf(tx, server),
        ipv4,
        billingServiceId: server.billingServiceId,
      },
      customer: customerInEvent(owner),
    },
  }
}
