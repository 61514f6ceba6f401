import { count, eq } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { sshKeys } from './tables.ts'

export type SshKey = typeof sshKeys.$inferSelect

export const sshKeyById = rowBy(sshKeys, sshKeys.id)

/** A page of the account's keys, newest first. */
export const pageOfSshKeys = <Shown>(call: ReadContext, ownerId: string, show: (key: SshKey) => Shown) =>
  newest({ call, name: `ssh-keys ${ownerId}`, table: sshKeys, where: eq(sshKeys.ownerId, ownerId), show })
/** Every key of the account, the oldest first. */
export const keysOf = (tx: Db, ownerId: string): SshKey[] =>
  tx.select().from(sshKeys).where(eq(sshKeys.ownerId, ownerId)).orderBy(sshKeys.id).all()
export const countSshKeys = (tx: Db, ownerId: string): number =>
  tx.select({ n: count() }).from(sshKeys).where(eq(sshKeys.ownerId, ownerId)).get()!.n

/** Throws a unique violation when the account has this key. */
export const insertSshKey = (tx: Tx, row: typeof sshKeys.$inferInsert): SshKey =>
  tx.insert(sshKeys).values(row).returning().get()
export const updateSshKey = (tx: Tx, row: SshKey, given: Partial<SshKey>): SshKey => patched(tx, sshKeys, row, given)
export const deleteSshKey = (tx: Tx, id: string) => void tx.delete(sshKeys).where(eq(sshKeys.id, id)).run()

// Raw and prepared: an answer about a key that the actor may not see takes as long as one about none (security S25).
const statements = prepared(({ $client }) => ({
  owner: $client.prepare<{ ownerId: string }, [string]>('SELECT owner_id AS ownerId FROM ssh_keys WHERE id = ?'),
  any: $client.prepare<unknown, [string]>('SELECT 1 FROM ssh_keys WHERE owner_id = ? LIMIT 1'),
}))
/** The account that a key belongs to, which decides who sees it; undefined when there is no such key. */
export const ownerOfSshKey = (tx: Db, id: string): string | undefined => statements(tx).owner.get(id)?.ownerId
export const hasSshKeys = (tx: Db, ownerId: string): boolean => statements(tx).any.get(ownerId) !== null
