import { and, eq, gt, lt } from 'drizzle-orm'
import { newest } from '../../../kernel/api/list.ts'
import type { ReadContext } from '../../../kernel/api/operation.ts'
import { expiring } from '../../../kernel/db/expiring.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { type AccountIdentity, accountIdentities, providerSignIns } from './tables.ts'

export const identityBySubject = (tx: Db, issuer: string, subject: string): AccountIdentity | undefined =>
  tx
    .select()
    .from(accountIdentities)
    .where(and(eq(accountIdentities.issuer, issuer), eq(accountIdentities.subject, subject)))
    .get()
export const identitiesOf = (tx: Db, accountId: string): AccountIdentity[] =>
  tx.select().from(accountIdentities).where(eq(accountIdentities.accountId, accountId)).all()
/** A page of the account's identities, newest first. */
export const pageOfIdentities = <Shown>(
  call: ReadContext,
  accountId: string,
  show: (identity: AccountIdentity) => Shown,
) =>
  newest({
    call,
    name: 'identities',
    table: accountIdentities,
    where: eq(accountIdentities.accountId, accountId),
    show,
  })
export const insertIdentity = (tx: Tx, row: AccountIdentity) => void tx.insert(accountIdentities).values(row).run()
export const markIdentityUsed = (tx: Tx, id: string, now: number) =>
  void tx.update(accountIdentities).set({ usedAt: now }).where(eq(accountIdentities.id, id)).run()
export const deleteIdentity = (tx: Tx, id: string) =>
  void tx.delete(accountIdentities).where(eq(accountIdentities.id, id)).run()

/** Stores a sign-in that goes to the provider, and deletes expired ones. */
export function insertProviderSignIn(tx: Tx, row: typeof providerSignIns.$inferInsert) {
  tx.delete(providerSignIns).where(lt(providerSignIns.expiresAt, row.createdAt)).run()
  tx.insert(providerSignIns).values(row).run()
}
/** Deletes the sign-in of this browser and state, and returns it; undefined when there is none, or it expired. */
export const takeProviderSignIn = (tx: Tx, tokenHash: string, stateHash: string, now: number) =>
  tx
    .delete(providerSignIns)
    .where(
      and(
        eq(providerSignIns.tokenHash, tokenHash),
        eq(providerSignIns.stateHash, stateHash),
        gt(providerSignIns.expiresAt, now),
      ),
    )
    .returning()
    .get()
export const expiredProviderSignIns = expiring(providerSignIns, (now) => lt(providerSignIns.expiresAt, now))
