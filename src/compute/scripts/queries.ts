import { count, eq } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { type Script, scripts } from './tables.ts'

export const scriptById = rowBy(scripts, scripts.id)

/** A page of the account's scripts, newest first. */
export const pageOfScripts = <Shown>(call: ReadContext, ownerId: string, show: (script: Script) => Shown) =>
  newest({ call, name: `scripts ${ownerId}`, table: scripts, where: eq(scripts.ownerId, ownerId), show })
export const countScripts = (tx: Db, ownerId: string): number =>
  tx.select({ n: count() }).from(scripts).where(eq(scripts.ownerId, ownerId)).get()!.n

/** Throws a unique violation when the account has a script of this name. */
export const insertScript = (tx: Tx, row: Script): Script => tx.insert(scripts).values(row).returning().get()
/** Throws a unique violation when the account has a script of this name. */
export const updateScript = (tx: Tx, row: Script, given: Partial<Script>): Script => patched(tx, scripts, row, given)
export const deleteScript = (tx: Tx, id: string) => void tx.delete(scripts).where(eq(scripts.id, id)).run()

// Raw and prepared: an answer about a script that the actor may not see takes as long as one about none.
const owner = prepared(({ $client }) =>
  $client.prepare<{ ownerId: string }, [string]>('SELECT owner_id AS ownerId FROM scripts WHERE id = ?'),
)
/** The account that a script belongs to, which decides who sees it; undefined when there is no such script. */
export const ownerOfScript = (tx: Db, id: string): string | undefined => owner(tx).get(id)?.ownerId
