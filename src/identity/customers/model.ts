// A customer or reseller: its form in the API and in spreadsheets, and what is given when it is added or changed.
import { Type as t } from 'typebox'
import { serversOfOwner } from '../../fleet/workloads/reports.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { sortParameter } from '../../kernel/api/list.ts'
import { described, line, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { oneOf, text } from '../../kernel/api/query.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import {
  type Account,
  type Allowance,
  customerInEvent,
  mailAddress,
  mailField,
  refuseTaken,
} from '../account-records/model.ts'
import { accountByEmail, accountById, accountSorts, insertAccount, updateAccount } from '../account-records/queries.ts'
import { factorsOf } from '../auth/second-factors/factors.ts'
import { lastSeenAt } from '../auth/sessions/queries.ts'

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
  gpuLimit: described(
    t.Integer(),
    'GPUs that it may have where it orders instances itself, those that others ordered for it included; 0: it orders ' +
      'none. A reseller has a quota instead.',
  ),
})

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
  gpuLimit: account.gpuLimit,
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
