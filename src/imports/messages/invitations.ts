// New accounts get their invitation when somebody sends it, and not by the import itself.
import type { Account } from '../../identity/account-records/model.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import type { Db } from '../../kernel/db/open.ts'
import { everyRow } from '../import-records/inventory/queries.ts'
import { UNNAMED } from '../import-records/model.ts'
import { isTold } from './queries.ts'

/** The accounts that this import has made whose people have no password, and were not invited yet. */
export function accountsToInvite(tx: Db, importId: string): Account[] {
  const found = new Map<string, Account>()
  for (const owner of everyRow(tx, 'owners', importId)) {
    const id = owner.createdAccountId
    // The account for unknown owners has no reader.
    if (id === null || owner.sourceId === UNNAMED || found.has(id) || isTold(tx, importId, 'invitation', id)) continue
    const account = accountById(tx, id)
    if (account && account.passwordHash === null) found.set(id, account)
  }
  return [...found.values()]
}
