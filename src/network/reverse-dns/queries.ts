import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import type { ReverseName } from './tables.ts'

const columns = `address, address_id AS addressId, name, state, error, tries, next_at AS nextAt, revision,
  updated_at AS updatedAt`
const statements = prepared(({ $client }) => ({
  put: $client.prepare<unknown, [string, string, string | null, number]>(
    `INSERT INTO reverse_names (address, address_id, name, state, next_at, updated_at)
     VALUES (?1, ?2, ?3, 'waiting', 0, ?4)
     ON CONFLICT (address) DO UPDATE SET address_id = ?2, name = ?3, state = 'waiting', error = NULL, tries = 0,
       next_at = 0, revision = revision + 1, updated_at = ?4`,
  ),
  of: $client.prepare<ReverseName, [string]>(
    `SELECT ${columns} FROM reverse_names
     WHERE address_id IN (SELECT value FROM json_each(?)) AND name IS NOT NULL ORDER BY address`,
  ),
  one: $client.prepare<ReverseName, [string]>(`SELECT ${columns} FROM reverse_names WHERE address = ?`),
  due: $client.prepare<ReverseName, [number, number]>(
    `SELECT ${columns} FROM reverse_names WHERE state = 'waiting' AND next_at <= ? ORDER BY next_at LIMIT ?`,
  ),
  claim: $client.prepare('UPDATE reverse_names SET next_at = ? WHERE address = ?'),
  done: $client.prepare(
    `UPDATE reverse_names SET state = 'set', error = NULL, tries = 0, updated_at = ?
     WHERE address = ? AND revision = ?`,
  ),
  gone: $client.prepare('DELETE FROM reverse_names WHERE address = ? AND revision = ? AND name IS NULL'),
  failed: $client.prepare(
    `UPDATE reverse_names SET state = ?, error = ?, tries = tries + 1, next_at = ?, updated_at = ?
     WHERE address = ? AND revision = ?`,
  ),
  again: $client.prepare(
    "UPDATE reverse_names SET state = 'waiting', tries = 0, next_at = 0 WHERE state IN ('refused', 'waiting')",
  ),
  troubled: $client.prepare<{ refused: number; waiting: number; error: string | null; since: number | null }, []>(
    `SELECT count(*) FILTER (WHERE state = 'refused') AS refused, count(*) FILTER (WHERE state = 'waiting') AS waiting,
       error, min(updated_at) AS since
     FROM reverse_names WHERE state = 'refused' OR (state = 'waiting' AND tries > 2)`,
  ),
}))

/** Wants this name for the address from now on; null: none. */
export const wantName = (tx: Tx, address: string, addressId: string, name: string | null, now: number) =>
  void statements(tx).put.run(address, addressId, name, now)
/** The wanted names of these addresses and prefixes (their ids), by address. */
export const namesOf = (tx: Db, addressIds: readonly string[]): ReverseName[] =>
  statements(tx).of.all(JSON.stringify(addressIds))
export const reverseNameOf = (tx: Db, address: string): ReverseName | undefined =>
  statements(tx).one.get(address) ?? undefined

/** The rows that are due now; each is taken until `until`, so that no other turn takes it meanwhile. */
export function takeDue(tx: Tx, now: number, until: number, limit: number): ReverseName[] {
  const { due, claim } = statements(tx)
  const rows = due.all(now, limit)
  for (const { address } of rows) claim.run(until, address)
  return rows
}
/** The name server has it; a name that was deleted leaves no row. */
export function noteDone(tx: Tx, { address, revision, name }: ReverseName, now: number) {
  const { done, gone } = statements(tx)
  if (name === null) gone.run(address, revision)
  else done.run(now, address, revision)
}
export const noteFailed = (
  tx: Tx,
  { address, revision }: ReverseName,
  { state, error, nextAt, now }: { state: 'waiting' | 'refused'; error: string; nextAt: number; now: number },
) => void statements(tx).failed.run(state, error, nextAt, now, address, revision)
/** After a change of the name server: what it refused is tried again. */
export const tryAgain = (tx: Tx) => void statements(tx).again.run()
/** How many names are refused, or fail again and again; one of their errors, and since when. */
export const troubledNames = (tx: Db) => statements(tx).troubled.get()!
