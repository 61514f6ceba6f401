// The records of servers: rows, counts, and the SQL text by which others join them.
import { auditTargetOf, fromWorkloads, workloadReference } from '../../fleet/workloads/queries.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { inserting, updating } from '../../kernel/db/rows.ts'
import { openJobJson } from '../../kernel/jobs/queries.ts'
import { servers } from './tables.ts'

export const serverReference = reference(servers, [
  'trafficGb',
  'portMbps',
  'protected',
  'rescue',
  'pendingPasswordHash',
  'pendingSeed',
  'os',
  'speedInMbps',
  'speedOutMbps',
  'speedCpuPercent',
  'throttleMbps',
  'diskReadIops',
  'diskWriteIops',
  'diskReadMbPerSecond',
  'diskWriteMbPerSecond',
  'packageId',
  'imageId',
  'imageChecksum',
  'cpuModel',
  'cpuPending',
])

/** Behind what it is read from: the servers `s` of the package with this id (SQL), by id, and their workloads `w`. */
export const serversInOrderOf = (packageId: string) =>
  `CROSS JOIN servers s INDEXED BY servers_package ON s.package_id = ${packageId}
   ${workloadReference.crossJoin('w', 's.id')}`

export const serverTarget: AuditTarget = { ...auditTargetOf('srv'), scope: 'servers:read' }

export const insertServer = inserting(servers)
/** Changes what only servers have; their workload is changed through the feature workloads. */
export const updateServer = updating(servers, servers.id)

// Kept by triggers (0079_totals.sql): over the rows of 60,000 servers each takes 45 ms.
const counts = prepared(({ $client }) => {
  const where = (condition: string) =>
    $client.prepare<{ n: number }, string[]>(
      `SELECT coalesce(sum(servers), 0) AS n FROM server_counts WHERE ${condition}`,
    )
  return {
    withPackage: where('package_id = +?'),
    withImage: where('image_id = +?'),
    ofBuild: where('image_id = +? AND image_checksum = +?'),
  }
})
const inDrives = prepared(({ $client }) =>
  $client.prepare<{ n: number }, [string]>(
    `SELECT count(*) AS n ${fromWorkloads} JOIN servers s ON s.id = w.id
     WHERE s.iso_id = +? AND w.released_at IS NULL`,
  ),
)
/** Servers with the ISO in their drive, those among them that can be brought back too. */
export const serversWithIso = (tx: Db, isoId: string): number => inDrives(tx).get(isoId)!.n
export const serversWithPackage = (tx: Db, packageId: string): number => counts(tx).withPackage.get(packageId)!.n
const ofOwner = prepared(({ $client }) =>
  $client.prepare<{ packageId: string; n: number }, [string]>(
    `SELECT s.package_id AS packageId, count(*) AS n ${fromWorkloads} JOIN servers s ON s.id = w.id
     WHERE w.owner_id = +? AND w.terminated_at IS NULL GROUP BY s.package_id`,
  ),
)
/** The packages of the servers that an account itself has, each with the number of servers. */
const idsOf = prepared(({ $client }) =>
  $client.prepare<{ id: string }, [string, number]>(
    `SELECT w.id ${fromWorkloads} JOIN servers s ON s.id = w.id
     WHERE w.owner_id = +? AND w.terminated_at IS NULL ORDER BY w.hostname LIMIT +?`,
  ),
)
/** The ids of the servers of this owner that are there, by hostname. */
export const serverIdsOf = (tx: Db, ownerId: string, most: number): string[] =>
  idsOf(tx)
    .all(ownerId, most)
    .map(({ id }) => id)
export const packagesOfOwner = (tx: Db, ownerId: string) => ofOwner(tx).all(ownerId)
const withPackage = prepared(({ $client }) =>
  $client.prepare<{ id: string }, [string]>(
    `SELECT w.id ${fromWorkloads} JOIN servers s ON s.id = w.id WHERE s.package_id = +? AND w.released_at IS NULL`,
  ),
)
/** The servers of a package, those among them that can be brought back too. */
export const idsWithPackage = (tx: Db, packageId: string): string[] =>
  withPackage(tx)
    .all(packageId)
    .map(({ id }) => id)
export const serversWithImage = (tx: Db, imageId: string): number => counts(tx).withImage.get(imageId)!.n
export const serversOfBuild = (tx: Db, imageId: string, checksum: string): number =>
  counts(tx).ofBuild.get(imageId, checksum)!.n

const speeds = prepared(({ $client }) => ({
  throttledBefore: $client.prepare<{ id: string }, [string, number]>(
    'SELECT id FROM servers WHERE throttle_month < ? LIMIT ?',
  ),
  untold: $client.prepare<{ id: string }, [number]>(
    `SELECT id FROM servers WHERE speed_untold = 1 AND ${openJobJson('servers.id')} IS NULL LIMIT ?`,
  ),
}))
/** Servers that are slowed down for the traffic of a month before this one. */
export const throttledBefore = (tx: Db, month: string, most: number): string[] =>
  speeds(tx)
    .throttledBefore.all(month, most)
    .map(({ id }) => id)
/** Servers whose speed their node does not know yet. */
export const untoldSpeeds = (tx: Db, most: number): string[] =>
  speeds(tx)
    .untold.all(most)
    .map(({ id }) => id)
