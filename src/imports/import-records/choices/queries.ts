// The statements about what is decided: its effect on each server, and what is left to decide.
import { eq, type SQL, sql } from 'drizzle-orm'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { type Part, type ServerFilter, serverCondition } from '../inventory/queries.ts'
import {
  importChanges,
  importHypervisors,
  importOwners,
  importPackages,
  importRanges,
  importServers,
  type OwnerConflict,
} from '../tables.ts'

/** Does the server get new IPv4 addresses? Only a copy does, and it loses its IPv6 addresses. */
const isReaddressed = `h.choice = 'copy' AND EXISTS (SELECT 1 FROM import_addresses a4
  JOIN import_ranges r4 ON r4.import_id = a4.import_id AND r4.source_id = a4.range_id
  WHERE a4.server_id = s.id AND a4.version = 4 AND r4.choice = 'new')`
const parents = `JOIN import_hypervisors h ON h.import_id = s.import_id AND h.source_id = s.hypervisor_id
  JOIN import_packages p ON p.import_id = s.import_id AND p.source_id = s.package_id
  JOIN import_owners o ON o.import_id = s.import_id AND o.source_id = s.owner_id`
/** The states in which decisions still count. */
const open = "s.state IN ('waiting', 'left_out', 'ready')"
const listed = 'SELECT value FROM json_each(?2)'
const settling = (scope: string) => `UPDATE import_servers SET left_out_by = v.leaver, undecided = v.undecided,
    state = iif(v.leaver IS NULL, iif(import_servers.state = 'left_out', 'waiting', import_servers.state), 'left_out'),
    address_conflict = iif(v.leaver IS NULL, import_servers.address_conflict, NULL),
    claim_conflict = iif(v.leaver IS NULL, import_servers.claim_conflict, NULL)
  FROM (SELECT s.id,
      CASE WHEN s.is_left_out = 1 THEN 'server' WHEN h.choice = 'leave_out' THEN 'hypervisor'
        WHEN p.choice = 'leave_out' THEN 'package'
        WHEN EXISTS (SELECT 1 FROM import_addresses a
          JOIN import_ranges r ON r.import_id = a.import_id AND r.source_id = a.range_id
          WHERE a.server_id = s.id AND r.choice = 'leave_out') THEN 'range'
        WHEN o.choice = 'leave_out' THEN 'owner' END AS leaver,
      (h.choice IS NULL) + (p.choice IS NULL) + (o.choice IS NULL)
        + (SELECT count(DISTINCT a.range_id) FROM import_addresses a
           JOIN import_ranges r ON r.import_id = a.import_id AND r.source_id = a.range_id
           WHERE a.server_id = s.id AND r.choice IS NULL AND NOT (a.version = 6 AND ${isReaddressed})) AS undecided
    FROM import_servers s ${parents} WHERE s.import_id = ?1 AND ${open} ${scope}) v
  WHERE import_servers.id = v.id`

type Left = { part: Part; rows: number; servers: number }
/** Rows without a choice that a server needs, and how many servers that are. */
const left = (part: Part, table: string, column: string) => `SELECT '${part}' AS part, count(*) AS rows,
    coalesce(sum(n), 0) AS servers FROM (SELECT
      (SELECT count(*) FROM import_servers s WHERE s.import_id = t.import_id AND s.${column} = t.source_id
        AND s.state IN ('waiting', 'ready')) AS n
    FROM ${table} t WHERE t.import_id = ?1 AND t.choice IS NULL) WHERE n > 0`

const keptAddress = `SELECT s.id AS serverId, s.hostname, s.workload_id AS workloadId, a.address, a.version,
    a.prefix_length AS prefixLength, h.choice AS way,
    h.source_id AS hypervisorId, h.location_id AS locationId, r.choice AS choice
  FROM import_servers s ${parents}
  JOIN import_addresses a ON a.server_id = s.id
  JOIN import_ranges r ON r.import_id = a.import_id AND r.source_id = a.range_id
  WHERE s.import_id = ?1 AND s.state IN ('waiting', 'ready', 'failed', 'rolled_back') AND s.id > ?2
    AND (h.choice = 'adopt' OR (r.choice IN ('keep', 'pool') AND NOT (a.version = 6 AND ${isReaddressed})))
  ORDER BY s.id, a.address LIMIT ?3`
