// A server: its row, the resource by which operations find it, and what events say of it.
import { Type as t } from 'typebox'
import { packageById } from '../../catalog/packages/queries.ts'
import { locationById } from '../../fleet/locations/queries.ts'
import { lockOf, type WorkloadKind } from '../../fleet/workloads/kind.ts'
import { type Deciding, rowsOf, type WorkloadRow } from '../../fleet/workloads/queries.ts'
import { customerInEvent } from '../../identity/accounts/model.ts'
import { accountById } from '../../identity/accounts/queries.ts'
import { decidingResource, workloadResource } from '../../identity/team/access.ts'
import { described, namedSchema, nullable, type Resource } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { NewJob } from '../../kernel/jobs/start.ts'
import { primaryIpv4 } from '../../network/ip-pools/allocate.ts'
import { toNumber, toText } from '../../network/ip-pools/ranges.ts'
import { servers } from './tables.ts'

/** The response of operations that may start a job for a server. */
export const jobResponse = namedSchema('JobStarted', {
  jobId: described(nullable(t.String()), 'The job that was started; null where there is no work for a node.'),
  serverId: t.String(),
})

export const serverKind: WorkloadKind = {
  kind: 'server',
  idPrefix: 'srv',
  words: { one: 'server', many: 'servers' },
  busy: 'server_busy',
}

export type Server = WorkloadRow<typeof servers>

export const serverById = rowsOf(servers)
/** For sagas: the row behind a job's input, which is never deleted. */
export const load = (tx: Db, id: string): Server => serverById(tx, id)!

export const server: Resource<Server> = {
  name: 'server',
  notFound: 'server_not_found',
  ...workloadResource(serverById),
}
/** The same for a read that takes its own columns: no more than what decides who sees it. */
export const seenServer: Resource<Deciding> = { ...server, ...decidingResource(serverKind.kind) }

/** Fields that every job about a server has: it takes the server's lock, and its subject is the server. */
export const serverJob = (
  { id, nodeId }: Pick<Server, 'id' | 'nodeId'>,
  { by, title, now }: Pick<NewJob, 'by' | 'title' | 'now'>,
): NewJob => ({ by, title, now, nodeId, ...lockOf(serverKind, id) })

/** The guest's own address in its IPv6 prefix is the first one. */
export const guestIpv6 = (prefix: string) =>
  prefix.endsWith('::') ? `${prefix}1` : toText(6, toNumber(prefix)!.n + 1n)

/** Server and customer as every server event carries them, and the accounts it concerns. */
export function inEvent(tx: Db, it: Server) {
  const owner = accountById(tx, it.ownerId)!
  const ipv4 = primaryIpv4(tx, it.id)
  return {
    concerning: {
      subject: { type: serverKind.kind, id: it.id },
      customerId: it.ownerId,
      resellerId: it.resellerId,
    },
    data: {
      server: {
        id: it.id,
        hostname: it.hostname,
        status: it.status,
        package: packageById(tx, it.packageId)?.name ?? '',
        location: locationById(tx, it.locationId)?.name ?? '',
        ipv4,
        billingServiceId: it.billingServiceId,
      },
      customer: customerInEvent(owner),
    },
  }
}
