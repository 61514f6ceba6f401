// A call that is sent again with its Idempotency-Key gets the same response. The row commits together with the change,
// and two parallel calls meet in the single writer.
import { lte } from 'drizzle-orm'
import { day } from '../db/clock.ts'
import { encryptedColumn } from '../db/encrypted.ts'
import { expiring } from '../db/expiring.ts'
import { type Db, prepared, type Tx } from '../db/open.ts'
import type { Actor } from './actor.ts'
import { ApiError } from './errors.ts'
import type { AppContext, CallResult } from './operation.ts'
import { idempotency } from './tables.ts'

/** 24 hours, per account and per endpoint. */
export const REMEMBERED_MS = day

const statements = prepared(({ $client }) => ({
  find: $client.prepare<{ status: number; answer: string }, [string, string, string, number]>(
    'SELECT status, answer FROM idempotency WHERE account_id = ? AND operation = ? AND key = ? AND created_at > ?',
  ),
  keep: $client.prepare(
    'INSERT OR REPLACE INTO idempotency (account_id, operation, key, status, answer, created_at) VALUES (?, ?, ' +
      '?, ?, ?, ?)',
  ),
}))

/** Responses are encrypted: one may hold a root password that is shown only once. */
export const encryptedResponses = encryptedColumn(
  idempotency,
  'answer',
  (of: { accountId: string; operation: string; key: string }) =>
    `idempotency ${of.accountId} ${of.operation} ${of.key}`,
)
/** A support session has keys of its own: it must not replay a response that only the account's holder was given. */
const whose = ({ accountId, via }: Actor) => (via.type === 'support' ? `${via.staffId} in ${accountId}` : accountId)

/** Reads the response stored for this key at this endpoint, and stores the new one. */
export function memoryOf({ clock, secrets }: AppContext, actor: Actor, operation: string, key: string) {
  const accountId = whose(actor)
  const about = encryptedResponses.about({ accountId, operation, key })
  return {
    recall(tx: Db): CallResult | undefined {
      const row = statements(tx).find.get(accountId, operation, key, clock() - REMEMBERED_MS)
      return row ? { status: row.status, body: JSON.parse(secrets.open(about, row.answer)), replayed: true } : undefined
    },
    keep: (tx: Tx, { status, body }: CallResult) =>
      void statements(tx).keep.run(
        accountId,
        operation,
        key,
        status,
        secrets.encrypt(about, JSON.stringify(body)),
        clock(),
      ),
  }
}

export const expiredKeys = expiring(idempotency, (now) => lte(idempotency.createdAt, now - REMEMBERED_MS))

/** Throws `invalid_request` for a header that is sent twice: the server joins the values with a comma and a space. */
export function keyFrom(header: string | null): string | undefined {
  if (header === null) return undefined
  if (header.includes(', '))
    throw new ApiError(
      'invalid_request',
      'Idempotency-Key is given twice, or has a comma with a space in it. Send one key without them.',
    )
  if (!/^[\x20-\x7e]{1,200}$/.test(header))
    throw new ApiError(
      'invalid_idempotency_key',
      'Idempotency-Key must be 1 to 200 ASCII characters: letters, digits, signs and spaces.',
    )
  return header
}