export type KeptAddress = {
  serverId: string
  hostname: string
  workloadId: string | null
  address: string
  version: 4 | 6
  prefixLength: number | null
  way: 'copy' | 'adopt'
  hypervisorId: string
  /** Of a copy. */
  locationId: string | null
  choice: 'keep' | 'pool' | 'new' | null
}

/** Still to come, as things are decided. */
const comes = "state IN ('waiting', 'ready', 'failed', 'rolled_back')"
/** The columns of a server that something here stands against. */
const hasConflict = '(address_conflict IS NOT NULL OR claim_conflict IS NOT NULL)'
export type Coming = {
  id: string
  hostname: string
  sourceId: string
  billingId: string
  hasBillingId: 0 | 1
  ownerId: string
  workloadId: string | null
}
type SizesOfOwner = { ownerId: string; packageId: string; servers: number; ipv4: number }

type Becomes = { key: string | null; locationId: string | null; servers: number; diskGb: number; memoryMb: number }
const statements = prepared(({ $client }) => ({
  settleAll: $client.prepare<unknown, [string]>(settling('')),
  settleThese: $client.prepare<unknown, [string, string]>(settling(`AND s.id IN (${listed})`)),
  settlePackages: $client.prepare<unknown, [string, string]>(settling(`AND s.package_id IN (${listed})`)),
  settleHypervisors: $client.prepare<unknown, [string, string]>(settling(`AND s.hypervisor_id IN (${listed})`)),
  settleOwners: $client.prepare<unknown, [string, string]>(settling(`AND s.owner_id IN (${listed})`)),
  settleRanges: $client.prepare<unknown, [string, string]>(
    settling(`AND s.id IN (SELECT server_id FROM import_addresses WHERE import_id = ?1 AND range_id IN (${listed}))`),
  ),
  left: $client.prepare<Left, [string]>(
    [
      left('packages', 'import_packages', 'package_id'),
      left('hypervisors', 'import_hypervisors', 'hypervisor_id'),
      left('owners', 'import_owners', 'owner_id'),
      `SELECT 'ranges' AS part, count(DISTINCT t.source_id) AS rows, count(DISTINCT s.id) AS servers
       FROM import_ranges t JOIN import_addresses a ON a.import_id = t.import_id AND a.range_id = t.source_id
       JOIN import_servers s ON s.id = a.server_id AND s.state IN ('waiting', 'ready') AND s.undecided > 0
       JOIN import_hypervisors h ON h.import_id = s.import_id AND h.source_id = s.hypervisor_id
       WHERE t.import_id = ?1 AND t.choice IS NULL AND NOT (a.version = 6 AND ${isReaddressed})`,
    ].join(' UNION ALL '),
  ),
  kept: $client.prepare<KeptAddress, [string, string, number]>(keptAddress),
  keptOf: $client.prepare<KeptAddress, [string, string]>(
    keptAddress
      .replace('s.id > ?2', 's.id = ?2')
      .replace("AND s.state IN ('waiting', 'ready', 'failed', 'rolled_back')", '')
      .replace(' LIMIT ?3', ''),
  ),
  conflict: $client.prepare<unknown, [string | null, string | null, string]>(
    `UPDATE import_servers SET address_conflict = ?1, claim_conflict = ?2
     WHERE id = ?3 AND (address_conflict IS NOT ?1 OR claim_conflict IS NOT ?2)`,
  ),
  conflicting: $client.prepare<{ id: string }, [string]>(
    `SELECT id FROM import_servers WHERE import_id = ? AND ${hasConflict}`,
  ),
  coming: $client.prepare<Coming, [string, string, number]>(
    `SELECT id, hostname, source_id AS sourceId, billing_id AS billingId, has_billing_id AS hasBillingId,
       owner_id AS ownerId, workload_id AS workloadId FROM import_servers
     WHERE import_id = ? AND id > ? AND ${comes} ORDER BY id LIMIT ?`,
  ),
  // Owners whose servers count in a quota have an account, a reseller, or another owner's account.
  sizes: $client.prepare<SizesOfOwner, [string]>(
    `SELECT o.source_id AS ownerId, s.package_id AS packageId, count(*) AS servers, sum((SELECT count(*)
       FROM import_addresses a WHERE a.server_id = s.id AND a.version = 4)) AS ipv4
     FROM import_owners o JOIN import_servers s ON s.import_id = o.import_id AND s.owner_id = o.source_id
     WHERE o.import_id = ? AND (o.account_id IS NOT NULL OR o.reseller_id IS NOT NULL OR o.choice = 'merge')
       AND s.${comes} GROUP BY 1, 2`,
  ),
  ofOwners: $client.prepare<{ id: string }, [string, string]>(
    `SELECT id FROM import_servers
     WHERE import_id = ? AND owner_id IN (SELECT value FROM json_each(?)) AND ${comes}`,
  ),
  withBilling: $client.prepare<{ sourceId: string }, [string, string]>(
    `SELECT source_id AS sourceId FROM import_owners WHERE import_id = ? AND billing_id = ? ORDER BY source_id LIMIT 2`,
  ),
  withEmail: $client.prepare<{ sourceId: string }, [string, string]>(
    `SELECT source_id AS sourceId FROM import_owners WHERE import_id = ? AND email = ? ORDER BY source_id LIMIT 2`,
  ),
  created: $client.prepare<unknown, [string, string]>(
    'SELECT 1 FROM import_owners WHERE created_account_id = +? AND import_id = ?',
  ),
  becomes: $client.prepare<Becomes, [string]>(
    `SELECT h.choice AS key, h.location_id AS locationId, count(*) AS servers, total(s.disk_gb) AS diskGb,
       total(s.memory_mb) AS memoryMb FROM import_servers s
     JOIN import_hypervisors h ON h.import_id = s.import_id AND h.source_id = s.hypervisor_id
     WHERE s.import_id = ? AND s.state IN ('waiting', 'ready') GROUP BY 1, 2`,
  ),
  newIpv4: $client.prepare<{ locationId: string; n: number }, [string]>(
    `SELECT h.location_id AS locationId, count(*) AS n FROM import_ranges r
     JOIN import_addresses a ON a.import_id = r.import_id AND a.range_id = r.source_id AND a.version = 4
     JOIN import_servers s ON s.id = a.server_id AND s.state IN ('waiting', 'ready')
     JOIN import_hypervisors h ON h.import_id = s.import_id AND h.source_id = s.hypervisor_id AND h.choice = 'copy'
     WHERE r.import_id = ? AND r.choice = 'new' GROUP BY 1`,
  ),
  choices: $client.prepare<{ part: Part; choice: string | null; isProposed: 0 | 1; n: number }, [string]>(
    (['packages', 'ranges', 'hypervisors', 'owners'] as const)
      .map(
        (part) => `SELECT '${part}' AS part, choice, is_proposed AS isProposed, count(*) AS n
          FROM import_${part} WHERE import_id = ?1 GROUP BY 2, 3`,
      )
      .join(' UNION ALL '),
  ),
  owners: $client.prepare<{ choice: string | null; n: number }, [string]>(
    `SELECT o.choice, count(*) AS n FROM import_owners o WHERE o.import_id = ?
       AND EXISTS (SELECT 1 FROM import_servers s
       WHERE s.import_id = o.import_id AND s.owner_id = o.source_id AND s.state IN ('waiting', 'ready')) GROUP BY 1`,
  ),
  joined: $client.prepare<{ accountId: string; servers: number; diskGb: number }, [string]>(
    `SELECT o.account_id AS accountId, count(*) AS servers, total(s.disk_gb) AS diskGb FROM import_owners o
     JOIN import_servers s ON s.import_id = o.import_id AND s.owner_id = o.source_id
       AND s.state IN ('waiting', 'ready')
     WHERE o.import_id = ? AND o.account_id IS NOT NULL GROUP BY 1`,
  ),
  refusals: $client.prepare<{ refusal: string; n: number }, [string]>(
    `SELECT refusal, count(*) AS n FROM import_servers WHERE import_id = ? AND state = 'refused' GROUP BY refusal`,
  ),
}))

