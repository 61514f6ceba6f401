// What other features read of servers. Terminated servers are not counted.
import { type Db, prepared } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { LIKE, type Where } from '../../kernel/db/rows.ts'
import { addressContains, addressCount, addressesText } from '../../network/ip-pools/queries.ts'
import type { AuditTarget } from '../../platform/audit/target.ts'
import { servers } from './tables.ts'

export const serverReference = reference(servers, ['hostname', 'nodeId', 'ownerId', 'resellerId', 'terminatedAt'])
export const serverTarget: AuditTarget = {
  prefix: 'srv',
  name: (id) => serverReference.value('hostname', id),
  providerId: (id) => serverReference.value('resellerId', id),
  isGone: (id) => `(SELECT terminated_at IS NOT NULL FROM servers WHERE id = ${id})`,
}

// ---------------------------------------------------------------- SQL text for the queries of others
/** The ids of the servers that an account has or cares for, terminated ones too; two parameters, both the account. */
export const serverIdsOf = 'SELECT id FROM servers WHERE owner_id = ? OR reseller_id = ?'

// ---------------------------------------------------------------- queries
const counts = prepared(({ $client }) => {
  const where = (column: string) =>
    $client.prepare<{ n: number }, [string]>(
      `SELECT count(*) AS n FROM servers WHERE ${column} = ? AND terminated_at IS NULL`,
    )
  return { ofOwner: where('owner_id'), withPackage: where('package_id'), withImage: where('image_id') }
})
export const serversOfOwner = (tx: Db, ownerId: string): number => counts(tx).ofOwner.get(ownerId)!.n
export const serversWithPackage = (tx: Db, packageId: string): number => counts(tx).withPackage.get(packageId)!.n
export const serversWithImage = (tx: Db, imageId: string): number => counts(tx).withImage.get(imageId)!.n

type Held = { servers: number; vcpus: number; memoryMb: number; diskGb: number; ipv4: number }
const held = prepared(({ $client }) =>
  $client.prepare<Held, [string]>(
    `SELECT count(*) AS servers, coalesce(sum(s.vcpus), 0) AS vcpus, coalesce(sum(s.memory_mb), 0) AS memoryMb,
      coalesce(sum(s.disk_gb), 0) AS diskGb, coalesce(sum(${addressCount('s.id', 4)}), 0) AS ipv4
     FROM servers s WHERE (s.reseller_id = ?1 OR s.owner_id = ?1) AND s.terminated_at IS NULL`,
  ),
)
/** What the servers of a reseller and of its customers hold together. */
export const heldUnder = (tx: Db, resellerId: string): Held => held(tx).get(resellerId)!

/** How many of the servers of which `where` is true are in which state; `where` is over `servers s`, such as `visible`. */
export const countByStatus = (tx: Db, { where, values }: Where): Record<string, number> =>
  Object.fromEntries(
    tx.$client
      .query<{ status: string; n: number }, string[]>(
        `SELECT s.status, count(*) AS n FROM servers s WHERE ${where} AND s.terminated_at IS NULL GROUP BY s.status`,
      )
      .all(...values)
      .map(({ status, n }) => [status, n]),
  )

/** For queries that ask about all servers. */
export const everyServer: Where = { where: '1', values: [] }

const IS_SET_UP = "s.status NOT IN ('pending_setup', 'provisioning', 'failed')"
const first = (tx: Db, { where, values }: Where, more: string) =>
  tx.$client
    .query<{ id: string }, string[]>(`SELECT s.id FROM servers s WHERE ${where} AND ${more} ORDER BY s.id LIMIT 1`)
    .get(...values)?.id
/** Has any of these servers ever been installed? */
export const isAnySetUp = (tx: Db, where: Where): boolean => first(tx, where, IS_SET_UP) !== undefined
/** The id of the oldest of these servers that waits for its owner to set it up. */
export const firstToSetUp = (tx: Db, where: Where): string | undefined => first(tx, where, "s.status = 'pending_setup'")

type Found = { id: string; title: string; detail: string | null }
/** Servers with this in their name, hostname or address, or with this id, the newest first; `part` is `partOf(id)`. */
export const searchServers = (tx: Db, { where, values }: Where, part: string, id: string, limit: number): Found[] =>
  tx.$client
    .query<Found, (string | number)[]>(
      `SELECT s.id, s.hostname AS title, ${addressesText('s.id')} AS detail FROM servers s
       WHERE ${where} AND s.terminated_at IS NULL
         AND (s.hostname ${LIKE} OR s.name ${LIKE} OR s.id = ? OR ${addressContains('s.id')}) ORDER BY s.id DESC LIMIT ?`,
    )
    .all(...values, part, part, id, part, limit)
