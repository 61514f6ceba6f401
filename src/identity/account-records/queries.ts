import { and, eq, getTableColumns, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { newest, type Sorts } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { columnList, decoding, rowBy, type Where } from '../../kernel/db/rows.ts'
import { canonicalAddress } from '../../kernel/mail/address.ts'
import { asSql, hasWords, idsBeginningWith, idsWithParts, isOneWith, searchText } from '../../kernel/search/index.ts'
import { folded, isInGroups } from '../../kernel/search/text.ts'
import { type Account, accounts, roles } from './tables.ts'

export const accountReference = reference(accounts, ['kind', 'name', 'email', 'resellerId', 'roleId', 'disabledAt'])
export const roleReference = reference(roles, ['permissions', 'isOwner', 'secondFactor'])
export const accountTarget: AuditTarget = {
  prefix: 'usr',
  name: (id) => accountReference.value('name', id),
  accountKind: (id) => accountReference.value('kind', id),
  providerId: (id) => accountReference.value('resellerId', id),
}

export const accountById = rowBy(accounts, accounts.id)
/** Accounts of earlier releases may have an address that is none by the present rule. */
const storedAddress = (email: string) => canonicalAddress(email) ?? email.trim().toLowerCase()
const withEmail = (email: string) => eq(accounts.email, storedAddress(email))
// As literals: SQLite uses a partial index for a condition that it can read.
const columns = getTableColumns(accounts)
const decode = decoding<Account>(columns)
const isPending = sql`${accounts.emailPending} = 1`
/** The account to which somebody signs in by this address. */
export const accountByEmail = (tx: Db, email: string): Account | undefined =>
  decode(statements(tx).byEmail.get(storedAddress(email)))
/** It, and those that wait for another address. */
export const accountsWithEmail = (tx: Db, email: string): Account[] =>
  tx.select().from(accounts).where(withEmail(email)).orderBy(accounts.emailPending, accounts.id).all()
/** Accounts that wait for another address and whose holders have not been told yet. */
export const pendingToTell = (tx: Db, limit: number): Account[] =>
  tx
    .select()
    .from(accounts)
    .where(and(isPending, isNull(accounts.welcomedAt)))
    .limit(limit)
    .all()

/** The id of the account with this external id; `resellerId` null: among the house's own customers. */
export const customerWithExternalId = (tx: Db, resellerId: string | null, externalId: string): string | undefined =>
  statements(tx).byExternalId.get(resellerId ?? '', externalId)?.id

/** Throws a unique violation when the address or the external id is taken. */
export const insertAccount = (tx: Tx, row: typeof accounts.$inferInsert): Account =>
  tx.insert(accounts).values(row).returning().get()
/** Throws a unique violation when the address or the external id is taken. */
export const updateAccount = (tx: Tx, row: Account, given: Partial<Account>): Account =>
  patched(tx, accounts, row, given)

/** The accounts that a list is about, before its query narrows it. */
export type AccountGroup =
  | { kind: 'reseller' | 'staff' }
  /** Customers and resellers; `resellerId` null: those without a reseller. */
  | { kind: 'customers and resellers'; resellerId?: string | null }
function isOf(group: AccountGroup): SQL | undefined {
  if (group.kind !== 'customers and resellers') return eq(accounts.kind, group.kind)
  const { resellerId } = group
  if (resellerId) return eq(accounts.resellerId, resellerId)
  // In the words of the unique index of external ids.
  const ofHouse = resellerId === null ? sql`coalesce(${accounts.resellerId}, '') = ''` : undefined
  return and(ne(accounts.kind, 'staff'), ofHouse)
}

/** The orders of the list. */
export const accountSorts = {
  name: { exact: 'accounts.name COLLATE NOCASE' },
  email: { exact: 'accounts.email' },
  externalId: { exact: "coalesce(accounts.external_id, '') COLLATE NOCASE" },
  lockedAt: { exact: 'coalesce(accounts.locked_at, 0)' },
  // Ids sort by the time they were made.
  createdAt: { exact: 'accounts.id' },
} satisfies Sorts
/** A page of the accounts of a group that fit what the query asks for (`accountQuery`), newest first. */
export const pageOfAccounts = <Shown>(
  call: ReadContext,
  { name, group, show }: { name: string; group: AccountGroup; show(account: Account): Shown },
) => {
  const { q, email, externalId, locked } = call.query
  const where = and(
    isOf(group),
    q ? asSql(accountsNamed(call.tx, 'external id', q)) : undefined,
    email ? withEmail(email) : undefined,
    externalId ? eq(accounts.externalId, externalId) : undefined,
    locked ? isNotNull(accounts.lockedAt) : undefined,
  )
  return newest({ call, name, table: accounts, where, sorts: accountSorts, show })
}

const locked = prepared(({ $client }) =>
  $client.prepare<unknown, [string]>('SELECT 1 FROM accounts WHERE id = +? AND locked_at IS NOT NULL'),
)
export const isLocked = (tx: Db, accountId: string): boolean => locked(tx).get(accountId) !== null

// ---------------------------------------------------------------- SQL for the queries of others
/** The ids of the accounts of a kind, as a query inside another. */
export const accountIdsOfKind = (kind: string) => sql`SELECT id FROM accounts WHERE kind = ${kind}`
/** The groups of an account's search text (0204_search_index.sql), each with those before it. */
const upTo = (last: number) => ({ first: 0, last, groups: 3 })
const searched = { name: upTo(0), email: upTo(1), 'external id': upTo(2) } as const
/**
 * The ids of accounts with the word in their name or address, `most` of them; whether a reader may know the address is
 * another question.
 */
export const accountIdsWith = (tx: Db, word: string, most: number): string[] =>
  idsWithParts(tx, 'account', [{ word, groups: searched.email }], most)
/**
 * Is the word in the account's name, or where `mayReadEmail` fits in its address? `id` is an SQL expression. `among`:
 * those of `accountIdsWith`, where they are all; where they are many, they are all found once, or each row asks.
 */
export function accountContains(
  id: string,
  mayReadEmail: Where,
  word: string,
  among: readonly string[] | 'found once' | 'asked each',
): Where {
  if (among.length === 0) return { where: '0', values: [] }
  const has = (last: 'name' | 'email'): Where => {
    const fits = isInGroups('ac.text', word, searched[last])
    if (among === 'found once') return isOneWith('account', id, { word, groups: searched[last] })
    return {
      where: `EXISTS (SELECT 1 ${searchText.from('ac')} WHERE ac.kind = 'account' AND ac.id = ${id} AND ${fits.where})`,
      values: fits.values,
    }
  }
  const [name, email] = [has('name'), has('email')]
  const may: Where =
    mayReadEmail.where === '1'
      ? email
      : {
          where: `(${name.where} OR (${mayReadEmail.where} AND ${email.where}))`,
          values: [...name.values, ...mayReadEmail.values, ...email.values],
        }
  return typeof among === 'object'
    ? {
        where: `(${id} IN (SELECT value FROM json_each(?)) AND ${may.where})`,
        values: [JSON.stringify(among), ...may.values],
      }
    : may
}
/** The account's reseller, where the account is a customer; one parameter, its id. */
export const resellerOfCustomer = "SELECT reseller_id FROM accounts WHERE id = ? AND kind = 'customer'"

// ---------------------------------------------------------------- queries
/** The few columns that decide who sees an account: that there is one must not show in the time an answer takes. */
export type VisibilityRow = Pick<Account, 'id' | 'kind' | 'resellerId'>
type Found = { id: string; title: string; detail: string; exact: number }
type Locked = { id: string; name: string; reason: string | null; at: number }

const statements = prepared(({ $client }) => ({
  byEmail: $client.prepare<unknown, [string]>(
    `SELECT ${columnList(columns)} FROM accounts WHERE email = ? AND email_pending = 0`,
  ),
  // In the words of the unique index, which has the null of the house as an empty text.
  byExternalId: $client.prepare<{ id: string }, [string, string]>(
    `SELECT id FROM accounts WHERE coalesce(reseller_id, '') = ? AND external_id = ? AND kind <> 'staff'`,
  ),
  visibility: $client.prepare<VisibilityRow, [string]>(
    'SELECT id, kind, reseller_id AS resellerId FROM accounts WHERE id = ?',
  ),
  anyStaff: $client.prepare("SELECT 1 FROM accounts WHERE kind = 'staff' LIMIT 1"),
  anyBuyer: $client.prepare("SELECT 1 FROM accounts WHERE kind <> 'staff' LIMIT 1"),
  customers: $client.prepare<{ n: number }, [string]>('SELECT count(*) AS n FROM accounts WHERE reseller_id = ?'),
  anyCustomer: $client.prepare<unknown, [string]>('SELECT 1 FROM accounts WHERE reseller_id = ? LIMIT 1'),
  locked: $client.prepare<Locked, [string, number]>(
    `SELECT id, name, lock_reason AS reason, locked_at AS at FROM accounts
     WHERE reseller_id = +? AND locked_at IS NOT NULL ORDER BY id DESC LIMIT +?`,
  ),
}))

export const visibilityOf = (tx: Db, id: string): VisibilityRow | null => statements(tx).visibility.get(id)
/** Is there a staff account? Not before the set-up. */
export const hasStaff = (tx: Db): boolean => statements(tx).anyStaff.get() !== null
/** Is there an account that servers can be ordered for, of a customer or a reseller? */
export const hasBuyers = (tx: Db): boolean => statements(tx).anyBuyer.get() !== null
/** How many customers the reseller has. */
export const countCustomers = (tx: Db, resellerId: string): number => statements(tx).customers.get(resellerId)!.n
export const hasCustomers = (tx: Db, resellerId: string): boolean => statements(tx).anyCustomer.get(resellerId) !== null
/** The reseller's customers that are locked, the newest first. */
export const lockedCustomersOf = (tx: Db, resellerId: string, limit: number): Locked[] =>
  statements(tx).locked.all(resellerId, limit)
/** Over `accounts`: those with each word of the text in their values up to `last`. */
const accountsNamed = (tx: Db, last: keyof typeof searched, text: string): Where =>
  hasWords(tx, 'account', 'accounts.id', text, searched[last])
/** The ids of accounts with each word of the text in their name or address. */
export function accountIdsNamed(tx: Db, text: string, limit: number): string[] {
  const fits = accountsNamed(tx, 'email', text)
  return tx.$client
    .query<{ id: string }, (string | number)[]>(`SELECT id FROM accounts WHERE ${fits.where} ORDER BY id LIMIT ?`)
    .all(...fits.values, limit)
    .map(({ id }) => id)
}
/**
 * Customers and resellers with each word of the text in their name, address, organization or external id, or with the
 * text as their id; of one reseller when it is given. First those whose id, name, address or external id it is, then
 * those whose name begins with it.
 */
export function searchAccounts(tx: Db, text: string, limit: number, resellerId?: string): Found[] {
  const fits = accountsNamed(tx, 'external id', text)
  const own = resellerId === undefined ? [] : [resellerId]
  const whole = folded(text.trim())
  const named = idsBeginningWith(tx, 'account', whole, limit)
  const rows = (where: Where, by: string, values: readonly (string | number)[]) =>
    tx.$client
      .query<Found, (string | number)[]>(
        `SELECT accounts.id, accounts.name AS title, accounts.email AS detail,
           (accounts.id = ? OR instr(${linesOf}, char(10) || ? || char(10)) > 0) AS exact
         FROM accounts CROSS ${searchText.join('x', 'accounts.id')} AND x.kind = 'account'
         WHERE accounts.kind <> 'staff' ${own.length ? 'AND accounts.reseller_id = ?' : ''} AND ${where.where}
         ORDER BY ${by}accounts.id DESC LIMIT ?`,
      )
      .all(text, whole, ...own, ...where.values, ...values, limit)
  const ids = (some: readonly string[]): Where => ({
    where: 'accounts.id IN (SELECT value FROM json_each(?))',
    values: [JSON.stringify(some)],
  })
  const first = rows(ids([text, ...named]), 'exact DESC, ', [])
  const isFew = !fits.where.startsWith('EXISTS')
  const rest = isFew ? rows(fits, 'exact DESC, substr(x.text, 1, ?) <> ?, ', [whole.length, whole]) : rows(fits, '', [])
  return [...first, ...rest.filter(({ id }) => !first.some((row) => row.id === id))].slice(0, limit)
}
const linesOf = 'char(10) || replace(x.text, char(13), char(10)) || char(10)'
