import { and, asc, count, eq, inArray } from 'drizzle-orm'
import { homeOf } from '../../fleet/workloads/stays/queries.ts'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { firewallServers, firewalls, serverFirewalls } from './tables.ts'

export type SharedFirewall = typeof firewalls.$inferSelect
export type ServerFirewall = typeof serverFirewalls.$inferSelect

const firewallReference = reference(firewalls, ['name', 'ownerId'])
export const firewallTarget: AuditTarget = { prefix: 'fwl', name: (id) => firewallReference.value('name', id) }

export const firewallById = rowBy(firewalls, firewalls.id)
const statements = prepared(({ $client }) => ({
  owner: $client.prepare<{ ownerId: string }, [string]>('SELECT owner_id AS ownerId FROM firewalls WHERE id = ?'),
  isAnyDue: $client.prepare('SELECT 1 FROM server_firewalls WHERE due = 1 LIMIT 1'),
  due: $client.prepare<{ id: string }, [number]>('SELECT id FROM server_firewalls WHERE due = 1 ORDER BY id LIMIT +?'),
  sent: $client.prepare('UPDATE server_firewalls SET due = 0 WHERE id = ?'),
  makeDue: $client.prepare(
    `INSERT INTO server_firewalls (id, revision, due) SELECT value, 1, 1 FROM json_each(?) WHERE true
     ON CONFLICT (id) DO UPDATE SET revision = revision + 1, due = 1`,
  ),
  limits: $client.prepare<{ packageId: string; limits: string }, []>(
    'SELECT package_id AS packageId, limits FROM firewall_limits',
  ),
  keepLimits: $client.prepare(
    'INSERT INTO firewall_limits VALUES (?1, ?2) ON CONFLICT (package_id) DO UPDATE SET limits = ?2',
  ),
}))
/** The account that a firewall belongs to, which decides who sees it; undefined when there is none. */
export const ownerOfFirewall = (tx: Db, id: string): string | undefined => statements(tx).owner.get(id)?.ownerId

export const pageOfFirewalls = <Shown>(call: ReadContext, ownerId: string, show: (row: SharedFirewall) => Shown) =>
  newest({ call, name: `firewalls ${ownerId}`, table: firewalls, where: eq(firewalls.ownerId, ownerId), show })
export const firewallsOf = (tx: Db, ownerId: string): SharedFirewall[] =>
  tx.select().from(firewalls).where(eq(firewalls.ownerId, ownerId)).orderBy(asc(firewalls.name)).all()
export const countFirewalls = (tx: Db, ownerId: string): number =>
  tx.select({ n: count() }).from(firewalls).where(eq(firewalls.ownerId, ownerId)).get()!.n
/** Throws a unique violation when the account has one of this name. */
export const insertFirewall = (tx: Tx, row: typeof firewalls.$inferInsert): SharedFirewall =>
  tx.insert(firewalls).values(row).returning().get()
export const updateFirewall = (tx: Tx, row: SharedFirewall, given: Partial<SharedFirewall>): SharedFirewall =>
  patched(tx, firewalls, row, given)
export const deleteFirewall = (tx: Tx, id: string) => void tx.delete(firewalls).where(eq(firewalls.id, id)).run()

/** The servers that have a shared firewall. */
export const serversWith = (tx: Db, firewallId: string): string[] =>
  tx
    .select({ id: firewallServers.serverId })
    .from(firewallServers)
    .where(eq(firewallServers.firewallId, firewallId))
    .orderBy(asc(firewallServers.serverId))
    .all()
    .map(({ id }) => id)
/** The shared firewalls of a server, in the order of their rules on it. */
export const sharedOn = (tx: Db, serverId: string): SharedFirewall[] =>
  tx
    .select({ firewall: firewalls })
    .from(firewallServers)
    .innerJoin(firewalls, eq(firewalls.id, firewallServers.firewallId))
    .where(eq(firewallServers.serverId, serverId))
    .orderBy(asc(firewallServers.position))
    .all()
    .map(({ firewall }) => firewall)
/** Gives a server these shared firewalls and no others. */
export function putShared(tx: Tx, serverId: string, ids: readonly string[]) {
  tx.delete(firewallServers).where(eq(firewallServers.serverId, serverId)).run()
  if (ids.length)
    tx.insert(firewallServers)
      .values(ids.map((firewallId, position) => ({ firewallId, serverId, position })))
      .run()
}
export const takeShared = (tx: Tx, firewallId: string, serverIds: readonly string[]) =>
  void tx
    .delete(firewallServers)
    .where(and(eq(firewallServers.firewallId, firewallId), inArray(firewallServers.serverId, [...serverIds])))
    .run()

const serverFirewallRow = rowBy(serverFirewalls, serverFirewalls.id)
/** The firewall of a server; one that nobody has changed has the defaults. */
export const serverFirewall = (tx: Db, id: string): ServerFirewall =>
  serverFirewallRow(tx, id) ?? {
    id,
    enabled: false,
    defaultIn: 'drop',
    defaultOut: 'accept',
    rules: [],
    smtpAllowed: null,
    revision: 0,
    due: false,
    report: null,
    reportedAt: null,
  }
/** Changes the firewall of a server and counts the change. */
export function changeServerFirewall(tx: Tx, id: string, given: Partial<ServerFirewall>) {
  const { revision } = serverFirewall(tx, id)
  const set = { ...given, revision: revision + 1 }
  tx.insert(serverFirewalls)
    .values({ id, ...set })
    .onConflictDoUpdate({ target: serverFirewalls.id, set })
    .run()
}
/** Is the newest revision in force at the home of the server? One that was given back has none. */
export const isInForce = (tx: Db, { id, revision }: Pick<ServerFirewall, 'id' | 'revision'>): boolean =>
  (homeOf(tx, id)?.rules ?? revision) >= revision
/** Keeps what the node counted; it is no change of the firewall. */
export const keepReport = (tx: Tx, id: string, report: ServerFirewall['report'], reportedAt: number) =>
  void tx
    .insert(serverFirewalls)
    .values({ id, report, reportedAt })
    .onConflictDoUpdate({ target: serverFirewalls.id, set: { report, reportedAt } })
    .run()

// ---------------------------------------------------------------- limits of packages and settings
export const isAnyDue = (tx: Db): boolean => statements(tx).isAnyDue.get() !== null
/** The servers whose limits have changed and that no job tells yet. */
export const dueServers = (tx: Db, limit: number): string[] =>
  statements(tx)
    .due.all(limit)
    .map(({ id }) => id)
export const noteSent = (tx: Tx, id: string) => void statements(tx).sent.run(id)
/** Counts a change of the firewalls of these servers, for which a later turn starts the jobs. */
export const makeDue = (tx: Tx, ids: readonly string[]) => void statements(tx).makeDue.run(JSON.stringify(ids))
/** The limits that servers were told, by package. */
export const limitsTold = (tx: Db): ReadonlyMap<string, string> =>
  new Map(
    statements(tx)
      .limits.all()
      .map(({ packageId, limits }) => [packageId, limits]),
  )
export const keepLimits = (tx: Tx, packageId: string, limits: string) =>
  void statements(tx).keepLimits.run(packageId, limits)
