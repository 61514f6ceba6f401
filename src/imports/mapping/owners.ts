// The accounts for the owners of the other panel. Servers join an existing account only where the operator chose
// it, and never a staff account.

import { hostOf } from '../../../agent/protocol/net/pinned-request.ts'
import { type Account, customer } from '../../identity/account-records/model.ts'
import { accountByEmail, accountById } from '../../identity/account-records/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { Db } from '../../kernel/db/open.ts'
import { canonicalAddress } from '../../kernel/mail/address.ts'
import { isCreatedBy, ownersWithEmail } from '../import-records/choices/queries.ts'
import { type ImportOwner, ownerRows } from '../import-records/inventory/queries.ts'
import type { ImportRecord, OwnerChoice, OwnerConflict } from '../import-records/model.ts'
import { tagOf } from '../import-records/panels.ts'
import { externalIdTaken, freeExternalId, type Taken } from './claims/external-ids.ts'
import { type Offer, offer, withheld } from './facts.ts'

/** An address with a tag behind a plus: `it+solusvm2@halden.example`; undefined where it would be none. */
export const plusTagged = (email: string, tag: string): string | undefined =>
  canonicalAddress(email.replace(/@(?=[^@]*$)/, `+${tag}@`))

/** The account for servers without a known owner; nobody is mailed at it. A host without a name gets one of no host. */
export function addressOfUnknown({ address }: Pick<ImportRecord, 'address'>): string {
  const host = hostOf(new URL(address))
  return (
    canonicalAddress(`imports@${host}`) ?? `imports@${host.replace(/[^a-z0-9]+/gi, '-').replace(/^-|-$/g, '')}.invalid`
  )
}
/** The account in which a member of staff is a customer. */
const clientAreaOf = (email: string) => plusTagged(email, 'client')

type Offering = { tx: Db; target: ImportRecord }
type Conflict = { conflict: OwnerConflict; account: Account | undefined }
/** Why somebody has to decide about the owner, as things are now. */
export function conflictOf(at: Offering, row: ImportOwner): Conflict {
  const { tx, target } = at
  if (row.email === null) return { conflict: 'unknown', account: undefined }
  const [first] = ownersWithEmail(tx, target.id, row.email)
  if (first !== undefined && first !== row.sourceId) return { conflict: 'twice', account: undefined }
  const account = accountByEmail(tx, row.email)
  if (account && !isCreatedBy(tx, target.id, account.id)) return { conflict: account.kind, account }
  const taken = externalIdTaken(at, row)
  return taken ? { conflict: 'external_id', account: taken.account } : { conflict: 'none', account: undefined }
}

/** Why an account of this address cannot be made for the owner; undefined: it can. */
function takenReason(tx: Db, importId: string, row: ImportOwner, email: string | undefined): string | undefined {
  if (email === undefined) return 'An address with a tag would be too long.'
  const account = accountByEmail(tx, email)
  if (account && !isCreatedBy(tx, importId, account.id))
    return `An account that this import did not create has the address ${email}. Rename that account first.`
  if (ownersWithEmail(tx, importId, email).some((id) => id !== row.sourceId))
    return `Another owner in the other panel has the address ${email}.`
  return undefined
}
const separateOf = (target: ImportRecord, email: string) => plusTagged(email, tagOf(target.kind))

const leave = offer<OwnerChoice>('leave_out', 'The servers stay on the source.')
/** Says that an account that is made lacks its external id, and the reason. */
const without = (taken: Taken | undefined) => (taken ? ` Without an external id: ${taken.words}` : '')

function separateOffer({ tx, target }: Offering, row: ImportOwner): Offer<OwnerChoice> {
  const email = separateOf(target, row.email!)
  const taken = takenReason(tx, target.id, row, email)
  const own = `An account of its own: ${email}.${without(externalIdTaken({ tx, target }, row))}`
  return taken ? withheld('separate', taken) : offer('separate', own)
}

function clientAreaOffer({ tx, target }: Offering, row: ImportOwner): Offer<OwnerChoice> {
  const email = clientAreaOf(row.email!)
  const account = email === undefined ? undefined : accountByEmail(tx, email)
  if (email === undefined) return withheld('client_area', 'An address with a tag would be too long.')
  if (account && account.kind !== 'customer')
    return withheld('client_area', `The account with the address ${email} is none of a customer. Rename it first.`)
  if (ownersWithEmail(tx, target.id, email).some((id) => id !== row.sourceId))
    return withheld('client_area', `Another owner in the other panel has the address ${email}.`)
  return offer('client_area', `The client area of that person, ${email}: seen only with its own sign-in.`)
}

