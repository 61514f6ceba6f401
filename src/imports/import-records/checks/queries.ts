// The statements about what dry runs have found, and about the access of nodes to source hypervisors.
import { getTableColumns } from 'drizzle-orm'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { columnList, decoding, inserting, rowBy, updating } from '../../../kernel/db/rows.ts'
import { settle } from '../choices/queries.ts'
import { type ImportServer, importServers } from '../tables.ts'
import { type Finding, type FindingCode, type FindingLevel, findings, foundByDryRun, worst } from './findings.ts'
import {
  type CheckResult,
  checkResults,
  type ImportCheck,
  type ImportHost,
  type ImportLogin,
  importChecks,
  importFindings,
  importHosts,
  importLogins,
  importNodeKeys,
} from './tables.ts'

export { type CheckResult, checkResults, type ImportCheck, type ImportHost, type ImportLogin }

const serverColumns = getTableColumns(importServers)
const decodeServer = decoding<ImportServer>(serverColumns)
const decodeHost = decoding<ImportHost>(getTableColumns(importHosts))
const decodeLogin = decoding<ImportLogin>(getTableColumns(importLogins))

export type LoginKey = Pick<ImportLogin, 'importId' | 'hypervisorId' | 'nodeId'>
/** Servers that one node looks at on one hypervisor. */
export type OpenGroup = { hypervisorId: string; nodeId: string; n: number }
/** Each node and pool, with what the plan takes of it. */
export type Planned = { nodeId: string; pool: string | null; memoryMb: number; diskGb: number; newIpv4: number }
export type CheckTotals = {
  result: CheckResult | null
  way: 'copy' | 'adopt' | null
  n: number
  diskBytes: number
  usedBytes: number
  newIpv4: number
  copySeconds: number
  awaySeconds: number
  longestAway: number
}
const statements = prepared(({ $client }) => ({
  resetServers: $client.prepare<{ id: string }, [string, string, number]>(
    `UPDATE import_servers SET state = 'waiting', refusal = NULL WHERE id IN (
       SELECT id FROM import_servers WHERE import_id = ?1 AND state = 'ready'
       UNION ALL SELECT id FROM import_servers
       WHERE import_id = ?1 AND state = 'refused' AND refusal IN (SELECT value FROM json_each(?2)) LIMIT ?3)
     RETURNING id`,
  ),
  dropChecks: $client.prepare<unknown, [string, number]>(
    `DELETE FROM import_checks WHERE server_id IN
       (SELECT server_id FROM import_checks WHERE import_id = ? LIMIT ?)`,
  ),
  dropFindings: $client.prepare<unknown, [string, number]>(
    `DELETE FROM import_findings WHERE (server_id, code) IN
       (SELECT server_id, code FROM import_findings WHERE import_id = ? LIMIT ?)`,
  ),
  toPlace: $client.prepare<unknown, [string, string, number]>(
    `SELECT ${columnList(serverColumns)} FROM import_servers WHERE import_id = ? AND state = 'waiting' AND id > ?
       AND NOT EXISTS (SELECT 1 FROM import_checks c WHERE c.server_id = import_servers.id)
     ORDER BY id LIMIT ?`,
  ),
  sameDomain: $client.prepare<{ n: number }, [string, string]>(
    'SELECT count(*) AS n FROM import_servers WHERE import_id = ? AND domain = ?',
  ),
  groups: $client.prepare<OpenGroup, [string]>(
    `SELECT hypervisor_id AS hypervisorId, node_id AS nodeId, count(*) AS n FROM import_checks
     WHERE import_id = ? AND result IS NULL AND node_id IS NOT NULL GROUP BY 1, 2`,
  ),
  open: $client.prepare<unknown, [string, string, string, string, number]>(
    `SELECT ${columnList(serverColumns)} FROM import_checks c JOIN import_servers ON import_servers.id = c.server_id
     WHERE c.import_id = ? AND c.result IS NULL AND c.hypervisor_id = ? AND c.node_id = ? AND c.server_id > ?
     ORDER BY c.server_id LIMIT ?`,
  ),
  planned: $client.prepare<Planned, [string]>(
    `SELECT node_id AS nodeId, pool, sum(memory_mb) AS memoryMb, sum(disk_gb) AS diskGb, sum(new_ipv4) AS newIpv4
     FROM import_checks WHERE import_id = ? AND way = 'copy' AND node_id IS NOT NULL
       AND (result IS NULL OR result <> 'stays') GROUP BY 1, 2`,
  ),
  counts: $client.prepare<{ result: CheckResult | null; n: number }, [string]>(
    'SELECT result, count(*) AS n FROM import_checks WHERE import_id = ? GROUP BY result',
  ),
  totals: $client.prepare<CheckTotals, [string]>(
    `SELECT result, way, count(*) AS n, total(disk_bytes) AS diskBytes, total(used_bytes) AS usedBytes,
       total(new_ipv4) AS newIpv4, total(copy_seconds) AS copySeconds, total(away_seconds) AS awaySeconds,
       coalesce(max(away_seconds), 0) AS longestAway
     FROM import_checks WHERE import_id = ? GROUP BY result, way`,
  ),
  byNode: $client.prepare<Planned & { n: number; usedBytes: number }, [string]>(
    `SELECT node_id AS nodeId, NULL AS pool, count(*) AS n, sum(memory_mb) AS memoryMb, sum(disk_gb) AS diskGb,
       sum(new_ipv4) AS newIpv4, total(used_bytes) AS usedBytes
     FROM import_checks WHERE import_id = ? AND node_id IS NOT NULL AND result IN ('ready', 'remark') GROUP BY 1`,
  ),
  byHypervisor: $client.prepare<{ hypervisorId: string; n: number; seconds: number; longest: number }, [string]>(
    `SELECT hypervisor_id AS hypervisorId, count(*) AS n, total(copy_seconds) AS seconds,
       max(copy_seconds) AS longest
     FROM import_checks WHERE import_id = ? AND result IN ('ready', 'remark') GROUP BY 1`,
  ),
  longest: $client.prepare<{ id: string; hostname: string; seconds: number }, [string]>(
    `SELECT s.id, s.hostname, c.away_seconds AS seconds FROM import_checks c JOIN import_servers s ON s.id = c.server_id
     WHERE c.import_id = ? AND c.result IN ('ready', 'remark') AND c.away_seconds IS NOT NULL
     ORDER BY c.away_seconds DESC LIMIT 1`,
  ),
  findingCounts: $client.prepare<{ code: FindingCode; n: number }, [string]>(
    'SELECT code, count(*) AS n FROM import_findings WHERE import_id = ? GROUP BY code',
  ),
  findingsOf: $client.prepare<Finding, [string]>('SELECT code, level, words FROM import_findings WHERE server_id = ?'),
  addFinding: $client.prepare<unknown, [string, string, string, string, string]>(
    `INSERT INTO import_findings (server_id, import_id, code, level, words) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (server_id, code) DO UPDATE SET level = excluded.level, words = excluded.words`,
  ),
  forgetFindings: $client.prepare<unknown, [string]>('DELETE FROM import_findings WHERE server_id = ?'),
  forgetCheck: $client.prepare<unknown, [string]>('DELETE FROM import_checks WHERE server_id = ?'),
  withFinding: $client.prepare<{ id: string }, [string, string, number]>(
    'SELECT server_id AS id FROM import_findings WHERE import_id = ? AND code = ? LIMIT ?',
  ),
  setState: $client.prepare<unknown, [string, string | null, string]>(
    "UPDATE import_servers SET state = ?, refusal = ? WHERE id = ? AND state = 'waiting'",
  ),
  putKey: $client.prepare<unknown, [string, string, number]>(
    `INSERT INTO import_node_keys (node_id, public_key, read_at) VALUES (?, ?, ?)
     ON CONFLICT (node_id) DO UPDATE SET public_key = excluded.public_key, read_at = excluded.read_at`,
  ),
  keys: $client.prepare<{ nodeId: string; publicKey: string; readAt: number }, [string]>(
    `SELECT node_id AS nodeId, public_key AS publicKey, read_at AS readAt FROM import_node_keys
     WHERE node_id IN (SELECT value FROM json_each(?))`,
  ),
  putLogin: $client.prepare<unknown, [string, string, string, string, string, number]>(
    `INSERT INTO import_logins (import_id, hypervisor_id, node_id, result, words, at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (import_id, hypervisor_id, node_id) DO UPDATE SET result = excluded.result, words = excluded.words,
       at = excluded.at, asked_at = NULL`,
  ),
  askLogin: $client.prepare<unknown, [string, string, string, number]>(
    `INSERT INTO import_logins (import_id, hypervisor_id, node_id, asked_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (import_id, hypervisor_id, node_id) DO UPDATE SET asked_at = excluded.asked_at`,
  ),
  askedLogins: $client.prepare<unknown, []>(
    `SELECT ${columnList(getTableColumns(importLogins))} FROM import_logins WHERE asked_at IS NOT NULL
     ORDER BY asked_at, import_id, hypervisor_id, node_id`,
  ),
  logins: $client.prepare<unknown, [string, string]>(
    `SELECT ${columnList(getTableColumns(importLogins))} FROM import_logins
     WHERE import_id = ? AND hypervisor_id = ?`,
  ),
  putHost: $client.prepare<unknown, [string, string, string, string, string | null, number]>(
    `INSERT INTO import_hosts (import_id, hypervisor_id, address, host_key, facts, at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (import_id, hypervisor_id) DO UPDATE SET address = excluded.address, host_key = excluded.host_key,
       facts = coalesce(excluded.facts, facts), at = excluded.at`,
  ),
  host: $client.prepare<unknown, [string, string]>(
    `SELECT ${columnList(getTableColumns(importHosts))} FROM import_hosts WHERE import_id = ? AND hypervisor_id = ?`,
  ),
  dropHost: $client.prepare<unknown, [string, string]>(
    'DELETE FROM import_hosts WHERE import_id = ? AND hypervisor_id = ?',
  ),
  dropHosts: $client.prepare<unknown, [string]>('DELETE FROM import_hosts WHERE import_id = ?'),
  dropLogins: $client.prepare<unknown, [string]>('DELETE FROM import_logins WHERE import_id = ?'),
}))

