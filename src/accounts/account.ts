// Who an account is, who sees it, and the people behind it.
import { eq, sql } from 'drizzle-orm'
import { Type as t } from 'typebox'
import type { Scope } from '../kernel/api/access.ts'
import type { Actor } from '../kernel/api/actor.ts'
import { invalid, Refusal } from '../kernel/api/errors.ts'
import { nullable, type Resource, time } from '../kernel/api/operation.ts'
import { iso, isoOrNull } from '../kernel/db/clock.ts'
import { type Db, isUniqueViolation, prepared } from '../kernel/db/open.ts'
import { type Account, type Allowance, accounts } from './tables.ts'

/** Staff see every customer and reseller; a reseller sees itself and its customers; a customer itself. */
function seen(actor: Actor, it: Account): boolean {
  if (actor.kind === 'staff') return it.kind !== 'staff'
  return it.id === actor.accountId || (actor.kind === 'reseller' && it.resellerId === actor.accountId)
}

const byId = prepared((db) =>
  db
    .select()
    .from(accounts)
    .where(eq(accounts.id, sql.placeholder('id')))
    .prepare(),
)

export const accountById = (tx: Db, id: string): Account | undefined => byId(tx).get({ id })
export const accountByEmail = (tx: Db, email: string): Account | undefined =>
  tx.select().from(accounts).where(eq(accounts.email, email.toLowerCase())).get()

/** A customer or a reseller: whoever can own servers. */
export const customer: Resource<Account> = {
  name: 'customer',
  notFound: 'customer_not_found',
  find: (tx, actor, id) => {
    const it = accountById(tx, id)
    return it && seen(actor, it) ? it : undefined
  },
  /** A reseller's own account is its own, and its customers are in its care: neither way does one right do for the other. */
  rights: (_, actor, it) => (actor.kind !== 'reseller' ? undefined : it.id === actor.accountId ? withItself : withItsCustomers),
}
const withItself: ReadonlySet<Scope> = new Set(['account:read', 'account:write', 'reseller:read'])
const withItsCustomers: ReadonlySet<Scope> = new Set(['reseller:read', 'reseller:customers', 'reseller:servers'])

/** What it has bought beside its packages. */
export const allowanceAnswer = t.Object({
  vcpus: t.Integer(),
  memoryMb: t.Integer(),
  diskGb: t.Integer(),
  trafficGb: t.Integer(),
  ipv4: t.Integer(),
})
export const noAllowance: Allowance = { vcpus: 0, memoryMb: 0, diskGb: 0, trafficGb: 0, ipv4: 0 }

export const customerAnswer = t.Object({
  id: t.String(),
  kind: t.Enum(['customer', 'reseller', 'staff']),
  email: t.String(),
  name: t.String(),
  organization: nullable(t.String()),
  externalId: nullable(t.String()),
  resellerId: nullable(t.String()),
  lockedAt: nullable(time),
  lockReason: nullable(t.String()),
  createdAt: time,
  servers: t.Integer(),
  allowance: allowanceAnswer,
})

const owned = prepared(({ $client }) =>
  $client.prepare<{ n: number }, [string]>('SELECT count(*) AS n FROM servers WHERE owner_id = ? AND terminated_at IS NULL'),
)

export const showCustomer = (tx: Db, it: Account) => ({
  id: it.id,
  kind: it.kind,
  email: it.email,
  name: it.name,
  organization: it.organization,
  externalId: it.externalId,
  resellerId: it.resellerId,
  lockedAt: isoOrNull(it.lockedAt),
  lockReason: it.lockReason,
  createdAt: iso(it.createdAt),
  servers: owned(tx).get(it.id)!.n,
  allowance: it.allowance ?? noAllowance,
})

/** The customer as webhooks carry it. */
export const customerInEvent = ({ id, email, name, externalId }: Account) => ({ id, email, name, externalId })

/**
 * One strict form before anything else sees an address: mail libraries disagree about the exotic ones, and disagreement is how
 * mail goes to the wrong person.
 */
const mailPattern =
  /^[a-z0-9](?:[a-z0-9._+-]{0,62}[a-z0-9_+-])?@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Lower case, trimmed; throws when it is no address. */
export function mailAddress(text: string, field = 'email'): string {
  const address = text.trim().toLowerCase()
  if (address.length > 254 || !mailPattern.test(address) || address.includes('..'))
    throw invalid({ field, message: 'must be an e-mail address.' })
  return address
}

/** Turns the unique index that was hit into the refusal for it. */
export function refuseTaken(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  const text = String(error) + String((error as { cause?: unknown }).cause ?? '')
  if (text.includes('email')) throw new Refusal('email_taken', 'An account with this e-mail address exists already.')
  throw new Refusal('external_id_taken', 'Another customer has this external id already.')
}

/** Throws `account_locked`: a locked customer gets nothing new. */
export function mustNotBeLocked(it: Account) {
  if (it.lockedAt !== null) throw new Refusal('account_locked', `The account of ${it.name} is locked. Unlock it before ordering for it.`)
}
