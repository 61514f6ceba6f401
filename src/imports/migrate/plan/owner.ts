// The account of an owner, when its first server comes: it is looked at again, because accounts come and go while an
// import runs, and made where the operator chose so.
import type { Account } from '../../../identity/account-records/model.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { addAccount, tellCreated } from '../../../identity/customers/model.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { ownerRows } from '../../import-records/inventory/queries.ts'
import type { ImportRecord } from '../../import-records/model.ts'
import { conflictOf, lapsedReason, ownerTarget } from '../../mapping/owners.ts'
import { CannotMove } from '../failures.ts'

type At = { tx: Tx; target: ImportRecord; now: number }
/** Throws `owner_conflict` where what was chosen does not hold any more, and as `addAccount`. */
export function accountFor(at: At, ownerId: string): Account {
  const { tx, target, now } = at
  const row = ownerRows.find(tx, target.id, ownerId)
  if (!row) throw new CannotMove('owner_conflict', 'The other panel does not name its owner any more.')
  const who = row.name ?? row.email ?? 'its owner'
  const lapsed = lapsedReason(at, row, conflictOf(at, row))
  if (lapsed) throw new CannotMove('owner_conflict', `${lapsed} It was not touched.`)
  const becomes = ownerTarget(at, row)
  if (!becomes) throw new CannotMove('owner_conflict', `Nothing is decided about ${who}. It was not touched.`)
  if (becomes.kind === 'with') return accountFor(at, becomes.ownerId)
  if (becomes.kind === 'existing') {
    const account = accountById(tx, becomes.accountId)
    if (!account || account.kind === 'staff')
      throw new CannotMove('owner_conflict', 'The account that was chosen is gone. It was not touched.')
    return account
  }
  const { email, resellerId, externalId } = becomes
  const name = row.name?.trim().slice(0, 100) || email.slice(0, 100)
  const account = addAccount(tx, { name, email, externalId }, { kind: 'customer', resellerId, now })
  ownerRows.change(tx, row, { createdAccountId: account.id })
  tellCreated(tx, now, account)
  return account
}