// ---------------------------------------------------------------- checks
export const checkOf = rowBy(importChecks, importChecks.serverId)
export const insertCheck = inserting(importChecks)
const changeCheck = updating(importChecks, importChecks.serverId)

/**
 * Takes back what an earlier dry run has found, so many servers at a time; answers whether some are left. Decisions
 * count again for servers that it has refused.
 */
export function clearChecks(tx: Tx, importId: string, limit: number): boolean {
  const { resetServers, dropChecks, dropFindings } = statements(tx)
  const reset = resetServers.all(importId, JSON.stringify(foundByDryRun), limit)
  if (reset.length) settle(tx, importId, { serverIds: reset.map(({ id }) => id) })
  const gone = dropChecks.run(importId, limit).changes + dropFindings.run(importId, limit).changes
  return reset.length > 0 || gone > 0
}
/** Takes back what was found about these servers. */
export function forgetChecks(tx: Tx, serverIds: readonly string[]) {
  for (const id of serverIds) {
    statements(tx).forgetFindings.run(id)
    statements(tx).forgetCheck.run(id)
  }
}
/** The servers behind this id that come, and that nothing is planned for. */
export const serversToPlace = (tx: Db, importId: string, after: string, limit: number): ImportServer[] =>
  statements(tx)
    .toPlace.all(importId, after, limit)
    .map((row) => decodeServer(row)!)