/** Puts the effect of what is decided into the servers: all of the import's, or those that some rows are about. */
export function settle(
  tx: Tx,
  importId: string,
  of?: { part: Part; sourceIds: readonly string[] } | { serverIds: string[] },
) {
  const found = statements(tx)
  if (of === undefined) found.settleAll.run(importId)
  else if ('serverIds' in of) found.settleThese.run(importId, JSON.stringify(of.serverIds))
  else found[settles[of.part]].run(importId, JSON.stringify(of.sourceIds))
}
const settles = {
  packages: 'settlePackages',
  ranges: 'settleRanges',
  hypervisors: 'settleHypervisors',
  owners: 'settleOwners',
} as const satisfies Record<Part, string>

/** How many rows of each part a server waits for, and how many servers wait for that part. */
export const leftToDecide = (tx: Db, importId: string): Record<Part, { rows: number; servers: number }> =>
  Object.fromEntries(
    statements(tx)
      .left.all(importId)
      .map(({ part, rows, servers }) => [part, { rows, servers }]),
  ) as Record<Part, { rows: number; servers: number }>

/** The addresses that servers bring along as things are decided, from the server behind this id on. */
export const keptAddresses = (tx: Db, importId: string, after: string, limit: number): KeptAddress[] =>
  statements(tx).kept.all(importId, after, limit)
