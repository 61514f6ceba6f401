import type { Database } from 'bun:sqlite'
import { and, count, eq, getTableName, type SQL } from 'drizzle-orm'
import { fromWorkloads } from '../../fleet/workloads/queries.ts'
import { joinStays } from '../../fleet/workloads/stays/queries.ts'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { type Member, type PrivateNetworkRow, privateNetworkMembers, privateNetworks } from './tables.ts'

export const networkById = rowBy(privateNetworks, privateNetworks.id)

/** A page, newest first; `where` decides who sees which. */
export const pageOfNetworks = <Shown>(
  call: ReadContext,
  where: SQL | undefined,
  show: (row: PrivateNetworkRow) => Shown,
) => newest({ call, name: 'networks', table: privateNetworks, where, show })
export const ofOwner = (ownerId: string | undefined): SQL | undefined =>
  ownerId === undefined ? undefined : eq(privateNetworks.ownerId, ownerId)
export const countNetworks = (tx: Db, ownerId: string): number =>
  tx.select({ n: count() }).from(privateNetworks).where(eq(privateNetworks.ownerId, ownerId)).get()!.n

/** Throws a unique violation when the owner has one of this name. */
export const insertNetwork = (tx: Tx, row: typeof privateNetworks.$inferInsert): PrivateNetworkRow =>
  tx.insert(privateNetworks).values(row).returning().get()
export const updateNetwork = (tx: Tx, row: PrivateNetworkRow, given: Partial<PrivateNetworkRow>) =>
  patched(tx, privateNetworks, row, given)
export const deleteNetwork = (tx: Tx, id: string) =>
  void tx.delete(privateNetworks).where(eq(privateNetworks.id, id)).run()

export const insertMember = (tx: Tx, row: typeof privateNetworkMembers.$inferInsert): Member =>
  tx.insert(privateNetworkMembers).values(row).returning().get()
export const deleteMember = (tx: Tx, networkId: string, workloadId: string) =>
  void tx
    .delete(privateNetworkMembers)
    .where(and(eq(privateNetworkMembers.networkId, networkId), eq(privateNetworkMembers.workloadId, workloadId)))
    .run()

/** A server in a network, with what is needed of the server. `nodeId`: its home. */
export type Present = Omit<Member, 'waits' | 'createdAt'> & { waits: number; nodeId: string; hostname: string }
/** The card of a member on one node where it stays; frames for it go to its home. */
export type Port = Present & { isHome: 0 | 1 }

// Terminated servers keep their place until they are gone for good; one of another owner has none.
const present = `SELECT m.number, m.network_id AS networkId, m.workload_id AS workloadId, m.ipv4, m.ipv6, m.waits,
  w.node_id AS nodeId, w.hostname ${fromWorkloads} JOIN private_network_members m ON m.workload_id = w.id
  JOIN private_networks n ON n.id = m.network_id AND n.owner_id = w.owner_id WHERE w.terminated_at IS NULL`
// The card of a server is where the server stays, so that a node has it before the server runs there.
const ports = (more: string) => `SELECT p.*, s.node_id AS nodeId, s.role = 'home' AS isHome
  FROM (${present} ${more}) p ${joinStays('p.workloadId')} ORDER BY p.number, s.node_id`
const statements = prepared(({ $client }) => ({
  ofNetwork: $client.prepare<Present, [string]>(`${present} AND m.network_id = +? ORDER BY m.number`),
  ofServer: $client.prepare<Present, [string]>(`${present} AND m.workload_id = +? ORDER BY m.number`),
  taken: $client.prepare<{ ipv4: string }, [string]>('SELECT ipv4 FROM private_network_members WHERE network_id = ?'),
  // A member whose server was released, or went to another owner, gives its address back.
  dropGone: $client.prepare(
    `DELETE FROM private_network_members WHERE workload_id IN (SELECT m.workload_id ${fromWorkloads}
       JOIN private_network_members m ON m.workload_id = w.id JOIN private_networks n ON n.id = m.network_id
       WHERE w.released_at IS NOT NULL OR n.owner_id <> w.owner_id)`,
  ),
  everyPort: $client.prepare<Port, []>(ports('')),
  portsOf: $client.prepare<Port, [string]>(ports('AND m.network_id = +?')),
  anyMember: $client.prepare<unknown, []>('SELECT 1 FROM private_network_members LIMIT 1'),
  told: $client.prepare<Told, []>('SELECT network_id AS networkId, node_id AS nodeId, told FROM private_network_nodes'),
  toldOf: $client.prepare<Told, [string]>(
    'SELECT network_id AS networkId, node_id AS nodeId, told FROM private_network_nodes WHERE network_id = ?',
  ),
  note: $client.prepare('INSERT OR REPLACE INTO private_network_nodes VALUES (?, ?, ?)'),
  forget: $client.prepare('DELETE FROM private_network_nodes WHERE network_id = ? AND node_id = ?'),
  waits: $client.prepare(
    `UPDATE private_network_members SET waits = workload_id IN (SELECT value FROM json_each(?))
     WHERE network_id = ? AND workload_id IN (SELECT value FROM json_each(?))`,
  ),
}))

export type Told = { networkId: string; nodeId: string; told: string }
/** The cards of every network, and of one, on each node. */
export const everyPort = (tx: Db): Port[] => statements(tx).everyPort.all()
export const portsOf = (tx: Db, networkId: string): Port[] => statements(tx).portsOf.all(networkId)
export const membersOf = (tx: Db, networkId: string): Present[] => statements(tx).ofNetwork.all(networkId)
export const membershipsOf = (tx: Db, workloadId: string): Present[] => statements(tx).ofServer.all(workloadId)
export const takenIn = (tx: Db, networkId: string): Set<string> =>
  new Set(
    statements(tx)
      .taken.all(networkId)
      .map(({ ipv4 }) => ipv4),
  )
export const hasMembers = (tx: Db): boolean => statements(tx).anyMember.get() !== null
export const dropGone = (tx: Tx) => void statements(tx).dropGone.run()
export const everythingTold = (tx: Db): Told[] => statements(tx).told.all()
export const toldOf = (tx: Db, networkId: string): Told[] => statements(tx).toldOf.all(networkId)
/** Null: the node has the network no more. */
export const noteTold = (tx: Tx, networkId: string, nodeId: string, told: string | null) =>
  void (told === null ? statements(tx).forget.run(networkId, nodeId) : statements(tx).note.run(networkId, nodeId, told))
/** Of these members, which wait for their next start. */
export const noteWaiting = (tx: Tx, networkId: string, of: readonly string[], waiting: readonly string[]) =>
  void statements(tx).waits.run(JSON.stringify(waiting), networkId, JSON.stringify(of))

/** Far more than the networks and cards that a restore loses. */
const NUMBERS_LEFT_OUT = 1000
/**
 * In the file of a database that is put in place of another one: numbers that lost networks and cards may have are left
 * out. Nodes still have the VNIs, MAC addresses and taps that are made of them.
 */
export function leaveOutNetworkNumbersIn(file: Database) {
  const hasTable = file.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
  for (const table of [privateNetworks, privateNetworkMembers].map(getTableName)) {
    // A database from before these tables has none to lose.
    if (!hasTable.get(table)) continue
    file
      .query(
        'INSERT INTO sqlite_sequence SELECT ?1, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)',
      )
      .run(table)
    file.query('UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ?').run(NUMBERS_LEFT_OUT, table)
  }
}