/** How many servers of the panel have a domain of this name, on whichever hypervisor. */
export const serversWithDomain = (tx: Db, importId: string, domain: string): number =>
  statements(tx).sameDomain.get(importId, domain)!.n
/** Planned servers whose node has not answered yet, by hypervisor and node. */
export const openGroups = (tx: Db, importId: string): OpenGroup[] => statements(tx).groups.all(importId)
export const openServers = (
  tx: Db,
  importId: string,
  { hypervisorId, nodeId }: Pick<OpenGroup, 'hypervisorId' | 'nodeId'>,
  after: string,
  limit: number,
): ImportServer[] =>
  statements(tx)
    .open.all(importId, hypervisorId, nodeId, after, limit)
    .map((row) => decodeServer(row)!)
export const plannedOn = (tx: Db, importId: string): Planned[] => statements(tx).planned.all(importId)

/** Ends the check of a server: its findings, its result and its state. */
export function endCheck(
  tx: Tx,
  { importId, serverId }: { importId: string; serverId: string },
  found: readonly Finding[],
  seen: Partial<ImportCheck> & { at: number },
): CheckResult {
  const { addFinding, setState } = statements(tx)
  const result: CheckResult = worst(found) ?? 'ready'
  changeCheck(tx, serverId, { ...seen, result })
  for (const { code, level, words } of found) addFinding.run(serverId, importId, code, level, words)
  const refusal = found.find(({ level }) => level === 'stays')?.code ?? null
  if (refusal) setState.run('refused', refusal, serverId)
  else if (result !== 'to_fix') setState.run('ready', null, serverId)
  return result
}
/** The servers with this finding are looked at anew; answers how many there are. */
export function reopenChecks(tx: Tx, importId: string, code: FindingCode, limit: number): number {
  const found = statements(tx).withFinding.all(importId, code, limit)
  forgetChecks(
    tx,
    found.map(({ id }) => id),
  )
  return found.length
}
export const checkCounts = (tx: Db, importId: string): Partial<Record<CheckResult | 'open', number>> =>
  Object.fromEntries(
    statements(tx)
      .counts.all(importId)
      .map(({ result, n }) => [result ?? 'open', n]),
  )