/** Those of one server. */
export const keptOf = (tx: Db, importId: string, serverId: string): KeptAddress[] =>
  statements(tx).keptOf.all(importId, serverId)
/** Why the server could not be made here, because of its addresses or of what it claims besides. */
export const noteConflict = (tx: Tx, serverId: string, words: { addresses?: string; claims?: string } | undefined) =>
  void statements(tx).conflict.run(words?.addresses ?? null, words?.claims ?? null, serverId)
export const serversInConflict = (tx: Db, importId: string): string[] =>
  statements(tx)
    .conflicting.all(importId)
    .map(({ id }) => id)

/** Servers that come over, behind this id, in the order of their ids. */
export const comingAfter = (tx: Db, importId: string, after: string, limit: number): Coming[] =>
  statements(tx).coming.all(importId, after, limit)
/** Per owner who may count in a quota and package: how many servers come, and their IPv4 addresses together. */
export const sizesOfOwners = (tx: Db, importId: string): SizesOfOwner[] => statements(tx).sizes.all(importId)
/** The servers of these owners that come over. */
export const serversOfOwners = (tx: Db, importId: string, ownerIds: readonly string[]): string[] =>
  statements(tx)
    .ofOwners.all(importId, JSON.stringify(ownerIds))
    .map(({ id }) => id)
/** The owners of an import with this id in the billing system, at most two. */
export const ownersWithBillingId = (tx: Db, importId: string, billingId: string): string[] =>
  statements(tx)
    .withBilling.all(importId, billingId)
    .map(({ sourceId }) => sourceId)

/** The owners of an import with this address, at most two. */
export const ownersWithEmail = (tx: Db, importId: string, email: string): string[] =>
  statements(tx)
    .withEmail.all(importId, email)
    .map(({ sourceId }) => sourceId)
/** Did this import make the account? */
export const isCreatedBy = (tx: Db, importId: string, accountId: string): boolean =>
  statements(tx).created.get(accountId, importId) !== null

