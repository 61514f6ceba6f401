// Accounts: their visibility, their form in the API, and the rules for addresses.
import { Type as t } from 'typebox'
import { serversOfOwner } from '../../fleet/workloads/reports.ts'
import type { Right, Scope } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { sortParameter } from '../../kernel/api/list.ts'
import { described, line, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { oneOf, text } from '../../kernel/api/query.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, isUniqueViolation, type Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { canonicalAddress } from '../../kernel/mail/address.ts'
import { lastSeenAt } from '../auth/queries.ts'
import { factorsOf } from '../auth/second-factors/factors.ts'
import {
  accountByEmail,
  accountById,
  accountSorts,
  insertAccount,
  updateAccount,
  type VisibilityRow,
  visibilityOf,
} from './queries.ts'
import type { Account, Allowance } from './tables.ts'

/** A customer as events carry it. */
export const customerData = namedSchema('EventCustomer', {
  id: t.String(),
  email: t.String(),
  name: t.String(),
  externalId: nullable(t.String()),
})

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

/** Resources bought beside the packages. */
export const allowanceResponse = namedSchema('Allowance', {
  vcpus: t.Integer(),
  memoryMb: t.Integer(),
  diskGb: t.Integer(),
  trafficGb: t.Integer(),
  ipv4: t.Integer(),
})
export const noAllowance: Allowance = { vcpus: 0, memoryMb: 0, diskGb: 0, trafficGb: 0, ipv4: 0 }

export const customerResponse = namedSchema('Customer', {
  id: t.String(),
  kind: t.Enum(['customer', 'reseller', 'staff']),
  email: t.String(),
  name: t.String(),
  organization: nullable(t.String()),
  externalId: described(nullable(t.String()), "The billing system's own identifier of it."),
  resellerId: described(nullable(t.String()), 'Null: a customer of the house. Also null in the answers to customers.'),
  resellerName: nullable(t.String()),
  hasPassword: t.Boolean(),
  secondFactor: described(t.Boolean(), 'Has one set up.'),
  seenAt: described(nullable(time), 'When it last used the panel, signed in; null when not recently.'),
  lockedAt: nullable(time),
  lockReason: described(nullable(t.String()), 'Nothing new can be ordered for a locked account.'),
  createdAt: time,
  servers: described(t.Integer(), 'How many it has.'),
  allowance: allowanceResponse,
})

/** The reseller of an account or of a thing. Answers to a customer do not hold the id of its provider's account. */
export const resellerIdFor = ({ kind }: Pick<Actor, 'kind'>, resellerId: string | null): string | null =>
  kind === 'customer' ? null : resellerId

export const showCustomer = (tx: Db, account: Account) => ({
  id: account.id,
  kind: account.kind,
  email: account.email,
  name: account.name,
  organization: account.organization,
  externalId: account.externalId,
  resellerId: account.resellerId,
  resellerName: account.resellerId && accountById(tx, account.resellerId)!.name,
  hasPassword: account.passwordHash !== null,
  secondFactor: factorsOf(tx, account.id).length > 0,
  seenAt: isoOrNull(lastSeenAt(tx, account.id)),
  lockedAt: isoOrNull(account.lockedAt),
  lockReason: account.lockReason,
  createdAt: iso(account.createdAt),
  servers: serversOfOwner(tx, account.id),
  allowance: account.allowance ?? noAllowance,
})

type ListedCustomer = ReturnType<typeof showCustomer>
/** The columns of customers as a spreadsheet. */
export const customerColumns: Readonly<Record<string, (c: ListedCustomer) => string | number | null>> = {
  id: (c) => c.id,
  name: (c) => c.name,
  email: (c) => c.email,
  organization: (c) => c.organization,
  externalId: (c) => c.externalId,
  servers: (c) => c.servers,
  lockedAt: (c) => c.lockedAt,
  createdAt: (c) => c.createdAt,
}

/** The customer as webhooks carry it. */
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

// ---------------------------------------------------------------- adding and changing
const organization = t.Optional(nullable(line(100, 0)))
const externalId = t.Optional(nullable(line(100)))
/** The fields of a customer or reseller. */
export const accountFields = { name: line(100), email: mailField, organization, externalId }
/** The fields of a new one; `invite` mails its holder a link to choose a password. */
export const newAccountFields = { ...accountFields, invite: t.Optional(t.Boolean()) }
/** The fields of a change; absent ones stay as they are. */
export const accountChanges = {
  name: t.Optional(accountFields.name),
  email: t.Optional(accountFields.email),
  organization,
  externalId,
}

type Given = { name: string; email: string; organization?: string | null; externalId?: string | null }
/** `byReseller`: the reseller itself adds it, and does not learn whether other accounts have the address. */
type Whose = { kind: 'customer' | 'reseller'; resellerId?: string | null; byReseller?: boolean; now: number }

/** Does an account that the reseller knows nothing of have the address? The reseller and its customers it knows. */
function isTakenElsewhere(tx: Db, email: string, { resellerId, id }: { resellerId: string | null; id?: string }) {
  const holder = accountByEmail(tx, email)
  return holder !== undefined && holder.id !== id && holder.id !== resellerId && holder.resellerId !== resellerId
}

/** Throws `email_taken` or `external_id_taken`. */
export function addAccount(
  tx: Tx,
  { name, email, organization, externalId }: Given,
  { kind, resellerId = null, byReseller = false, now }: Whose,
): Account {
  const address = mailAddress(email)
  const emailPending = byReseller && isTakenElsewhere(tx, address, { resellerId })
  const row = { id: newId('usr'), kind, name, email: address, emailPending, resellerId, createdAt: now }
  try {
    return insertAccount(tx, { ...row, organization: organization || null, externalId: externalId ?? null })
  } catch (error) {
    return refuseTaken(error)
  }
}

/** Throws `email_taken` or `external_id_taken`. `by`: a reseller does not learn which addresses are taken elsewhere. */
export function changeAccount(
  tx: Tx,
  account: Account,
  { name, email, organization, externalId }: Partial<Given>,
  by: Pick<Actor, 'kind'>,
): Account {
  const address = email === undefined ? account.email : mailAddress(email)
  const emailPending =
    address === account.email ? account.emailPending : by.kind === 'reseller' && isTakenElsewhere(tx, address, account)
  try {
    return updateAccount(tx, account, {
      ...(name !== undefined && { name }),
      ...(address !== account.email && { email: address, emailPending, ...(emailPending && { welcomedAt: null }) }),
      ...(organization !== undefined && { organization: organization || null }),
      ...(externalId !== undefined && { externalId }),
    })
  } catch (error) {
    return refuseTaken(error)
  }
}

/** Stores the password hash and returns the account. */
export const withPassword = (tx: Tx, account: Account, passwordHash: string): Account =>
  updateAccount(tx, account, { passwordHash })

/** Tells billing of a new customer. */
export const tellCreated = (tx: Tx, now: number, account: Account) =>
  emit(
    tx,
    now,
    'customer.created',
    { subject: { type: 'customer', id: account.id }, customerId: account.id, resellerId: account.resellerId },
    { customer: customerInEvent(account) },
  )

/** The query parameters of lists of accounts. */
export const accountQuery = {
  q: text('Part of a name, organization, e-mail address or external id.'),
  email: text('Exactly this e-mail address, in capitals or not.', 254),
  externalId: text("Exactly this identifier of the billing system's own."),
  locked: oneOf(['yes'], 'yes: only those that are locked.'),
  sort: sortParameter(accountSorts),
}
/** Throws `account_locked`: a locked customer gets nothing new. */
export function mustNotBeLocked(account: Account) {
  if (account.lockedAt !== null)
    throw new ApiError('account_locked', `The account of ${account.name} is locked. Unlock it before ordering for it.`)
}