export const checkTotals = (tx: Db, importId: string): CheckTotals[] => statements(tx).totals.all(importId)
export const plannedByNode = (tx: Db, importId: string) => statements(tx).byNode.all(importId)
export const secondsByHypervisor = (tx: Db, importId: string) => statements(tx).byHypervisor.all(importId)
/** The server that is away the longest. */
export const longestAway = (tx: Db, importId: string) => statements(tx).longest.get(importId)
export const findingCounts = (tx: Db, importId: string): { code: FindingCode; level: FindingLevel; n: number }[] =>
  statements(tx)
    .findingCounts.all(importId)
    .map((one) => ({ ...one, level: findings[one.code].level }))
/** The worst first. */
export const findingsOf = (tx: Db, serverId: string): Finding[] => {
  const found = statements(tx).findingsOf.all(serverId)
  return (['stays', 'to_fix', 'remark'] as const).flatMap((level) => found.filter((one) => one.level === level))
}

// ---------------------------------------------------------------- access to hypervisors
export const noteNodeKey = (tx: Tx, nodeId: string, publicKey: string, at: number) =>
  void statements(tx).putKey.run(nodeId, publicKey, at)
export const nodeKeys = (tx: Db, nodeIds: readonly string[]): Map<string, { publicKey: string; readAt: number }> =>
  new Map(
    statements(tx)
      .keys.all(JSON.stringify(nodeIds))
      .map(({ nodeId, ...key }) => [nodeId, key]),
  )
/** Notes the end of the node's last log-in. */
export const noteLogin = (
  tx: Tx,
  { importId, hypervisorId, nodeId }: LoginKey,
  { result, words, at }: { result: NonNullable<ImportLogin['result']>; words: string; at: number },
) => void statements(tx).putLogin.run(importId, hypervisorId, nodeId, result, words, at)
/** The node tries to log in, within seconds. */
export const askLogin = (tx: Tx, { importId, hypervisorId, nodeId }: LoginKey, at: number) =>
  void statements(tx).askLogin.run(importId, hypervisorId, nodeId, at)
export const askedLogins = (tx: Db): ImportLogin[] =>
  statements(tx)
    .askedLogins.all()
    .map((row) => decodeLogin(row)!)
export const loginsAt = (tx: Db, importId: string, hypervisorId: string): Map<string, ImportLogin> =>
  new Map(
    statements(tx)
      .logins.all(importId, hypervisorId)
      .map((row) => decodeLogin(row)!)
      .map((login) => [login.nodeId, login]),
  )
export const noteHost = (tx: Tx, { importId, hypervisorId, address, hostKey, facts, at }: ImportHost) =>
  void statements(tx).putHost.run(importId, hypervisorId, address, hostKey, facts && JSON.stringify(facts), at)
export const hostOf = (tx: Db, importId: string, hypervisorId: string): ImportHost | undefined =>
  decodeHost(statements(tx).host.get(importId, hypervisorId))
/** The next contact is the first one again: somebody has found out why its key changed. */
export const forgetHost = (tx: Tx, importId: string, hypervisorId: string) =>
  void statements(tx).dropHost.run(importId, hypervisorId)
/** All that is known of the hypervisors of an import that is deleted. */
export function forgetAccess(tx: Tx, importId: string) {
  statements(tx).dropHosts.run(importId)
  statements(tx).dropLogins.run(importId)
}

/** Tables that the feature declares. */
export const checkTables = [importNodeKeys, importHosts, importLogins, importChecks, importFindings] as const