/** The servers that come over, by what happens to their hypervisor and its location. */
export const arrivals = (tx: Db, importId: string): Becomes[] => statements(tx).becomes.all(importId)
/** How many IPv4 addresses copies need at each location. */
export const newIpv4Needed = (tx: Db, importId: string) => statements(tx).newIpv4.all(importId)
export const choiceCounts = (tx: Db, importId: string) => statements(tx).choices.all(importId)
/** The servers that join each account that was chosen. */
export const joinedAccounts = (tx: Db, importId: string) => statements(tx).joined.all(importId)
/** Owners of servers that come over, by what is decided about them. */
export const ownersComing = (tx: Db, importId: string) => statements(tx).owners.all(importId)
export const refusalCounts = (tx: Db, importId: string): Record<string, number> =>
  Object.fromEntries(
    statements(tx)
      .refusals.all(importId)
      .map(({ refusal, n }) => [refusal, n]),
  )

/** Servers alone that are left out, or not any more; those that a filter selects. Answers how many there are. */
export function leaveOutServers(tx: Tx, importId: string, filter: ServerFilter, isLeftOut: boolean): string[] {
  const where: SQL = serverCondition(importId, filter)
  return tx
    .update(importServers)
    .set({ isLeftOut })
    .where(sql`${where} AND ${importServers.state} IN ('waiting', 'left_out', 'ready')
      AND ${importServers.isLeftOut} <> ${isLeftOut ? 1 : 0}`)
    .returning({ id: importServers.id })
    .all()
    .map(({ id }) => id)
}

export type OwnerFilter = {
  conflict?: OwnerConflict | undefined
  choice?: string | undefined
  /** Without a choice. */
  undecided?: boolean | undefined
  proposed?: boolean | undefined
  lapsed?: boolean | undefined
  q?: string | undefined
}
const part = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`
/** The condition of a filter over `import_owners`; undefined: all. */
export function ownerCondition({ conflict, choice, undecided, proposed, lapsed, q }: OwnerFilter): SQL | undefined {
  const o = importOwners
  const all = [
    conflict === undefined ? undefined : sql`${o.conflict} = ${conflict}`,
    choice === undefined ? undefined : sql`${o.choice} = ${choice}`,
    undecided ? sql`${o.choice} IS NULL` : undefined,
    proposed ? sql`${o.isProposed} = 1` : undefined,
    lapsed ? sql`${o.lapsed} IS NOT NULL` : undefined,
    q === undefined
      ? undefined
      : sql`(${o.email} LIKE ${part(q)} ESCAPE '\\' OR ${o.name} LIKE ${part(q)} ESCAPE '\\' OR ${o.sourceId} = ${q}
          OR EXISTS (SELECT 1 FROM import_servers s WHERE s.import_id = ${o.importId} AND s.owner_id = ${o.sourceId}
            AND s.hostname LIKE ${part(q)} ESCAPE '\\'))`,
  ].filter((one) => one !== undefined)
  return all.length ? sql.join(all, sql` AND `) : undefined
}

export type RowFilter = Pick<OwnerFilter, 'undecided' | 'proposed' | 'q'>
const filtered = { packages: importPackages, ranges: importRanges, hypervisors: importHypervisors } as const
/** The condition of a filter over the rows of another part; undefined: all. */
export function rowCondition(of: keyof typeof filtered, { undecided, proposed, q }: RowFilter): SQL | undefined {
  const { choice, isProposed, name, sourceId } = filtered[of]
  const all = [
    undecided ? sql`${choice} IS NULL` : undefined,
    proposed ? sql`${isProposed} = 1` : undefined,
    q === undefined ? undefined : sql`(${name} LIKE ${part(q)} ESCAPE '\\' OR ${sourceId} = ${q})`,
  ].filter((one) => one !== undefined)
  return all.length ? sql.join(all, sql` AND `) : undefined
}

/**
 * Deletes everything that was read for an import that ends without a server moved, its personal data with it. So many
 * servers at a time; answers whether some are left.
 */
export function eraseInventory(tx: Tx, importId: string, limit: number): boolean {
  const gone = tx.$client
    .query<unknown, [string, number]>(
      `DELETE FROM import_servers WHERE id IN (SELECT id FROM import_servers WHERE import_id = ? LIMIT ?)`,
    )
    .run(importId, limit)
  if (gone.changes === limit) return true
  for (const table of [importChanges, importPackages, importRanges, importHypervisors, importOwners])
    tx.delete(table).where(eq(table.importId, importId)).run()
  return false
}