/** The choices for an owner under a conflict. A choice that is not in the list does not exist for it. */
export function offersOfOwner(at: Offering, row: ImportOwner, found: Conflict): Offer<OwnerChoice>[] {
  const { tx, target } = at
  const { account } = found
  const merge = () => offer<OwnerChoice>('merge', mergeWords(account!))
  const offers: Readonly<Record<OwnerConflict, () => Offer<OwnerChoice>[]>> = {
    none: () => [offer('create', `A new customer: ${row.email}.`), leave],
    customer: () => [merge(), separateOffer(at, row), leave],
    reseller: () => [merge(), separateOffer(at, row), leave],
    staff: () => [clientAreaOffer(at, row), separateOffer(at, row), leave],
    twice: () => [withFirst(at, row), leave],
    external_id: () => [
      ...(account ? [merge()] : []),
      offer('create', `A new customer: ${row.email}.${without(externalIdTaken(at, row))}`),
      leave,
    ],
    unknown: () => {
      const email = addressOfUnknown(target)
      const taken = takenReason(tx, target.id, row, email)
      return [
        taken
          ? withheld('one_account', taken)
          : offer('one_account', `One account for all of them: ${email}. Nobody is mailed.`),
        offer('existing', 'A customer that you choose.'),
        leave,
      ]
    },
  }
  return offers[found.conflict]()
}

/** In one account with the owner of the same address that comes first. */
function withFirst({ tx, target }: Offering, row: ImportOwner): Offer<OwnerChoice> {
  const [id = ''] = ownersWithEmail(tx, target.id, row.email!)
  const first = ownerRows.find(tx, target.id, id)
  const words = `the owner ${first?.name ?? id}, who comes first in the other panel and has the same address`
  return !first || first.choice === null || first.choice === 'leave_out'
    ? withheld('merge', `Nothing is decided about ${words}.`)
    : offer('merge', `In one account with ${words}.`)
}

function mergeWords({ name, kind, lockedAt, lockReason }: Account): string {
  if (lockedAt !== null)
    return `Into the account of ${name}, which is locked${lockReason ? `: ${lockReason}` : ''}. It cannot control them.`
  return kind === 'reseller'
    ? `Into the account of ${name}: they count in the quota of the reseller.`
    : `Into the account of ${name}.`
}

/** The account for the servers of an owner as it is decided; null: nothing is decided, or they stay. */
export type OwnerTarget =
  | { kind: 'existing'; accountId: string }
  | { kind: 'new'; email: string; resellerId: string | null; externalId: string | null }
  /** The account of an owner that comes before it. */
  | { kind: 'with'; ownerId: string }
export function ownerTarget(at: Offering, row: ImportOwner): OwnerTarget | null {
  const { tx, target } = at
  const made = (email: string | undefined): OwnerTarget | null =>
    row.createdAccountId !== null
      ? { kind: 'existing', accountId: row.createdAccountId }
      : email === undefined
        ? null
        : { kind: 'new', email, resellerId: row.resellerId, externalId: freeExternalId(at, row) }
  switch (row.choice) {
    case 'create':
      return made(row.email ?? undefined)
    case 'separate':
      return made(separateOf(target, row.email!))
    case 'one_account':
      return made(addressOfUnknown(target))
    case 'client_area':
      return row.accountId === null ? made(clientAreaOf(row.email!)) : { kind: 'existing', accountId: row.accountId }
    case 'existing':
      return row.accountId === null ? null : { kind: 'existing', accountId: row.accountId }
    case 'merge': {
      if (row.accountId !== null) return { kind: 'existing', accountId: row.accountId }
      const [first] = ownersWithEmail(tx, target.id, row.email!)
      return first === undefined || first === row.sourceId ? null : { kind: 'with', ownerId: first }
    }
    default:
      return null
  }
}

/** The account that a choice joins: that of the conflict, the client area, or the one that was named. */
export function accountOfChoice(
  tx: Db,
  row: ImportOwner,
  choice: OwnerChoice,
  { account }: Conflict,
  named: string | null,
) {
  if (choice === 'existing') return named
  if (choice === 'merge') return account?.id ?? null
  if (choice === 'client_area') return accountByEmail(tx, clientAreaOf(row.email!) ?? '')?.id ?? null
  return null
}

/**
 * Why a choice that was made does not hold any more; undefined: it does. The dry run and the start ask, because
 * accounts come and go meanwhile.
 */
export function lapsedReason(at: Offering, row: ImportOwner, found: Conflict): string | undefined {
  if (row.choice === null || row.createdAccountId !== null) return undefined
  const one = offersOfOwner(at, row, found).find(({ choice }) => choice === row.choice)
  if (!one)
    return found.account
      ? `There is an account with this address now: that of ${found.account.name}. Choose again.`
      : 'The account that was chosen has another address now. Choose again.'
  if (!one.isOffered) return `${one.words} Choose again.`
  // An account without the id has to be agreed to.
  if (row.choice === 'create' && found.conflict === 'external_id' && row.conflict !== found.conflict)
    return `${externalIdTaken(at, row)!.words} Choose again.`
  if (row.choice === 'existing') {
    const account = row.accountId === null ? undefined : accountById(at.tx, row.accountId)
    return !account || account.kind === 'staff' ? 'The account that was chosen is gone. Choose again.' : undefined
  }
  if (row.accountId !== accountOfChoice(at.tx, row, row.choice, found, null))
    return 'Another account has this address now. Choose again.'
  return undefined
}

/** A customer or reseller that the actor may choose; undefined for any other id. */
export const choosable = (tx: Db, actor: Actor, id: string): Account | undefined => customer.find(tx, actor, id)
