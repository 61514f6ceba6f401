// Accounts: who sees them, and the rules for their addresses.
import { Type as t } from 'typebox'
import type { Right, Scope } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { namedSchema, nullable, type Resource } from '../../kernel/api/operation.ts'
import { type Db, isUniqueViolation, type Tx } from '../../kernel/db/open.ts'
import { canonicalAddress } from '../../kernel/mail/address.ts'
import { accountById, updateAccount, type VisibilityRow, visibilityOf } from './queries.ts'
import type { Account, Allowance } from './tables.ts'

export type { Account, Allowance }

/** Staff see every customer and reseller; a reseller sees itself and its customers; a customer itself. */
function canSee(actor: Actor, { id, kind, resellerId }: VisibilityRow): boolean {
  if (actor.kind === 'staff') return kind !== 'staff'
  return id === actor.accountId || (actor.kind === 'reseller' && resellerId === actor.accountId)
}

/** Throws `forbidden` for System, which has no account. */
export function ownAccount(tx: Db, actor: Actor): Account {
  const account = accountById(tx, actor.accountId)
  if (!account) throw new ApiError('forbidden', 'System has no account of its own and does not sign in.')
  return account
}

/** A customer or a reseller: both can own servers. */
export const customer: Resource<Account> = {
  name: 'customer',
  notFound: 'customer_not_found',
  find: (tx, actor, id) => {
    // Reading the whole row takes longer: an account that the actor may not see must not show by that (security S25).
    const found = visibilityOf(tx, id)
    return found && canSee(actor, found) ? accountById(tx, id) : undefined
  },
  /**
   * A reseller has other rights on its own account than on its customers. Staff who may change customers may not change
   * resellers by that right, and no scope of a token is for resellers.
   */
  rights: (_, actor, account) =>
    actor.kind === 'reseller'
      ? account.id === actor.accountId
        ? withItself
        : withItsCustomers
      : actor.kind === 'staff' && !mayChange(actor, account)
        ? new Set<Right>([...actor.scopes, ...actor.permissions]).difference(toChange)
        : undefined,
}
const toChange: ReadonlySet<Right> = new Set<Right>(['customers:write', 'customers.write'])
/** Staff change resellers only with the permission for resellers. */
export const mayChange = (actor: Actor, account: Pick<Account, 'kind'>): boolean =>
  account.kind !== 'reseller' || actor.kind !== 'staff' || actor.permissions.has('resellers.write')
const withItself: ReadonlySet<Scope> = new Set(['account:read', 'account:write', 'reseller:read'])
const withItsCustomers: ReadonlySet<Scope> = new Set(['reseller:read', 'reseller:customers', 'reseller:servers'])

export const staffMember: Resource<Account> = {
  name: 'member of staff',
  notFound: 'staff_not_found',
  find: (tx, _, id) => {
    const account = accountById(tx, id)
    return account?.kind === 'staff' ? account : undefined
  },
}

/** The reseller of an account or of a thing. Answers to a customer do not hold the id of its provider's account. */
export const resellerIdFor = ({ kind }: Pick<Actor, 'kind'>, resellerId: string | null): string | null =>
  kind === 'customer' ? null : resellerId

/** A customer as events and webhooks carry it. */
export const customerData = namedSchema('EventCustomer', {
  id: t.String(),
  email: t.String(),
  name: t.String(),
  externalId: nullable(t.String()),
})
export const customerInEvent = ({ id, email, name, externalId }: Account) => ({ id, email, name, externalId })

/**
 * An address in a body, in capitals or not and with spaces around it, so that a wrong one is refused together with the
 * other wrong fields. `mailAddress` is stricter.
 */
export const mailField = t.String({
  maxLength: 254,
  pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$',
  title: 'an e-mail address',
})

/** Its canonical form; throws `validation_failed` when it is no address. */
export function mailAddress(text: string, field = 'email'): string {
  const address = canonicalAddress(text)
  if (address === undefined) throw invalid({ field, message: 'must be an e-mail address.' })
  return address
}

/** Throws the refusal for a unique violation: `email_taken` or `external_id_taken`. Rethrows other errors. */
export function refuseTaken(error: unknown): never {
  if (isUniqueViolation(error, 'accounts.email'))
    throw new ApiError(
      'email_taken',
      'Another account already has this e-mail address. Use that account, or another address.',
    )
  if (isUniqueViolation(error, 'accounts_external_id'))
    throw new ApiError(
      'external_id_taken',
      'Another customer already has this external id. Look it up with ?externalId=: it is probably the one you mean.',
    )
  throw error
}

/** Stores the password hash and returns the account. */
export const withPassword = (tx: Tx, account: Account, passwordHash: string): Account =>
  updateAccount(tx, account, { passwordHash })

/** Throws `account_locked`: a locked customer gets nothing new. `isOwn`: it orders for itself. */
export function mustNotBeLocked(account: Account, { isOwn = false } = {}) {
  if (account.lockedAt === null) return
  throw new ApiError(
    'account_locked',
    isOwn
      ? 'Your account is locked, so nothing new can be ordered. Ask your provider.'
      : `The account of ${account.name} is locked. Unlock it before ordering for it.`,
  )
}
